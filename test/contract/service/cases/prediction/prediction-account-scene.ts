import { expect } from 'vitest';
import type { Answer, ServiceFixture } from '../../service-fixture.ts';
import { predictionOf, wholeList } from './prediction-scenes.ts';
import type { HistoryRecord, PredictionPosition } from '../../../../../src/market/prediction.ts';

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

/** Reads everything once. */
export async function accountScene(fixture: ServiceFixture): Promise<AccountScene> {
  const owner = fixture.wallet.address;
  const [wirePositions, wireRecords] =
    [await wholeList(fixture, '/positions', owner), await wholeList(fixture, '/history', owner)];
  const readPositions: PredictionPosition[] = [];
  for await (const { records, rejected } of fixture.service.prediction.allPositions({ owner })) {
    expect(rejected).toEqual([]);
    readPositions.push(...records);
  }
  const readRecords: HistoryRecord[] = [];
  for await (const { records, rejected } of fixture.service.prediction.allHistory({ owner })) {
    expect(rejected).toEqual([]);
    readRecords.push(...records);
  }
  const positions = wirePositions.map((wire) =>
    ({ wire, read: readPositions.find(({ pubkey }) => pubkey === wire.pubkey)! }));
  return {
    owner, positions,
    open: positions.filter(({ wire }) => wire.marketMetadata.status === 'open'),
    closed: positions.filter(({ wire }) => wire.marketMetadata.status !== 'open'),
    single: await predictionOf(fixture, `/positions/${wirePositions[0].pubkey}`),
    records: wireRecords.map((wire) => ({ wire, read: readRecords.find(({ id }) => id === wire.id)! })),
  };
}
