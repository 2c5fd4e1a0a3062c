import { expect } from 'vitest';
import type { Amount, Bps } from '../../src/core/amount.ts';
import { amount } from '../../src/core/amount.ts';
import type { TokenStats } from '../../src/market/token-stats.ts';
import { tokenTable } from '../../src/market/token.ts';
import { createState, freshSnapshot } from '../../src/trading/state.ts';
import { apply, propose, strategySetup, WIDE } from '../trading/states.ts';
import { watch } from './feeds.ts';
import type { Trap } from './trap.ts';
import { newTrader } from './trader.ts';
import type { TrapWorld } from './world.ts';
import { ORDER, SOL, USDC } from './world.ts';

const SEARCH = '/ultra/v1/search';

/** Returns the statistics of KELP, as a feed brings them. */
async function kelpStats(world: TrapWorld): Promise<TokenStats> {
  const event = await watch(world, world.connect(), [{ kind: 'token-stats', mint: world.mint('KELP'), everyMs: 5_000 }])
    .until(({ kind }) => kind === 'token-stats');
  return event as TokenStats;
}

export const prices: Trap = {
  number: 10,
  title: 'the price of a token’s record is missing, is old, or is far from what anybody pays',
  plays: [
    {
      says: 'a missing price or statistic stays missing, never 0; a limit that needs it denies',
      profiles: ['reference', 'live'],
      async play(world) {
        await world.fault({
          path: SEARCH, fault: { kind: 'patch', remove: ['/*/usdPrice', '/*/stats5m', '/*/stats1h/priceChange'] },
        });
        const stats = await kelpStats(world);
        expect(Object.keys(stats.values)).not.toContain('usdPrice');
        expect(Object.keys(stats.values).filter((name) => name.startsWith('5m.') || name === '1h.priceChange'))
          .toEqual([]);
        expect(stats.values['1h.buyVolume']).toBeGreaterThan(0);
        const { records: [record] } = await world.service.tokens.search([world.mint('KELP')]);
        expect(record!.values.usdPrice).toBeUndefined();

        const kelp = world.mint('KELP');
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
      says: 'a record says how old it is: the event carries that instant beside the one at which it came',
      profiles: ['reference', 'live'],
      async play(world) {
        const old = '2026-01-02T03:04:05.123456789Z';
        await world.fault({
          path: SEARCH, fault: { kind: 'patch', set: { '/*/updatedAt': old, '/*/priceBlockId': 1 } },
        });
        const stats = await kelpStats(world);
        expect(stats.eventAt).toBe(Date.UTC(2026, 0, 2, 3, 4, 5, 123));
        expect(stats.receivedAt).toBeGreaterThan(stats.eventAt!);
        expect(stats.values.priceBlockId).toBe(1);
      },
    },
    {
      says:
        'a price that nobody pays: the swap is judged by its quote, in whichever scale the impact is told, and refused',
      profiles: ['reference', 'live'],
      async play(world) {
        const murk = world.mint('MURK');
        const trader = await newTrader(world, [[SOL, 1_000_000_000n], [murk, 3_000_000_000_000n]]);
        const units = 1_000_000_000_000n;
        const { records: [record] } = await world.service.tokens.search([murk]);
        const atRecordPrice = record!.values.usdPrice! * (Number(units) / 10 ** 6);
        const request = { inputMint: murk, outputMint: USDC, amount: amount(units) };
        const quote = await world.service.swap.order(request);
        expect(Number(quote.outAmount) / 10 ** 6 / atRecordPrice).toBeLessThan(0.95);
        expect(quote.priceImpact).toBeCloseTo(Number(quote.outAmount) / 10 ** 6 / atRecordPrice - 1, 2);
        const wire = await world.get(ORDER, { inputMint: murk, outputMint: USDC, amount: units.toString() });
        expect(wire.body.priceImpact / quote.priceImpact!).toBeCloseTo(world.profile === 'live' ? 100 : 1, 1);

        const intent = { inputMint: murk, outputMint: USDC, amountIn: units as Amount, maxFeeBps: 500 as Bps };
        await trader.refused(/^IMPACT_EXCEEDS_MAX$/, trader.intent(intent));
        await trader.refused(/^IMPACT_EXCEEDS_MAX$/, trader.intent({ ...intent, route: 'build' }));
        // An answer that denies the impact is contradicted by its own dollar values.
        await world.fault({
          path: ORDER, fault: { kind: 'patch', set: { '/priceImpact': 0, '/priceImpactPct': '0' } },
        });
        await trader.refused(/^IMPACT_EXCEEDS_MAX$/, trader.intent(intent));
      },
    },
    {
      says:
        'a hundredth of a percent that is told in percent is not taken for a percent: the dollar values tell the scale',
      profiles: ['reference', 'live'],
      async play(world) {
        const trader = await newTrader(world);
        const pearl = { outputMint: world.mint('PEARL'), amountIn: 100_000_000n as Amount };
        await world.fault({ path: ORDER, fault: { kind: 'patch', remove: ['/priceImpactPct'] } });
        const quote = await world.service.swap.order({
          inputMint: USDC, outputMint: pearl.outputMint, amount: amount(pearl.amountIn),
        });
        expect(quote.priceImpact).toBeCloseTo(quote.outUsdValue! / quote.inUsdValue! - 1, 6);
        expect((await trader.carryOut(trader.intent({ ...pearl, maxPriceImpactBps: 30 as Bps }))).last.state)
          .toBe('confirmed');
      },
    },
    {
      says: 'an impact that is not told at all is too much',
      async play(world) {
        const trader = await newTrader(world);
        await world.fault({
          path: ORDER,
          fault: { kind: 'patch', remove: ['/priceImpact', '/priceImpactPct', '/inUsdValue', '/outUsdValue'] },
        });
        await trader.refused(/^IMPACT_UNKNOWN$/);
      },
    },
  ],
};
