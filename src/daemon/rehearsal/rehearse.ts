import { wsUrlOf } from '../../chain/node-socket.ts';
import type { WalletContents } from '../../chain/wallet-contents.ts';
import type { RunConfig } from '../../config/run-config.ts';
import { GannetError, isGannetError } from '../../core/errors.ts';
import type { Clock } from '../../core/time.ts';
import { showAmount, symbolOf } from '../../market/market-text.ts';
import type { HostProfile } from '../../service/wire/host-profile.ts';
import type { SignerClient } from '../../signer/channel/client.ts';
import type { Route } from '../../trading/proposal.ts';
import { examineNode } from '../doctor/chain-checks.ts';
import type { Check } from '../doctor/check.ts';
import { answerOrFault, checksOf } from '../doctor/check.ts';
import type { ServiceProbe } from '../doctor/service-probe.ts';
import { proxyChecks, serviceChecks } from '../doctor/service-probe.ts';
import type { Connections } from '../run/connections.ts';
import type { HostRecord } from './host-record.ts';
import { loadDialect } from '../../service/wire/dialect.ts';
import type { NodeTraits } from './node-traits.ts';
import { readNodeTraits } from './node-traits.ts';
import type { RouteRefusal } from './refusal-settings.ts';
import { refusalOf, refusalOfCheck } from './refusal-settings.ts';
import type { RouteJudge, RouteResult } from './rehearse-route.ts';
import { rehearseRoute } from './rehearse-route.ts';
import type { RehearsedSwap } from './rehearsed-swaps.ts';

