import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { JsonLine, Playground, Running } from './gannet.ts';
import { createPlayground, daemonOf, document, jsonLines, PROJECT } from './gannet.ts';

// The strategies of the catalogue, all in one live run that is killed in the middle and started again.

const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const SOL = 'So11111111111111111111111111111111111111112';
const PEARL = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij';
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const FIRST_PRICE = 182.4;
/** Below three levels of the grid; above all of them, and the gain of the bracket; the trail below that. */
const [LOW, HIGH, TRAIL] = [179.4, 190, 186];

/** Parameters under which these strategies act within seconds; the others have those of their configurations. */
const QUICK: Readonly<Record<string, object>> = {
  'grid': {
    pair: 'SOL/USDC', low: 177, high: 186, levels: 9, type: 'arithmetic', lot: '10 USDC', every: '1s', min_step: 0.004,
  },
  'dca': { buy: 'SOL', spend: '5 USDC', every: '10s', watch: '1s' },
  'twap': { buy: 'SOL', total: '30 USDC', duration: '80s', every: '10s', jitter: 0, watch: '1s' },
  'bracket': { pair: 'SOL/USDC', size: '20 USDC', sale: '0.12 SOL', take_profit: 0.03, stop_loss: 0.2, every: '1s' },
  'trailing-stop': {
    pair: 'SOL/USDC', buy: '20 USDC', sale: '0.12 SOL', distance: 0.01, activation: 188, every: '1s',
  },
  'rebalance': { cash: 'USDC', minimum: '2 USDC', every: '1s', min_interval: '1s', targets: [
    { token: 'SOL', size: '0.6 SOL', weight: 0.3 }, { token: 'PEARL', size: '50 PEARL', weight: 0.3 },
  ] },
};

interface Entry {
  readonly use: string;
  readonly name?: string;
  readonly budget?: string;
  readonly params: object;
}

interface Configured {
  readonly tokens?: Readonly<Record<string, string>>;
  readonly strategies: readonly Entry[];
}

/** The configurations of the catalogue, each with its first strategy; that of dca stands above. */
const CONFIGURED = [
  ...readdirSync(join(PROJECT, 'config/strategies')).map((file) => `config/strategies/${file}`), 'config/dca.yaml',
].map((file) => parse(readFileSync(join(PROJECT, file), 'utf8')) as Configured);
const ENTRIES = CONFIGURED.map(({ strategies: [first] }) => first!);
const TOKENS: Readonly<Record<string, string>> =
  Object.assign({ SOL, USDC, PEARL }, ...CONFIGURED.map(({ tokens }) => tokens ?? {}));

let playground: Playground;
let yaml: string;
let base: string;
let rpcUrl: string;
let wallet: string;
let environment: Readonly<Record<string, string>>;

async function lever(path: string, body: object): Promise<void> {
  const answer = await fetch(`${base}/sandbox/${path}`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body),
  });
  expect(answer.status, await answer.text()).toBe(200);
}

/** Returns what the wallet holds on the chain, by mint. */
async function holdings(): Promise<ReadonlyMap<string, bigint>> {
  const answer = await fetch(rpcUrl, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({
      jsonrpc: '2.0', id: 1, method: 'getTokenAccountsByOwner',
      params: [wallet, { programId: TOKEN_PROGRAM }, { encoding: 'jsonParsed', commitment: 'processed' }],
    }),
  });
  const { result } = await answer.json() as { readonly result: { readonly value: readonly {
    readonly account: { readonly data: { readonly parsed: { readonly info: {
      readonly mint: string; readonly tokenAmount: { readonly amount: string };
    } } } };
  }[] } };
  return new Map(result.value.map(({ account: { data: { parsed: { info } } } }) =>
    [info.mint, BigInt(info.tokenAmount.amount)]));
}

