import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonLine, Playground } from './gannet.ts';
import { createPlayground, document, jsonLines, PROJECT, replayed, startSandbox } from './gannet.ts';

const [RXJS, ZOD] = [import.meta.resolve('rxjs'), import.meta.resolve('zod')];
const SDK = join(PROJECT, 'src', 'strategy', 'index.ts');
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const SOL = 'So11111111111111111111111111111111111111112';
const environment = { GANNET_API_KEY: 'any' };

/** Says what a wallet did, with all its members, so that the hash of the decisions covers them. */
const COPIER = `import { map } from '${RXJS}';
import { z } from '${ZOD}';
import { defineStrategy, walletActivity } from '${SDK}';

const exact = (key, value) => (typeof value === 'bigint' ? value + 'n' : value);
export default defineStrategy({
  name: 'copier', summary: 'Says what a wallet does.',
  params: z.strictObject({ wallet: z.string() }),
  inputs: (p) => ({ activity: walletActivity(p.wallet, { every: '1s' }) }),
  run: ({ activity }, p, ctx) => activity.pipe(map((done) => ctx.alert('info', JSON.stringify(done, exact)))),
});
`;

/** Buys and sells as signals say, each order once. */
const FOLLOWER = `import { map, merge } from '${RXJS}';
import { z } from '${ZOD}';
import { amount, defineStrategy, pair, portfolio, quotes, signals } from '${SDK}';

export default defineStrategy({
  name: 'follower', summary: 'Does what signals say.',
  params: z.strictObject({ pair: pair(), size: amount() }),
  inputs: (p) => ({
    entry: signals('entry'), exit: signals('exit'), own: portfolio(),
    price: quotes(p.pair, { amount: p.size, every: '1s' }),
  }),
  run: ({ entry, exit, own }, p, ctx) => merge(
    own.pipe(map(({ equity, holdings }) => {
      const texts = holdings.map(({ mint, amount, cost }) => mint + ' ' + amount + ' for ' + cost);
      return ctx.alert('info', 'own ' + equity + ' ' + texts.join(', '));
    })),
    entry.pipe(map(({ body }) => ctx.buy(p.pair, p.size, 'signal ' + JSON.stringify(body), { key: body.id }))),
    exit.pipe(map(({ body }) => ctx.alert('info', 'exit ' + JSON.stringify(body)))),
  ),
});
`;

let playground: Playground;
let wallet: string;
let base: string;
let rpc: string;
const state = (): string => playground.path('state');
const yamlOf = (rest: string): string => `control: { port: 0 }
mode: paper
service: { base_url: "${base}", api_key: "\${GANNET_API_KEY}", requests_per_second: 100 }
chain: { rpc_url: "${rpc}" }
wallet: { address: ${wallet} }
${rest}`;

beforeAll(async () => {
  playground = createPlayground();
  const line = await startSandbox(playground, 9, '--speed', '1');
  [base, rpc, wallet] = [line.base_url, line.rpc_url, line.wallet.address];
});
afterAll(() => playground.close());

/** Replays, verifies, backtests and exports a finished run; returns the decisions of the backtest. */
async function again(yaml: string, summary: JsonLine, kind: string) {
  const recording = await replayed(playground, summary, { state: state(), environment });
  const out = playground.path(`tables-${kind}`);
  await playground.ask(['recording', 'export', recording, '--to', 'parquet', '--out', out, '--state-dir', state()]);
  expect(readFileSync(join(out, `${kind}.parquet`)).subarray(0, 4).toString()).toBe('PAR1');
  return document(await playground.ask(
    ['backtest', yaml, '--recording', recording, '--json', '--state-dir', state()], { environment },
  ));
}

