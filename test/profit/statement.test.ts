import { describe, expect, it } from 'vitest';
import { dayOf, startOf } from '../../src/profit/figures.ts';
import type { Booked } from '../../src/profit/ledger.ts';
import { ProfitLedger } from '../../src/profit/ledger.ts';
import { lastPricing } from '../../src/profit/prices.ts';
import { ProfitResults } from '../../src/profit/results.ts';
import { profitStatement } from '../../src/profit/statement.ts';
import { csvText, taxCsv } from '../../src/profit/tax-csv.ts';
import { tradesOf } from '../../src/profit/trades.ts';
import type { SettledSwap } from '../../src/store/fill-records.ts';
import { USD } from '../../src/store/history.ts';
import { FISH, SOL, TOKENS, USDC } from '../market/tokens.ts';
import { START, failureOf, swapOf } from './swaps.ts';

const DAY = 86_400_000;
const usdc = (whole: number): bigint => BigInt(Math.round(whole * 1e6));
const sol = (whole: number): bigint => BigInt(Math.round(whole * 1e9));
const FEE = { feeValue: usdc(0.001), feeUsd: usdc(0.001) };

/** Bought 40 days ago, and sold in thirds: 20 days, 3 days and an hour ago. A third is left. */
const SWAPS: readonly SettledSwap[] = [
  swapOf({
    from: USDC.mint, to: SOL.mint, pays: usdc(400), gets: sol(4), at: START - 40 * DAY, fee: 5_000n, rent: 2_039_280n,
    values: FEE,
  }),
  ...[[20, 110], [3, 90], [1 / 24, 130]].map(([ago, gets]) => swapOf({
    from: SOL.mint, to: USDC.mint, pays: sol(1), gets: usdc(gets!), at: START - ago! * DAY, fee: 5_000n, values: FEE,
    rent: ago === 3 ? -2_039_280n : 0n,
  })),
  failureOf(7_000n),
];

function books(): { ledger: ProfitLedger; results: ProfitResults; booked: readonly Booked[] } {
  const ledger = new ProfitLedger({ dip: { mint: USDC.mint, amount: usdc(500) } }, []);
  const results = new ProfitResults();
  const booked = SWAPS.map((swap) => ledger.add(swap));
  for (const each of booked) results.add(each);
  return { ledger, results, booked };
}

const PRICING = lastPricing([
  { input: SOL.mint, output: USDC.mint, at: START - 5, amountIn: sol(2), amountOut: usdc(300) },
]);

function statement() {
  return profitStatement({
    ...books(), mode: 'paper', at: START, tokens: TOKENS, pricing: PRICING,
    adjustments: [5_000_000n, -2_000_000n].map((change) =>
      ({ at: START, mint: USDC.mint, change: change.toString(), cause: 'deposit', reason: 'a transfer' })),
  });
}

