import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import type { LoadOptions } from './load-text.ts';
import { GENESIS, configOf, issuesOf, loadText } from './load-text.ts';

const CHECKOUT = join(import.meta.dirname, '../..');
const PEARL = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij';

/** What live trading on a real service and chain needs, by what is said where it is missing. */
const PARTS = {
  key: '  key_from: env:K\n',
  trade: '  max_trade: "25 USDC"\n',
  swaps: '  max_swaps: { per_day: 9 }\n',
  loss: '    - { kind: daily_loss, limit: "50 USDC" }\n',
  usdc: '    USDC: { per_day: "100" }\n',
  sol: '    SOL: { per_trade: "1", per_hour: "2" }\n',
  pearl: '    PEARL: { per_day: "1" }\n',
} as const;
type Part = keyof typeof PARTS;

const SAID: Readonly<Record<Part, string>> = {
  key: 'wallet.key_from: live trading signs with a key of yours: say where it is, wallet: { key_from: '
    + '"env:GANNET_WALLET_KEY" } or "file:PATH"',
  trade: 'risk.max_trade: live trading needs a largest swap of your own: add max_trade: "200 USDC" to risk',
  swaps: 'risk.max_swaps: live trading needs a number of swaps of your own: add max_swaps: { per_minute: 6, per_hour: '
    + '60, per_day: 300 } to risk',
  loss: 'risk.protections: live trading needs a loss at which it stops: add { kind: daily_loss, limit: "50 USDC", '
    + 'action: halt } or { kind: max_drawdown, limit_pct: 10 } to risk.protections',
  usdc: 'signer.caps.USDC: on a real service the signer spends no token without a cap: add USDC: { per_trade: "…", '
    + 'per_hour: "…", per_day: "…" } to signer.caps, in whole USDC',
  sol: 'signer.caps.SOL: on a real service the signer spends no token without a cap: add SOL: { per_trade: "…", '
    + 'per_hour: "…", per_day: "…" } to signer.caps, in whole SOL',
  pearl: 'signer.caps.PEARL: on a real service the signer spends no token without a cap: add PEARL: { per_trade: "…", '
    + 'per_hour: "…", per_day: "…" } to signer.caps, in whole PEARL',
};
const CONSENT = 'mode: on a real service and chain this swaps real money, which the command line has to say too: add '
  + '--live, as in "gannet run --live" (or write mode: paper)';

function load(options: Partial<LoadOptions>): ReturnType<typeof loadConfig> {
  return loadConfig({
    file: 'config/live.yaml', workingDir: CHECKOUT, environment: { GANNET_API_KEY: 'k' }, ...GENESIS,
    ...options,
  });
}

/**
 * A configuration for real money that lacks the parts named; SOL is there only because the strategy watches its price.
 */
function live(...lacking: readonly Part[]): string {
  const part = (name: Part): string => (lacking.includes(name) ? '' : PARTS[name]);
  return `mode: live
service: { base_url: https://swap.example }
chain: { rpc_url: http://rpc.example }
tokens: { PEARL: ${PEARL} }
wallet:
  sol_reserve: "0.1 SOL"
${part('key')}risk:
  max_open_intents: 1
${part('trade')}${part('swaps')}  protections:
    - { kind: stale_feed, after: 1m }
${part('loss')}signer:
  caps:
    {${[part('usdc'), part('sol'), part('pearl')].filter((text) => text !== '').map((text) => text.trim()).join(', ')}}
strategies: [{ use: mean-reversion, budget: "50 USDC", params: { pair: SOL/USDC, size: "10 USDC", every: 30s } }]
`;
}

const said = async (text: string, options?: Parameters<typeof issuesOf>[1]): Promise<string[]> =>
  (await issuesOf(text, options)).map((line) => line.replace(/^bot\.yaml:\d+:\d+ /, '')).sort();
const consent = { liveConsent: true } as const;
const NAMES = Object.keys(PARTS) as Part[];

