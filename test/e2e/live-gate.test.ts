import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SandboxAddresses } from '../../src/sandbox/sandbox.ts';
import type { Ended, JsonLine, Playground, Running } from './gannet.ts';
import { createPlayground, document, filesIn, PROJECT, startSandbox } from './gannet.ts';

let playground: Playground;
let sandbox: Running;
let addresses: SandboxAddresses;

beforeAll(async () => {
  playground = createPlayground();
  ({ running: sandbox, ...addresses } = await startSandbox(playground, 25, '--speed', '0'));
});
afterAll(async () => {
  sandbox.signal('SIGTERM');
  expect((await sandbox.ended).code).toBe(0);
  await playground.close();
});

/** A service and a chain of another process on this machine are as real as any. */
function config(name: string, mode: 'live' | 'paper', guards: string): string {
  return playground.write(name, `mode: ${mode}
service: { base_url: "${addresses.base_url}", requests_per_second: 50 }
chain: { rpc_url: "${addresses.rpc_url}" }
wallet: { key_from: env:GANNET_WALLET_KEY, address: ${addresses.wallet.address} }
control: { enabled: false }
${guards}strategies: [{ use: dca, name: dca-sol, budget: "50 USDC", params: { buy: SOL, spend: "5 USDC", every: 1h,
    watch: 1s } }]
`);
}
const GUARDS = `signer: { caps: { USDC: { per_trade: "20", per_hour: "100", per_day: "100" },
    SOL: { per_trade: "1", per_day: "1" } } }
risk: { max_trade: "20 USDC", max_swaps: { per_day: 20 }, protections: [{ kind: daily_loss, limit: "25 USDC",
    action: halt }] }
`;

const environment = (): Record<string, string> =>
  ({ GANNET_API_KEY: 'a-key-for-the-sandbox', GANNET_WALLET_KEY: addresses.wallet.private_key });
const within = (file: string, args: readonly string[]): string[] =>
  [...args, '--json', '--config', file, '--state-dir', playground.path('state')];
const gannet = (file: string, ...args: string[]): Promise<Ended> =>
  playground.run(within(file, args), { environment: environment() });
/** Of a command that comes to no signing. */
const ask = (file: string, ...args: string[]): Promise<Ended> =>
  playground.ask(within(file, args), { environment: environment() });

