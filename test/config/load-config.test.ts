import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEFAULT_CONFIG } from '../../src/config/default-config.ts';
import { configJsonSchema } from '../../src/config/config-schema.ts';
import { BUILT_IN_FILE, loadConfig } from '../../src/config/load-config.ts';
import { redactedConfig } from '../../src/config/config-record.ts';
import { GannetError } from '../../src/core/errors.ts';
import { canonicalJson } from '../../src/core/json.ts';
import type { Mint } from '../../src/market/token.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import { BASE_MODEL } from '../../src/trading/simulation-model.ts';
import { GENESIS_POOLS, GENESIS_WALLET } from '../../src/sandbox/genesis.ts';
import { PREDICTION_MARKETS } from '../../src/sandbox/market/prediction-market.ts';
import { GENESIS, configOf, genesisDecimals, issuesOf, loadText } from './load-text.ts';
import { temporaryFolder } from './temporary-folder.ts';

const CHECKOUT = join(import.meta.dirname, '../..');
const WATCH = 'strategies: [{ use: book-watch, params: { market: TIDE, level: 0.6, rearm: 0.5 } }]\n';
const PEARL = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij' as Mint;
/**
 * All but the example for real money, whose own test is with the gate it has to pass, and the grids of sweeps, whose is
 * with their reader.
 */
const SHIPPED = (await readdir(join(CHECKOUT, 'config')))
  .filter((file) => file.endsWith('.yaml') && !file.endsWith('.grid.yaml') && file !== 'live.yaml');

const loadShipped = async (file: string) => {
  const result =
    await loadConfig({ file: `config/${file}`, workingDir: CHECKOUT, environment: {}, ...GENESIS });
  if (!result.ok) throw new Error(JSON.stringify(result.issues));
  return result;
};

async function wsUrlOf(text: string, overrides = {}): Promise<string | undefined> {
  return (await configOf(text, { overrides })).chain.wsUrl;
}

describe('the shipped configurations', () => {
  it('are there', () => {
    expect(SHIPPED.sort()).toEqual([
      'book-watch.yaml', 'dca.yaml', 'gannet.yaml', 'mean-reversion.yaml', 'paper.yaml', 'sma-crossover.yaml',
    ]);
  });

  it.each(SHIPPED)('%s loads, within the bounds of the embedded service', async (file) => {
    const { config, rate } = await loadShipped(file);
    expect(config.service).toMatchObject({ baseUrl: 'embedded', limited: false });
    expect(rate.allowedPerSecond).toBeUndefined();
    const markets = new Set(PREDICTION_MARKETS.map(({ marketId }) => marketId));
    for (const { spec } of rate.feeds) if (spec.kind === 'order-book') expect(markets).toContain(spec.marketId);
    const pooled = new Set(GENESIS_POOLS.flatMap(({ mintA, mintB }) => [mintA, mintB]));
    for (const { mint } of config.tokens.all) expect(pooled).toContain(mint);
    const text = await readFile(join(CHECKOUT, 'config', file), 'utf8');
    expect(text.startsWith('# yaml-language-server: $schema=./gannet.schema.json\n')).toBe(true);
  });

  it('begin live with purchases by both routes, a dip buyer and a watcher, which the wallet and the limits have room '
    + 'for', async () => {
    const { config } = await loadShipped('gannet.yaml');
    expect(config.mode).toBe('live');
    expect(config.strategies.map(({ name, use, rawParams }) => [name, use, (rawParams as { route?: string }).route]))
      .toEqual([
        ['dca-sol', 'dca', 'order'], ['dca-pearl', 'dca', 'build'], ['sol-dip', 'mean-reversion', undefined],
        ['spring-tide', 'book-watch', undefined],
      ]);
    const funded = GENESIS_WALLET.find(({ mint }) => mint === USDC_MINT)!.amount * 1_000_000n;
    const budgets = config.strategies.reduce((sum, { budget }) => sum + (budget?.amount ?? 0n), 0n);
    expect(budgets).toBeLessThanOrEqual(funded);
    expect(config.limits.maxSwaps.perMinute).toBeGreaterThan(12);
    expect(config.limits.protections!.length).toBeGreaterThan(5);
    for (const { mint } of config.tokens.all) expect(config.signer.caps.get(mint)?.perDay, mint).toBeDefined();
  });
});