beforeAll(async () => {
  playground = createPlayground();
  const sandbox = playground.start(['sandbox', '--json', '--seed', '9', '--speed', '0']);
  await sandbox.until((stdout) => stdout.includes('\n'));
  const [line] = jsonLines(sandbox.stdout()) as unknown as readonly [{
    readonly base_url: string; readonly rpc_url: string;
    readonly wallet: { readonly address: string; readonly private_key: string };
  }];
  base = line.base_url;
  rpcUrl = line.rpc_url;
  wallet = line.wallet.address;
  environment = { GANNET_API_KEY: 'a-key-of-my-own', GANNET_WALLET_KEY: line.wallet.private_key };
  const symbols = Object.keys(TOKENS);
  yaml = playground.write('catalogue.yaml', JSON.stringify({
    mode: 'live', control: { port: 0 }, strategy_bounds: { call_time: '5s' }, tokens: TOKENS,
    service: { base_url: base, api_key: '${GANNET_API_KEY}', requests_per_second: 100 },
    chain: { rpc_url: rpcUrl }, wallet: { key_from: 'env:GANNET_WALLET_KEY', address: wallet },
    risk: {
      max_quote_age: '20s', max_trade: '150 USDC', max_open_intents: 30,
      max_swaps: { per_minute: 600, per_hour: 6_000, per_day: 6_000 }, token_safety: { trusted: symbols },
      protections: [{ kind: 'daily_loss', limit: '900 USDC', action: 'halt' }, { kind: 'reconciliation_mismatch' }],
    },
    signer: { caps: Object.fromEntries(symbols.map((symbol) =>
      [symbol, { per_trade: '5000', per_hour: '50000', per_day: '50000' }])) },
    strategies: ENTRIES.map(({ use, budget, params }) => ({
      use, ...(budget?.endsWith('USDC') === true ? { budget: '200 USDC' } : { budget }), params: QUICK[use] ?? params,
    })),
  }));
});
afterAll(() => playground.close());

function begin(): Running {
  return playground.start(['run', '--live', '--json', '--accept-new-journal', '--accept-new-counters', '--config', yaml,
    '--state-dir', playground.path('state')], { environment });
}

const ask = async (...args: readonly string[]): Promise<JsonLine> => document(await playground.ask(
  [...args, '--json', '--state-dir', playground.path('state')], { environment }));

interface Swap {
  readonly strategy: string;
  readonly state: string;
  readonly input_mint: string;
  readonly output_mint: string;
  readonly amount_in: string;
  readonly amount_out: string;
}

/** Returns the swaps of the journal that landed, over all lives. */
const landed = async (): Promise<readonly Swap[]> =>
  await ask('journal', 'list', '--state', 'confirmed', '--limit', '9999') as unknown as readonly Swap[];
const count = (swaps: readonly Swap[], name: string, side: 'input_mint' | 'output_mint' = 'input_mint'): number =>
  swaps.filter((swap) => swap.strategy === name && swap[side] === USDC).length;

const linesOf = ({ stdout }: Pick<Running, 'stdout'>): JsonLine[] =>
  jsonLines(stdout().slice(0, stdout().lastIndexOf('\n') + 1));
/** Returns the keys under which swaps were approved, each with its strategy. */
const keysOf = (lines: readonly JsonLine[]): string[] => lines.flatMap(({ type, verdict, strategy, proposal }) => {
  const { key } = (proposal ?? {}) as { readonly key?: string };
  return type === 'decision' && verdict === 'approved' && key !== undefined ? [`${String(strategy)} ${key}`] : [];
});

let price = FIRST_PRICE;
/** Moves the price of SOL by a factor a second, to a limit, until what is wanted has happened. */
async function move(
  running: Running, { factor, limit }: { readonly factor: number; readonly limit: number },
  wanted: (swaps: readonly Swap[]) => boolean,
): Promise<void> {
  const giveUpAt = Date.now() + 150_000;
  for (let swaps = await landed(); !wanted(swaps); swaps = await landed()) {
    if (Date.now() > giveUpAt) {
      throw new Error(`the wait timed out at ${price}: ${JSON.stringify(swaps.map(({ strategy, input_mint: from }) =>
        `${strategy} ${from.slice(0, 4)}`))}\n${running.stdout().slice(-20_000)}\n${running.stderr()}`);
    }
    price = factor < 1 ? Math.max(price * factor, limit) : Math.min(price * factor, limit);
    await lever('price', { mint: SOL, usd: price });
    await new Promise((resolve) => { setTimeout(resolve, 1_000); });
  }
}

