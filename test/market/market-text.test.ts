import { describe, expect, it } from 'vitest';
import type { FeedKey } from '../../src/market/event.ts';
import { describeFeeds, withTokenNames } from '../../src/market/market-text.ts';
import { FISH, KELP, SOL, TOKENS, USDC } from './tokens.ts';

const quote = (from: string, to: string, amount: string): FeedKey => `quote:${from}:${to}:${amount}`;

describe('the text of several feeds', () => {
  it('lists the sizes of each pair in order, then statistics, then books', () => {
    expect(describeFeeds(TOKENS, [
      'order-book:TIDE', quote(USDC.mint, SOL.mint, '100000000'), quote(SOL.mint, USDC.mint, '500000000'),
      `token-stats:${FISH.mint}`, quote(USDC.mint, SOL.mint, '25000000'), quote(USDC.mint, SOL.mint, '2000000000'),
      `token-stats:${KELP.mint}`, 'order-book:540817',
    ])).toBe('the price of 25, 100 and 2000 USDC in SOL; the price of 0.5 SOL in USDC; the statistics of FISH and '
      + 'KELP; the order books of TIDE and 540817');
  });

  it('tells complete quotes from prices', () => {
    const detail = `quote-detail:${USDC.mint}:${SOL.mint}:25000000`;
    expect(describeFeeds(TOKENS, [quote(USDC.mint, SOL.mint, '25000000'), detail]))
      .toBe('the price of 25 USDC in SOL; the complete quote of 25 USDC in SOL');
    expect(withTokenNames(TOKENS, `${detail} is late`)).toBe('the complete quote of 25 USDC in SOL is late');
  });

  it('uses the singular for one, is empty for none, and names unknown tokens by mint', () => {
    expect(describeFeeds(TOKENS, ['order-book:TIDE'])).toBe('the order book of TIDE');
    expect(describeFeeds(TOKENS, [])).toBe('');
    expect(describeFeeds(TOKENS, [quote('Mint', USDC.mint, '7'), quote('Mint', USDC.mint, '70')]))
      .toBe('the price of 7 and 70 raw of Mint in USDC');
  });
});
