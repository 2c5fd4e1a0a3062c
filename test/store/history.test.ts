import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { Mint } from '../../src/market/token.ts';
import type { HistorySample } from '../../src/store/history-rows.ts';
import type { HistoryStore } from '../../src/store/history.ts';
import { ALL_STRATEGIES, openHistoryReader, USD } from '../../src/store/history.ts';
import { SOL, USDC } from '../market/tokens.ts';
import { temporaryFolder, temporaryHistory } from './fixtures.ts';
import { NO_SMALL_DISK, smallDisk } from './small-disk.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 0, 1);

function sample(at: number, value: bigint, rest: Partial<HistorySample> = {}): HistorySample {
  const equity = { strategy: ALL_STRATEGIES, currency: USDC.mint, value, deposits: 100n, holding: 2n ** 64n - 1n };
  const price = { input: SOL.mint, output: USDC.mint, amountIn: 10n ** 9n, amountOut: value };
  return { at, equity: [equity], prices: [price], ...rest };
}

const values = (history: HistoryStore, from: number | undefined, to: number, limit: number): bigint[] =>
  history.equity(ALL_STRATEGIES, { from, to, limit })?.points.map(({ value }) => value) ?? [];

const prices = (count: number, from = 0): HistorySample['prices'] => Array.from({ length: count }, (_, index) =>
  ({ input: `Mint${from + index}` as Mint, output: USD, amountIn: 1n, amountOut: 1n }));

