import { globSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { backtestDecisions } from '../../../src/cli/commands/research/backtest-process.ts';
import { lookaheadCommand } from '../../../src/cli/commands/research/research-commands.ts';
import { runCommand } from '../../cli/in-process.ts';
import { createPlayground } from '../../e2e/gannet.ts';
import { FISH, SOL, USDC } from '../../market/tokens.ts';
import type { Market } from './suite.ts';
import { writeMarket } from './suite.ts';

const LEAKY = fileURLToPath(new URL('./planted/future-bar.ts', import.meta.url));

const THROWING = fileURLToPath(new URL('../trials/unruly-strategy.ts', import.meta.url));

let market: Market;
const place = createPlayground();
beforeAll(async () => { market = await writeMarket(); });
afterAll(async () => {
  market.remove();
  await place.close();
});

function config(name: string, strategies: string): string {
  return place.write(name, [
    'mode: paper', 'service:', '  base_url: embedded', 'chain:', '  rpc_url: embedded',
    'tokens:', ...[SOL, USDC, FISH].map(({ symbol, mint }) => `  ${symbol}: ${mint}`), 'strategies:', strategies,
  ].join('\n'));
}

const REVERSION = '  - { use: mean-reversion, name: dip, budget: "100 USDC", '
  + 'params: { pair: SOL/USDC, size: "25 USDC", window: 10, k: 1 } }';

describe('gannet lookahead', () => {
  it('prints the period, the passes, the instants and the number of compared decisions', async () => {
    const { code, document, text } = await runCommand(
      lookaheadCommand, ['lookahead', config('told.yaml', REVERSION), '--recording', market.directory, '--times', '2'],
      { stateDir: market.directory },
    );
    const [dip] = document['strategies'] as readonly Readonly<Record<string, number>>[];
    expect(dip).toMatchObject({ instants: 2, passes: 6 + 2 * 2 * 3 });
    expect(dip!['compared']).toBeGreaterThanOrEqual(3 * dip!['decisions']!);
    expect(text).toContain(`(2026-01-05 08:00 to 2026-01-05 08:19 UTC), ${String(document['events'])} events`);
    expect(text).toContain(`dip: clean: none of its ${dip!['decisions']} decisions changed`);
    expect(text).toContain(`gannet backtest makes the same decisions, with hash ${String(document['decision_hash'])}`);
    expect(text)
      .toMatch(/18 passes, \d+ decisions compared. At 2 instants the future was replaced by noise/);
    expect(code).toBe(0);
  });

  it('ends with 1 and the reason for strategies that never decided', async () => {
    const idle = REVERSION.replace('k: 1', 'k: 90');
    const late = '  - { use: book-watch, name: late, warmup: 19m50s, params: { market: M, level: 0.6, rearm: 0.4 } }';
    const { code, document, text } = await runCommand(lookaheadCommand, [
      'lookahead', config('idle.yaml', `${idle}\n${late}`), '--recording', market.directory, '--times', '1',
    ], { stateDir: market.directory });
    const reasons = [
      'it received 224 events (the price of 25 USDC in SOL: 224) and proposed nothing, so no limit refused anything: '
        + 'its condition was never met. Take a longer recording, or one in which it decides',
      'all 76 events of its inputs fell into its warm-up. Shorten "warmup", or take a longer recording',
    ];
    const undecided = { clean: false, decisions: 0, first_leak: null };
    const nothing = 'made no decision, so the check shows nothing:';
    expect(document).toMatchObject({
      clean: false, warnings: [`dip ${nothing} ${reasons[0]}`, `late ${nothing} ${reasons[1]}`],
      strategies: [
        { ...undecided, undecided: {
          reason: reasons[0], inputs: [{ input: 'the price of 25 USDC in SOL', events: 224, warm_up_events: 0 }],
        } },
        { ...undecided, undecided: {
          reason: reasons[1], inputs: [{ input: 'the order book of M', events: 0, warm_up_events: 76 }],
        } },
      ],
    });
    expect(text).toContain(`dip: NOT CHECKED: it ${nothing} ${reasons[0]}`);
    expect(text).not.toContain('clean');
    expect(code).toBe(1);
  });

  it('says that nothing is shown after a strategy threw and was stopped', async () => {
    const throwing = `  - { use: "${THROWING}", name: dip, budget: "100 USDC", `
      + 'params: { pair: SOL/USDC, size: "25 USDC", mode: throw } }';
    const { document, text } = await runCommand(lookaheadCommand, [
      'lookahead', config('throwing.yaml', throwing), '--recording', market.directory, '--times', '1',
    ], { stateDir: market.directory });
    const said = 'strategy dip stopped: it fell over; its decisions after that are not checked';
    expect(document['warnings']).toStrictEqual([said]);
    expect(text).toContain(said);
  });

  it('reports a clean configuration as clean', async () => {
    const { code, stdout, stderr } = await place.ask([
      '--json', 'lookahead', config('clean.yaml', REVERSION), '--recording', market.directory, '--times', '2',
    ]);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout))
      .toMatchObject({ clean: true, strategies: [{ name: 'dip', clean: true, first_leak: null }] });
    expect(code).toBe(0);
  });

  it('names the strategy with a leak, its cause and the first changed decision, and exits with 1', async () => {
    const leaky = `  - { use: "${LEAKY}", budget: "100 USDC", `
      + `params: { pair: SOL/USDC, size: "25 USDC", token: FISH, dir: "${market.directory}" } }`;
    const { code, stdout } = await place.ask([
      '--json', 'lookahead', config('leaky.yaml', `${REVERSION}\n${leaky}`), '--recording', market.directory, '--times',
      '2',
    ]);
    const { clean, strategies } = JSON.parse(stdout) as {
      readonly clean: boolean; readonly strategies: readonly { readonly name: string; readonly first_leak: unknown }[];
    };
    expect(clean).toBe(false);
    expect(strategies).toMatchObject([
      { name: 'dip', clean: true, first_leak: null },
      {
        name: 'future-bar', clean: false,
        first_leak: {
          process: 'same', seq: expect.any(Number) as number, at: expect.stringMatching(/^2026-01-05T/) as string,
          expected: null, found: { proposal: { kind: 'alert' } },
        },
      },
    ]);
    expect(code).toBe(1);
  });

  it('finds strategies that decide otherwise in a backtest than in the check', async () => {
    const noticing = ['notices-callers', 'notices-process'].map((name) => {
      const use = fileURLToPath(new URL(`./noticing/${name}.ts`, import.meta.url));
      return `  - { use: "${use}", params: { pair: SOL/USDC, size: "25 USDC", token: FISH, dir: "." } }`;
    });
    const { code, document, text } = await runCommand(lookaheadCommand, [
      'lookahead', config('noticing.yaml', [REVERSION, ...noticing].join('\n')), '--recording', market.directory,
      '--times', '1',
    ], { stateDir: market.directory });
    const leak = {
      poison: 'backtest', process: 'fresh', from: null, seq: expect.any(Number) as number,
      detail: expect.stringMatching(/^it decides differently in `gannet backtest` than in this check/) as string,
    };
    const known = { proposal: { message: expect.stringContaining(': the next close is higher') as string } };
    const shown = { proposal: { message: expect.stringContaining(': the price is high') as string } };
    expect(document).toMatchObject({ clean: false, decision_hash: null, strategies: [
      { name: 'dip', clean: true, first_leak: null },
      {
        name: 'notices-callers', clean: false,
        first_leak: { ...leak, expected: known, found: null },
      },
      {
        name: 'notices-process', clean: false,
        first_leak: { ...leak, expected: known, found: shown },
      },
    ] });
    expect(text).not.toContain('makes the same decisions');
    expect(code).toBe(1);
  });

  it('ends the backtest that it is compared with on an interrupt, and removes its files', async () => {
    const temporary = join(place.dir, 'tmp-of-backtest');
    mkdirSync(temporary);
    vi.stubEnv('TMPDIR', temporary);
    const endless = `  - { use: "${THROWING}", name: dip, budget: "100 USDC", `
      + 'params: { pair: SOL/USDC, size: "25 USDC", mode: loop } }';
    const interrupt = new AbortController();
    const decisions = backtestDecisions({
      file: config('endless.yaml', endless), recordingDir: market.directory, until: undefined,
      interrupt: interrupt.signal,
    });
    const ended = expect(decisions).rejects.toMatchObject({ code: 'INTERRUPTED' });
    await expect.poll(() => globSync('*/runs/*/decisions.ndjson', { cwd: temporary })).toHaveLength(1);
    interrupt.abort();
    await ended;
    vi.unstubAllEnvs();
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('refuses a recording without the feeds of the strategies', async () => {
    const other = REVERSION.replaceAll('25 USDC', '26 USDC');
    const { code, stdout } =
      await place.ask(['--json', 'lookahead', config('other.yaml', other), '--recording', market.directory]);
    // What it would watch and what there is, in words, the sizes of a pair together.
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'RECORDING_INCOMPLETE', message: expect.stringMatching(
      / lacks what the strategies watch: the price of 26 USDC in SOL\. It holds the price of [^:]* in SOL/,
    ) as string } });
    expect(code).toBe(2);
  });

  it('names the recording, not the chain, as the reason for an unknown token', async () => {
    config('foreign.yaml', REVERSION);
    const foreign = place.write('foreign-token.yaml', place.read('foreign.yaml')
      .replace('tokens:', 'tokens:\n  KELP: Barna97njkphfBK7ZbPjATySs3FHRJsMtw8WpfJd2Fa'));
    const { code, stdout } = await place.ask(['--json', 'lookahead', foreign, '--recording', market.directory]);
    const { message } = (JSON.parse(stdout) as { readonly error: { readonly message: string } }).error;
    expect(message).toMatch(
      /tokens\.KELP: expected a token that the recording holds \(.*\bSOL So11…1112\b.*Take a recording that has it, or/,
    );
    expect(message).not.toContain('chain');
    expect(code).toBe(2);
  });

  it('prints warm-ups as durations and amounts with their tokens', async () => {
    const { text, document, code } = await runCommand(lookaheadCommand, [
      'lookahead', config('warm.yaml', REVERSION), '--recording', market.directory, '--times', '1', '--warm-up',
    ], { stateDir: market.directory });
    expect(text)
      .toMatch(/no warm-up: a longer history changes decisions, after [2-8] of 8 starts; (?:\d+m)?\d+s is enough\n/);
    expect(text).toMatch(/\n {4}after a longer history (?:to swap (?:25 USDC to SOL|all its SOL to USDC)|no decision)/);
    expect(text).toMatch(/\n {4}as configured {10}(?:to swap|no decision)/);
    const [{ warm_up: warmUp }] = document['strategies'] as readonly [{
      readonly warm_up: Readonly<Record<string, unknown>> & { readonly starts: readonly string[] };
    }];
    expect(warmUp).toMatchObject({
      configured: '0s', enough: expect.stringMatching(/^(?:\d+m)?\d+s$/) as string,
      longest_tried: expect.any(String) as string, trading_from: warmUp.starts[0],
    });
    expect(warmUp.starts).toHaveLength(8);
    expect(text).not.toMatch(/\d{7}|\dms\b/);
    expect(
      (document['strategies'] as readonly { readonly first_leak: { readonly detail: string } }[])[0]!.first_leak.detail,
    ).toMatch(/^a history of \S+ before the start leads to another decision than no history, as configured$/);
    expect(code).toBe(1);
  });

  it('calls a warm-up long enough only after comparing decisions, and prints their number', async () => {
    const idle = REVERSION.replace('k: 1', 'k: 90');
    const asked = ['--recording', market.directory, '--times', '1', '--warm-up'];
    const { text, document } = await runCommand(
      lookaheadCommand, ['lookahead', config('idle-warm.yaml', idle), ...asked], { stateDir: market.directory },
    );
    expect(text).toContain('no warm-up: NOT CHECKED: it made no decision in the time compared after 8 starts');
    expect(document['warnings'])
      .toContain('the check of the warm-up of dip shows nothing: '
        + 'it made no decision in the time compared after 8 starts');
    expect(document).toMatchObject({ strategies: [{ warm_up: { enough: null, compared: 0 } }] });
    const long = await runCommand(lookaheadCommand, [
      'lookahead', config('long-warm.yaml', REVERSION.replace('params', 'warmup: 5m, params')), ...asked,
    ], { stateDir: market.directory });
    expect(long.text)
      .toMatch(/warm-up 5m: up to \d+m of history change no decision: \d+ decisions compared after 8 starts\n/);
    expect(long.code).toBe(0);
  });
});
