import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { recordingCommand } from '../../../../src/cli/commands/recording/recording.ts';
import { compareCommand } from '../../../../src/cli/commands/research/compare.ts';
import { backtestCommand } from '../../../../src/cli/commands/research/research-commands.ts';
import type { RunStatistics } from '../../../../src/research/metrics/run-statistics.ts';
import { createRecordingWriter } from '../../../../src/recording/writer.ts';
import type { PackedChart } from '../../../../src/report/packed-columns.ts';
import { unpackChart } from '../../../../src/report/packed-columns.ts';
import { unpackData } from '../../../../src/report/page-script.ts';
import { bothSides } from '../../../backtest/measured.ts';
import { runCommand } from '../../in-process.ts';
import { SOL, USDC } from '../../../market/tokens.ts';
import { stillClock } from '../../../recording/temporary.ts';

const folder = mkdtempSync(join(tmpdir(), 'gannet-backtest-'));
afterAll(() => { rmSync(folder, { recursive: true }); });

const CONFIG = `mode: paper
tokens: { SOL: ${SOL.mint}, USDC: ${USDC.mint} }
risk: { max_slippage_bps: 50, max_trade: "500 USDC" }
strategies:
  - { use: mean-reversion, name: dip, budget: "500 USDC", max_age: 1h,
      params: { pair: SOL/USDC, size: "25 USDC", every: 5s, window: 10, k: 1, exit_z: 0 } }
`;

/** A market seen each minute, except for half an hour without a poll. */
async function recorded(name = 'rec'): Promise<string> {
  const writer = createRecordingWriter({
    dir: folder, clock: stillClock(), tokens: [SOL, USDC], name, onError: (error) => { throw error; },
  });
  bothSides(
    Array.from({ length: 400 }, (_, n) => [150.1 + 3 * Math.sin(n / 7), 149.9 + 3 * Math.sin(n / 7)] as const), 60_000,
  )
    .filter(({ receivedAt }) => receivedAt < 200 * 60_000 || receivedAt > 230 * 60_000)
    .forEach((event, i) => { writer.append(i + 1, event.receivedAt, event); });
  await writer.close();
  return writer.directory;
}

