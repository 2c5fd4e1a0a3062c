import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import type { Ended, JsonLine, Playground, Running } from '../e2e/gannet.ts';
import { createPlayground, daemonOf, document, jsonLines, PROJECT } from '../e2e/gannet.ts';
import { PLACES } from './parity-project.ts';

let playground: Playground;
let sandbox: Sandbox;
let state: string;
/** Successive runs of a daemon on one state directory, with manual swaps between them, in their order. */
const runIds: Record<string, string> = {};
const lines: Record<string, readonly JsonLine[]> = {};
const answers: Record<string, Ended> = {};

const mintOf = (symbol: string): string => sandbox.addresses.tokens.find((token) => token.symbol === symbol)!.mint;
const has = (fits: (line: JsonLine) => boolean, count = 1) =>
  (stdout: string): boolean => jsonLines(stdout).filter(fits).length >= count;
const lands = (line: JsonLine): boolean => line.type === 'intent' && line['state'] === 'confirmed';
const tellsAccess = (access: string) =>
  ({ data }: JsonLine): boolean => (data as { service_access?: string } | undefined)?.service_access === access;
const isOf = (name: string) => (line: JsonLine): boolean => line['strategy'] === name;

// Both pay in dollars, of which one swap is open at a time. With a common cadence one would always block the other.
function configText({ spend, budget }: { readonly spend: string; readonly budget: string }): string {
  const { base_url: baseUrl, rpc_url: rpcUrl, wallet } = sandbox.addresses;
  return `mode: live
service: { base_url: "${baseUrl}", api_key: "\${GANNET_API_KEY}", plan: pro }
chain: { rpc_url: "${rpcUrl}" }
wallet: { key_from: env:GANNET_WALLET_KEY, address: ${wallet.address} }
tokens: { SOL: ${mintOf('SOL')}, USDC: ${mintOf('USDC')}, PEARL: ${mintOf('PEARL')} }
risk:
  max_trade: "200 USDC"
  max_open_intents: 4
  max_swaps: { per_minute: 600, per_hour: 6000, per_day: 6000 }
  protections:
    - { kind: max_drawdown, limit_pct: 0.4, action: flatten }
    - { kind: error_rate, failures: 2, within: 1m, release: 1s }
    - { kind: stale_feed, after: 3s }
    - { kind: cooldown, after: loss, for: 1s }
  token_safety: { trusted: [SOL, USDC] }
signer:
  caps:
    USDC: { per_trade: "200", per_hour: "9000", per_day: "9000" }
    SOL: { per_trade: "0.04", per_hour: "90", per_day: "90" }
    PEARL: { per_trade: "500", per_hour: "9000", per_day: "9000" }
control: { port: 0 }
strategies:
  - { use: dca, name: saver, budget: "${budget}", params: { buy: SOL, spend: "${spend}", every: 500ms, watch: 500ms } }
  - use: dca
    name: built
    budget: "300 USDC"
    params: { buy: PEARL, spend: "5 USDC", every: 1500ms, offset: 250ms, route: build, watch: 500ms }
  - use: sma-crossover
    name: trend
    budget: "300 USDC"
    warmup: 10m
    params: { pair: SOL/USDC, size: "10 USDC", every: 500ms, fast: 1, slow: 2 }
`;
}

const environment = (): Readonly<Record<string, string>> => ({
  ...PLACES.newfoundland, GANNET_API_KEY: 'a-key-of-my-own', GANNET_WALLET_KEY: sandbox.addresses.wallet.private_key,
});

function begin(config: string): Running {
  return playground.start(
    ['run', '--live', '--json', '--config', config, '--state-dir', state], { environment: environment() },
  );
}

/** Keeps the output of a run; only whole lines, since some runs are killed. */
function keep(name: string, stdout: string): void {
  lines[name] = jsonLines(stdout);
  runIds[name] = String(lines[name][0]!['run_id']);
}

const command = (...args: readonly string[]): Promise<Ended> =>
  playground.ask([...args, '--json', '--state-dir', state]);

async function swapByHand(name: string, config: string): Promise<void> {
  answers[name] = await playground.run(
    ['swap', 'USDC', 'SOL', '3', '--live', '--yes', '--json', '--config', config, '--state-dir', state],
    { environment: environment() },
  );
  const { run_id: runId } = document(answers[name]);
  if (typeof runId === 'string') runIds[name] = runId;
}