describe('the statement of profit', () => {
  it('sums up UTC days: today, 7 days, 30 days and all, the present day included', () => {
    expect(new Date(startOf('today', START)).toISOString()).toBe('2026-11-23T00:00:00.000Z');
    expect(new Date(startOf('week', START)).toISOString()).toBe('2026-11-17T00:00:00.000Z');
    const { total } = statement();
    // Each sold SOL cost 100: 130 today, 130 + 90 in a week, 130 + 90 + 110 in a month.
    expect(Object.fromEntries(Object.entries(total).map(([name, [own]]) => [name, own!.realised.text])))
      .toStrictEqual({ today: '30', week: '20', month: '30', all: '30' });
    expect(total.all[0]).toMatchObject({
      currency: 'USDC', swaps: 4, failed: 1, trades: 3, won: 2, lost: 1, without_cost: 0,
      fees: { text: '0.004', units: '4000', symbol: 'USDC' }, net: { text: '29.996' },
      fees_sol: { units: '27000' }, fees_without_value_sol: { units: '7000' },
      rent_paid_sol: { text: '0.00203928' }, rent_returned_sol: { text: '0.00203928' },
    });
  });

  it('says what is held, at the last prices, and who moved what', () => {
    const { positions, unrealised, prices, transfers, mode } = statement();
    expect(mode).toBe('paper');
    expect(positions).toMatchObject([{
      strategy: 'dip', token: 'SOL', quantity: { text: '1' }, since: START - 40 * DAY, cost: { text: '100' },
      value: { text: '150' }, unrealised: { text: '50' },
    }]);
    expect(unrealised).toStrictEqual(
      [{ currency: 'USDC', amount: { text: '50', units: '50000000', symbol: 'USDC' } }]);
    expect(prices).toStrictEqual({ source: 'last', at: START - 5 });
    expect(transfers).toMatchObject([{ token: 'USDC', deposits: { text: '5' }, withdrawals: { text: '2' } }]);
  });

  it('values by the opposite quote and by dollars, and not at all without a price', () => {
    const at = START;
    const one = lastPricing([
      { input: USDC.mint, output: SOL.mint, at, amountIn: usdc(150), amountOut: sol(1) },
      { input: FISH.mint, output: USD, at: at - 1, amountIn: 100_000n, amountOut: 2n * 10n ** 12n },
      { input: USDC.mint, output: USD, at, amountIn: 1_000_000n, amountOut: 10n ** 12n },
    ]);
    expect(one.usedAt()).toBeUndefined();
    expect(one.valueOf(SOL.mint, sol(2), USDC.mint)).toBe(usdc(300));
    expect(one.valueOf(FISH.mint, 50_000n, USDC.mint)).toBe(usdc(1));
    expect(one.valueOf(FISH.mint, 1n, SOL.mint)).toBeUndefined();
    expect(one.usedAt()).toBe(at - 1);
    expect(lastPricing([]).source).toBe('none');
  });

  it('lists trades, newest first, with entry, exit, duration and reason', () => {
    const trades = tradesOf(books().booked, TOKENS);
    expect(trades.map(({ profit }) => profit!.text)).toStrictEqual(['30', '-10', '10']);
    expect(trades[0]).toMatchObject({
      strategy: 'dip', token: 'SOL', entered_at: START - 40 * DAY, exited_at: START - DAY / 24, reason: 'a test',
      duration_ms: 40 * DAY - DAY / 24, cost: { text: '100' }, proceeds: { text: '130' }, return: 0.3,
      fee: { text: '0.001' },
    });
    expect(tradesOf(books().booked, TOKENS, { since: START - 10 * DAY })).toHaveLength(2);
    expect(tradesOf(books().booked, TOKENS, { strategy: 'other' })).toStrictEqual([]);
  });

  it('has a line a day', () => {
    const days = books().results.total.days(TOKENS);
    expect(days.map(({ day, realised, swaps }) => [day, realised.text, swaps])).toStrictEqual([
      [dayOf(START - 40 * DAY), '0', 1], [dayOf(START - 20 * DAY), '10', 1], [dayOf(START - 3 * DAY), '-10', 1],
      [dayOf(START), '30', 1],
    ]);
  });
});

describe('the file for a tax return', () => {
  it('has every acquisition and disposal, and its sums agree with the profit', () => {
    const [heading, ...rows] = taxCsv(books().booked, [], TOKENS).trim().split('\r\n').map((line) => line.split(','));
    const column = (name: string, row: readonly string[]): string => row[heading!.indexOf(name)]!;
    const of = (type: string, token: string): string[][] =>
      rows.filter((row) => column('type', row) === type && column('token', row) === token);
    expect(of('disposal', 'SOL').map((row) =>
      ['quantity', 'proceeds_usd', 'cost_usd', 'gain_usd'].map((name) => column(name, row))))
      .toStrictEqual([['1', '110', '100', '10'], ['1', '90', '100', '-10'], ['1', '130', '100', '30']]);
    expect(of('acquisition', 'SOL')).toHaveLength(1);
    // USDC counts as one dollar: to spend it is no gain.
    expect(of('disposal', 'USDC').map((row) => column('gain_usd', row))).toStrictEqual(['0']);
    expect(of('fee', 'SOL').map((row) => [column('fee_sol', row), column('fee_usd', row)])).toStrictEqual(
      [...Array.from({ length: 4 }, () => ['0.000005', '0.001']), ['0.000007', '']]);
    expect([...of('rent paid', 'SOL'), ...of('rent returned', 'SOL')]).toHaveLength(2);
  });

  it('keeps spreadsheets from taking a cell for a formula, and escapes what is hostile', () => {
    expect(csvText([['=1+1', '+a', '-a', '@a', '-1.5', 'a,"b"', 'a\u202eb\n=c']]))
      .toBe('\'=1+1,\'+a,\'-a,\'@a,-1.5,"a,""b""",a\\u202eb\\u000a=c\r\n');
  });
});