describe('where nothing is configured', () => {
  it('the built-in default is the text of config/gannet.yaml', async () => {
    expect(DEFAULT_CONFIG).toBe(await readFile(join(CHECKOUT, 'config/gannet.yaml'), 'utf8'));
  });

  it('the built-in default runs from any folder', async () => {
    const folder = await temporaryFolder();
    const built = await loadConfig({ workingDir: folder, environment: {}, ...GENESIS });
    const shipped = await loadShipped('gannet.yaml');
    if (!built.ok) throw new Error(JSON.stringify(built.issues));
    expect({ ...redactedConfig(built.config), file: '' }).toEqual({ ...redactedConfig(shipped.config), file: '' });
    expect(built.config.file).toBe(BUILT_IN_FILE);
  });

  it('config/gannet.yaml of the working directory goes before the built-in default', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'config'));
    await writeFile(join(folder, 'config/gannet.yaml'), `mode: life\n${WATCH}`);
    const result = await loadConfig({ workingDir: folder, environment: {}, ...GENESIS });
    expect(result)
      .toMatchObject({ ok: false, issues: [{ file: 'config/gannet.yaml', line: 1, column: 7, path: 'mode' }] });
  });
});

describe('what is left out', () => {
  it('has safe values', async () => {
    const config = await configOf(WATCH);
    expect(config).toMatchObject({
      file: 'bot.yaml',
      mode: 'paper',
      service: { baseUrl: 'embedded', apiKey: undefined, dialect: 'neutral', limited: false },
      chain: { rpcUrl: 'embedded', commitment: 'confirmed' },
      wallet: { keyFrom: undefined, address: undefined, solReserve: 50_000_000n },
      seed: 7,
      // Where a run of one's own was recorded, its latencies are better than any assumption.
      backtest: { model: { ...BASE_MODEL, latency: {
        ...BASE_MODEL.latency, quote: { recordedOr: BASE_MODEL.latency.quote },
        land: { recordedOr: BASE_MODEL.latency.land },
      } } },
      limits: {
        maxSlippageBps: 50, maxPriceImpactBps: 100, maxFeeBps: 30, maxTrade: undefined, maxPosition: new Map(),
        maxOpenIntents: 1, maxSwaps: { perMinute: 6, perHour: 60, perDay: 300 }, solReserve: 50_000_000n,
      },
      recording: { enabled: true, dir: 'state/recordings' },
      control: { enabled: true, host: '127.0.0.1', port: 7070 },
    });
    expect(config.tokens.all.map(({ symbol }) => symbol)).toEqual(['SOL', 'USDC']);
    expect(config.backtest.balances).toEqual(new Map([[SOL_MINT, 1_000_000_000n]]));
    expect(config.strategies[0]).toMatchObject({
      name: 'book-watch', use: 'book-watch', origin: 'project', budget: undefined, maxAgeMs: undefined,
    });
  });

  it('of a simulated wallet follows from the budgets', async () => {
    const config =
      await configOf(`strategies:\n${dcaEntry('a', '200 USDC')}${dcaEntry('b', '300 USDC')}${dcaEntry('c', '2 SOL')}`);
    expect(config.backtest.balances).toEqual(new Map([[USDC_MINT, 500_000_000n], [SOL_MINT, 3_000_000_000n]]));
  });

  it('of named balances is SOL for fees alone', async () => {
    const config = await configOf(`${WATCH}backtest: { balances: { USDC: "10000" } }\n`);
    expect(config.backtest.balances).toEqual(new Map([[USDC_MINT, 10_000_000_000n], [SOL_MINT, 1_000_000_000n]]));
  });
});

