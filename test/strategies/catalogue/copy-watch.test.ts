import { describe, expect, it } from 'vitest';
import copyWatch from '../../../strategies/copy-watch.ts';
import { paramErrors } from '../../../src/testing/index.ts';
import type { HistoryRecord, PredictionHistoryEvent, WalletTransaction } from '../../../src/strategy/index.ts';
import { SOL_MINT, USDC_MINT } from '../../../src/market/token.ts';
import type { WalletActivityEvent } from '../../../src/market/wallet-activity.ts';
import { buyingSol } from '../../market/events.ts';
import { FISH, KELP, SOL, USDC } from '../../market/tokens.ts';
import { trial } from './trial.ts';

const [WALLET, OWNER] = [FISH.mint, KELP.mint];
const COPY = { wallets: [WALLET], copy: { pair: 'SOL/USDC', size: '25 USDC' } };

/** Transactions that a poll at a second found. */
const found = (second: number, ...transactions: readonly WalletTransaction[]): WalletActivityEvent => ({
  kind: 'wallet-activity', feed: `wallet-activity:${WALLET}`, receivedAt: second * 1_000, owner: WALLET, transactions,
});
/** A swap of the wallet: whole SOL and USDC that it got, or gave where negative. */
const swap = (
  signature: string, sol: number, usdc: number, change: Partial<WalletTransaction> = {},
): WalletTransaction => ({
  signature, slot: 1, hasFailed: false, isSigner: true, changes: [
    { mint: SOL.mint, amount: BigInt(sol * 1e9), decimals: 9 },
    { mint: USDC.mint, amount: BigInt(usdc * 1e6), decimals: 6 },
  ].filter(({ amount }) => amount !== 0n), ...change,
});
const price = (second: number) => buyingSol(150_000, second * 1_000 + 500);
const short = (text: string): string => `${text.slice(0, 4)}…${text.slice(-4)}`;
const [SOL_TEXT, USDC_TEXT] = [short(SOL_MINT), short(USDC_MINT)];
const swaps = (said: readonly string[]): string[] => said.filter((text) => text.includes('>'));

describe('copy watch of a wallet', () => {
  it('tells each transaction that the wallet signed, by what it changed', () => {
    const said = trial(copyWatch, { wallets: [WALLET] })
      .show(found(1), found(2, swap('a', 0.5, -75), swap('b', -0.000005, 0))).said();
    expect(said).toEqual([
      `2 alert ${short(WALLET)}: +0.5 ${SOL_TEXT}, -75 ${USDC_TEXT}`, `2 alert ${short(WALLET)}: -0.000005 ${SOL_TEXT}`,
    ]);
  });

  it('tells nothing that others sent to it, that failed, or that changed nothing', () => {
    const quiet = [
      swap('a', 5, 0, { isSigner: false }), swap('b', 0.5, -75, { hasFailed: true }), swap('c', 0, 0),
    ];
    expect(trial(copyWatch, COPY).show(price(0), found(1, ...quiet)).said()).toEqual([]);
  });

  it('copies a purchase with its own size, each once, and the first sale ends the position', () => {
    const said = trial(copyWatch, COPY).show(
      price(0), found(1, swap('a', 2, -300)), price(1), found(2, swap('a', 2, -300), swap('b', 1, -150)), price(2),
      found(3, swap('c', -0.1, 15)), price(3), price(4),
    ).said();
    expect(swaps(said)).toEqual(['1 USDC>SOL', '2 USDC>SOL', '3.5 SOL>USDC']);
  });

  it('copies swaps of the pair alone: no transfer, no fee, no swap of another token', () => {
    const others = [
      swap('a', 3, 0), swap('b', -0.000005, 0), swap('c', 0, -75), swap('d', 0.5, 75),
      { ...swap('e', 0, -75), changes: [{ mint: KELP.mint, amount: 9n }, { mint: USDC.mint, amount: -75_000_000n }] },
    ];
    expect(swaps(trial(copyWatch, COPY).show(price(0), found(1, ...others), price(1)).said())).toEqual([]);
  });

  it('alerts alone without a size to copy', () => {
    expect(swaps(trial(copyWatch, { wallets: [WALLET] }).show(found(1, swap('a', 2, -300))).said())).toEqual([]);
  });

  it('repeats no transaction after a restart, and sells what it had copied', () => {
    const first = trial(copyWatch, COPY).show(price(0), found(1, swap('a', 2, -300)), price(1));
    const second = first.restarted().show(price(2), found(3, swap('a', 2, -300)), price(3));
    expect(second.said()).toEqual([]);
    const third = second.restarted().show(price(4), found(5, swap('b', -2, 300)), price(5));
    expect(swaps(third.said())).toEqual(['5.5 SOL>USDC']);
    expect(swaps(third.restarted().show(price(6), price(7)).said())).toEqual([]);
  });
});

const entry = (id: number, change: Partial<HistoryRecord> = {}): HistoryRecord => ({
  id, eventType: 'order_filled', timestamp: 0, marketId: 'M', isYes: true, totalCostUsd: 25_500_000n as never,
  ...change,
});
const ledger = (second: number, ...ids: readonly (number | HistoryRecord)[]): PredictionHistoryEvent => ({
  kind: 'prediction-history', feed: `prediction-history:${OWNER}`, receivedAt: second * 1_000, owner: OWNER,
  entries: ids.map((id) => (typeof id === 'number' ? entry(id) : id)), total: ids.length,
});
const told = (second: number, text = 'order filled, YES of M, $25.50') => `${second} alert ${short(OWNER)}: ${text}`;

describe('copy watch of a prediction account', () => {
  it('tells new entries, oldest first; what was there before the start is no news', () => {
    const said = trial(copyWatch, { owners: [OWNER] })
      .show(ledger(1, 5, 4), ledger(2, 5, 4), ledger(3, entry(7, { isYes: false }), 6, 5)).said();
    expect(said).toEqual([told(3), told(3, 'order filled, NO of M, $25.50')]);
  });

  it('begins with an account that has no entries', () => {
    expect(trial(copyWatch, { owners: [OWNER] }).show(ledger(1), ledger(2, 1)).said()).toEqual([told(2)]);
  });

  it('repeats none that a shifted page shows again, and none after a restart', () => {
    const first = trial(copyWatch, { owners: [OWNER] })
      .show(ledger(1, 5), ledger(2, 6, 5), ledger(3, 5, 4), ledger(4, 6, 5));
    expect(first.said()).toEqual([told(2)]);
    expect(first.restarted().show(ledger(5, 7, 6, 5)).said()).toEqual([told(5)]);
  });

  it('leaves out what is smaller than min_usd; a figure that is absent is none', () => {
    const small = entry(6, { totalCostUsd: 9_990_000n as never });
    const { totalCostUsd: _cost, ...blank } = entry(7, { eventType: 'order_failed' });
    const claimed = { ...blank, id: 8, eventType: 'payout_claimed', payoutAmountUsd: 10_000_000n as never };
    expect(trial(copyWatch, { owners: [OWNER] }).show(ledger(1, 5), ledger(2, claimed, blank, small, 5)).said())
      .toEqual([told(2, 'payout claimed, YES of M, $10.00')]);
  });

  it('refuses parameters that make no sense', () => {
    expect(paramErrors(copyWatch, {})).toEqual(['wallets: expected a wallet here, or an account in owners']);
    const others = [{ wallets: ['me'] }, { ...COPY, copy: { pair: 'SOL/USDC' } }, { owners: [OWNER], min_usd: -1 }];
    for (const wrong of others) expect(paramErrors(copyWatch, wrong)).toHaveLength(1);
  });
});