describe('live trading on a real service and chain', () => {
  it('is allowed with limits, a loss limit, a key, caps and --live', async () => {
    const config = await configOf(live(), consent);
    expect(config).toMatchObject({
      mode: 'live', service: { baseUrl: 'https://swap.example' }, wallet: { keyFrom: { kind: 'env', name: 'K' } },
    });
  });

  it('treats a service on this machine as a real one', async () => {
    const local = live().replace('https://swap.example', 'http://127.0.0.1:8080')
      .replace('http://rpc.example', 'http://127.0.0.1:8899');
    expect(await said(local)).toEqual([CONSENT]);
    expect(await said(local, consent)).toEqual([]);
  });

  it('is refused without --live, for that reason alone', async () => {
    expect(await loadText(live()))
      .toMatchObject({ ok: false, code: 'LIVE_REFUSED', issues: [{ path: 'mode', line: 1, column: 7 }] });
    expect(await said(live())).toEqual([CONSENT]);
    expect(await said(live(), { liveConsent: false })).toEqual([CONSENT]);
  });

  it('needs everything except --live to be checked', async () => {
    expect(await said(live(), { purpose: 'check' })).toEqual([]);
    expect(await said(live('trade'), { purpose: 'check' })).toEqual([SAID.trade]);
  });

  it.each(NAMES)('is refused where %s alone is missing', async (name) => {
    expect(await loadText(live(name), consent)).toMatchObject({ ok: false, code: 'LIVE_REFUSED' });
    expect(await said(live(name), consent)).toEqual([SAID[name]]);
  });

  it('is refused with a cap per trade alone', async () => {
    expect(await said(live().replace('PEARL: { per_day: "1" }', 'PEARL: { per_trade: "1" }'), consent)).toEqual([
      'signer.caps.PEARL: a cap of each trade alone bounds nothing in the long run, and the signer spends nothing '
        + 'under it: add per_hour or per_day, in whole PEARL',
    ]);
  });

  it('reports everything that is missing at once', async () => {
    expect(await said(live(...NAMES))).toEqual([CONSENT, ...NAMES.map((name) => SAID[name])].sort());
    expect(await said(live(...NAMES).replace('  protections:\n    - { kind: stale_feed, after: 1m }\n', '')
      .replace(/signer:\n[^]*?(?=strategies)/, '').replace(/wallet:\n.*\n/, '')))
      .toEqual([CONSENT, ...NAMES.map((name) => SAID[name])].sort());
  });

  it('accepts a drawdown limit, but no default in place of a limit', async () => {
    expect(await said(live('loss').replace('stale_feed, after: 1m', 'max_drawdown, limit_pct: 10'), consent))
      .toEqual([]);
    expect(await said(live('loss').replace('  protections:\n    - { kind: stale_feed, after: 1m }\n', ''), consent))
      .toEqual([SAID.loss]);
  });

  it('reports a fault of a needed value once, at its place', async () => {
    expect(await said(live('trade').replace('max_open_intents: 1', 'max_open_intents: 1\n  max_trade: 25'), consent))
      .toEqual(['risk.max_trade: expected text such as "200 USDC", got 25']);
    expect(await said(live('key').replace('sol_reserve', 'key_from: nowhere\n  sol_reserve'), consent))
      .toEqual([expect.stringContaining('wallet.key_from: expected "env:NAME" or "file:PATH"')]);
    expect(await said(live('usdc').replace('    {', '    { USDC: 5, '), consent))
      .toEqual(['signer.caps.USDC: expected a mapping of keys to values, got 5']);
  });

  it('reloads by command alone, and paper as soon as a file changes', async () => {
    const text = 'mode: live\nreload: on_change\nstrategies: [{ use: dca, budget: "5 USDC", params: { buy: SOL, '
      + 'spend: "1 USDC", every: 10s } }]\n';
    expect(await said(text, consent)).toEqual([
      'reload: in live mode, a changed file changes no strategy by itself: remove the key, and order "gannet reload" '
        + 'after a change',
    ]);
    expect(await said(text.replace('live', 'paper'), consent)).toEqual([]);
  });

  it('may be read by a command that does not trade', async () => {
    expect(await said(live(...NAMES), { purpose: 'read' })).toEqual([]);
  });
});

describe('elsewhere', () => {
  it('on paper a real service needs none of it, with --live or without', async () => {
    const paper = live(...NAMES).replace('mode: live', 'mode: paper');
    expect(await said(paper)).toEqual([]);
    expect(await said(paper, consent)).toEqual([]);
  });

  it('on the embedded service and chain nothing is needed', async () => {
    expect(await said(
      'mode: live\nstrategies: [{ use: dca, budget: "5 USDC", params: { buy: SOL, spend: "1 USDC", every: 10s } }]\n',
    )).toEqual([]);
  });

  it('a service and a chain that do not belong together are refused whatever the command line says', async () => {
    expect(await said(live().replace('http://rpc.example', 'embedded'), consent)).toEqual([
      'service.base_url: live trading needs a service and a chain that belong together, but chain.rpc_url is embedded: '
        + 'make both embedded, or neither',
    ]);
    expect(await said(live().replace('https://swap.example', 'embedded'), consent)).toEqual([
      'chain.rpc_url: live trading needs a service and a chain that belong together, but service.base_url is embedded: '
        + 'make both embedded, or neither',
    ]);
  });
});

describe('config/live.yaml', () => {
  it('has nothing to fill in but addresses and a key for the service', async () => {
    expect(await load({ purpose: 'check' })).toMatchObject({ ok: true, config: {
      mode: 'live', service: { baseUrl: 'https://your-service.example', dialect: 'neutral' },
      chain: { rpcUrl: 'https://your-rpc.example' },
    } });
    expect(await load({ purpose: 'check', environment: {} }))
      .toMatchObject({ ok: false, issues: [{ path: 'service.api_key' }] });
  });

  it('trades only when the command line says so', async () => {
    expect(await load({})).toMatchObject({ ok: false, code: 'LIVE_REFUSED', issues: [{ path: 'mode' }] });
    expect(await load(consent)).toMatchObject({ ok: true });
  });

  it('shows every kind of protection but those that say the same again, and every cap', async () => {
    const loaded = await load(consent);
    if (!loaded.ok) throw new Error('expected it to load');
    const kinds = loaded.config.limits.protections!.map(({ trigger }) => trigger.kind);
    expect(new Set(kinds).size).toBe(12);
    expect(loaded.config.limits.protections!.length).toBeLessThanOrEqual(14);
    expect([...loaded.config.signer.caps.values()].every(({ perTrade, perHour, perDay }) =>
      perTrade! < perHour! && perHour! < perDay!)).toBe(true);
    expect(await readFile(join(CHECKOUT, 'config/live.yaml'), 'utf8'))
      .toMatch(/^# yaml-language-server: \$schema=\.\/gannet\.schema\.json\n/);
  });
});