describe('what is written', () => {
  it('is read exactly', async () => {
    const config = await configOf(`
mode: live
seed: 42
wallet: { key_from: env:MY_KEY, address: ${PEARL}, sol_reserve: "1500 raw SOL" }
tokens: { PEARL: ${PEARL} }
backtest: { balances: { USDC: "0.5", PEARL: "12 raw", SOL: "0" }, latency: { quote: 1s, land: 1m },
  setting: pessimistic }
risk:
  max_slippage_bps: 1
  max_trade: "18446744073709.551615 USDC"
  max_position: { PEARL: "1000 USDC" }
  max_swaps: { per_day: 9 }
recording: { enabled: false, dir: /var/fish }
control: { enabled: false, port: 0, host: localhost }
strategies:
  - use: mean-reversion
    name: pearls
    budget: "500 USDC"
    max_age: 15s
    params: { pair: PEARL/USDC, size: "25 USDC" }
`);
    expect(config.wallet).toEqual({ keyFrom: { kind: 'env', name: 'MY_KEY' }, address: PEARL, solReserve: 1_500n });
    expect(config.tokens.bySymbol('PEARL')).toEqual({ symbol: 'PEARL', mint: PEARL, decimals: 6 });
    expect(config.backtest).toEqual({
      balances: new Map<string, bigint>([[USDC_MINT, 500_000n], [PEARL, 12n], [SOL_MINT, 0n]]),
      model: { ...BASE_MODEL, setting: 'pessimistic', landing: {
        ...BASE_MODEL.landing, assumed: { drop: true, unknown: true },
      }, latency: {
        ...BASE_MODEL.latency, quote: [{ share: 0.5, latencyMs: 1_000 }], land: [{ share: 0.5, latencyMs: 60_000 }],
      } },
    });
    expect(config.limits).toMatchObject({
      maxSlippageBps: 1, maxTrade: { mint: USDC_MINT, amount: 2n ** 64n - 1n },
      maxPosition: new Map([[PEARL, { mint: USDC_MINT, amount: 1_000_000_000n }]]),
      maxSwaps: { perMinute: 6, perHour: 60, perDay: 9 },
    });
    expect(config.recording).toEqual({ enabled: false, dir: '/var/fish' });
    expect(config.control).toEqual({
      enabled: false, host: 'localhost', port: 0, isPortGiven: true, allowedHosts: [], publicUrl: undefined,
      tls: undefined, trustedProxies: [],
    });
    expect(config.strategies[0]).toMatchObject({
      name: 'pearls', budget: { mint: USDC_MINT, amount: 500_000_000n }, maxAgeMs: 15_000,
      rawParams: { pair: 'PEARL/USDC', size: '25 USDC' }, params: { window: 20, k: 2, size: { amount: 25_000_000n } },
    });
  });

  it('may come from the environment, within brackets too, and stays text', async () => {
    const yaml = `${WATCH}service: { api_key: \${KEY} }\ncontrol:\n  host: \${A}.\${B}\n`;
    const config = await configOf(yaml, { environment: { KEY: '0x10', A: '127.0', B: '0.1' } });
    expect(config.service.apiKey).toBe('0x10');
    expect(config.control.host).toBe('127.0.0.1');
  });

  it('may use anchors', async () => {
    const config = await configOf(
      'strategies:\n  - { name: a, use: dca, params: &p { buy: SOL, spend: "1 USDC", every: 10s } }\n  - { name: b, '
        + 'use: dca, params: *p }\n',
    );
    expect(config.strategies.map(({ rawParams }) => rawParams))
      .toEqual([{ buy: 'SOL', spend: '1 USDC', every: '10s' }, { buy: 'SOL', spend: '1 USDC', every: '10s' }]);
  });

  it('may point at the key through the environment', async () => {
    const config =
      await configOf(`${WATCH}wallet:\n  key_from: file:\${WHERE}\n`, { environment: { WHERE: '/keys/wallet.json' } });
    expect(config.wallet.keyFrom).toEqual({ kind: 'file', path: '/keys/wallet.json' });
  });

  it('gives way to the command line, whose faults name the option', async () => {
    const overrides = { baseUrl: 'https://swap.example/', rpcUrl: 'https://rpc.example', apiKeyEnv: 'FISH_KEY' };
    const text = `wallet: { address: ${PEARL} }\nservice: { base_url: 5, api_key: "\${UNSET}" }\n`
      + WATCH.replace('0.5 }', '0.5, every: 10s }');
    const config = await configOf(text, { overrides, environment: { FISH_KEY: 'k' } });
    expect(config.service).toMatchObject({
      baseUrl: 'https://swap.example', apiKey: 'k', plan: 'free', requestsPerSecond: 1, limited: true,
    });
    expect(config.chain.rpcUrl).toBe('https://rpc.example');
    expect(await issuesOf(text, { overrides: { ...overrides, rpcUrl: 'ftp://x' } })).toEqual([
      '--api-key-env service.api_key: the environment variable FISH_KEY is not set: set it, or write FISH_KEY=… into '
        + '.env',
      '--rpc-url chain.rpc_url: expected "embedded" or the http(s) address of a Solana RPC node, got another text (not '
        + 'shown)',
    ]);
  });

  it('may name further nodes, from the environment too; the command line replaces all of them', async () => {
    const text = `${WATCH}chain:\n  rpc_url: https://a.example\n  further_rpc_urls: ["\${NODE}", https://c.example]\n`;
    const environment = { NODE: 'https://b.example/?key=secret' };
    expect((await configOf(text, { environment })).chain).toMatchObject({
      rpcUrl: 'https://a.example', furtherRpcUrls: ['https://b.example/?key=secret', 'https://c.example'],
    });
    expect((await configOf(text, { environment, overrides: { rpcUrl: 'https://other.example' } })).chain)
      .toMatchObject({ rpcUrl: 'https://other.example', furtherRpcUrls: [] });
    const wrong = async (first: string, further: string): Promise<readonly string[]> =>
      issuesOf(`${WATCH}chain:\n  rpc_url: ${first}\n  further_rpc_urls: [${further}]\n`);
    expect(await wrong('embedded', 'https://b.example')).toEqual([expect.stringContaining('has one node')]);
    expect(await wrong('https://a.example', 'embedded'))
      .toEqual([expect.stringMatching(/expected the http.*not shown/)]);
    expect(await wrong('https://a.example', 'ftp://secret-key')).toEqual([expect.not.stringContaining('secret')]);
    expect(await wrong('https://a.example/?k=secret', '"https://a.example:443/?k=secret"'))
      .toEqual([expect.stringMatching(/given twice \(not shown\)$/)]);
  });

  it('may name the websocket of the node or do without, which the command line replaces with the node', async () => {
    const chain = (more: string): string => `${WATCH}chain:\n  rpc_url: https://a.example\n  ${more}\n`;
    expect(await wsUrlOf(chain('ws_url: wss://a.example/key'))).toBe('wss://a.example/key');
    expect(await wsUrlOf(chain('ws_url: off'))).toBe('off');
    expect(await wsUrlOf(chain('commitment: confirmed'))).toBeUndefined();
    expect(await wsUrlOf(chain('ws_url: wss://a.example/key'), { rpcUrl: 'https://b.example' })).toBeUndefined();
    expect(await issuesOf(chain('ws_url: https://a.example/secret')))
      .toEqual([expect.stringMatching(/expected "off" or the ws\(s\) address.*not shown/)]);
    expect(await issuesOf(chain('ws_url: "wss://a.example/secret#part"')))
      .toEqual([expect.stringMatching(/expected "off" or the ws\(s\) address.*not shown/)]);
    expect(await issuesOf(`${WATCH}chain: { ws_url: "wss://a.example/secret" }\n`))
      .toEqual([expect.stringMatching(/the embedded chain has its own(?!.*secret)/)]);
    expect(await wsUrlOf(`${WATCH}chain: { ws_url: "off" }\n`)).toBe('off');
  });

  it('of a real service takes the usual key from the environment, unless the plan has none', async () => {
    const environment = { GANNET_API_KEY: 'k' };
    expect((await configOf(realService(''), { environment })).service).toMatchObject({ apiKey: 'k', plan: 'free' });
    expect((await configOf(realService(', plan: keyless'), { environment })).service)
      .toMatchObject({ apiKey: undefined, plan: 'keyless' });
    expect((await configOf(realService(''))).service)
      .toMatchObject({ apiKey: undefined, plan: 'keyless', requestsPerSecond: 0.5 });
    expect((await configOf(realService(', requests_per_second: 3'))).service)
      .toMatchObject({ plan: { requestsPerSecond: 3 }, requestsPerSecond: 3 });
  });

  it('may open the control API to others where they need a token', async () => {
    const environment = { GANNET_CONTROL_TOKEN: '3f9c1e5a7b0d2468ace1357902468bdf' };
    const config = await configOf(`${WATCH}control: { host: 0.0.0.0 }\n`, { environment });
    expect(config.control.host).toBe('0.0.0.0');
  });

  it('need not be fit for trading where it is only read', async () => {
    const text = 'mode: live\nservice: { base_url: https://swap.example, plan: keyless }\ncontrol: { host: 0.0.0.0 }\n'
      + WATCH.replace('0.5 }', '0.5, every: 1s }');
    expect((await issuesOf(text)).length).toBe(3);
    expect((await configOf(text, { purpose: 'read' })).mode).toBe('live');
  });
});

