import { expect } from 'vitest';
import type { HistoryRecord } from '../../../../src/service/wire/prediction-history.ts';
import type { PredictionPosition } from '../../../../src/service/wire/prediction-position.ts';
import type { Answer, World } from '../world.ts';
import { predictionOf, wholeList } from './prediction-scenes.ts';

type Body = Answer['body'];

/** What the sandbox's own wallet holds and did, as the service tells it and as our client reads it. */
export interface AccountScene {
  readonly owner: string;
  readonly positions: readonly { readonly wire: Body; readonly read: PredictionPosition }[];
  /** Of markets that trade, and of those that do not any more. */
  readonly open: readonly { readonly wire: Body; readonly read: PredictionPosition }[];
  readonly closed: readonly { readonly wire: Body; readonly read: PredictionPosition }[];
  readonly single: Body;
  readonly records: readonly { readonly wire: Body; readonly read: HistoryRecord }[];
}

/** Looks at everything once. */
export async function accountScene(world: World): Promise<AccountScene> {
  const owner = world.wallet.address;
  const [wirePositions, wireRecords] =
    [await wholeList(world, '/positions', owner), await wholeList(world, '/history', owner)];
  const readPositions: PredictionPosition[] = [];
  for await (const { records, rejected } of world.service.prediction.allPositions({ owner })) {
    expect(rejected).toEqual([]);
    readPositions.push(...records);
  }
  const readRecords: HistoryRecord[] = [];
  for await (const { records, rejected } of world.service.prediction.allHistory({ owner })) {
    expect(rejected).toEqual([]);
    readRecords.push(...records);
  }
  const positions = wirePositions.map((wire) =>
    ({ wire, read: readPositions.find(({ pubkey }) => pubkey === wire.pubkey)! }));
  return {
    owner, positions,
    open: positions.filter(({ wire }) => wire.marketMetadata.status === 'open'),
    closed: positions.filter(({ wire }) => wire.marketMetadata.status !== 'open'),
    single: await predictionOf(world, `/positions/${wirePositions[0].pubkey}`),
    records: wireRecords.map((wire) => ({ wire, read: readRecords.find(({ id }) => id === wire.id)! })),
  };
}
