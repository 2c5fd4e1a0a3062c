import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { rehearsalJson, rehearsalText } from '../../../src/cli/output/rehearsal-text.ts';
import { linesWrapped } from '../../../src/cli/output/terminal.ts';
import { stringifyJson } from '../../../src/core/json.ts';
import { checksOf } from '../../../src/daemon/doctor/check.ts';
import type { Rehearsal } from '../../../src/daemon/rehearsal/rehearse.ts';
import { SOL_MINT } from '../../../src/market/token.ts';
import { readHostProfileFile } from '../../../src/service/wire/host-profile.ts';
import { LOOKUP_TABLE_PROGRAM, MEMO_PROGRAMS, TOKEN_PROGRAM } from '../../../src/solana/constants.ts';
import type { Lies, RehearsalHost, RehearsalScene } from './rehearsal-fixture.ts';
import {
  frozenData, isVersionOne, rehearsalScene, startRehearsalHost, tokenAccountData,
} from './rehearsal-fixture.ts';

let host: RehearsalHost;
beforeAll(async () => { host = await startRehearsalHost(); });
afterAll(() => host.close());
afterEach(() => { host.lies = {}; });

function scene(): RehearsalScene {
  const made = rehearsalScene(host);
  onTestFinished(() => { made.close(); });
  return made;
}

/** Rehearses, and proves at the socket that nothing was sent. */
async function rehearsed(at: RehearsalScene): Promise<Rehearsal> {
  host.asked.length = 0;
  const found = await at.rehearse();
  expect(host.asked.filter((asked) => asked === 'sendTransaction' || asked.endsWith('/execute'))).toEqual([]);
  // No counters, no journal: the rehearsal of a wallet leaves nothing that a start could take for a history.
  expect(readdirSync(at.stateDir)).toEqual([]);
  return found;
}

const DEAD = 'http://127.0.0.1:9';
const certificate = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url)), 'utf8');

/** The host with a certificate of another name. */
async function otherName(at: RehearsalScene): Promise<void> {
  const server = createTlsServer({ cert: certificate('first.crt'), key: certificate('first.key') }, host.listener);
  await new Promise<void>((done) => { server.listen(0, '127.0.0.1', done); });
  // Its issuer is known, so that its name alone is wrong.
  const known = getCACertificates('default');
  setDefaultCACertificates([...known, certificate('first.crt')]);
  onTestFinished(() => {
    setDefaultCACertificates(known);
    server.closeAllConnections();
    server.close();
  });
  at.replace(`base_url: "${host.url}"`, `base_url: "https://127.0.0.1:${(server.address() as AddressInfo).port}"`);
}

interface TokenAccounts {
  readonly context: unknown;
  readonly value: readonly {
    readonly pubkey: string; readonly account: { readonly data: readonly [string, string] };
  }[];
}

/** Lets the wallet have so much SOL; `wrapped` adds some in a token account. */
function poor(lamports: number, wrapped: bigint): Lies {
  return { result: (method, result, params) => {
    const { context } = (result ?? {}) as { readonly context?: unknown };
    if (method === 'getBalance') return { context, value: lamports };
    const asksFor = (params[1] ?? {}) as { readonly programId?: string };
    if (method !== 'getTokenAccountsByOwner' || asksFor.programId !== TOKEN_PROGRAM || wrapped === 0n) return result;
    const owner = host.sandbox.addresses.wallet.address;
    const { value } = result as TokenAccounts;
    return { context, value: [...value, { pubkey: 'HxNnzQ8gVgrnLv7uJ2vwGvX2dG2bVxQm6iG1jhQ8mF1k', account: {
      data: [tokenAccountData({ mint: SOL_MINT, owner, amount: wrapped }), 'base64'], executable: false,
      lamports: Number(wrapped) + 2_039_280, owner: TOKEN_PROGRAM, rentEpoch: 0, space: 165,
    } }] };
  } };
}

const frozen: Lies = { result: (method, result) => {
  if (method !== 'getTokenAccountsByOwner') return result;
  const { context, value } = result as TokenAccounts;
  return { context, value: value.map(({ account, ...rest }) =>
    ({ ...rest, account: { ...account, data: [frozenData(account.data[0]), 'base64'] } })) };
} };

/** The tables that a transaction names are not known to the node. */
const noTables: Lies = { result: (method, result) => {
  if (method !== 'getMultipleAccounts') return result;
  const { context, value } =
    result as { readonly context: unknown; readonly value: readonly ({ owner: string } | null)[] };
  return { context, value: value.map((account) => (account?.owner === LOOKUP_TABLE_PROGRAM ? null : account)) };
} };