async function lever(path: string, body: object | undefined, method: 'POST' | 'DELETE' = 'POST'): Promise<void> {
  const { statusCode } = await request(`${sandbox.addresses.base_url}/sandbox/${path}`, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  expect(statusCode).toBeLessThan(300);
}

beforeAll(async () => {
  playground = createPlayground();
  sandbox = await startSandbox({ seed: 9 });
  state = playground.path('state');
  const config = playground.write('first.yaml', configText({ spend: '5 USDC', budget: '500 USDC' }));

  const first = begin(config);
  await first.until((stdout) => has((line) => lands(line) && isOf('saver')(line), 2)(stdout)
    && has((line) => lands(line) && isOf('built')(line))(stdout));
  // An outage of the service: feeds go stale, entries wait, and both end with the first answer.
  for (const path of ['/swap/v2/order', '/swap/v2/build', '/tokens/*'])
    await lever('faults', { match: { path }, fault: { kind: 'status', status: 500 } });
  await first.until(has(tellsAccess('silent')));
  await first.until(has(({ type, protection, state: change }) =>
    type === 'state' && protection === 'stale-feed' && change === 'fired'));
  await lever('faults', undefined, 'DELETE');
  await first.until(has(({ type, protection, state: change }) =>
    type === 'state' && protection === 'stale-feed' && change === 'released'));
  await first.until(has(tellsAccess('granted')));
  await lever('faults', { match: { path: '/swap/v2/build' }, fault: { kind: 'status', status: 500 }, times: 9 });
  // Otherwise a refused purchase keeps the dollars of the others.
  await lever('faults', undefined, 'DELETE');
  answers['halted'] = await command('halt', '--strategy', 'trend', '--reason', 'a check');
  await swapByHand('swap beside a daemon', config);
  answers['replay meanwhile'] = await command('replay', String(jsonLines(first.stdout())[0]!['run_id']));
  answers['resumed'] = await command('resume', '--strategy', 'trend');
  // Swaps with an unknown outcome when the process is killed.
  await lever('faults', { match: { path: '/swap/v2/execute' }, fault: { kind: 'delay', ms: 30_000 }, times: 3 });
  const daemon = await daemonOf(first);
  const signed = jsonLines(first.stdout()).length;
  await first.until((stdout) => jsonLines(stdout).slice(signed).some(({ type, state: reached, route }) =>
    type === 'intent' && reached === 'signed' && route === 'order'));
  process.kill(daemon, 'SIGKILL');
  keep('killed', (await first.ended).stdout);
  await lever('faults', undefined, 'DELETE');

  // Another budget, another purchase, and a strategy by its path in the configuration. Open intents are resolved first.
  const dca = relative(playground.path('later'), join(PROJECT, 'strategies', 'dca.ts'));
  const later = playground.write('later/second.yaml', configText({ spend: '6 USDC', budget: '600 USDC' })
    .replace('use: dca, name: saver', `use: ${dca}, name: saver`));
  const second = begin(later);
  await second.until(has((line) => lands(line) && isOf('saver')(line), 2));
  // A fall of the price that sells everything.
  await lever('price', { mint: mintOf('SOL'), usd: 60 });
  await second.until(has(({ type, protection, state: change }) =>
    type === 'state' && protection === 'max-drawdown' && change === 'fired'));
  // The daemon is killed between two parts of the sale; the next run continues with the rest.
  const isPart = (line: JsonLine): boolean =>
    lands(line) && isOf('saver')(line) && line['input_mint'] === mintOf('SOL');
  await second.until(has(isPart));
  const falling = await daemonOf(second);
  process.kill(falling, 'SIGKILL');
  // Its recording may not be on disk yet: it is not among the replayed ones.
  lines['falling'] = jsonLines((await second.ended).stdout);
  const seller = begin(later);
  await seller.until(has(({ message }) => String(message).startsWith('flat: saver holds nothing but USDC')));
  writeFileSync(join(state, 'STOP'), 'for the night');
  await seller.until(has(({ type, by }) => type === 'state' && by === 'stop-file'));
  seller.signal('SIGTERM');
  keep('fallen', (await seller.ended).stdout);
  await swapByHand('swap while it is halted', config);
  rmSync(join(state, 'STOP'));

  // The triggered protection stays active until the operator clears it.
  const third = begin(later);
  await third.until(has(({ type, code }) => type === 'denial' && code !== 'VALUE_UNKNOWN' && code !== 'INPUT_STALE'));
  answers['resumed for good'] = await command('resume');
  await third.until(has((line) => lands(line) && isOf('saver')(line)));
  third.signal('SIGTERM');
  keep('resumed', (await third.ended).stdout);
  await swapByHand('swap afterwards', config);
}, 180_000);
afterAll(async () => {
  await playground.close();
  await sandbox.close();
});

describe('successive runs of a daemon on one state directory', () => {
  it('issue 13.15: show an outage as its own state, which ends with the first answer and counts no errors', () => {
    const of = (access: string): number => lines['killed']!.findIndex(tellsAccess(access));
    expect(of('silent')).toBeGreaterThan(0);
    expect(of('granted')).toBeGreaterThan(of('silent'));
    expect(lines['killed']!.slice(of('granted')).some(lands)).toBe(true);
    expect(lines['killed']!.some(({ protection }) => protection === 'error-rate')).toBe(false);
  });

  it('issue 13.14: sell in parts what is larger than a cap, and go on with the rest after a kill', () => {
    const sold = [...lines['falling']!, ...lines['fallen']!]
      .filter((line) => line.type === 'intent' && line['input_mint'] === mintOf('SOL'));
    expect(sold.every((line) => BigInt(String(line['amount_in'])) <= 40_000_000n)).toBe(true);
    for (const name of ['falling', 'fallen'])
      expect(lines[name]!.some((line) => lands(line) && line['input_mint'] === mintOf('SOL')), name).toBe(true);
    expect(lines['fallen']!.some(({ message }) => String(message).startsWith('flat: saver holds nothing but USDC')))
      .toBe(true);
    const refused = sold.filter((line) => String(line['code']).startsWith('CAP_'));
    expect(refused).toEqual([]);
  });

  it('end as planned', () => {
    expect(lines['falling']!.some(({ type, state: reached }) => type === 'state' && reached === 'recovering'))
      .toBe(true);
    // The daemon makes it, from what no strategy has of the wallet.
    expect(document(answers['swap beside a daemon']!)).toMatchObject({ state: 'confirmed', strategy: 'manual.USDC' });
    expect([answers['halted']!.code, answers['resumed']!.code, answers['resumed for good']!.code]).toEqual([0, 0, 0]);
    expect(answers['swap while it is halted']!.code).toBe(3);
    expect(answers['swap afterwards']!.code, answers['swap afterwards']!.stdout).toBe(0);
    const manifest = JSON.parse(
      readFileSync(join(state, 'runs', String(lines['falling']![0]!['run_id']), 'manifest.json'), 'utf8'),
    ) as { open_intents: readonly object[]; warmup: { recordings: readonly object[] }; config: {
      strategies: readonly { use: string }[];
    } };
    expect(manifest.open_intents.length).toBeGreaterThan(0);
    expect(manifest.warmup.recordings.length).toBeGreaterThan(0);
    expect(manifest.config.strategies.map(({ use }) => use)).toEqual(['dca', 'dca', 'sma-crossover']);
  });

  it('are all replayed, with the manual swaps between them', async () => {
    expect(Object.keys(runIds)).toEqual(['killed', 'fallen', 'resumed', 'swap afterwards']);
    for (const [name, runId] of Object.entries(runIds)) {
      const ended = await command('replay', runId);
      expect(ended.code, `${name}: ${ended.stderr}${ended.stdout}`).toBe(0);
      expect(document(ended), name).toMatchObject({ match: true, first_divergence: null });
      expect(Number(document(ended)['decisions']), name).toBeGreaterThan(0);
      const summary = lines[name]?.find(({ type }) => type === 'summary');
      if (summary !== undefined) expect(document(ended), name)
        .toMatchObject({ decision_hash: summary['decision_hash'], decisions: summary['decisions'] });
    }
  });

  it('are replayed as far as they were recorded, one that was killed and one that still runs', async () => {
    const killed = document(await command('replay', runIds['killed']!));
    expect(killed).toMatchObject({ match: true, truncated_at: expect.any(Number) });
    expect(document(answers['replay meanwhile']!)).toMatchObject({ match: true, truncated_at: expect.any(Number) });
    expect(Number(killed['truncated_at']))
      .toBeGreaterThanOrEqual(Number(document(answers['replay meanwhile']!)['truncated_at']));
    expect(document(await command('replay', runIds['fallen']!))).not.toHaveProperty('truncated_at');
  });

  it('are replayed in another folder', async () => {
    const ended = await playground.run(
      ['replay', join(state, 'runs', runIds['fallen']!), '--json'], { environment: PLACES.chatham, cwd: '/' },
    );
    expect(ended.code, ended.stderr + ended.stdout).toBe(0);
    expect(document(ended)).toMatchObject({ match: true, decision_hash: lines['fallen']!.at(-1)!['decision_hash'] });
  });
});