describe('a strategy', () => {
  it('may be a file beside the configuration, a folder of strategies/, or a file of it by path', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'strategies/tide'), { recursive: true });
    await cp(join(CHECKOUT, 'config/dialects'), join(folder, 'config/dialects'), { recursive: true });
    const source = `export { default } from ${JSON.stringify(join(CHECKOUT, 'strategies/book-watch.ts'))};\n`;
    await writeFile(join(folder, 'strategies/tide/index.ts'), source);
    await writeFile(join(folder, 'mine.ts'), source);
    await writeFile(join(folder, 'bot.yaml'), `strategies:
  - { name: a, use: ./mine.ts, params: &p { market: TIDE, level: 0.6, rearm: 0.5 } }
  - { name: b, use: tide, params: *p }
  - { name: c, use: strategies/tide/index.ts, params: *p }
`);
    const result = await loadConfig({
      file: 'bot.yaml', workingDir: folder, environment: {}, ...GENESIS, projectDir: folder,
    });
    if (!result.ok) throw new Error(JSON.stringify(result.issues));
    expect(result.config.strategies.map(({ name, origin, strategy }) => [name, origin, strategy.name])).toEqual([
      ['a', 'path', 'book-watch'], ['b', 'project', 'book-watch'], ['c', 'project', 'book-watch'],
    ]);
  });
});

