import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { swapSchema } from '../../../src/config/strategies/swap-options.ts';
import { dialectNames } from '../../../src/service/wire/dialect.ts';
import { CASES } from './cases/index.ts';
import { faultOfCell } from './cells.ts';
import { casesOf, coveragePage } from './coverage.ts';
import { LIVE_RUN_IDS, NOT_SENT, liveRunKeys, liveRunOf } from './live-run.ts';
import { ROW_COUNTS } from './row-counts.ts';
import { ROWS } from './rows/index.ts';

/** Returns what stands in a list more than once. */
const twice = (list: readonly string[]): string[] => list.filter((item, place) => list.indexOf(item) !== place);

describe('the rows', () => {
  test('are as many in each section as the description has statements', () => {
    const counts = new Map<string, number>();
    for (const { section } of ROWS) counts.set(section, (counts.get(section) ?? 0) + 1);
    expect(Object.fromEntries(counts)).toEqual(ROW_COUNTS);
    expect([...counts.keys()]).toEqual(Object.keys(ROW_COUNTS));
  });

  test('have ids of their own', () => {
    expect(twice(ROWS.map(({ id }) => id))).toEqual([]);
  });

  test('have no empty cell', () => {
    const empty = ROWS.filter((row) =>
      Object.values(row).some((cell) => cell.trim() === '') || casesOf(row, CASES).length === 0);
    expect(empty.map(({ id }) => id)).toEqual([]);
  });

  test('name files, declarations and words that exist', () => {
    const faults = ROWS.flatMap((row) => [row.client, row.sandbox].flatMap((cell) => {
      const fault = faultOfCell(row, cell);
      return fault === undefined ? [] : [`${row.id}: ${fault}`];
    }));
    expect(faults).toEqual([]);
  });

  test('have cells whose places are verified', () => {
    const row = ROWS.find(({ id }) => id === 'order.receiver')!;
    expect(faultOfCell(row, row.client)).toBeUndefined();
    for (const [cell, fault] of [
      ['src/service/nowhere.ts createSwapV2', /no such file/],
      ['src/service/endpoints/swap-v2.ts createNothing', /declares no createNothing/],
      ['src/service/endpoints/lend.ts createLend', /says nothing of receiver/],
      ['src/service/endpoints/lend.ts createLend (pelican)', /says nothing of pelican/],
      ['not applicable: no', /a reason/], ['', /expected/], ['somewhere', /expected/],
    ] as const) expect(faultOfCell(row, cell), cell).toMatch(fault);
  });
});

describe('the cases', () => {
  test('cover rows that exist', () => {
    const known = new Set(ROWS.map(({ id }) => id));
    expect(CASES.flatMap(({ covers }) => covers.filter((id) => !known.has(id)))).toEqual([]);
    expect(CASES.filter(({ covers }) => covers.length === 0)).toEqual([]);
  });

  test('say each its own sentence within its profile', () => {
    expect(twice(CASES.map(({ says, profile, covers }) => `${profile ?? 'reference'} ${covers[0]}: ${says}`)))
      .toEqual([]);
  });

  test('are played in the neutral dialect and in another one', () => {
    expect(dialectNames()).toContain('neutral');
    expect(dialectNames().length).toBeGreaterThan(1);
  });
});

describe('the column "live run"', () => {
  test('names rows that exist, and says something of every parameter of an order and a build', () => {
    const known = new Set(ROWS.map(({ id }) => id));
    expect(LIVE_RUN_IDS.filter((id) => !known.has(id))).toEqual([]);
    const silent = ROWS.filter((row) =>
      row.kind === 'parameter' && /^(?:order|build)\./.test(row.id) && liveRunOf(row) === '–');
    expect(silent.map(({ id }) => id)).toEqual([]);
    expect(Object.keys(NOT_SENT)).toEqual(['order.swapMode', 'order.payer', 'build.payer']);
  });

  test('has every key of the section "swap", each with a row in the table of live swaps', () => {
    // The key "payer" is there to be refused with the reason.
    expect([...liveRunKeys(), 'payer'].sort()).toEqual(Object.keys(swapSchema.shape).sort());
    const table = readFileSync(new URL('../../daemon/run/swap-options.test.ts', import.meta.url), 'utf8');
    expect(liveRunKeys().filter((key) => !new RegExp(`option: ['"]${key}\\b`).test(table))).toEqual([]);
  });
});

describe('docs/service-coverage.md', () => {
  test('is what the rows and cases make of it', () => {
    const page = readFileSync(new URL('../../../docs/service-coverage.md', import.meta.url), 'utf8');
    expect(page === coveragePage(ROWS, CASES), 'run: node test/contract/service/write-coverage.ts').toBe(true);
  });

  test('has no empty cell', () => {
    const page = readFileSync(new URL('../../../docs/service-coverage.md', import.meta.url), 'utf8');
    const cells = page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| |'))
      .flatMap((line) => line.split(/(?<!\\)\|/).slice(1, -1));
    expect(cells.length).toBe(ROWS.length * 7);
    expect(cells.filter((cell) => cell.trim() === '')).toEqual([]);
  });
});