describe('live trading on a foreign service and chain', () => {
  it('is refused for run and swap without --live, before anything starts', async () => {
    const file = config('refused.yaml', 'live', GUARDS);
    for (const refused of await Promise.all([
      gannet(file, 'run', '--duration', '1s'), ask(file, 'swap', 'USDC', 'SOL', '5'),
    ])) {
      expect(refused.code, refused.stderr).toBe(2);
      expect(document(refused)['error'])
        .toMatchObject({ code: 'LIVE_REFUSED', message: expect.stringMatching(/refused\.yaml:1:7 mode: .*--live/) });
    }
  });

  it('is refused with --live too without limits and caps, naming all of them', async () => {
    const refused = await ask(config('unguarded.yaml', 'live', ''), 'run', '--live', '--duration', '1s');
    expect(refused.code).toBe(2);
    const { code, message } = document(refused)['error'] as { code: string; message: string };
    expect(code).toBe('LIVE_REFUSED');
    for (const path of ['risk.max_trade', 'risk.max_swaps', 'risk.protections', 'signer.caps.USDC', 'signer.caps.SOL'])
      expect(message).toContain(`${path}: `);
    expect(message.split('\n')).toHaveLength(5);
  });

  it('lands with --live, limits and caps', async () => {
    const swapped = await gannet(config('live.yaml', 'live', GUARDS), 'swap', 'USDC', 'SOL', '5', '--live', '--yes');
    expect(swapped.code, swapped.stdout + swapped.stderr).toBe(0);
    const told = document(swapped) as JsonLine
      & { readonly amount_out: string; readonly preview: { readonly minimum_out: string } };
    expect(told)
      .toMatchObject({ state: 'confirmed', denial: null, preview: { real_money: true, amount_in: '5000000' } });
    expect(BigInt(told.amount_out)).toBeGreaterThanOrEqual(BigInt(told.preview.minimum_out));
  });

  it('is refused by the signer for a minimum output too far below a quote of its own', async () => {
    const tight = GUARDS.replace('signer: {', 'signer: { price_guard: { max_deviation_bps: 49 },');
    const swapped = await playground.run([
      'swap', 'USDC', 'SOL', '5', '--live', '--yes', '--accept-new-journal', '--json',
      '--config', config('tight.yaml', 'live', tight), '--state-dir', playground.path('tight'),
    ], { environment: environment() });
    expect(swapped.code, swapped.stdout + swapped.stderr).toBe(1);
    expect(document(swapped)).toMatchObject({
      state: 'abandoned', code: 'PRICE_BELOW_GUARD',
      reason: expect.stringMatching(/the signer's own quote is \d+, so it wants at least \d+, 49 bps less/) as string,
    });
  });

  it('issue 13.23: is previewed by --dry-run without a swap', async () => {
    const file = config('previewed.yaml', 'live', GUARDS);
    const [json, words] = await Promise.all([
      ask(file, 'swap', 'USDC', 'SOL', '5', '--dry-run'),
      playground.ask([
        'swap', 'USDC', 'SOL', '50', '--slippage-bps', '80', '--dry-run', '--config', file, '--state-dir',
        playground.path('dry'),
      ], { environment: { ...environment(), COLUMNS: '80' } }),
    ]);
    expect([json.code, words.code], json.stdout + words.stderr).toEqual([0, 0]);
    const preview = document(json) as JsonLine & { readonly quoted_out: string; readonly minimum_out: string };
    expect(preview).toMatchObject({
      dry_run: true, real_money: true, amount_in: '5000000', slippage_bps: 50, fee_bps: expect.any(Number),
      wallet: addresses.wallet.address, network_fee_lamports: expect.stringMatching(/^\d+$/), would_be_refused: [],
    });
    expect(BigInt(preview.minimum_out)).toBe(BigInt(preview.quoted_out) * 9_950n / 10_000n);
    for (const row of [
      /money +REAL MONEY/, /you pay +50 USDC/, /worst case +0\.\d+ SOL, after 80 bps/, /price +/, /fee +\d+ bps/,
      /network +/, /refused +!! .*80 bps of slippage/, /!! [\s\S]*max_trade/,
    ]) {
      expect(words.stdout).toMatch(row);
    }
    expect(filesIn(playground.path('dry')).filter((name) => name.startsWith('runs'))).toEqual([]);
  });

  it('issue 13.23: does not swap without a terminal for the question and without --yes', async () => {
    const file = config('unasked.yaml', 'live', GUARDS);
    const state = playground.path('unasked');
    for (const json of [['--json'], []]) {
      const answer = await playground.ask(
        ['swap', 'USDC', 'SOL', '5', '--live', ...json, '--config', file, '--state-dir', state],
        { environment: environment() },
      );
      expect(answer.code, answer.stdout + answer.stderr).toBe(2);
      expect(answer.stdout + answer.stderr).toMatch(/there is no terminal to ask on: add --yes to swap real money/);
    }
    expect(filesIn(state).filter((name) => name.startsWith('runs') || name.startsWith('journal'))).toEqual([]);
  });

  it('issue 13.23: is previewed for the wallet whose key only the signer has, without writing anything', async () => {
    const text = readFileSync(config('keyed-from.yaml', 'live', GUARDS), 'utf8').replace(/, address: \w+/, '');
    const file = playground.write('keyed.yaml', text);
    const state = playground.path('keyed');
    const run = (flags: readonly string[], variables = environment()): Promise<Ended> =>
      playground.run(['swap', 'USDC', 'SOL', '5', '--dry-run', ...flags, '--config', file, '--state-dir', state], {
        environment: variables,
      });
    const [json, words, keyless] =
      await Promise.all([run(['--json']), run([]), run(['--json'], { GANNET_API_KEY: 'a-key-for-the-sandbox' })]);
    expect(document(json)).toMatchObject({
      wallet: addresses.wallet.address, held: expect.stringMatching(/^[1-9]\d+$/),
      network_fee_lamports: expect.stringMatching(/^\d+$/),
    });
    expect(words.stdout).toMatch(new RegExp(`wallet +${addresses.wallet.address}\\n +balance +[\\d.]+ USDC\\n`));
    expect(words.stdout).toMatch(/network +0\.\d+ SOL now/);
    expect(document(keyless))
      .toMatchObject({ wallet: null, held: null, would_be_refused: [expect.stringMatching(/^KEY_INVALID, /)] });
    expect(filesIn(state).filter((name) => /^(?:runs|journal|signer)/.test(name))).toEqual([]);
  });

  it('issue 13.23: is refused before the question where the limits certainly refuse it', async () => {
    const limited = config('limited.yaml', 'live', GUARDS.replace('per_day: 20', 'per_day: 1'));
    const runs = (): string[] => readdirSync(playground.path('state', 'runs'));
    const before = runs();
    const files = filesIn(playground.path('state'));
    const dry = await ask(limited, 'swap', 'USDC', 'SOL', '5', '--dry-run');
    expect(document(dry)['would_be_refused'])
      .toEqual([expect.stringMatching(/^RATE_PER_DAY, 1 within 1d, allowed are 1/)]);
    expect(filesIn(playground.path('state'))).toEqual(files);
    const refused = await gannet(limited, 'swap', 'USDC', 'SOL', '5', '--live', '--yes');
    expect([refused.code, document(refused)['denial']]).toEqual([1, expect.objectContaining({ code: 'RATE_PER_DAY' })]);
    const stop = playground.write('state/STOP', 'maintenance');
    const halted = await gannet(limited, 'swap', 'USDC', 'SOL', '5', '--live', '--yes');
    rmSync(stop);
    expect([halted.code, document(halted)['denial']]).toEqual([3, expect.objectContaining({ code: 'TRADING_HALTED' })]);
    expect(runs()).toEqual(before);
  });

  it('issue 13.23: is refused before its preview where the journal is lost', async () => {
    const file = config('lost.yaml', 'live', GUARDS);
    const args = ['--config', file, '--state-dir', playground.path('lost')];
    const [lost, dry] = await Promise.all([
      playground.run(['swap', 'USDC', 'SOL', '5', '--live', '--yes', ...args], { environment: environment() }),
      playground.ask(['swap', 'USDC', 'SOL', '5', '--dry-run', '--json', ...args], { environment: environment() }),
    ]);
    expect([lost.code, lost.stdout]).toEqual([2, expect.not.stringContaining('REAL MONEY')]);
    expect(lost.stderr).toMatch(/is missing or empty, but this is not the first start[\s\S]*--accept-new-journal/);
    expect(document(dry)['would_be_refused']).toEqual([expect.stringMatching(/^JOURNAL_LOST, /)]);
  });

  it.skipIf(
    !existsSync('/usr/bin/script'),
  )('issue 13.23: is asked about at a terminal, and a no swaps nothing', async () => {
    const file = config('asked.yaml', 'live', GUARDS);
    playground.write(join('dotenv', '.env'), `GANNET_WALLET_KEY=${addresses.wallet.private_key}\n`);
    const answer = async (word: string): Promise<{ readonly code: number | null; readonly said: string }> => {
      const options =
        `--live --accept-new-journal --accept-new-counters --config ${file} --state-dir ${playground.path('asked')}`;
    const command = `${join(PROJECT, 'bin', 'gannet')} swap USDC SOL 5 ${options}`;
      const child = spawn('/usr/bin/script', ['-qec', command, '/dev/null'], {
        env: { PATH: process.env['PATH'], GANNET_API_KEY: environment()['GANNET_API_KEY'] },
        cwd: playground.path('dotenv'), stdio: 'pipe',
      });
      let said = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        const before = said;
        said += text;
        if (!before.includes('[y/N]') && said.includes('[y/N]')) child.stdin.write(`${word}\n`);
      });
      const [code] = await once(child, 'close') as [number | null];
      return { code, said };
    };
    const no = await answer('n');
    expect(no.said).toMatch(/REAL MONEY[\s\S]*worst case[\s\S]*swap this\? \[y\/N\][\s\S]*nothing was swapped/);
    expect(no.code).toBe(1);
    expect(filesIn(playground.path('asked')).filter((name) => name.startsWith('runs'))).toEqual([]);
    const yes = await answer('y');
    expect([yes.code, yes.said]).toEqual([0, expect.stringMatching(/ {2}done: 0\.\d+ SOL received/)]);
  });

  it.skipIf(
    !existsSync('/proc/self/environ'),
  )('issue 15: is refused where a process above shows the key, with its number and what to do', async () => {
    const args = within(config('shown.yaml', 'live', GUARDS), ['swap', 'USDC', 'SOL', '5', '--live', '--yes']);
    const shell = spawn('/bin/sh', ['-c', '"$@"; exit $?', 'sh', join(PROJECT, 'bin', 'gannet'), ...args], {
      env: { PATH: process.env['PATH'], ...environment() }, stdio: ['ignore', 'pipe', 'ignore'],
    });
    let said = '';
    shell.stdout.setEncoding('utf8').on('data', (text: string) => { said += text; });
    const [code] = await once(shell, 'close') as [number | null];
    const { error } = JSON.parse(said) as { readonly error: JsonLine };
    expect([code, error]).toEqual([2, expect.objectContaining({
      code: 'KEY_INVALID', message: expect.stringMatching(new RegExp(
        `process ${shell.pid} \\(\\w+\\), where every process of this user can read it; name a key file with wallet`,
      )) as string,
    })]);
    expect(said).not.toContain(addresses.wallet.private_key.slice(0, 12));
  });

  it('prints that --live changes nothing on paper', async () => {
    const paper = await ask(config('paper.yaml', 'paper', ''), 'swap', 'USDC', 'SOL', '5', '--live');
    expect(paper.code, paper.stdout + paper.stderr).toBe(0);
    expect(paper.stderr).toContain('--live has no effect: the configuration says mode: paper');
  });

  it('is explained by config check, which needs no --live', async () => {
    const file = config('checked.yaml', 'live', GUARDS);
    const [json, words] = await Promise.all([
      ask(file, 'config', 'check'), playground.ask(['config', 'check', file], { environment: { GANNET_API_KEY: 'k' } }),
    ]);
    expect([json.code, words.code], words.stdout).toEqual([0, 0]);
    expect(document(json)).toMatchObject({
      valid: true, needs_live_flag: true,
      limits: {
        max_trade: { amount: '20000000' }, protections: [{ trigger: { kind: 'daily-loss' }, action: 'halt' }],
        token_safety: { min_holders: 1_000 },
      },
      protections: [expect.stringContaining('25 USDC')],
      signer: {
        caps: { EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v: { per_trade: '20000000', per_day: '100000000' } },
      },
    });
    expect(words.stdout).toMatch(/ is valid: live, 1 strategy, \d+ feeds?\n/);
    // No more digits than a person reads.
    expect(words.stdout).toMatch(/for watching +\d+(\.\d{1,2})? a second;/);
    expect(words.stdout).toMatch(/money +real: run and swap need --live\n/);
    expect(words.stdout).toMatch(/protections +.*25 USDC.*halt until midnight UTC\n/);
    expect(words.stdout).toMatch(/tokens +tokens are checked before they are bought, except SOL, USDC\n/);
    expect(words.stdout)
      .toMatch(/signer +20 USDC a swap, 100 USDC an hour, 100 USDC a day\n +1 SOL a swap, 1 SOL a day\n/);
  });
});