describe('decimals', () => {
  it('are read once from the named service and chain, for tokens other than SOL and USDC', async () => {
    const asked: unknown[] = [];
    await configOf(`tokens: { PEARL: ${PEARL}, SOL: ${SOL_MINT} }\n${WATCH}`, {
      ...GENESIS,
      decimalsOf: async (mints, { service, chain }) => {
        asked.push([mints, service.baseUrl, chain.rpcUrl]);
        return genesisDecimals(mints);
      },
    });
    expect(asked).toEqual([[[PEARL], 'embedded', 'embedded']]);
  });

  it('that cannot be asked fail with the network’s own error, but the file’s faults come first', async () => {
    const text = `tokens: { PEARL: ${PEARL} }\n${WATCH}`;
    await expect(loadText(text, { decimalsOf: unreachable })).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE' });
    expect(await issuesOf(`${text}modus: 1\n`, { decimalsOf: unreachable }))
      .toEqual(['bot.yaml:3:1 modus: unknown key "modus" (did you mean "mode"?)']);
  });
});

describe('the JSON schema', () => {
  it('in config/ is current', async () => {
    const text = await readFile(join(CHECKOUT, 'config/gannet.schema.json'), 'utf8');
    expect(text).toBe(`${JSON.stringify(configJsonSchema(), null, 2)}\n`);
  });

  it('requires strategies alone, and knows every key', () => {
    expect(configJsonSchema()).toMatchObject({
      required: ['strategies'],
      additionalProperties: false,
      properties: {
        mode: { enum: ['paper', 'live'] }, risk: { properties: { protections: {} } }, signer: {}, notifications: {},
      },
    });
  });
});

describe('the manifest’s view of a configuration', () => {
  it('is plain data without secrets', async () => {
    const config = await configOf(`
service: { base_url: https://swap.example/hidden-path, api_key: "\${KEY}" }
chain: { rpc_url: "https://user:hidden-pass@rpc.example/?api-key=hidden-query" }
wallet: { key_from: env:MY_KEY }
strategies: [{ use: dca, budget: "5 USDC", params: { buy: SOL, spend: "1 USDC", every: 10s } }]
`, { environment: { KEY: 'hidden-key', MY_KEY: 'hidden-wallet' } });
    const view = redactedConfig(config);
    expect(canonicalJson(view)).not.toContain('hidden');
    expect(JSON.parse(JSON.stringify(view))).toEqual(view);
    expect(view).toMatchObject({
      service: { base_url: 'https://swap.example', api_key: 'set', plan: 'free' },
      chain: { rpc_url: 'https://rpc.example' },
      wallet: { key_from: 'env:MY_KEY' },
      strategies: [{ name: 'dca', params: { spend: '1 USDC' }, budget: { mint: USDC_MINT, amount: '5000000' } }],
    });
  });
});

function dcaEntry(name: string, budget: string): string {
  return `  - { name: ${name}, use: dca, budget: "${budget}", params: { buy: SOL, spend: "1 USDC", every: 10s } }\n`;
}

function realService(more: string): string {
  return `service: { base_url: https://swap.example${more} }\nwallet: { address: ${PEARL} }\n`
    + WATCH.replace('0.5 }', '0.5, every: 10s }');
}

async function unreachable(): Promise<never> {
  throw new GannetError('CHAIN_UNREACHABLE', 'no answer');
}
