import { runHere } from '../../in-process.ts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, describe, expect, it } from 'vitest';
import type { CommandContext, RunCommand } from '../../../../src/cli/command.ts';
import { analyzeCommand } from '../../../../src/cli/commands/research/analyze.ts';
import { compounded } from '../../../../src/research/metrics/return-statistics.ts';
import { daily, DAY, wave, WAVE_BY_SCIPY } from '../../../research/metrics/series.ts';

const folder = mkdtempSync(join(tmpdir(), 'gannet-analyze-'));
afterAll(() => { rmSync(folder, { recursive: true }); });

function csv(text: string | Uint8Array, name = 'series.csv'): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

interface Answer {
  readonly document: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Runs the command in this process, as the program does but for the process around it. */
async function analyze(
  args: readonly string[], interrupt: AbortSignal = new AbortController().signal,
): Promise<Answer> {
  let answer: Answer | undefined;
  const context: CommandContext = {
    terminal: {
      json: true, colour: false,
      result: (
        document, text,
      ) => { answer = { document: JSON.parse(JSON.stringify(document)) as Answer['document'], text: text() }; },
      out: () => {}, err: () => {},
    },
    options: {
      json: true, config: undefined, stateDir: folder, baseUrl: undefined, rpcUrl: undefined, apiKeyEnv: undefined,
      logLevel: 'warn',
    }, environment: {}, withheld: [], connectSigner: undefined, runBoxed: runHere, interrupt,
  };
  const run: RunCommand = (action) => async (...given) => {
    expect(await (action as (...all: readonly unknown[]) => Promise<unknown>)(context, ...given)).toBe(0);
  };
  const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  analyzeCommand(program, run);
  for (const command of program.commands) command.exitOverride().configureOutput({ writeErr: () => {} });
  await program.parseAsync(['node', 'gannet', 'analyze', ...args]);
  return answer!;
}

const fault = async (text: string | Uint8Array): Promise<unknown> =>
  analyze([csv(text, 'bad.csv')]).then(() => 'no fault', (error: unknown) => error);
const day = (at: number): string => new Date(at).toISOString().slice(0, 10);
const weekdayOf = (count: number): number => Date.UTC(2024, 0, 1) + (count + 2 * Math.floor(count / 5)) * DAY;
const weekdayFrom = (at: number): number => at + ([1, 0, 0, 0, 0, 0, 2][new Date(at).getUTCDay()]!) * DAY;
const rows = (header: string, ...lines: string[]): string => [header, ...lines, ''].join('\n');

describe('gannet analyze', () => {
  const { times, values } = daily(compounded(wave()).map((value) => value * 10_000));
  const iso = rows('time,equity', ...times.map((at, i) => `${new Date(at).toISOString()},${values[i]}`));

  it('prints the metrics of an equity series, as JSON and as text', async () => {
    const { document, text } = await analyze([csv(iso)]);
    for (const [name, expected] of Object.entries(WAVE_BY_SCIPY)) expect(document[name], name).toBeCloseTo(expected, 9);
    expect(document).toMatchObject({
      drawdown_start: '2025-07-11T00:00:00.000Z', drawdown_recovered: null, win_rate: null, dsr: null, trials: null,
      points: 201, returns: 200, bar_seconds: 86_400, periods_per_year: 365.25, coverage: 1,
      sharpe_interval: { low: expect.any(Number), high: expect.any(Number), level: 0.95 },
    });
    expect(document['warnings']).toContainEqual({
      code: 'no_trading_record', message: expect.stringContaining('win rate'),
      figures: expect.arrayContaining(['win_rate', 'landing_rate']),
    });
    expect(text).toMatch(/ {2}total return +17\.27 %\n/);
    expect(text).toMatch(/Sharpe ratio a year +1\.14 {2}\(95 % within -?\d/);
    expect(text).toMatch(/from 2025-07-11 00:00, lowest 2025-07-20 00:00, not recovered\n/);
    expect(text).toContain('  200 returns, bars of a day, 200.0 days\n');
  });

  it.each([
    ['Unix seconds', (at: number) => String(at / 1_000)],
    ['Unix milliseconds', (at: number) => String(at)],
    ['days', (at: number) => new Date(at).toISOString().slice(0, 10)],
    ['times without a zone, which are UTC', (at: number) => new Date(at).toISOString().slice(0, 19).replace('T', ' ')],
    ['times of another zone', (at: number) => `${new Date(at + 5.5 * 3_600_000).toISOString().slice(0, 16)}+05:30`],
  ])('reads %s alike, with quotes, blanks, a mark of encoding and lines of Windows', async (_, written) => {
    const text =
      `\ufeff"Time", "Equity"\r\n${times.map((at, i) => `"${written(at)}" , ${values[i]}\r\n`).join('')}\r\n`;
    expect((await analyze([csv(text)])).document).toStrictEqual((await analyze([csv(iso)])).document);
  });

  it('does not resample returns: 4.417 in the worked example of Rollinger and Hoffman', async () => {
    const file = csv(rows('return', '.17', '0.15', '+0.23', '-5e-2', '.12', '.09', '.13', '-.04'));
    const { document, text } = await analyze([file, '--periods-per-year', '1']);
    expect(document).toMatchObject({ sortino: expect.closeTo(4.417, 3), cagr: expect.closeTo(
      (1.17 * 1.15 * 1.23 * 0.95 * 1.12 * 1.09 * 1.13 * 0.96) ** (1 / 8) - 1, 12,
    ), returns: 8, bar_seconds: null, drawdown_start: 3 });
    expect(text).toContain('from period 3, lowest period 4, recovered period 5');
    const unknown = (await analyze([file])).document;
    expect(unknown).toMatchObject({
      total_return: expect.any(Number), sharpe: null, cagr: null, periods_per_year: null, psr: expect.any(Number),
    });
    expect(unknown['warnings']).toContainEqual({
      code: 'no_time_span', message: expect.any(String), figures: ['cagr', 'volatility', 'sharpe', 'sortino', 'calmar'],
    });
  });

  it('accepts minimum and risk-free returns, and times beside returns', async () => {
    const file = csv(rows('time,return', '2025-01-31,0.10', '2025-02-28,-0.05', '2025-03-31,0.03', ...Array.from(
      { length: 6 }, (_, i) => `2025-0${i + 4}-28,0.01`,
    )));
    const { document } = await analyze([file, '--periods-per-year', '12', '--mar', '0.01', '--risk-free=-0.01']);
    expect(document['sortino']).toBeCloseTo(((0.14 / 9 - 0.01) / Math.sqrt(0.06 ** 2 / 9)) * Math.sqrt(12), 9);
    expect(document['sharpe'])
      .toBeGreaterThan(Number((await analyze([file, '--periods-per-year', '12'])).document['sharpe']));
    expect(document).toMatchObject({
      drawdown_start: '2025-01-31T00:00:00.000Z', drawdown_trough: '2025-02-28T00:00:00.000Z',
      drawdown_recovered: '2025-06-28T00:00:00.000Z',
    });
  });

  it.each([
    ['two prices of two days', rows('time,equity', '2025-01-01,100', '2025-01-02,110'), [], '1 return is too few'],
    [
      'three prices, whose interval would have no width',
      rows('time,equity', '2025-01-01,100', '2025-01-02,110', '2025-01-03,99'), [], '2 returns are too few',
    ],
    ['eight prices', rows(
      'time,equity', ...[100, 101, 99, 103, 102, 104, 101, 105].map((value, i) => `2025-01-0${i + 1},${value}`),
    ), [], '7 returns are too few'],
    [
      'six monthly returns', rows('return', '0.1', '-0.05', '0.03', '0.02', '-0.01', '0.04'),
      ['--periods-per-year', '12'], '6 returns are too few',
    ],
    ['five prices, one a month', rows(
      'time,equity', ...[100, 103, 99, 104, 108].map((value, i) => `2025-0${i + 1}-01,${value}`),
    ), [], '4 returns are too few'],
  ])('issue 13.10: gives no interval and nothing scaled to a year of fewer than nine returns, and says why: %s', async (
    _, text, flags, said,
  ) => {
    const { document, text: words } = await analyze([csv(text), ...flags]);
    expect(document).toMatchObject({
      sharpe_interval: null, cagr: null, volatility: null, sharpe: null, sortino: null, calmar: null,
      total_return: expect.any(Number), max_drawdown: expect.any(Number),
    });
    expect(document['warnings']).toContainEqual({ code: 'scarce_returns', message: expect.stringMatching(
      new RegExp(`^${said} .*not given: .*the interval of the Sharpe ratio$`),
    ), figures: ['cagr', 'calmar', 'volatility', 'sharpe', 'sortino'] });
    expect(words).toContain(said);
    expect(words).not.toMatch(/a year +-?\d|within/);
  });

  const MONTHLY = [3, 26, 11, -10, 15, 25, 16, 67, -14, 40, -5, 81, 40, -37, -61, 17, -49, -22, 70, 58, -65, 24, -5, -9]
    .map((value) => value / 1_000);
  const curve = compounded(MONTHLY);
  const dated = (at: (row: number) => number): string =>
    rows('time,equity', ...curve.map((value, i) => `${day(at(i))},${value}`));
  const WEEKDAY = Date.UTC(2024, 0, 1);
  const holiday = 4 * 5 + 2;
  it.each<[string, (row: number) => number, Record<string, unknown>, string]>([
    ['starts of months', (i) => Date.UTC(2023, i, 1), { periods_per_year: 12, bar_seconds: null }, 'a month'],
    ['ends of months', (i) => Date.UTC(2023, i + 1, 0), { periods_per_year: 12, bar_seconds: null }, 'a month'],
    [
      'weekdays at starts of months', (i) => weekdayFrom(Date.UTC(2023, i, 1)),
      { periods_per_year: 12, bar_seconds: null }, 'a month',
    ],
    ['starts of quarters', (i) => Date.UTC(2018, 3 * i, 1), { periods_per_year: 4, bar_seconds: null }, 'a quarter'],
    ['years', (i) => Date.UTC(1999 + i, 0, 1), { periods_per_year: 1, bar_seconds: null }, 'a year'],
    ['weeks', (i) => WEEKDAY + i * 7 * DAY, { periods_per_year: 52, bar_seconds: 604_800 }, 'a week'],
    [
      'weeks, a day early before a holiday', (i) => WEEKDAY + (i * 7 - (i === 9 ? 1 : 0)) * DAY,
      { periods_per_year: 52, bar_seconds: 604_800 }, 'a week',
    ],
    [
      'four weeks, which are no month', (i) => WEEKDAY + i * 28 * DAY,
      { periods_per_year: 13, bar_seconds: 28 * 86_400 }, '28 days',
    ],
    ['weekdays', weekdayOf, { periods_per_year: 252, bar_seconds: null }, 'a weekday'],
    [
      'weekdays without a holiday', (i) => weekdayOf(i < holiday ? i : i + 1),
      { periods_per_year: 252, bar_seconds: null }, 'a weekday',
    ],
    ['days', (i) => WEEKDAY + i * DAY, { periods_per_year: 365.25, bar_seconds: 86_400 }, 'a day'],
  ])('issue 13.10: takes rows of %s as the periods, as many as there are returns', async (_, at, expected, name) => {
    const { document, text } = await analyze([csv(dated(at))]);
    expect(document).toMatchObject({
      points: 25, returns: 24, coverage: 1, ulcer_index: expect.closeTo(0.0611842873, 10), ...expected,
    });
    expect(text).toContain(`  24 returns, bars of ${name}, `);
    const plain = (await analyze(
      [csv(rows('return', ...MONTHLY.map(String))), '--periods-per-year', String(expected['periods_per_year'])],
    )).document;
    for (const figure of ['sharpe', 'sortino', 'volatility', 'skewness', 'kurtosis', 'psr'])
      expect(document[figure], figure).toBeCloseTo(Number(plain[figure]), 9);
  });

  it('issue 13.10: carries the last value over months without rows, and makes weekly bars of sparse rows', async () => {
    const gap = rows('time,equity', ...curve.flatMap((value, i) =>
      (i === 5 || i === 6 ? [] : [`${day(Date.UTC(2023, i, 1))},${value}`])));
    expect((await analyze([csv(gap)])).document)
      .toMatchObject({ returns: 24, periods_per_year: 12, coverage: 22 / 24 });
    const apart = [2, 5, 9, 3, 6, 4, 11];
    let at = WEEKDAY;
    const irregular = dated((i) => (i === 0 ? at : (at += apart[i % apart.length]! * DAY)));
    const { document } = await analyze([csv(irregular)]);
    expect(document).toMatchObject({ points: 25, bar_seconds: 604_800, periods_per_year: 52 });
    expect(document['returns']).toBeLessThanOrEqual(24);
  });

  it('issue 13.10: reads price tables with common headers, and refuses others with the expected columns', async () => {
    const expected = (await analyze([csv(iso)])).document;
    const tables = [
      rows('Date,Close', ...times.map((at, i) => `${day(at)},${values[i]}`)),
      rows('date,open,high,low,close,volume', ...times.map((at, i) =>
        `${day(at)} 00:00:00+00:00,1,2,0.5,${values[i]},1000`)),
      rows('Date,Open,High,Low,Close,Adj Close,Volume', ...times.map((at, i) =>
        `${day(at)},1,2,0.5,77,${values[i]},1000`)),
      rows('Date,Open,High,Low,Close,Volume,Dividends,Stock Splits', ...times.map((at, i) =>
        `${day(at)} 00:00:00-00:00,1,2,0.5,${values[i]},1000,0.0,0.0`)),
    ];
    for (const table of tables) expect((await analyze([csv(table)])).document).toStrictEqual(expected);
    for (const [header, got] of [
      ['Price,Close,High', 'got a column'], ['Date,Open,High', 'neither equity nor return'],
      ['Date,time,Close', 'two columns of times'], ['Close', 'needs the time'],
    ] as const) {
      expect(await fault(rows(header, '1,2,3'))).toMatchObject({ code: 'CSV_INVALID', message: expect.stringMatching(
        new RegExp(`expected a header "time,equity" or "return" .*"Date,Close".*${got}`),
      ) });
    }
  });

  it('warns first that large returns are likely percent, and still computes the metrics', async () => {
    const { document, text } = await analyze([csv(rows('return', '0.9', '-0.6', '0', '2', '-0.4'))]);
    expect((document['warnings'] as readonly unknown[])[0]).toEqual({
      code: 'likely_percent',
      message: 'the returns are large, a median of 75.00 % up or down per period: if these are percent, divide '
        + 'them by 100 (1 % is 0.01)',
      figures: ['total_return'],
    });
    expect(text).toMatch(/^ {2}! the returns are large/);
    expect(document['total_return']).toBeCloseTo(1.9 * 0.4 * 3 * 0.6 - 1, 12);
    for (const usual of [
      rows('return', '0.1', '-0.2', '1.5'), rows('return', '0', '0'),
      rows('time,equity', '2025-01-01,1', '2025-01-02,5'),
    ]) {
      expect(JSON.stringify((await analyze([csv(usual)])).document)).not.toContain('likely_percent');
    }
  });

  it('accepts a total loss with rounding, followed by zero returns only', async () => {
    for (const loss of ['-1', '-1.0000000000000002', '-0.9999999999999999']) {
      expect((await analyze([csv(rows('return', '0.1', loss, '0'))])).document)
        .toMatchObject({ total_return: expect.closeTo(-1, 12), max_drawdown: expect.closeTo(1, 12) });
    }
  });

  it.each([
    ['--periods-per-year', '0'], ['--periods-per-year', '-12'], ['--periods-per-year', 'daily'], ['--mar', 'NaN'],
    ['--risk-free', 'Infinity'], ['--mar', '1e999'],
  ])('refuses %s %s', async (...flag) => {
    await expect(analyze([csv(iso), ...flag])).rejects.toMatchObject({ code: 'commander.invalidArgument' });
  });

  it('reports that one point cannot be measured, and does not fail', async () => {
    const { document, text } = await analyze([csv(rows('time,equity', '2025-01-01,100'))]);
    expect(document).toMatchObject({ total_return: null, sharpe: null, max_drawdown: null, points: 1, returns: 0 });
    expect(text).toContain('risk is undefined');
  });

  const good = '2025-01-01,100';
  it.each([
    ['an empty file', '', 1, 'got an empty file'],
    ['empty lines alone', '\n\n', 1, 'got an empty file'],
    ['no header', rows('2025-01-01,100', '2025-01-02,101'), 1, 'got a row of data'],
    ['no rows', rows('time,equity'), 1, 'expected rows after the header'],
    ['a column that is not known', rows('time,equty', good), 1, 'got a column "equty"; did you mean "equity"?'],
    ['another separator', rows('time;equity', '2025-01-01;100'), 1, 'cells are separated by commas'],
    ['a column twice', rows('time,equity,equity', '2025-01-01,1,2'), 1, '"equity" appears twice'],
    ['equity and return', rows('time,equity,return', '2025-01-01,1,2'), 1, 'got both equity and return'],
    ['time alone', rows('time', '2025-01-01'), 1, 'got neither equity nor return'],
    ['equity without time', rows('equity', '100'), 1, 'equity needs the time of each value'],
    [
      'text for a number', rows('time,equity', good, '2025-01-02,many'), 3,
      'expected a finite number for equity, got "many"',
    ],
    [
      'a loss of more than all', rows('return', '1.2', '-0.8', '-1.5'), 4,
      'expected a return of -1 or more, because a loss cannot exceed everything, got -1.5, which is -150.00 %: '
        + 'if these are percent, divide them by 100 (1 % is 0.01), and write',
    ],
    [
      'percent without their sign', rows('time,return', '2025-01-01,5', '2025-01-02,-3', '2025-01-03,2'), 3,
      'got -3, which is -300.00 %: if these are percent',
    ],
    [
      'a gain after all was lost', rows('return', '0.1', '-1', '0', '0.5'), 5,
      'expected no return after one of -1, a total loss, got 0.5, which is 50.00 %: if these are percent',
    ],
    ['a percentage', rows('return', '0.1', '5%'), 3, '1 % is 0.01'],
    ['nothing for a number', rows('time,equity', good, '2025-01-02,'), 3, 'expected a number for equity, got nothing'],
    ['NaN', rows('return', 'NaN'), 2, 'got "NaN"'],
    ['Infinity', rows('return', '0.1', '-Infinity'), 3, 'got "-Infinity"'],
    ['more than a number holds', rows('return', '1e999'), 2, 'expected a finite number for return, got "1e999"'],
    ['a hexadecimal number', rows('return', '0x10'), 2, 'got "0x10"'],
    ['a decimal comma', rows('return', '0,1'), 2, 'expected 1 cells as in the header, got 2'],
    ['too few cells', rows('time,equity', good, '2025-01-02'), 3, 'expected 2 cells as in the header, got 1'],
    ['quotes within a cell', rows('time,equity', good, '"2025-01-02,101'), 3, 'quotes'],
    [
      'text for a time', rows('time,equity', good, 'yesterday,101'), 3,
      'expected a time in ISO 8601, Unix seconds or milliseconds, got "yesterday"',
    ],
    ['nothing for a time', rows('time,equity', ',101'), 2, 'got nothing'],
    ['a day that no calendar has', rows('time,equity', '2025-02-30,101'), 2, 'got "2025-02-30"'],
    ['an hour that no clock has', rows('time,equity', '2025-02-03T24:10:00Z,101'), 2, 'got "2025-02-03T24:10:00Z"'],
    ['a time that no calendar has', rows('time,equity', '9e15,101'), 2, 'got "9e15"'],
    ['a year for a time', rows('time,equity', '2024,100', '2025,101'), 2, 'write it as 2024-01-01'],
    ['a day as a number', rows('time,equity', '20250131,100'), 2, 'write it as 2025-01-31'],
    [
      'time going backwards', rows('time,equity', good, '2025-01-03,1', '2025-01-02,2'), 4,
      'time goes backwards: 2025-01-02 is before the row above (2025-01-03T00:00:00.000Z)',
    ],
    ['a time twice', rows('time,return', good, '2025-01-01T00:00:00Z,2'), 3, 'appears twice'],
    ['bytes that resemble text', new Uint8Array([0x1f, 0x8b, 0x08, 0x00, 0x0a, 0x01]), 1, 'got a column "\\\\u001f'],
    ['a line without end', `return\n${'1'.repeat(200_000)}`, 2, 'is this a CSV file?'],
    ['a terminal’s commands in a cell', rows('return', '\u001b[31mred'), 2, 'got "\\\\u001b[31mred"'],
  ])('refuses %s, with the file and the row', async (_, text, row, message) => {
    expect(await fault(text)).toMatchObject({
      code: 'CSV_INVALID', message: expect.stringMatching(new RegExp(`/bad\\.csv:${row}: `)), details: { row },
    });
    expect(await fault(text)).toMatchObject({ message: expect.stringContaining(message) });
  });

  it('refuses a missing file, and a folder', async () => {
    await expect(analyze([join(folder, 'nothing.csv')]))
      .rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining('nothing.csv') });
    await expect(analyze([folder]))
      .rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining('got a folder') });
  });

  it('reads a long file in pieces cut at any byte, and ends at an interrupt', async () => {
    const lines = Array.from({ length: 60_000 }, (_, i) => `${1_700_000_000 + i * 60},${1_000 + (i % 13)}`);
    const file = csv(rows('time,equity', ...lines), 'long.csv');
    expect((await analyze([file])).document)
      .toMatchObject({ points: 60_000, total_return: expect.closeTo(((60_000 - 1) % 13) / 1_000, 12) });
    const interrupt = new AbortController();
    interrupt.abort();
    await expect(analyze([file], interrupt.signal)).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });
});
