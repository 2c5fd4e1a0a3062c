import { z } from 'zod';
import type { Chain } from '../../chain/chain.ts';
import { createChain } from '../../chain/chain.ts';
import { createRpcClient, httpTransport, parseRpcUrl } from '../../chain/rpc-client.ts';
import type { RpcClient } from '../../chain/rpc-client.ts';
import { isLoopback } from '../../config/schema-fields.ts';
import { isGannetError } from '../../core/errors.ts';
import type { Clock, Millis } from '../../core/time.ts';
import { shortDuration } from '../../core/time.ts';
import { NEWEST_VERSION } from '../../solana/transaction-versions.ts';
import { GROSS_MS, NOTICEABLE_MS } from '../watch/system-clock.ts';
import type { Check } from './check.ts';
import { answerOrFault, checksOf } from './check.ts';
import { versionChecks } from './version-checks.ts';

const { ok, warning, fault } = checksOf('chain');
const ANSWER_WITHIN_MS: Millis = 5_000;

/** The clusters by the hash of their first block. Real tokens are on the main one alone. */
const CLUSTERS: ReadonlyMap<string, string> = new Map([
  ['5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d', 'mainnet-beta'],
  ['EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG', 'devnet'],
  ['4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY', 'testnet'],
]);
const MAIN = 'mainnet-beta';

/** An address that always has the form of one: the System program. */
const SOME_ADDRESS = '11111111111111111111111111111111';
const SOME_SIGNATURE = '1'.repeat(64);

/** Every method that trading and its proofs need, with parameters that change nothing. */
const METHODS: Readonly<Record<string, (address: string) => readonly unknown[]>> = {
  getLatestBlockhash: () => [{ commitment: 'finalized' }],
  isBlockhashValid: () => [SOME_ADDRESS, { commitment: 'finalized' }],
  getEpochInfo: () => [{ commitment: 'finalized' }],
  getBalance: (address) => [address, { commitment: 'confirmed' }],
  getAccountInfo: (address) => [address, { encoding: 'base64', commitment: 'confirmed' }],
  getMultipleAccounts: (address) => [[address], { encoding: 'base64', commitment: 'confirmed' }],
  getSignatureStatuses: () => [[SOME_SIGNATURE], { searchTransactionHistory: true }],
  getSignaturesForAddress: (address) => [address, { limit: 1, commitment: 'confirmed' }],
  getTransaction: () => [SOME_SIGNATURE, { commitment: 'confirmed', maxSupportedTransactionVersion: NEWEST_VERSION }],
  simulateTransaction: () => ['', { encoding: 'base64' }],
  sendTransaction: () => ['', { encoding: 'base64' }],
};
/** Answers of JSON-RPC and of providers to a method that they do not serve. */
const METHOD_NOT_FOUND = -32_601;
const REFUSED: ReadonlySet<unknown> = new Set([403, 410]);
const UNHEALTHY = -32_005;

/** A node to examine. */
interface NodeScope {
  readonly rpcUrl: string;
  /** Whether a real service is used, whose tokens are on the main cluster. */
  readonly realService: boolean;
  /** Undefined while unknown. */
  readonly address: string | undefined;
  readonly clock: Clock;
  /** Whether not even the method that sends may be called, to see whether it is served. */
  readonly neverSends?: boolean | undefined;
}

/** What a node said, for the checks of the wallet and of tokens. Undefined where it does not answer. */
interface ExaminedNode {
  readonly checks: readonly Check[];
  readonly chain: Chain | undefined;
  readonly close: () => Promise<void>;
}

/** Returns the examination of a configured node. Every question is asked at once, each within a bound. */
export async function examineNode(scope: NodeScope): Promise<ExaminedNode> {
  const { rpcUrl, clock } = scope;
  const { host } = parseRpcUrl(rpcUrl);
  const rpc = createRpcClient({
    transport: httpTransport({ rpcUrl, connectTimeoutMs: 3_000 }), clock, host, timeoutMs: ANSWER_WITHIN_MS,
  });
  try {
    const version = await answerOrFault(rpc.call('getVersion', [], z.object({ 'solana-core': z.string().max(64) })));
    if (isGannetError(version) && version.code === 'CHAIN_UNREACHABLE') {
      return { chain: undefined, close: async () => undefined, checks: [fault('rpc', `${host}: ${version.message}`,
        'check chain.rpc_url and the network; a provider shows whether its address or key has changed')] };
    }
    const chain = createChain({ rpcUrl, clock, timeoutMs: ANSWER_WITHIN_MS });
    const [cluster, health, methods, versions] = await Promise.all([
      clusterChecks(rpc, scope, host), healthChecks(rpc, clock, host), methodChecks(rpc, scope, host),
      versionChecks({ rpc, chain, address: scope.address, host }),
    ]);
    const shown = isGannetError(version) ? 'of an unknown version' : version['solana-core'];
    return {
      checks: [ok('rpc', `${host} answers (${shown})`), ...cluster, ...health, ...methods, ...versions],
      chain,
      close: () => chain.close(),
    };
  } finally {
    await rpc.close();
  }
}