describe('signals of another program', () => {
  it('drive a strategy in its own process, and are recorded, replayed to the same hash and backtested', async () => {
    playground.write('follower.ts', FOLLOWER);
    const yaml = playground.write('follower.yaml', yamlOf(`signals: { names: [entry, exit] }
strategies:
  - use: ./follower.ts
    params: { pair: SOL/USDC, size: "25 USDC" }
    budget: "100 USDC"
    max_age: 10s
`));
    expect(document(await playground.ask(['config', 'check', yaml, '--json'], { environment })))
      .toMatchObject({ valid: true, requests_per_second: 1 });
    const running = playground.start(
      ['run', '--json', '--config', yaml, '--state-dir', state(), '--duration', '12s'], { environment },
    );
    await running.until((stdout) => stdout.includes('"type":"started"'));
    const url = String(running.lines().find(({ type }) => type === 'started')!['control_url']);
    const tokenFile = playground.path('state', 'signals-token');
    expect(statSync(tokenFile).mode & 0o777).toBe(0o600);
    const token = readFileSync(tokenFile, 'utf8').trim();
    const send = async (name: string, body: unknown, headers: Record<string, string> = {}): Promise<number> =>
      (await fetch(`${url}/api/signals/${name}`, {
        method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body),
      })).status;
    const bearer = { authorization: `Bearer ${token}` };
    await expect.poll(() => send('exit', 'ready?', bearer), { timeout: 10_000 }).toBe(200);
    const { token: operator } = JSON.parse(playground.read('state', 'control.json')) as { token: string };
    const ready = async (): Promise<number> =>
      (await fetch(`${url}/readyz`, { headers: { authorization: `Bearer ${operator}` } })).status;
    await expect.poll(ready, { timeout: 10_000 }).toBe(200);
    expect(await send('entry', { token, id: 'alert-1', price: 98.5 })).toBe(200);
    expect(await send('entry', { id: 'alert-1', price: 98.5 }, bearer)).toBe(200);
    expect(await send('exit', { id: 'alert-2' }, { authorization: `Bearer ${operator}` })).toBe(401);
    const ended = await running.ended;
    expect(ended.code, ended.stderr + ended.stdout).toBe(0);
    expect(ended.stdout + ended.stderr).not.toContain(token);
    const lines = jsonLines(ended.stdout);
    const told = lines.filter(({ type }) => type === 'alert').map(({ message }) => String(message));
    expect(told).toContain('exit "ready?"');
    const own = told.filter((message) => message.startsWith('own '));
    expect(own[0]).toBe(`own 100000000 ${USDC} 100000000 for 100000000`);
    expect(own.at(-1)).toMatch(new RegExp(`^own \\d+ ${USDC} 75000000 for 75000000, ${SOL} \\d+ for 25\\d{6}$`));
    const orders = lines.filter(({ type }) => type === 'decision' || type === 'denial')
      .filter(({ proposal }) => JSON.stringify(proposal).includes('alert-1'));
    expect(orders.map(({ verdict, code }) => [verdict, code])).toEqual([
      ['approved', null], ['denied', 'KEY_REPEATED'],
    ]);
    const tested = await again(yaml, lines.at(-1)!, 'signal');
    expect(tested).toMatchObject({ fills: 1, denials: { KEY_REPEATED: 1 } });
  });

  it('are refused at the start where a strategy waits for one that nothing may send', async () => {
    const yaml = playground.write('unnamed.yaml', yamlOf(`signals: { names: [exit] }
strategies:
  - { use: ./follower.ts, params: { pair: SOL/USDC, size: "25 USDC" } }
`));
    const checked = await playground.ask(['config', 'check', yaml], { environment });
    expect(checked.code).toBe(2);
    expect(checked.stdout + checked.stderr).toContain('its input "entry" waits for the signal "entry", which nothing '
      + 'may send: add it to signals.names, which are exit');
  });
});

describe('the activity of a wallet', () => {
  it('is seen from the start of the run on, recorded, replayed to the same hash and backtested', async () => {
    playground.write('copier.ts', COPIER);
    const yaml = playground.write('copier.yaml', yamlOf(`strategies:
  - { use: ./copier.ts, params: { wallet: ${wallet} } }
`));
    const airdrop = async (lamports: number): Promise<string> => {
      const answer = await fetch(rpc, {
        method: 'POST', headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'requestAirdrop', params: [wallet, lamports] }),
      });
      return (await answer.json() as { readonly result: string }).result;
    };
    const before = await airdrop(1_000_000_000);
    // A transaction is confirmed two slots later.
    await new Promise((resolve) => { setTimeout(resolve, 2_000); });
    expect(document(await playground.ask(['config', 'check', yaml, '--json'], { environment })))
      .toMatchObject({ valid: true, requests_per_second: 0, node_requests_per_second: 1 });
    const running = playground.start(
      ['run', '--json', '--config', yaml, '--state-dir', state(), '--duration', '15s'], { environment },
    );
    await running.until((stdout) => stdout.includes('"type":"started"'));
    const url = String(running.lines().find(({ type }) => type === 'started')!['control_url']);
    const { token } = JSON.parse(playground.read('state', 'control.json')) as { token: string };
    const ready = async (): Promise<number> =>
      (await fetch(`${url}/readyz`, { headers: { authorization: `Bearer ${token}` } })).status;
    await expect.poll(ready, { timeout: 12_000 }).toBe(200);
    const after = [await airdrop(2_500_000_000), await airdrop(5_000_000_000)];
    const ended = await running.ended;
    expect(ended.code, ended.stderr + ended.stdout).toBe(0);
    const lines = jsonLines(ended.stdout);
    const seen = lines.filter(({ type }) => type === 'alert')
      .map(({ message }) => JSON.parse(String(message)) as Record<string, unknown>);
    expect(seen.map(({ signature }) => signature)).toEqual(after);
    expect(ended.stdout).not.toContain(before);
    expect(seen).toEqual([2_500_000_000n, 5_000_000_000n].map((lamports) => expect.objectContaining({
      slot: expect.any(Number), blockTime: expect.any(Number), hasFailed: false, isSigner: false,
      changes: [{ mint: SOL, amount: `${lamports}n`, decimals: 9 }],
    })));
    expect(await again(yaml, lines.at(-1)!, 'wallet-activity')).toMatchObject({ decisions: 2 });
  });
});
