import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { recordingCommand } from '../../../../src/cli/commands/recording/recording.ts';
import { backtestCommand } from '../../../../src/cli/commands/research/research-commands.ts';
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
  writeFileSync(config, CONFIG);
  const { code, document, text } = await runCommand(
    backtestCommand, ['backtest', config, '--recording', await recorded(), '--report', report], { stateDir: folder },
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
