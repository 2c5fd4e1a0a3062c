import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, expect, it } from 'vitest';
import { backtestCommand } from '../../src/cli/backtest.ts';
import type { CommandContext, RunCommand } from '../../src/cli/command.ts';
import { stringifyJson } from '../../src/core/json.ts';
import { createRecordingWriter } from '../../src/recording/writer.ts';
import { bothSides } from '../backtest/measured.ts';
import { SOL, USDC } from '../market/tokens.ts';
import { stillClock } from '../recording/temporary.ts';

const folder = mkdtempSync(join(tmpdir(), 'gannet-backtest-'));
afterAll(() => { rmSync(folder, { recursive: true }); });

const CONFIG = `mode: paper
tokens: { SOL: ${SOL.mint}, USDC: ${USDC.mint} }
risk: { max_slippage_bps: 50, max_trade: "500 USDC" }
strategies:
  - { use: mean-reversion, name: dip, budget: "500 USDC", max_age: 1h, params: { pair: SOL/USDC, size: "25 USDC", every: 5s, window: 10, k: 1, exit_z: 0 } }
`;

/** A market seen each minute, but for half an hour in which nobody looked. */
async function recorded(): Promise<string> {
  const writer = createRecordingWriter({ dir: folder, clock: stillClock(), tokens: [SOL, USDC], name: 'rec', onError: (error) => { throw error; } });
  bothSides(Array.from({ length: 400 }, (_, n) => [150.1 + 3 * Math.sin(n / 7), 149.9 + 3 * Math.sin(n / 7)] as const), 60_000)
    .filter(({ receivedAt }) => receivedAt < 200 * 60_000 || receivedAt > 230 * 60_000)
    .forEach((event, i) => { writer.append(i + 1, event.receivedAt, event); });
  await writer.close();
  return writer.directory;
}

/** Runs the command in this process, as the program does but for the process around it. */
async function backtest(args: readonly string[]): Promise<{ readonly document: Readonly<Record<string, unknown>>; readonly text: string }> {
  let answer: { document: Readonly<Record<string, unknown>>; text: string } | undefined;
  const context: CommandContext = {
    terminal: {
      json: true, colour: false, out: () => {}, err: () => {},
      result: (document, text) => { answer = { document: JSON.parse(stringifyJson(document)) as Readonly<Record<string, unknown>>, text: text() }; },
    },
    options: { json: true, config: undefined, stateDir: folder, baseUrl: undefined, rpcUrl: undefined, apiKeyEnv: undefined, logLevel: 'warn' },
    environment: {}, withheld: [], connectSigner: undefined, interrupt: new AbortController().signal,
  };
  const run: RunCommand = (action) => async (...given) => {
    expect(await (action as (...all: readonly unknown[]) => Promise<unknown>)(context, ...given)).toBe(0);
  };
  const program = new Command().exitOverride();
  backtestCommand(program, run);
  await program.parseAsync(['node', 'gannet', 'backtest', ...args]);
  return answer!;
}

it('gannet backtest measures a run, compares it with benchmarks and under three settings, and writes its report', async () => {
  const [config, report] = [join(folder, 'config.yaml'), join(folder, 'reports', 'report.html')];
  writeFileSync(config, CONFIG);
  const { document, text } = await backtest([config, '--recording', await recorded(), '--report', report]);
  const metrics = { total_return: expect.any(Number) as number, fees_paid: expect.any(Number) as number };
  const money = { start: '500', end: expect.stringMatching(/^\d+(?:\.\d{1,6})?$/) as string, currency: 'USDC' };
  expect(document).toMatchObject({
    equity: money, metrics, report,
    by_strategy: [{ name: 'dip', equity: money, metrics }],
    benchmarks: { buy_and_hold: { equity: money, metrics: { total_return: expect.any(Number) } }, dca: { equity: money }, cash: { equity: { start: '500', end: '500' }, metrics: { total_return: 0 } } },
    sensitivity: { optimistic: { equity: money, metrics }, base: { equity: money, decision_hash: document['decision_hash'], metrics: document['metrics'] }, pessimistic: { equity: money, metrics } },
  });
  expect(document['fills']).toBeGreaterThan(5);
  for (const said of [report, 'optimistic', 'pessimistic', 'buy and hold', ...document['warnings'] as string[]]) expect(text).toContain(said);
  const page = readFileSync(report, 'utf8');
  for (const said of ['Backtest of dip', document['decision_hash'] as string, 'window']) expect(page).toContain(said);
  expect(page).not.toContain(folder);
  // Equity, drawdown, price and exposure are not drawn where nothing was seen.
  expect(page.match(/<rect class="gap"/g)).toHaveLength(4);
});