async function clusterChecks(rpc: RpcClient, { realService }: NodeScope, host: string): Promise<Check[]> {
  const hash = await answerOrFault(rpc.call('getGenesisHash', [], z.string().max(64)));
  const fix = `use a node of ${MAIN} as chain.rpc_url`;
  if (isGannetError(hash)) return [warning('rpc-cluster', `the cluster of ${host} is unknown: ${hash.message}`, fix)];
  const name = CLUSTERS.get(hash);
  if (name === MAIN) return [ok('rpc-cluster', `${host} is on ${MAIN}`)];
  const isLocal = isLoopback(host.replace(/:\d+$/, ''));
  if (!realService || (name === undefined && isLocal)) return [ok('rpc-cluster', `a private chain, ${hash}`)];
  const where = name ?? `an unknown chain (${hash})`;
  return [fault('rpc-cluster', `${host} is on ${where}, and the service trades on ${MAIN}`, fix)];
}

const OTHER_NODE = 'use another node as chain.rpc_url, or wait until its provider has repaired it';

async function healthChecks(rpc: RpcClient, clock: Clock, host: string): Promise<Check[]> {
  const [health, slot] = await Promise.all([
    answerOrFault(rpc.call('getHealth', [], z.string().max(64))),
    answerOrFault(rpc.call('getSlot', [{ commitment: 'confirmed' }], z.int().nonnegative())),
  ]);
  const found: Check[] = [];
  if (isGannetError(health) && health.details['rpcCode'] === UNHEALTHY)
    found.push(fault('rpc-health', `${host} is behind the cluster: ${health.message}`, OTHER_NODE));
  if (isGannetError(slot)) return [...found, fault('rpc-health', slot.message, OTHER_NODE)];
  const seconds = await answerOrFault(rpc.call('getBlockTime', [slot], z.number().nullable()));
  // Some nodes do not keep the time of a block.
  if (isGannetError(seconds) || seconds === null)
    return found.length > 0 ? found : [ok('rpc-health', `${host} is healthy, at slot ${slot}`)];
  const ageMs = clock.now() - seconds * 1_000;
  if (ageMs >= NOTICEABLE_MS || ageMs <= -GROSS_MS) {
    found.push(warning('rpc-lag', `the newest block of ${host} is ${shortDuration(Math.abs(ageMs))} `
      + `${ageMs > 0 ? 'old' : 'in the future'}: the node lags, or the clock of this machine is wrong`,
      'check the clock with "timedatectl"; where it is right, use another node as chain.rpc_url'));
  }
  return found.length > 0 ? found
    : [ok('rpc-health', `${host} is healthy, its newest block ${shortDuration(Math.max(0, ageMs))} old`)];
}

/** A node may serve fewer methods, for some plans of providers. An error about the parameters proves the method. */
async function methodChecks(
  rpc: RpcClient, { address = SOME_ADDRESS, neverSends = false }: NodeScope, host: string,
): Promise<Check[]> {
  const asked = Object.entries(METHODS).filter(([method]) => !neverSends || method !== 'sendTransaction');
  const answers = await Promise.all(asked.map(async ([method, paramsOf]) =>
    [method, await answerOrFault(rpc.call(method, paramsOf(address), z.unknown()))] as const));
  const missing = answers.filter(([, answer]) => isGannetError(answer)
    && (answer.details['rpcCode'] === METHOD_NOT_FOUND || REFUSED.has(answer.details['status'])))
    .map(([method]) => method);
  const silent = answers.filter(([, answer]) => isGannetError(answer) && answer.code === 'CHAIN_UNREACHABLE')
    .map(([method]) => method).filter((method) => !missing.includes(method));
  if (missing.length > 0) return [fault('rpc-methods', `${host} does not serve ${missing.join(', ')}`,
    'use a node or a plan of its provider that serves them, as chain.rpc_url')];
  return silent.length === 0 ? [ok('rpc-methods', `${host} serves all ${answers.length} methods that trading needs`)]
    : [warning('rpc-methods', `${host} did not answer in time to ${silent.join(', ')}`, OTHER_NODE)];
}
