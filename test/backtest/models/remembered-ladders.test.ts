import { describe, expect, it } from 'vitest';
import { ladderAt } from '../../../src/backtest/models/market-ladder.ts';
import { rememberLadders } from '../../../src/backtest/models/remembered-ladders.ts';
import type { Bps } from '../../../src/core/amount.ts';
import type { Quote } from '../../../src/market/quote.ts';
import { MarketCache } from '../../../src/trading/market-cache.ts';
import { buyingSol, quote, sellingSol, stats, trouble } from '../../market/events.ts';
import { FISH, SOL, USDC } from '../../market/tokens.ts';

const HAIRCUT = { otherSideHaircutBps: 30 as Bps };
const ASKED = [[USDC, SOL], [SOL, USDC], [FISH, USDC]] as const;

const larger = (at: number): Quote => quote(USDC, SOL, { inAmount: 50_000_000n, outAmount: 390_000_000n, at });

describe('remembered ladders', () => {
  it('are those of the market after each event', () => {
    const market = new MarketCache();
    const lastLadder = rememberLadders(market, HAIRCUT);
    const events = [
      buyingSol(125_000, 1), buyingSol(126_000, 2), stats(SOL, 126, 3), larger(4), sellingSol(125_500, 5),
      trouble('quote:SOL:USDC', 6), larger(7), sellingSol(124_000, 8), buyingSol(124_500, 9), stats(FISH, 3, 10),
    ];
    const told = new Set<unknown>();
    for (const event of events) {
      market.observe(event);
      for (const [{ mint: inputMint }, { mint: outputMint }] of ASKED) {
        const made = ladderAt(market, { inputMint, outputMint, at: 10, maxAgeMs: Infinity, ...HAIRCUT });
        expect(lastLadder(inputMint, outputMint, 10)).toStrictEqual(made);
        told.add(made);
      }
    }
    expect(told).toContain('none');
  });

  it('are made once between two quotes of their tokens', () => {
    const market = new MarketCache();
    const lastLadder = rememberLadders(market, HAIRCUT);
    market.observe(buyingSol(125_000, 1));
    const [buying, selling] = [lastLadder(USDC.mint, SOL.mint, 1), lastLadder(SOL.mint, USDC.mint, 1)];
    market.observe(stats(SOL, 126, 2));
    expect(lastLadder(USDC.mint, SOL.mint, 2)).toBe(buying);
    expect(lastLadder(SOL.mint, USDC.mint, 2)).toBe(selling);
    market.observe(sellingSol(124_000, 3));
    expect(lastLadder(SOL.mint, USDC.mint, 3)).not.toEqual(selling);
  });
});