it('gannet backtest measures a run under three settings and against benchmarks, and writes its report', async () => {
  const [config, report] = [join(folder, 'config.yaml'), join(folder, 'reports', 'report.html')];
  const trades = join(folder, 'trades.csv');
  writeFileSync(config, CONFIG);
  const { code, document, text } = await runCommand(
    backtestCommand, ['backtest', config, '--recording', await recorded(), '--report', report, '--trades', trades],
    { stateDir: folder },
  );
  expect(code).toBe(0);
  const metrics = { total_return: expect.any(Number) as number, fees_paid: expect.any(Number) as number };
  const money = { start: '500', end: expect.stringMatching(/^\d+(?:\.\d{1,6})?$/) as string, currency: 'USDC' };
  expect(document).toMatchObject({
    equity: money, metrics, report,
    by_strategy: [{ name: 'dip', equity: money, metrics }],
    benchmarks: {
      buy_and_hold: { equity: money, metrics: { total_return: expect.any(Number) } }, dca: { equity: money },
      cash: { equity: { start: '500', end: '500' }, metrics: { total_return: 0 } },
    },
    sensitivity: { optimistic: { equity: money, metrics }, base: {
      equity: money, decision_hash: document['decision_hash'], metrics: document['metrics'],
    }, pessimistic: { equity: money, metrics } },
  });
  expect(document['fills']).toBeGreaterThan(5);
  for (const said of [report, 'optimistic', 'pessimistic', 'buy and hold', ...document['warnings'] as string[]])
    expect(text).toContain(said);
  const page = readFileSync(report, 'utf8');
  for (const said of ['Backtest of dip', document['decision_hash'] as string, 'window']) expect(page).toContain(said);
  expect(page).not.toContain(folder);
  expect(page).toMatch(/>use: [^]*max_age: \d+[smhd]<br>/);
  expect(page.match(/\w+_ms: \S+/g)).toBeNull();
  // Equity, holding, drawdown, price and exposure are not drawn where nothing was seen.
  const charts = await Promise.all([...page.matchAll(/class="chart-data">([^<]*)</g)].map(async ([, data]) =>
    unpackChart(await unpackData(data!) as PackedChart)));
  const whole = charts.filter(({ title }) => !title.includes(': '));
  expect(whole.map(({ lines }) => lines.map(({ points }) => points.filter(([, value]) => value === null).length)))
    .toEqual([[1, 1, 1], [1], [1, 1]]);
  const { trades: tripFigures } = document['statistics'] as RunStatistics;
  const [heading, ...lines] = readFileSync(trades, 'utf8').trimEnd().split('\r\n');
  expect(heading).toMatch(/^pair,strategy,opened_at,closed_at,duration_seconds,size,entry_price,/);
  expect(lines).toHaveLength(tripFigures.count);
  expect(lines[0]).toMatch(/^SOL\/USDC,dip,1970-01-01T\S+Z,1970-01-01T\S+Z,[\d.]+,0\.1\d+,1[45]\d\.\d+,/);
  expect(document['trades_file']).toBe(trades);
  expect(text).toContain('  trades     ');

  // The report, the answer and the run's folder hold the same result.
  const answer = join(folder, 'answer.json');
  writeFileSync(answer, JSON.stringify(document));
  const compared = await runCommand(
    compareCommand, ['compare', report, answer, document['run_id'] as string], { stateDir: folder },
  );
  const figures = compared.document['figures'] as { name: string; values: number[]; differences: number[] }[];
  expect(figures.map(({ name }) => name)).toEqual(expect.arrayContaining(['total_return', 'trials', 'trades.sqn']));
  for (const { name, values, differences } of figures) {
    expect(values, name).toEqual(values.map(() => expect.closeTo(values[0]!, 9)));
    expect(differences[0], name).toBe(0);
  }
  expect(compared.document['warnings']).toEqual([]);
  await expect(runCommand(compareCommand, ['compare', report], { stateDir: folder }))
    .rejects.toMatchObject({ code: 'USAGE', message: 'expected 2 to 8 backtests to compare, got 1' });
  await expect(runCommand(compareCommand, ['compare', report, 'nothing'], { stateDir: folder }))
    .rejects.toMatchObject({ code: 'RUN_NOT_FOUND', message: expect.stringContaining('there is no file nothing') });
  await expect(runCommand(compareCommand, ['compare', report, config], { stateDir: folder }))
    .rejects.toMatchObject({ code: 'USAGE', message: expect.stringMatching(/holds no result of a backtest: /) });
  const torn = join(folder, 'torn.html');
  writeFileSync(torn, page.replace(/id="data">[^<]{40}/, 'id="data">'));
  await expect(runCommand(compareCommand, ['compare', report, torn], { stateDir: folder }))
    .rejects.toMatchObject({ code: 'USAGE', message: expect.stringMatching(/holds no result of a backtest: /) });
});