/** A build that calls a program of another host, with which its simulation succeeds. */
function foreignProgram(router: string | undefined): Lies {
  return {
    answer: (path, body) => {
      if (!path.endsWith('/build')) return;
      (body['swapInstruction'] as Record<string, unknown>)['programId'] = MEMO_PROGRAMS[0]!.replace(/^M/, 'N');
      if (router !== undefined) body['router'] = router;
    },
    rpc: (method) => (method !== 'simulateTransaction' ? undefined
      : { result: { context: { slot: 1 }, value: { err: null, unitsConsumed: 50_000, logs: [] } } }),
  };
}

const status = (code: number, only?: RegExp): Lies => ({ service: (path) => (only === undefined || only.test(path)
  ? { status: code, body: { error: 'refused', message: 'refused' } } : undefined) });
const rpc = (name: string, lie: ReturnType<NonNullable<Lies['rpc']>>): Lies =>
  ({ rpc: (method) => (method === name ? lie : undefined) });

/** A fault of a host, and what the rehearsal says of it. */
interface Planted {
  readonly what: string;
  readonly lies?: Lies;
  readonly plant?: (at: RehearsalScene) => void | Promise<void>;
  readonly code: RegExp;
  readonly setting: string;
  readonly says?: RegExp;
  /** The routes that it refuses; both by default. */
  readonly routes?: readonly string[];
}

