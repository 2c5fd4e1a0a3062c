import { describe, expect, it } from 'vitest';
import type { Mint } from '../../src/market/token.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import type { LoadOptions } from './load-text.ts';
import { issuesOf, loadText } from './load-text.ts';

const PRICES = new Map<Mint, number>([[SOL_MINT, 100], [USDC_MINT, 1]]);
const withPrices: Partial<LoadOptions> = { purpose: 'check', pricesOf: async () => PRICES };

/** A strategy that may hold SOL for up to 1000 USDC: 10 SOL. */
const config = (solCap: string, risk = ''): string => `mode: paper
tokens: { SOL: ${SOL_MINT}, USDC: ${USDC_MINT} }
risk: { max_trade: "1000 USDC"${risk} }
signer: { caps: { USDC: { per_trade: "1000", per_hour: "2000" }, SOL: ${solCap} } }
strategies: [{ use: dca, name: saver, budget: "1000 USDC", params: { buy: SOL, spend: "10 USDC", every: 1h } }]
`;

const exitsOf = async (text: string): Promise<unknown> => {
  const result = await loadText(text, withPrices);
  return result.ok
    ? result.exits?.map(({ token, position, takesMs }) => [token.symbol, position, takesMs]) : result.issues;
};

describe('issue 13.14: config check knows how long a full exit takes', () => {
  it('of the largest position that budgets, max_position and max_exposure allow', async () => {
    const inOneSwap = '{ per_trade: "10", per_hour: "20" }';
    expect(await exitsOf(config(inOneSwap))).toEqual([['SOL', 10_000_000_000n, 0]]);
    expect(await exitsOf(config(inOneSwap, ', max_position: { SOL: "600 USDC" }')))
      .toEqual([['SOL', 6_000_000_000n, 0]]);
    expect(await exitsOf(config(inOneSwap, ', max_exposure: "2 SOL"'))).toEqual([['SOL', 2_000_000_000n, 0]]);
    expect(await exitsOf(config('{ per_trade: "5", per_hour: "20" }'))).toEqual([['SOL', 10_000_000_000n, 5_000]]);
    expect(await exitsOf(config('{ per_trade: "1", per_hour: "2", per_day: "20" }')))
      .toEqual([['SOL', 10_000_000_000n, 4 * 3_600_000 + 5_000]]);
  });

  it('refuses a cap below the largest position where parts do not sell it within a day, at its place', async () => {
    expect(await issuesOf(config('{ per_trade: "1", per_hour: "2", per_day: "9" }'), withPrices)).toEqual([
      expect.stringMatching(
        new RegExp('^bot\\.yaml:4:\\d+ signer\\.caps\\.SOL\\.per_day: the largest position allowed is about 10 SOL .* '
          + 'takes a day or more, in parts: raise per_day'),
      ),
    ]);
    expect(await issuesOf(config('{ per_trade: "0.2", per_hour: "0.4" }'), withPrices))
      .toEqual([expect.stringMatching(/signer\.caps\.SOL\.per_hour/)]);
    expect(await issuesOf(
      config('{ per_trade: "1", per_hour: "2", per_day: "9" }', ', max_position: { SOL: "9 SOL" }'), withPrices,
    )).toEqual([]);
  });

  it('reports nothing without a price, and asks for no price without caps', async () => {
    const result = await loadText(config('{ per_hour: "2" }'), { purpose: 'check', pricesOf: async () => new Map() });
    expect(result.ok && result.exits).toMatchObject([{ position: undefined, takesMs: undefined }]);
    const uncapped = config('{}').replace(/^signer.*\n/m, '');
    const asked = await loadText(uncapped, {
      purpose: 'check', pricesOf: async () => { throw new Error('no price is needed'); },
    });
    expect(asked.ok && asked.exits).toBeUndefined();
  });
});