it('gannet backtest trades on the part of a recording that --timerange names', async () => {
  const config = join(folder, 'range.yaml');
  writeFileSync(config, CONFIG.replace('max_age: 1h,', 'max_age: 1h, warmup: 30m,'));
  const recording = await recorded('range');
  const ranged = (timerange: string) => runCommand(
    backtestCommand, ['backtest', config, '--recording', recording, '--no-grid', '--timerange', timerange],
    { stateDir: folder },
  );
  const whole = await ranged('1970-01-01..');
  const part = await ranged('1970-01-01T01:00..1970-01-01T03:00Z');
  expect(part.document['period']).toEqual({ start: '1970-01-01T01:00:00.000Z', end: '1970-01-01T02:59:00.000Z' });
  expect(part.document['fills']).toBeGreaterThan(1);
  expect(part.document['fills']).toBeLessThan(whole.document['fills'] as number);
  // Two quotes a minute, without half an hour of a gap; rows of the warm-up are not counted.
  expect([whole.document['events'], part.document['events']]).toEqual([2 * (400 - 31 - 30), 2 * 120]);
  expect(part.document['warnings']).toContain('the 30m before the start warm the strategies up');
  // An earlier beginning than the rows allow: the warm-up takes the first rows.
  const early = await ranged('1970-01-01T00:10..1970-01-01T03:00');
  expect(early.document['period']).toMatchObject({ start: '1970-01-01T00:31:00.000Z' });
  const late = await ranged('1969-12-31..1970-01-02');
  expect(late.document['decision_hash']).toBe(whole.document['decision_hash']);
  expect(late.document['warnings']).toEqual(expect.arrayContaining([
    'the recording begins at 1970-01-01T00:01:00.000Z, after the beginning of --timerange',
    'the recording ends at 1970-01-01T06:40:00.000Z, before the end of --timerange',
  ]));
  await expect(ranged('2026-01-01..2026-02-01')).rejects.toMatchObject({
    code: 'RECORDING_INCOMPLETE', message: expect.stringMatching(/spans 1970-01-01T00:01.* to 1970-.*holds nothing of/),
  });
  for (const [bad, message] of [
    ['2026-01-20..2026-01-10', /beginning before the end/], ['2026-01-10..2026-01-10', /beginning before the end/],
    ['2026-01-10', /expected FROM\.\.TO/], ['..', /expected FROM\.\.TO/], ['2026-02-30..', /expected a UTC date/],
    ['yesterday..', /expected a UTC date or instant, .*got "yesterday"/], ['2026-01-10T25:00..', /expected a UTC date/],
  ] as const) await expect(ranged(bad), bad).rejects.toThrow(message);
});

it('issue 13.4: unknown own impact is reported by feed in the answer, the warnings and the report', async () => {
  const [config, report] = [join(folder, 'impact.yaml'), join(folder, 'impact.html')];
  writeFileSync(config, CONFIG);
  const { document } = await runCommand(
    backtestCommand, ['backtest', config, '--recording', await recorded('one-size'), '--no-grid', '--report', report],
    { stateDir: folder },
  );
  const fills = { by_recorded_sizes: 0, by_stated_impact: 0, not_modelled: expect.any(Number) as number };
  expect(document['own_impact']).toEqual([
    {
      input_mint: USDC.mint, output_mint: SOL.mint, feeds: [`quote:${USDC.mint}:${SOL.mint}:25000000`], modelled: false,
      fills, displaced: 0,
    },
    {
      input_mint: SOL.mint, output_mint: USDC.mint, feeds: [`quote:${SOL.mint}:${USDC.mint}:1000000000`],
      modelled: false, fills, displaced: 0,
    },
  ]);
  expect(document['warnings']).toContainEqual(expect.stringMatching(
    /^own impact is missing in the price of \d+ fills on the price of 25 USDC in SOL: the recording holds/,
  ));
  expect(readFileSync(report, 'utf8')).toContain('the price of 25 USDC in SOL');
  writeFileSync(config, `${CONFIG}backtest: { setting: optimistic }\n`);
  const optimistic = await runCommand(
    backtestCommand, ['backtest', config, '--recording', join(folder, 'one-size'), '--no-grid'], { stateDir: folder },
  );
  expect(optimistic.document['own_impact']).toEqual([]);
});

