import { expect } from 'vitest';
import type { TokenStatName } from '../../../../../src/market/token-stats.ts';
import { usdPrice } from '../../scenes.ts';
import type { Answer, ServiceFixture } from '../../service-fixture.ts';
import { SOL } from '../../service-fixture.ts';
import type { TokenRecord } from '../../../../../src/market/token-record.ts';

type Body = Answer['body'];

export interface TokenScene {
  /** Every token of the sandbox, as the search answers it and as our client reads it. */
  readonly tokens: readonly {
    readonly wire: Body; readonly read: TokenRecord; readonly onChain: Body; readonly usd: number;
  }[];
  readonly sol: { readonly wire: Body; readonly read: TokenRecord };
  readonly slot: number;
}

/** Reads everything once. */
export async function tokenScene(fixture: ServiceFixture): Promise<TokenScene> {
  const mints = fixture.sandbox.addresses.tokens.map(({ mint }) => mint);
  const { status, body } = await fixture.get('/ultra/v1/search', { query: mints.join(',') });
  expect(status).toBe(200);
  const { records, rejected } = await fixture.service.tokens.search(mints);
  expect(rejected).toEqual([]);
  const tokens = await Promise.all(mints.map(async (mint) => {
    const { result } = await fixture.rpc('getAccountInfo', [mint, { encoding: 'jsonParsed' }]);
    return {
      wire: body.find(({ id }: Body) => id === mint), read: records.find(({ id }) => id === mint)!,
      onChain: { ...result.value.data.parsed.info, program: result.value.owner }, usd: await usdPrice(fixture, mint),
    };
  }));
  return { tokens, sol: tokens.find(({ wire }) => wire.id === SOL)!, slot: fixture.sandbox.chain.slot };
}

/** Returns a number of a record by its flat name. */
export function valueOf(read: TokenRecord, name: string): number | undefined {
  return read.values[name as TokenStatName];
}