/** What a rehearsal works with. */
interface RehearsalScope {
  readonly config: RunConfig;
  readonly connections: Connections;
  /** Connects to the signer process beside this one; undefined without one. */
  readonly connectSigner: (() => Pick<SignerClient, 'rehearse' | 'judge' | 'expectSwap'>) | undefined;
  /** What the service said to the one request that the doctor sends; undefined where it is embedded. */
  readonly probe: ServiceProbe | undefined;
  /** What the doctor found about the configuration; what concerns the host counts. */
  readonly configChecks: readonly Check[];
  /** To see whether a proxy is named. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly swaps: readonly RehearsedSwap[];
  readonly clock: Clock;
  readonly record: HostRecord;
}

/** The verdict on one route. */
export interface RouteVerdict {
  /** In the form IN/OUT. */
  readonly pair: string;
  readonly route: Route;
  /** The input with its token. */
  readonly size: string;
  readonly refusal: RouteRefusal | undefined;
  readonly router?: string | undefined;
  readonly reading?: RouteResult['reading'];
}

/** What a rehearsal found. */
export interface Rehearsal {
  /** Whether every route could be signed. */
  readonly ok: boolean;
  /** The origin of the service. */
  readonly host: string;
  readonly checks: readonly Check[];
  readonly routes: readonly RouteVerdict[];
  /** Undefined where the host has answered for no route. */
  readonly profile: HostProfile | undefined;
}

/** Does all that live swaps do on their routes, except sending. No signature leaves the signer. */
export async function rehearse(scope: RehearsalScope): Promise<Rehearsal> {
  const { config, connections, clock, record, swaps } = scope;
  const judge = await openJudge(scope);
  const host = await examineHost(scope, judge.address);
  const wallet = judge.address === undefined || connections.chain === undefined || !host.mayAsk ? undefined
    : await answerOrFault(connections.chain.wallet(judge.address));
  const routes: RouteVerdict[] = [];
  // One after the other: the plan of the key has room for few requests.
  for (const swap of swaps) {
    const { inputMint, outputMint, amount, route } = swap;
    const result = host.mayAsk ? await run(scope, swap, { ...judge, wallet }) : undefined;
    routes.push({
      pair: `${symbolOf(config.tokens, inputMint)}/${symbolOf(config.tokens, outputMint)}`, route,
      size: showAmount(config.tokens, inputMint, amount), ...result,
      refusal: host.refusal ?? (wallet instanceof GannetError ? refusalOf(wallet.code, wallet.message) : undefined)
        ?? result?.refusal,
    });
  }
  const origin = connections.sandbox !== undefined && config.service.baseUrl === 'embedded' ? 'embedded'
    : new URL(config.service.baseUrl).origin;
  return {
    ok: routes.length > 0 && routes.every(({ refusal }) => refusal === undefined), host: origin, checks: host.checks,
    routes,
    profile: record.profile({ host: origin, dialect: config.service.dialect, at: clock.now(), node: host.node }),
  };
}

interface OpenedJudge {
  readonly judge: RouteJudge | GannetError;
  readonly address: string | undefined;
}

/** Without a key the wallet's address may still be known. */
async function openJudge({ config, connections: { sandbox }, connectSigner }: RehearsalScope): Promise<OpenedJudge> {
  const { keyFrom, address } = config.wallet;
  const own = keyFrom === undefined ? sandbox?.addresses.wallet : undefined;
  try {
    if (connectSigner === undefined) throw new GannetError('KEY_INVALID', 'there is no signer process beside this one: '
      + 'start with bin/gannet');
    const signer = connectSigner();
    const description = await signer.rehearse({
      rpcUrl: sandbox?.addresses.rpc_url, serviceUrl: sandbox?.addresses.base_url,
      ...(own === undefined ? {} : { key: own.private_key }),
    });
    return { judge: signer, address: description.address };
  } catch (error) {
    if (!isGannetError(error)) throw error;
    return { judge: error, address: address ?? own?.address };
  }
}

interface ExaminedHost {
  readonly checks: readonly Check[];
  /** Of the first fault, which counts for every route. */
  readonly refusal: RouteRefusal | undefined;
  /** Whether service and node answer at all. A host that refuses requests gets no more of them. */
  readonly mayAsk: boolean;
  readonly node: NodeTraits;
}

/** The checks of a configuration that depend on the plan of its key. */
const OF_HOST: ReadonlySet<string> = new Set(['credits']);

const chainCheck = checksOf('chain');

async function examineHost(scope: RehearsalScope, address: string | undefined): Promise<ExaminedHost> {
  const { config, connections: { chain }, probe, environment, clock, configChecks } = scope;
  const { service, chain: { rpcUrl, furtherRpcUrls, wsUrl } } = config;
  const serviceFound = [
    ...serviceChecks(config, probe), ...configChecks.filter(({ name }) => OF_HOST.has(name)),
  ];
  const isEmbedded = service.baseUrl === 'embedded';
  if (isEmbedded || chain === undefined || rpcUrl === 'embedded') {
    const missing = isEmbedded ? [] : [chainCheck.fault('rpc', 'no node is named', 'name one as chain.rpc_url')];
    return verdictOf([...serviceFound, ...missing], { mayAsk: isEmbedded, node: {} });
  }
  const nodes = await Promise.all([rpcUrl, ...furtherRpcUrls].map((url) =>
    examineNode({ rpcUrl: url, realService: true, address, clock, neverSends: true })));
  await Promise.all(nodes.map((each) => each.close()));
  const isThere = nodes.some((each) => each.chain !== undefined);
  const node = isThere ? await readNodeTraits(chain, {
    wsUrl: wsUrl === 'off' ? undefined : wsUrl ?? wsUrlOf(rpcUrl), wallet: address, clock,
  }) : {};
  const nodeFound = [...nodes.flatMap(({ checks }) => checks), ...traitChecks(node)];
  const mayAsk = isThere && probe?.fault === undefined;
  const isUnreached = !isThere || (probe?.fault !== undefined && UNREACHED.has(probe.fault.code));
  const proxies = proxyChecks(environment, { isUnreached });
  return verdictOf([...serviceFound, ...proxies, ...nodeFound], { mayAsk, node, fault: probe?.fault });
}

const UNREACHED: ReadonlySet<string> = new Set(['SERVICE_UNREACHABLE', 'SERVICE_TIMEOUT']);

/** The checks whose warnings keep no swap from being signed. */
const REMARKS: ReadonlySet<string> = new Set(['proxy', 'rpc-versions']);

/** A proxy that is set is told first where nothing is reached: it is the likeliest reason. */
function verdictOf(checks: readonly Check[], { mayAsk, node, fault }: Pick<ExaminedHost, 'mayAsk' | 'node'> & {
  /** Of the service, whose code and status say more than its check. */
  readonly fault?: GannetError | undefined;
}): ExaminedHost {
  const bad = checks.filter(({ name, level }) => level === 'fault' || (level === 'warning' && !REMARKS.has(name)));
  const proxy = checks.find(({ name, level }) => name === 'proxy' && level === 'fault');
  const [first] = bad;
  const refusal = proxy !== undefined ? refusalOfCheck(proxy)
    : fault !== undefined ? refusalOf(fault.code, fault.message, fault.details['status'])
      : first === undefined ? undefined : refusalOfCheck(first);
  return { checks, refusal, mayAsk, node };
}

function traitChecks({ transactionVersion, hasWebsocket }: NodeTraits): readonly Check[] {
  return [
    ...(transactionVersion !== 0 ? [] : [chainCheck.fault('rpc-versions',
      'the node simulates no transaction of version 1, so that a swap in one could not be checked or sent',
      'use another node as chain.rpc_url, or wait until its provider has updated it')]),
    ...(hasWebsocket === undefined ? [] : [chainCheck.ok('rpc-websocket', hasWebsocket ? 'the node offers a websocket'
      : 'the node offers no websocket where a run would subscribe: outcomes are polled')]),
  ];
}

async function run(
  { config, connections: { service, chain }, clock, record }: RehearsalScope, swap: RehearsedSwap,
  { judge, address, wallet }: OpenedJudge & { readonly wallet: WalletContents | GannetError | undefined },
): Promise<RouteResult> {
  if (address === undefined) return { refusal: await quoted(service, swap, judge) };
  const { routers } = loadDialect(config.service.dialect);
  return rehearseRoute({
    isKnownRouter: (router) => router === 'build' || routers.length === 0 || routers.includes(router),
    config, service, chain: chain!, clock, address, judge, record,
    wallet: wallet instanceof GannetError ? undefined : wallet,
  }, swap);
}

/** Without a wallet a price is all that can be asked for. */
async function quoted(
  service: Connections['service'], { inputMint, outputMint, amount }: RehearsedSwap, judge: OpenedJudge['judge'],
): Promise<RouteRefusal> {
  const order = await answerOrFault(service.swap.order({ inputMint, outputMint, amount }));
  if (order instanceof GannetError) return refusalOf(order.code, order.message, order.details['status']);
  const why = judge instanceof GannetError ? judge.message : 'no wallet is known';
  return refusalOf('KEY_INVALID', `the service gives a price, but ${why}; with wallet.address alone the service is `
    + 'asked for transactions too');
}