it('gannet backtest ends at an interrupt in the middle, with INTERRUPTED', async () => {
  const [config, stateDir] = [join(folder, 'interrupted.yaml'), join(folder, 'interrupted')];
  writeFileSync(config, CONFIG);
  const recording = await recorded('again');
  const controller = new AbortController();
  const watch = setInterval(() => { if (existsSync(join(stateDir, 'runs'))) controller.abort(); }, 1);
  try {
    await expect(runCommand(
      backtestCommand, ['backtest', config, '--recording', recording], { stateDir, interrupt: controller.signal },
    )).rejects.toMatchObject({ code: 'INTERRUPTED' });
  } finally {
    clearInterval(watch);
  }
});

/** Writes a strategy that does this at each price, and a configuration that uses it, and returns the latter's path. */
function configuring(name: string, atEachPrice: string): string {
  const [config, strategy] = [join(folder, `${name}.yaml`), join(folder, `${name}.ts`)];
  const sdk = new URL('../../../../src/strategy/index.ts', import.meta.url).href;
  writeFileSync(strategy, `import { map } from '${import.meta.resolve('rxjs')}';
    import { z } from '${import.meta.resolve('zod')}';
    import { amount, defineStrategy, pair, quotes } from '${sdk}';
    export default defineStrategy({ name: '${name}', summary: 'Is unruly.',
      params: z.strictObject({ pair: pair(), size: amount() }),
      inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '5s' }) }),
      run: ({ price }) => price.pipe(map(() => { ${atEachPrice} })) });`);
  writeFileSync(config, CONFIG.replace(
    /use: [^]*/,
    `use: ${strategy}, name: dip, budget: "500 USDC", params: { pair: SOL/USDC, size: "25 USDC" } }\n`,
  ));
  return config;
}

it('reports first that a strategy threw and was stopped', async () => {
  const config = configuring('throws', "throw new Error('cannot go on');");
  const { document } = await runCommand(
    backtestCommand, ['backtest', config, '--recording', await recorded('throws')], { stateDir: folder },
  );
  expect((document['warnings'] as string[])[0])
    .toMatch(/^strategy dip stopped: cannot go on \(throws\.ts:7:\d+\): the rest of the backtest shows/);
});

it('stops a strategy that ends the process, and keeps what it prints from the result', async () => {
  const config = configuring('ends', "console.log('I am here'); process.exit(0);");
  const recording = await recorded('ends');
  const main = new URL('../../../../src/cli/main.ts', import.meta.url).pathname;
  const { status, stdout, stderr } = spawnSync(
    process.execPath, [main, 'backtest', config, '--recording', recording, '--state-dir', folder, '--json'],
    { encoding: 'utf8' },
  );
  expect([status, JSON.parse(stdout)]).toMatchObject([0, { warnings: expect.arrayContaining([
    expect.stringContaining('strategy dip stopped: process.exit() was called') as string,
  ]) as string[] }]);
  expect(stderr).toContain('I am here');
});

describe('issue 13.13: the shipped examples over a generated recording', () => {
  const generated = runCommand(
    recordingCommand, ['recording', 'generate', '--days', '4', '--every', '5m', '--slow-every', '6h', '--seed', '7'],
    { stateDir: folder },
  );

  it.each([
    'mean-reversion', 'sma-crossover', 'dca',
  ])('%s trades to the end, and neither earns nor loses what no market pays', async (name) => {
    const recording = String((await generated).document['recording']);
    const { document } = await runCommand(backtestCommand, [
      'backtest', join(import.meta.dirname, `../../../../config/${name}.yaml`), '--recording', recording, '--no-grid',
    ], { stateDir: folder });
    const { total_return, sharpe, max_drawdown } = document['metrics'] as Readonly<Record<string, number>>;
    expect(document['fills']).toBeGreaterThan(5);
    expect(document['denials']).not.toHaveProperty('DRAWDOWN_EXCEEDS_MAX');
    expect(Math.abs(total_return!)).toBeLessThan(0.15);
    expect(max_drawdown).toBeLessThan(0.15);
    // Four days: the standard error of a Sharpe ratio a year is 10.
    expect(Math.abs(sharpe!)).toBeLessThan(20);
  });
});