describe('the catalogue in one live run that is killed and started again', () => {
  let runs: string[];
  let lines: JsonLine[];
  let before: ReadonlyMap<string, bigint>;
  let swaps: readonly Swap[];
  let firstKeys: readonly string[];

  beforeAll(async () => {
    before = await holdings();
    const first = begin();
    await first.until((stdout) => stdout.includes('"type":"started"'));
    const daemon = await daemonOf(first);
    await first.until((stdout) => stdout.includes('"state":"confirmed"'));
    await move(first, { factor: 0.997, limit: LOW }, (all) => count(all, 'grid') >= 2 && count(all, 'twap') >= 2
      && count(all, 'rebalance') >= 2
      && ['dca', 'bracket', 'trailing-stop'].every((name) => count(all, name) >= 1));
    process.kill(daemon, 'SIGKILL');
    await first.ended;
    const second = begin();
    await second.until((stdout) => stdout.includes('"type":"started"'));
    await move(second, { factor: 1.006, limit: HIGH }, (all) => count(all, 'bracket', 'output_mint') >= 1
      && count(all, 'grid', 'output_mint') >= count(all, 'grid') && price === HIGH);
    await move(second, { factor: 0.995, limit: TRAIL }, (all) => count(all, 'trailing-stop', 'output_mint') >= 1);
    second.signal('SIGINT');
    const { code, stderr } = await second.ended;
    expect(code, stderr).toBe(0);
    swaps = await landed();
    firstKeys = keysOf(linesOf(first));
    lines = [first, second].flatMap(linesOf);
    runs = lines.filter(({ type }) => type === 'started').map((line) => String(line['run_id']));
  }, 600_000);

  it('goes on where it was: no key swaps twice, no entry is repeated, no level is forgotten', () => {
    expect(runs).toHaveLength(2);
    const keys = keysOf(lines);
    // A swap that is given up before its signature is proposed again under its key.
    const abandoned = lines.filter(({ type, state }) => type === 'intent' && state === 'abandoned').length;
    expect(keys.length - new Set(keys).size).toBeLessThanOrEqual(abandoned);
    for (const name of ['bracket', 'trailing-stop']) expect([name, count(swaps, name)]).toEqual([name, 1]);
    expect(count(swaps, 'twap')).toBeLessThanOrEqual(9);
    expect(count(swaps, 'rebalance')).toBeGreaterThanOrEqual(2);
    // Each lot of the first life is sold by the second.
    for (const key of firstKeys.filter((each) => /^grid \d-0$/.test(each)))
      expect(keys).toContain(key.replace(/0$/, '1'));
  });

  it('swapped on the chain exactly what its journal says', async () => {
    const after = await holdings();
    for (const mint of [USDC, PEARL]) {
      const change = swaps.reduce((sum, { input_mint: from, output_mint: to, amount_in: paid, amount_out: got }) =>
        sum + (to === mint ? BigInt(got) : 0n) - (from === mint ? BigInt(paid) : 0n), 0n);
      expect((after.get(mint) ?? 0n) - (before.get(mint) ?? 0n), mint).toBe(change);
    }
  });

  it('stops no strategy, and has no critical alert', () => {
    expect(lines.filter(({ level }) => level === 'critical')).toEqual([]);
    expect(lines.filter(({ type, message }) => type === 'alert' && String(message).includes('stopped'))).toEqual([]);
    expect([...new Set(swaps.map(({ strategy }) => strategy))]).toEqual(expect.arrayContaining(Object.keys(QUICK)));
  });

  it('is replayed to the same hash, each life', async () => {
    for (const run of runs) expect(await ask('replay', run)).toMatchObject({ match: true });
  });
});
