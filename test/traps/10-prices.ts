import { expect } from 'vitest';
import type { Amount, Bps } from '../../src/core/amount.ts';
import { amount } from '../../src/core/amount.ts';
import type { TokenStats } from '../../src/market/token-stats.ts';
import { tokenTable } from '../../src/market/token.ts';
import { createState, freshSnapshot } from '../../src/trading/engine-state.ts';
import { apply, propose, strategySetup, WIDE } from '../trading/states.ts';
import { watch } from './feeds.ts';
import type { Trap } from './trap.ts';
import { newTrader } from './trader.ts';
import type { TrapFixture } from './trap-fixture.ts';
import { ORDER, SOL, USDC } from './trap-fixture.ts';

const SEARCH = '/ultra/v1/search';

/** Returns the statistics of KELP, as a feed brings them. */
async function kelpStats(fixture: TrapFixture): Promise<TokenStats> {
  const event = await watch(
    fixture, fixture.connect(), [{ kind: 'token-stats', mint: fixture.mint('KELP'), everyMs: 5_000 }],
  )
    .until(({ kind }) => kind === 'token-stats');
  return event as TokenStats;
}

export const prices: Trap = {
  number: 10,
  title: 'the price of a token’s record is missing, is old, or is far from the market',
  plays: [
    {
      says: 'a missing price or statistic stays missing, never 0; a limit that needs it denies',
      profiles: ['reference', 'live'],
      async play(fixture) {
        await fixture.fault({
          path: SEARCH, fault: { kind: 'patch', remove: ['/*/usdPrice', '/*/stats5m', '/*/stats1h/priceChange'] },
        });
        const stats = await kelpStats(fixture);
        expect(Object.keys(stats.values)).not.toContain('usdPrice');
        expect(Object.keys(stats.values).filter((name) => name.startsWith('5m.') || name === '1h.priceChange'))
          .toEqual([]);
        expect(stats.values['1h.buyVolume']).toBeGreaterThan(0);
        const { records: [record] } = await fixture.service.tokens.search([fixture.mint('KELP')]);
        expect(record!.values.usdPrice).toBeUndefined();

        const kelp = fixture.mint('KELP');
        const state = createState({
          tokens: tokenTable([
            { symbol: 'SOL', mint: SOL, decimals: 9 }, { symbol: 'USDC', mint: USDC, decimals: 6 },
            { symbol: 'KELP', mint: kelp, decimals: 9 },
          ]),
          limits: { ...WIDE, maxTrade: { mint: USDC, amount: amount(50_000_000n) } },
          strategies: [strategySetup('diver', { budget: { mint: kelp, amount: amount(1_000_000_000_000n) } })],
          snapshot: freshSnapshot(new Map([[kelp, amount(1_000_000_000_000n)], [SOL, amount(1_000_000_000n)]])),
        });
        apply(state, stats);
        const sell =
          { kind: 'swap', inputMint: kelp, outputMint: SOL, amount: amount(1_000_000_000n), reason: 'a trap' } as const;
        expect(propose(state, sell).denial).toMatchObject({ code: 'VALUE_UNKNOWN' });
      },
    },
    {
      says: 'the event carries the time of the record beside the time of its arrival',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const old = '2026-01-02T03:04:05.123456789Z';
        await fixture.fault({
          path: SEARCH, fault: { kind: 'patch', set: { '/*/updatedAt': old, '/*/priceBlockId': 1 } },
        });
        const stats = await kelpStats(fixture);
        expect(stats.eventAt).toBe(Date.UTC(2026, 0, 2, 3, 4, 5, 123));
        expect(stats.receivedAt).toBeGreaterThan(stats.eventAt!);
        expect(stats.values.priceBlockId).toBe(1);
      },
    },
    {
      says:
        'a quote far from the market is refused, in whichever scale its impact is stated',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const murk = fixture.mint('MURK');
        const trader = await newTrader(fixture, [[SOL, 1_000_000_000n], [murk, 3_000_000_000_000n]]);
        const units = 1_000_000_000_000n;
        const { records: [record] } = await fixture.service.tokens.search([murk]);
        const atRecordPrice = record!.values.usdPrice! * (Number(units) / 10 ** 6);
        const request = { inputMint: murk, outputMint: USDC, amount: amount(units) };
        const quote = await fixture.service.swap.order(request);
        expect(Number(quote.outAmount) / 10 ** 6 / atRecordPrice).toBeLessThan(0.95);
        expect(quote.priceImpact).toBeCloseTo(Number(quote.outAmount) / 10 ** 6 / atRecordPrice - 1, 2);
        const wire = await fixture.get(ORDER, { inputMint: murk, outputMint: USDC, amount: units.toString() });
        expect(wire.body.priceImpact / quote.priceImpact!).toBeCloseTo(fixture.profile === 'live' ? 100 : 1, 1);

        const intent = { inputMint: murk, outputMint: USDC, amountIn: units as Amount, maxFeeBps: 500 as Bps };
        await trader.refused(/^IMPACT_EXCEEDS_MAX$/, trader.intent(intent));
        await trader.refused(/^IMPACT_EXCEEDS_MAX$/, trader.intent({ ...intent, route: 'build' }));
        // An answer that denies the impact is contradicted by its own dollar values.
        await fixture.fault({
          path: ORDER, fault: { kind: 'patch', set: { '/priceImpact': 0, '/priceImpactPct': '0' } },
        });
        await trader.refused(/^IMPACT_EXCEEDS_MAX$/, trader.intent(intent));
      },
    },
    {
      says:
        'an impact of 0.01 percent in percent is not read as 1 percent: the dollar values determine the scale',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const trader = await newTrader(fixture);
        const pearl = { outputMint: fixture.mint('PEARL'), amountIn: 100_000_000n as Amount };
        await fixture.fault({ path: ORDER, fault: { kind: 'patch', remove: ['/priceImpactPct'] } });
        const quote = await fixture.service.swap.order({
          inputMint: USDC, outputMint: pearl.outputMint, amount: amount(pearl.amountIn),
        });
        expect(quote.priceImpact).toBeCloseTo(quote.outUsdValue! / quote.inUsdValue! - 1, 6);
        expect((await trader.carryOut(trader.intent({ ...pearl, maxPriceImpactBps: 30 as Bps }))).last.state)
          .toBe('confirmed');
      },
    },
    {
      says: 'a missing impact counts as too high',
      async play(fixture) {
        const trader = await newTrader(fixture);
        await fixture.fault({
          path: ORDER,
          fault: { kind: 'patch', remove: ['/priceImpact', '/priceImpactPct', '/inUsdValue', '/outUsdValue'] },
        });
        await trader.refused(/^IMPACT_UNKNOWN$/);
      },
    },
  ],
};