const PLANTED: readonly Planted[] = [
  { what: 'a minimum in the bytes that is lower than the stated one by more than rounding', routes: ['build'],
    lies: { answer: (path, body) => {
      if (path.endsWith('/build'))
        body['otherAmountThreshold'] = (BigInt(body['otherAmountThreshold'] as string) + 2n).toString();
    } }, code: /^SWAP_MINIMUM_BELOW$/, setting: 'service.dialect' },
  { what: 'a tip that the service adds by itself, larger than allowed', routes: ['order'],
    lies: { query: (path, query) => {
      if (path.endsWith('/order') && query.has('taker')) query.set('bundleTipLamports', '50000000');
    } }, code: /^(?:TRANSFER_DESTINATION|TIP_EXCEEDS)$/, setting: 'signer.max_tip' },
  { what: 'a swap program without a layout', routes: ['build'],
    lies: foreignProgram(undefined), code: /^PROGRAM_UNKNOWN$/, setting: 'service.dialect, else signer.programs' },
  { what: 'a missing permission for one path', lies: status(403, /\/build$/), routes: ['build'],
    code: /^SERVICE_(?:STATUS|FORBIDDEN)$/, setting: 'service.api_key' },
  { what: 'a dialect whose paths the host does not have', lies: status(404, /\/(?:order|build)$/),
    code: /^SERVICE_STATUS$/, setting: 'service.dialect' },
  { what: 'a dialect that knows neither router nor program of the host', routes: ['build'],
    lies: foreignProgram('router-of-elsewhere'), code: /^PROGRAM_UNKNOWN$/, setting: 'service.dialect' },
  { what: 'a node of another network', code: /^RPC_CLUSTER$/, setting: 'chain.rpc_url',
    lies: rpc('getGenesisHash', { result: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG' }) },
  { what: 'a node that is behind', code: /^RPC_HEALTH$/, setting: 'chain.rpc_url',
    lies: rpc('getHealth', { error: { code: -32_005, message: 'Node is behind by 900 slots' } }) },
  { what: 'a node that lacks the lookup tables', lies: noTables,
    code: /^(?:TABLE_UNREAD|CHAIN_UNREAD)$/, setting: 'chain.rpc_url' },
  { what: 'a clock that is ahead', lies: { clockMs: -20 * 60_000 }, code: /^CLOCK$/,
    setting: 'the clock of this machine' },
  { what: 'too little SOL for fees and rent', lies: poor(1_000_000, 0n), code: /^SOL_INSUFFICIENT$/,
    setting: 'wallet.sol_reserve' },
  { what: 'SOL that is wrapped alone', lies: poor(1_000, 2_000_000_000n), code: /^WRAPPED_SOL_ONLY$/,
    setting: 'wallet.sol_reserve' },
  { what: 'a frozen account', lies: frozen, code: /^ACCOUNT_FROZEN$/, setting: 'wallet.address' },
  { what: 'a fee above the limit', routes: ['order'],
    lies: { answer: (path, body, query) => {
      if (path.endsWith('/order') && query.has('taker')) body['feeBps'] = 80;
    } }, code: /^FEE_EXCEEDS_MAX$/, setting: 'risk.max_fee_bps' },
  { what: 'a price impact above the limit',
    lies: { answer: (path, body) => {
      if (!path.endsWith('/order')) return;
      Object.assign(body, { priceImpact: -0.2, priceImpactPct: '-0.2',
        outUsdValue: Number(body['inUsdValue'] ?? 0) * 0.8 });
    } }, code: /^IMPACT_EXCEEDS_MAX$/, setting: 'risk.max_price_impact_bps' },
  { what: 'credits that are used up', lies: status(402), code: /^SERVICE_/, setting: 'service.plan' },
  { what: 'a plan with fewer credits than watching takes', plant: (at) => {
    at.configChecks =
      [checksOf('configuration').warning('credits', 'more credits a month than the plan has', 'poll less')];
  }, code: /^CREDITS$/, setting: 'service.plan' },
  { what: 'a host that refuses the address (403)', lies: status(403), code: /^SERVICE_(?:STATUS|FORBIDDEN)$/,
    setting: 'service.api_key' },
  { what: 'a host that refuses the rate (429)', lies: status(429), code: /^SERVICE_RATE_LIMITED$/,
    setting: 'service.plan' },
  { what: 'a node that gives no transaction of version 1', code: /^RPC_VERSIONS$/, setting: 'chain.rpc_url',
    lies: { rpc: (method, params) => (method === 'getTransaction'
      && (params[1] as { readonly maxSupportedTransactionVersion: number }).maxSupportedTransactionVersion === 1
      ? { error: { code: -32_602, message: 'Invalid params: invalid value: integer `1`, expected 0' } }
      : undefined) } },
  { what: 'a node that simulates no transaction of version 1', code: /^RPC_VERSIONS$/, setting: 'chain.rpc_url',
    lies: { rpc: (method, params) => (isVersionOne(method, params)
      ? { error: { code: -32_602, message: 'failed to deserialize VersionedTransaction' } } : undefined) } },
  { what: 'a certificate of another name', plant: otherName, code: /^SERVICE_UNREACHABLE$/,
    setting: 'service.base_url', says: /altnames/ },
  { what: 'a proxy that only the environment names', plant: (at) => {
    at.environment['HTTPS_PROXY'] = 'http://127.0.0.1:9';
    at.replace(`base_url: "${host.url}"`, `base_url: "${DEAD}"`);
  }, code: /^PROXY$/, setting: 'HTTPS_PROXY' },
];

describe('a rehearsal', () => {
  it('finds both routes of a sound host in order, sends nothing, and learns the host', async () => {
    const at = scene();
    const found = await rehearsed(at);
    expect(found.routes.map(({ route, refusal }) => [route, refusal])).toEqual(
      found.routes.map(({ route }) => [route, undefined]));
    expect(new Set(found.routes.map(({ route }) => route))).toEqual(new Set(['order', 'build']));
    expect(found.ok).toBe(true);
    const profile = found.profile!;
    const file = join(at.folder, 'profile.json');
    writeFileSync(file, stringifyJson(profile));
    expect(readHostProfileFile(file)).toEqual(profile);
    expect(profile).toMatchObject({
      host: host.url, dialect: 'neutral', tip: { lamports: '0', receivers: [] }, node: { transaction_version: 1 },
    });
    expect(profile.rounding.build).not.toBe('up');
    expect(profile.programs.some(({ layout, routes }) => layout !== null && routes.includes('build'))).toBe(true);
    expect(profile.latency_ms.order).not.toBeNull();
    expect(stringifyJson(profile)).not.toContain('the-key-of-an-operator');
  });

  it.each([
    ['the address that the configuration names', () => host.sandbox.addresses.ws_url, true],
    ['nowhere where the configuration wants no websocket', () => 'off', null],
  ])('tries the websocket at %s', async (_, wsUrl, offered) => {
    const at = scene();
    at.replace('/rpc" }', `/rpc", ws_url: "${wsUrl()}" }`);
    const { profile, checks } = await rehearsed(at);
    expect(profile!.node.websocket).toBe(offered);
    expect(checks.filter(({ name }) => name === 'rpc-websocket').map(({ message }) => message))
      .toEqual(offered === null ? [] : ['the node offers a websocket']);
  });

  it('learns how a host rounds, splits and tips', async () => {
    const live = await startRehearsalHost('live');
    onTestFinished(() => live.close());
    const at = rehearsalScene(live);
    onTestFinished(() => { at.close(); });
    at.replace('signer: { caps', 'signer: { max_tip: "0.001 SOL", caps');
    const { profile: learned, routes } = await at.rehearse();
    const profile = learned!;
    expect(routes.map(({ refusal }) => refusal)).toEqual(routes.map(() => undefined));
    expect(profile.rounding.build).not.toBe('down');
    expect(profile).toMatchObject({ percent: 'fraction', price_impact: 'points' });
    expect(BigInt(profile.tip.lamports)).toBeGreaterThan(0n);
    expect(profile.tip.receivers.length).toBeGreaterThan(0);
  });

  it.each(PLANTED)('finds $what, names the setting, and sends nothing', async (row) => {
    const at = scene();
    host.lies = row.lies ?? {};
    await row.plant?.(at);
    const found = await rehearsed(at);
    expect(found.ok).toBe(false);
    const routes = row.routes ?? ['order', 'build'];
    for (const { route, refusal } of found.routes) {
      if (!routes.includes(route)) {
        expect(refusal, `${route}: ${JSON.stringify(refusal)}`).toBeUndefined();
        continue;
      }
      expect(refusal?.code, JSON.stringify(refusal)).toMatch(row.code);
      expect(refusal?.setting, JSON.stringify(refusal)).toBe(row.setting);
      expect(refusal?.message).toMatch(row.says ?? /./);
      // The code stands before the message, and no rehearsal signs.
      expect(refusal?.message).not.toContain('nothing was signed');
    }
    const text = linesWrapped(rehearsalText(found, { colour: false }), 80);
    expect(text).toContain(row.setting);
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
    const { routes: listed } = rehearsalJson(found) as { readonly routes: readonly { readonly verdict: string }[] };
    expect(listed.filter(({ verdict }) => verdict === 'deny')).not.toEqual([]);
  });

  it('asks for the websocket where a run does: at chain.ws_url, and not at all where it is off', async () => {
    const { url, sandbox } = host;
    const websocketWith = async (key: string): Promise<unknown> => {
      const at = scene();
      if (key !== '') at.replace(`rpc_url: "${url}/rpc" }`, `rpc_url: "${url}/rpc"${key} }`);
      return (await rehearsed(at)).profile!.node.websocket;
    };
    expect(await websocketWith('')).toBe(false);
    expect(await websocketWith(`, ws_url: "${sandbox.addresses.ws_url}"`)).toBe(true);
    expect(await websocketWith(', ws_url: off')).toBeNull();
  });

  it('without a key and an address asks for prices alone, and says what is missing', async () => {
    const at = scene();
    at.replace(/wallet: .*/, 'wallet: { key_from: "file:/nowhere/wallet.key" }');
    const found = await rehearsed(at);
    expect(found.routes.map(({ refusal }) => refusal)).toEqual(found.routes.map(() => ({
      code: 'KEY_INVALID', setting: 'wallet.key_from',
      message: expect.stringContaining('/nowhere/wallet.key') as string,
    })));
    expect(host.asked.filter((asked) => asked.endsWith('/order')).length).toBeGreaterThan(0);
  });

  it('without a key, but with an address, goes as far as the signer', async () => {
    const at = scene();
    at.replace(/key_from: "[^"]*", /, '');
    at.replace('mode: live', 'mode: paper');
    const found = await rehearsed(at);
    for (const { refusal } of found.routes)
      expect(refusal).toMatchObject({ code: 'KEY_INVALID', setting: 'wallet.key_from' });
    expect(host.asked.some((asked) => asked.endsWith('/build'))).toBe(true);
    expect(found.profile!.programs).not.toEqual([]);
  });

  it('without a balance says what to fund, and still learns the host', async () => {
    host.lies = {
      answer: (path, body, query) => {
        if (path.endsWith('/order') && query.has('taker'))
          Object.assign(body, { transaction: '', errorCode: 1, errorMessage: 'Insufficient funds' });
      },
      result: (method, result) => (method === 'getTokenAccountsByOwner'
        ? { ...result as object, value: [] } : result),
    };
    const found = await rehearsed(scene());
    for (const { refusal } of found.routes) {
      expect(refusal).toMatchObject({ code: 'INPUT_INSUFFICIENT', setting: 'wallet.address' });
      expect(refusal!.message).toContain('fund the wallet');
    }
    expect(found.profile!.latency_ms.build).not.toBeNull();
  });

  it('with a dead node names its address as the setting, and asks the service for nothing more', async () => {
    const at = scene();
    at.replace(`rpc_url: "${host.url}/rpc"`, `rpc_url: "${DEAD}"`);
    const found = await rehearsed(at);
    for (const { refusal } of found.routes) expect(refusal).toMatchObject({ code: 'RPC', setting: 'chain.rpc_url' });
    expect(host.asked.some((asked) => asked.endsWith('/order'))).toBe(false);
    // What an earlier rehearsal learned must not be replaced by nothing.
    expect(found.profile).toBeUndefined();
  });
});
