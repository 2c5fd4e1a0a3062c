import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backtestCommand } from '../../../../src/cli/commands/research/research-commands.ts';
import { createRecordingWriter } from '../../../../src/recording/writer.ts';
import { bothSides } from '../../../backtest/measured.ts';
import type { Answer } from '../../in-process.ts';
import { runCommand } from '../../in-process.ts';
import { SOL, USDC } from '../../../market/tokens.ts';
import { stillClock } from '../../../recording/temporary.ts';

const folder = mkdtempSync(join(tmpdir(), 'gannet-trials-'));
afterAll(() => { rmSync(folder, { recursive: true }); });

const CODE = readFileSync(new URL('../../../../strategies/mean-reversion.ts', import.meta.url), 'utf8')
  .replaceAll('../src/', new URL('../../../../src/', import.meta.url).pathname);
let recording: string;
let configs = 0;

beforeAll(async () => {
  const writer = createRecordingWriter({
    dir: folder, clock: stillClock(), tokens: [SOL, USDC], name: 'rec', onError: (error) => { throw error; },
  });
  // Forty hours: enough returns of an hour each for a Sharpe ratio.
  bothSides(
    Array.from({ length: 480 }, (_, n) => [150.1 + 3 * Math.sin(n / 7), 149.9 + 3 * Math.sin(n / 7)] as const), 300_000,
  )
    .forEach((event, i) => { writer.append(i + 1, event.receivedAt, event); });
  await writer.close();
  recording = writer.directory;
  writeFileSync(join(folder, 'own.ts'), CODE);
});

/** Backtests a configuration, each thing in it as it is unless told otherwise. */
async function backtest(
  stateDir: string, { use = 'mean-reversion', name = 'dip', budget = '500 USDC', params = 'k: 1', top = '' } = {},
): Promise<Answer & { readonly trials: unknown; readonly metrics: Readonly<Record<string, unknown>> }> {
  const config = join(folder, `config-${++configs}.yaml`);
  writeFileSync(config, `mode: paper
tokens: { SOL: ${SOL.mint}, USDC: ${USDC.mint} }
risk: { max_slippage_bps: 50, max_trade: "500 USDC" }
${top}
strategies:
  - { use: ${use}, name: ${name}, budget: "${budget}", max_age: 1h,
      params: { pair: SOL/USDC, size: "25 USDC", every: 5m, window: 10, ${params} } }
`);
  const answer =
    await runCommand(backtestCommand, ['backtest', config, '--recording', recording, '--no-grid'], { stateDir });
  const metrics = answer.document['metrics'] as Readonly<Record<string, unknown>>;
  return { ...answer, metrics, trials: metrics['trials'] };
}

const state = (name: string): string => join(folder, name);

describe('gannet backtest counts the trials on a recording', () => {
  it('once, however often it runs, and whatever its spelling and name', async () => {
    const first = await backtest(state('counting'));
    expect(first.metrics)
      .toMatchObject({ trials: 1, dsr: expect.closeTo(first.metrics['psr'] as number, 12), psr: expect.any(Number) });
    expect(first.document['trials']).toStrictEqual({ count: 1, sharpe_variance: null, sharpe_by_luck: 0 });
    expect(first.text).toMatch(/trials {5}this is the first on these data: there was nothing to choose from/);
    for (const same of [{}, { params: 'k: 1.0, exit_z: 0' }, { name: 'other' }, { top: 'seed: 99' }])
      expect((await backtest(state('counting'), same)).trials).toBe(1);
  });

  it('again for other parameters, code, fills, budgets and limits, and deflates the Sharpe ratio', async () => {
    const dir = state('others');
    const own = join(folder, 'own.ts');
    expect((await backtest(dir, { use: own })).trials).toBe(1);
    const others = [{ params: 'k: 0.5' }, { top: 'backtest: { setting: pessimistic }' }, { budget: '400 USDC' }];
    for (const [i, other] of others.entries())
      expect((await backtest(dir, { use: own, ...other })).trials, JSON.stringify(other)).toBe(i + 2);
    writeFileSync(own, `${CODE}// Another one.\n`);
    const last = await backtest(dir, { use: own });
    expect(last.trials).toBe(5);
    expect(last.metrics['dsr']).toBeLessThanOrEqual(last.metrics['psr'] as number);
    expect(last.text).toMatch(/trials {5}5 variants were tried on these data, which are few: by their variance/);
    expect(last.text).toMatch(/a Sharpe ratio of about [\d.]+ a year; this one is truly above that with/);
    for (const setting of ['optimistic', 'base', 'pessimistic'])
      expect((last.document['sensitivity'] as Record<string, { metrics: unknown }>)[setting]!.metrics)
        .toMatchObject({ trials: 5 });
    expect((last.document['by_strategy'] as { metrics: unknown }[])[0]!.metrics)
      .toMatchObject({ trials: 5, dsr: last.metrics['dsr'] });
  });

  it('refuses an invalid log before the run, with the file and what to do', async () => {
    const dir = state('foreign');
    mkdirSync(dir);
    writeFileSync(
      join(dir, 'trials.sqlite'), 'my notes on trials, none of which are a database of any kind\n'.repeat(50),
    );
    await expect(backtest(dir)).rejects.toMatchObject({ code: 'TRIALS_INVALID', message: expect.stringMatching(
      /trials\.sqlite: expected a Gannet trial log, .*restore it from a copy, or move the file away/,
    ) as string });
    expect(existsSync(join(dir, 'runs'))).toBe(false);
  });

  it('completes without a writable log, and reports what is missing', async () => {
    const dir = state('unwritable');
    mkdirSync(join(dir, 'trials.sqlite'), { recursive: true });
    const answer = await backtest(dir);
    expect(answer.code).toBe(0);
    expect(answer.document)
      .toMatchObject({ trials: null, metrics: { trials: null, dsr: null, sharpe: expect.any(Number) } });
    expect(answer.document['warnings']).toContainEqual(expect.stringMatching(
      /^this run is not counted among the trials, so its Sharpe ratio is not .*trials\.sqlite: cannot be opened/,
    ));
  });
});