describe('the history of equity and prices', () => {
  it('gives exact amounts back, and is there after a restart', () => {
    const path = join(temporaryFolder(), 'history.sqlite');
    const { history } = temporaryHistory(path);
    history.add(sample(START, 7n, {
      equity: [{ strategy: 'dip', currency: SOL.mint, value: 2n ** 64n - 1n, deposits: 3n, holding: undefined }],
      prices: [{ input: SOL.mint, output: USD, amountIn: 10n ** 9n, amountOut: 150n * 10n ** 12n }],
      funding: [{ strategy: 'dip', currency: USDC.mint, mint: SOL.mint, amount: 3n, value: -4n }],
    }));
    history.close();
    const { history: again, faults } = temporaryHistory(path);
    expect(again.equity('dip', { to: START, limit: 9 }), 'reads alone open nothing').toBeUndefined();
    expect(again.funding()).toStrictEqual(
      [{ strategy: 'dip', currency: USDC.mint, mint: SOL.mint, amount: 3n, value: -4n }]);
    expect(again.equity('dip', { to: START, limit: 9 })).toStrictEqual({
      currency: SOL.mint, points: [{ at: START, value: 2n ** 64n - 1n, deposits: 3n, holding: undefined }],
    });
    expect(again.equity('other', { to: START, limit: 9 })).toBeUndefined();
    expect(again.prices({ input: SOL.mint, output: USD }, { to: START, limit: 9 }))
      .toStrictEqual([{ at: START, amountIn: 10n ** 9n, amountOut: 150n * 10n ** 12n }]);
    expect(faults).toStrictEqual([]);
  });

  it('keeps minutes for two days, quarter hours for thirty, and hours after that', () => {
    const { history } = temporaryHistory();
    // 40 days of a sample each five minutes; the value counts minutes.
    const days = 40;
    for (let at = 0; at <= days * DAY; at += 5 * MINUTE) history.add(sample(START + at, BigInt(at / MINUTE)));
    const end = START + days * DAY;
    const steps = (from: number, to: number): number[] => {
      const got = values(history, from, to, 100_000).map(Number);
      return [...new Set(got.slice(1).map((value, index) => value - got[index]!))];
    };
    expect(steps(end - DAY, end)).toStrictEqual([5]);
    expect(steps(end - 20 * DAY, end)).toStrictEqual([15]);
    expect(steps(START, end)).toStrictEqual([60]);
    expect(values(history, undefined, end, 100_000)).toHaveLength(days * 24 + 1);
  });

  it('returns no more points than asked for: the last of each part, and the newest of all', () => {
    const { history } = temporaryHistory();
    for (let minute = 0; minute < 1_500; minute++) history.add(sample(START + minute * MINUTE, BigInt(minute)));
    const end = START + 1_499 * MINUTE + 30_000;
    for (const limit of [1, 2, 7, 100, 500]) {
      const got = values(history, START, end, limit);
      expect(got.length).toBeLessThanOrEqual(limit);
      expect(got.at(-1)).toBe(1_499n);
      expect(got).toStrictEqual(got.toSorted((a, b) => Number(a - b)));
    }
    // 1,440 minutes in parts of three: 02, 05, 08 …
    expect(values(history, END_OF_DAY - DAY, END_OF_DAY - 1, 480).slice(0, 3)).toStrictEqual([2n, 5n, 8n]);
    // A young history is shown in minutes, whatever range is asked for.
    expect(values(history, end - 3_650 * DAY, end, 1_500)).toHaveLength(1_500);
  });

  it('knows the newest price of each pair', () => {
    const path = join(temporaryFolder(), 'history.sqlite');
    const { history } = temporaryHistory(path);
    history.add(sample(START, 150n));
    history.add(sample(START + 20 * MINUTE, 151n));
    history.add(sample(START + 40 * MINUTE, 0n, { prices: [] }));
    const price = {
      input: SOL.mint, output: USDC.mint, at: START + 20 * MINUTE, amountIn: 10n ** 9n, amountOut: 151n,
    };
    expect(history.lastPrices()).toStrictEqual([price]);
    const reader = openHistoryReader(path)!;
    expect(reader.lastPrices()).toStrictEqual([price]);
    reader.close();
    // Minutes are gone after two days, the price is still known.
    for (let day = 1; day < 5; day++) history.add(sample(START + day * DAY, 0n, { prices: [] }));
    expect(history.lastPrices()).toStrictEqual([{ ...price, at: START, amountOut: 150n }]);
  });

  it('sets a broken file aside, begins again, and says so once', () => {
    const path = join(temporaryFolder(), 'history.sqlite');
    writeFileSync(path, 'not a database, and longer than the header of one'.repeat(10));
    const { history, faults } = temporaryHistory(path);
    history.add(sample(START, 1n));
    expect(values(history, undefined, START, 9)).toStrictEqual([1n]);
    expect(faults).toStrictEqual([expect.stringContaining(`it is now ${path}.broken`)]);
    expect(readFileSync(`${path}.broken`, 'utf8')).toContain('not a database');
  });

  it('sets a file aside that lost its pages', () => {
    const path = join(temporaryFolder(), 'history.sqlite');
    const { history } = temporaryHistory(path);
    for (let minute = 0; minute < 100; minute++) history.add(sample(START + minute * MINUTE, 1n));
    history.close();
    const bytes = readFileSync(path);
    writeFileSync(path, Buffer.concat([bytes.subarray(0, 4_096), Buffer.alloc(bytes.length - 4_096, 0xff)]));
    const { history: again, faults } = temporaryHistory(path);
    again.add(sample(START + DAY, 2n));
    expect(values(again, undefined, START + DAY, 9)).toStrictEqual([2n]);
    expect(faults).toHaveLength(1);
    expect(existsSync(`${path}.broken`)).toBe(true);
  });

  it('leaves a sample out, rather than wait, while another program holds the file', () => {
    const path = join(temporaryFolder(), 'history.sqlite');
    const { history, faults } = temporaryHistory(path);
    history.add(sample(START, 1n));
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    const began = performance.now();
    history.add(sample(START + MINUTE, 2n));
    expect(performance.now() - began).toBeLessThan(4_000);
    expect(faults).toStrictEqual([expect.stringMatching(/cannot be kept: .*locked/)]);
    other.exec('ROLLBACK');
    other.close();
    history.add(sample(START + 2 * MINUTE, 3n));
    expect(values(history, undefined, START + HOUR, 9)).toStrictEqual([1n, 3n]);
  });

  it('refuses to read another file', () => {
    const folder = temporaryFolder();
    expect(openHistoryReader(join(folder, 'none.sqlite'))).toBeUndefined();
    writeFileSync(join(folder, 'other.sqlite'), 'another file'.repeat(100));
    expect(() => openHistoryReader(join(folder, 'other.sqlite')))
      .toThrow(expect.objectContaining({ code: 'HISTORY_INVALID' }));
  });

  it('keeps at most 300 series: a new one replaces one without samples for two days', () => {
    const { history } = temporaryHistory();
    history.add({ at: START, equity: [], prices: prices(310) });
    expect(history.lastPrices()).toHaveLength(300);
    history.add({ at: START + 3 * DAY, equity: [], prices: [...prices(299), ...prices(5, 1_000)] });
    const names = history.lastPrices().map(({ input }) => input);
    expect(names).toHaveLength(300);
    expect(names).toContain('Mint1000');
    expect(names).not.toContain('Mint299');
  });

  it.skipIf(NO_SMALL_DISK !== undefined)('leaves samples out on a full disk, and goes on when there is room', () => {
    const disk = smallDisk();
    const path = join(disk.dir, 'history.sqlite');
    const { history, faults } = temporaryHistory(path);
    history.add(sample(START, 1n));
    disk.fill();
    const many = Array.from({ length: 290 }, (_, index) =>
      ({ input: `Mint${index}` as Mint, output: USD, amountIn: 1n, amountOut: 1n } as const));
    for (let minute = 1; minute < 20; minute++)
      history.add({ ...sample(START + minute * MINUTE, 2n), prices: many });
    expect(faults).toHaveLength(1);
    disk.clear();
    history.add(sample(START + HOUR, 3n));
    expect(values(history, undefined, START + HOUR, 100).at(-1)).toBe(3n);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});

const END_OF_DAY = START + DAY;
