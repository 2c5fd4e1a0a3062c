import type { Subscription } from 'rxjs';
import { GannetError, isGannetError } from '../core/errors.ts';
import { roughDuration, type Clock, type Millis } from '../core/time.ts';
import { NodeHealth, type NodeState, type NodeStats } from './node-health.ts';
import { versionRefusalOf } from '../solana/transaction-versions.ts';
import { genesisHash, slot as slotAnswer } from './rpc-answers.ts';
import type { RpcClient } from './rpc-client.ts';

/** Something that people should know about the nodes. */
export interface NodeEvent {
  readonly level: 'info' | 'warning' | 'critical';
  readonly code: 'NODE_LOST' | 'NODE_BACK' | 'NODES_LOST' | 'NODE_LAGS' | 'NODE_FOREIGN' | 'NODES_DISAGREE';
  readonly message: string;
}

/** Several nodes of one network. */
interface NodePool {
  /** Sends each call to the healthiest node, and to the next where that gives no usable answer. */
  readonly reads: RpcClient;
  /** Sends each call to one node, and counts it. */
  readonly clients: readonly PoolClient[];
  /** Resolves once the first probes are through. */
  ready(): Promise<void>;
  stats(): readonly NodeStats[];
  /** Calls `hear` for each event, at first for what is wrong already; returns what ends that. */
  onEvent(hear: (event: NodeEvent) => void): () => void;
  /** Notes whether the nodes contradict each other on a subject. */
  compared(subject: string, contradiction: string | undefined): void;
  close(): Promise<void>;
}

/** One node of a pool. */
interface PoolClient {
  readonly name: string;
  readonly client: RpcClient;
  readonly isUsable: () => boolean;
  readonly isForeign: () => boolean;
}

interface PooledNode {
  readonly health: NodeHealth;
  readonly client: RpcClient;
  genesis: string | undefined;
  /** The newest slot that the chain can have reached. */
  seen: { readonly slot: bigint; readonly at: Millis } | undefined;
  /** The answer to the last probe; undefined without one. */
  slot: bigint | undefined;
  /** Why the last probe failed. */
  fault: GannetError | undefined;
  told: NodeState | undefined;
}

const PROBE_MS: Millis = 5_000;
/** While a node is lost; two probes must be answered. */
const LOST_PROBE_MS: Millis = 2_000;
/** Twenty seconds: further behind, a node cannot follow a swap. */
const LAG_SLOTS = 50n;
/** No chain makes slots faster; a node that gains more since its last probe was wrong, then or now. */
const SLOT_MIN_MS = 300;
/** A contradiction lasts this long before it is told: nodes see a transaction at different times. */
const CONTRADICTED_MS: Millis = 10_000;
const CONTRADICTION_GAP_MS: Millis = 600_000;
const SUBJECTS_MAX = 100;
/** Refusals of the request itself: every node refuses it. Whatever else a node refuses, another may answer. */
const REFUSED_BY_ALL = new Set<unknown>([-32_600, -32_602, -32_002, -32_003, -32_013]);
const TOO_MANY_REQUESTS = 429;

/**
 * Returns the pool of two nodes or more, and probes them until it is closed. A node counts once its genesis hash is
 * known to be that of the first listed node that answers.
 */
export function createNodePool({ nodes, clock, timeoutMs }: {
  readonly nodes: readonly { readonly name: string; readonly client: RpcClient }[];
  readonly clock: Clock;
  /** For one call to one node; longer means that the node is lost. */
  readonly timeoutMs: Millis;
}): NodePool {
  const pooled = nodes.map(({ name, client }): PooledNode => {
    const health = new NodeHealth(name, clock, 'unchecked');
    return {
      health, client: countedClient({ client, health, clock, timeoutMs }), genesis: undefined, seen: undefined,
      slot: undefined, fault: undefined, told: undefined,
    };
  });
  const listeners = new Set<(event: NodeEvent) => void>();
  const contradictions = new Map<string, Millis>();
  let contradictionToldAt = -Infinity;
  let genesis: { readonly hash: string; readonly by: string } | undefined;
  let isClosed = false;
  let timer: Subscription | undefined;
  let first: Promise<void> | undefined;
  let allLost: NodeEvent | undefined;
  let preferred: PooledNode | undefined;

  const stateOf = ({ health }: PooledNode): NodeState => health.state;
  const emit = (event: NodeEvent): void => { for (const hear of listeners) hear(event); };

  async function probe(node: PooledNode): Promise<void> {
    node.slot = undefined;
    try {
      node.genesis = await node.client.call('getGenesisHash', [], genesisHash);
      node.slot = await node.client.call('getSlot', [{ commitment: 'confirmed' }], slotAnswer);
    } catch (error) {
      // The call itself counted what is wrong.
      if (!isGannetError(error)) throw error;
      node.fault = error;
    }
  }

  /** Whether a node claims a slot that no chain can have reached since: then the others do not lag behind it. */
  function leaps({ seen, slot }: PooledNode, at: Millis): boolean {
    return seen !== undefined && slot !== undefined
      && slot - seen.slot > LAG_SLOTS + BigInt(Math.max(0, Math.ceil((at - seen.at) / SLOT_MIN_MS)));
  }

  async function probeAll(): Promise<void> {
    await Promise.all(pooled.map(probe));
    if (isClosed) return;
    const reference = pooled.find((node) => node.genesis !== undefined);
    if (genesis === undefined && reference !== undefined)
      genesis = { hash: reference.genesis!, by: reference.health.name };
    const known = genesis;
    const at = clock.now();
    const answering = pooled.filter(({ slot, genesis: own }) => slot !== undefined && own !== undefined);
    const right = answering.filter((node) => node.genesis === known?.hash);
    const sound = right.filter((node) => !leaps(node, at));
    const best = furthest(sound.length > 0 ? sound : right);
    for (const node of answering) {
      const isRightNetwork = right.includes(node);
      const behind = isRightNetwork ? best! - node.slot! : 0n;
      const isLagging = behind > LAG_SLOTS || behind < -LAG_SLOTS;
      if (isRightNetwork && !isLagging) node.seen = { slot: node.slot!, at };
      node.health.probed({ isRightNetwork, slotsBehind: Number(behind), isLagging });
    }
    tell();
  }

  /** Tells of changes once each. */
  function tell(): void {
    for (const node of pooled) {
      const state = stateOf(node);
      const event = state === node.told ? undefined : eventOf(node, state);
      node.told = state;
      if (event !== undefined) emit(event);
    }
    const isAllLost = pooled.every((node) => stateOf(node) === 'lost' || stateOf(node) === 'wrong-network'
      || stateOf(node) === 'unchecked');
    const lost: NodeEvent | undefined = !isAllLost ? undefined : {
      level: 'critical', code: 'NODES_LOST',
      message: `no node of the chain answers (${pooled.map(({ health }) => health.name).join(', ')}): swaps that are `
        + 'open stay open, and nothing new is signed; check the providers and the network',
    };
    if (lost !== undefined && allLost === undefined) emit(lost);
    allLost = lost;
  }

  function eventOf({ health: { name, slotsBehind }, told }: PooledNode, state: NodeState): NodeEvent | undefined {
    switch (state) {
      case 'lost': return {
        level: 'warning', code: 'NODE_LOST',
        message: `the node ${name} does not answer: the other nodes are used, and no swap counts as expired or failed `
          + 'unless two nodes say so',
      };
      case 'lagging': return {
        level: 'warning', code: 'NODE_LAGS',
        message: (slotsBehind ?? 0) < 0
          ? `the node ${name} claims to be ${-slotsBehind!} slots ahead of what the chain can have reached: it is not `
            + 'used while it does'
          : `the node ${name} is ${slotsBehind} slots behind: it is not used until it has caught up`,
      };
      case 'wrong-network': return {
        level: 'critical', code: 'NODE_FOREIGN',
        message: `the node ${name} belongs to another network than ${genesis!.by} (their genesis hashes differ): it is `
          + 'never used; correct chain.further_rpc_urls',
      };
      case 'healthy': return told === undefined || told === 'unchecked' ? undefined
        : { level: 'info', code: 'NODE_BACK', message: `the node ${name} is back` };
      case 'unchecked': return undefined;
    }
  }

  function schedule(): void {
    if (isClosed) return;
    const delayMs = pooled.some((node) => stateOf(node) === 'lost') ? LOST_PROBE_MS : PROBE_MS;
    timer = clock.schedule(() => { void probeAll().finally(schedule); }, delayMs);
  }

  function ready(): Promise<void> {
    first ??= probeAll().finally(schedule);
    return first;
  }

  /** The nodes in the order in which a read tries them. The one before stays the first unless another is far better. */
  function ranked(): readonly PooledNode[] {
    const known = pooled.filter((node) => genesis !== undefined && node.genesis === genesis.hash);
    const usable = known.filter((node) => stateOf(node) === 'healthy');
    const fresh = usable.filter(({ health }) => !health.isResting);
    const best = fresh.reduce<PooledNode | undefined>((found, node) =>
      (found === undefined || node.health.cost * 2 < found.health.cost ? node : found),
      preferred !== undefined && fresh.includes(preferred) ? preferred : undefined);
    preferred = best ?? preferred;
    return [...new Set([...(best === undefined ? [] : [best]), ...fresh, ...usable, ...known])];
  }

  const reads: RpcClient = {
    async call(method, params, result, given) {
      await ready();
      // Which network a node belongs to must be known before it is asked for anything else.
      if (genesis === undefined) await probeAll();
      let fault: unknown = pooled.find((node) => node.fault !== undefined)?.fault
        ?? new GannetError('CHAIN_UNREACHABLE', `${method}: no node of the right network answers`);
      let second: { readonly answer: Awaited<ReturnType<typeof callOne>> } | undefined;
      const callOne = (node: PooledNode) => node.client.call(method, params, result, given);
      for (const [index, node] of ranked().entries()) {
        try {
          const answer = await callOne(node);
          if (!isBehind(answer, params) && !isOtherVersion(answer)) return answer;
          second ??= { answer };
        } catch (error) {
          if (given?.signal?.aborted === true || isClosed || !mayAnswerElsewhere(error, method)) throw error;
          if (index === 0) fault = error;
        }
      }
      // The caller judges it: its slot floor refuses an old answer.
      if (second !== undefined) return second.answer;
      throw fault;
    },
    close: () => Promise.resolve(),
  };

  return {
    reads, ready,
    clients: pooled.map((node) => ({
      name: node.health.name, client: node.client,
      isUsable: () => stateOf(node) === 'healthy',
      isForeign: () => stateOf(node) === 'wrong-network' || node.genesis === undefined,
    })),
    stats: () => pooled.map(({ health }) => health.stats()),
    onEvent(hear) {
      listeners.add(hear);
      for (const node of pooled) {
        const event = node.told === undefined || node.told === 'healthy' ? undefined : eventOf(node, node.told);
        if (event !== undefined) hear(event);
      }
      if (allLost !== undefined) hear(allLost);
      return () => { listeners.delete(hear); };
    },
    compared(subject, contradiction) {
      const now = clock.now();
      const since = contradictions.get(subject);
      if (contradiction === undefined) {
        contradictions.delete(subject);
      } else if (since === undefined) {
        if (contradictions.size >= SUBJECTS_MAX) contradictions.delete(contradictions.keys().next().value!);
        contradictions.set(subject, now);
      } else if (now - since >= CONTRADICTED_MS && now - contradictionToldAt >= CONTRADICTION_GAP_MS) {
        contradictionToldAt = now;
        emit({
          level: 'critical', code: 'NODES_DISAGREE',
          message: `${contradiction} (for ${roughDuration(now - since)}): nothing is decided on it before they agree`,
        });
      }
    },
    async close() {
      isClosed = true;
      timer?.unsubscribe();
      await Promise.all(pooled.map(({ client }) => client.close()));
    },
  };
}

function furthest(nodes: readonly PooledNode[]): bigint | undefined {
  const slots = nodes.flatMap(({ slot }) => (slot === undefined ? [] : [slot]));
  return slots.length === 0 ? undefined : slots.reduce((best, slot) => (slot > best ? slot : best));
}

/** Returns the client with each call counted. */
export function countedClient({ client, health, clock, timeoutMs }: {
  readonly client: RpcClient; readonly health: NodeHealth; readonly clock: Clock; readonly timeoutMs: Millis;
}): RpcClient {
  return {
    async call(method, params, result, given) {
      const begunAt = clock.now();
      const spanMs = (): Millis => clock.now() - begunAt;
      try {
        const answer = await client.call(method, params, result, given);
        health.answered(spanMs(), 'ok');
        return answer;
      } catch (error) {
        // An aborted call says nothing about the node.
        if (!isGannetError(error) || given?.signal?.aborted === true) throw error;
        if (error.details['status'] === TOO_MANY_REQUESTS) health.rest();
        if (error.code === 'CHAIN_RPC_ERROR') health.answered(spanMs(), 'refused');
        else if (error.code === 'CHAIN_RESPONSE_INVALID') health.failed('invalid', false);
        else if (error.details['status'] === TOO_MANY_REQUESTS) health.answered(spanMs(), 'refused');
        else health.failed('unreachable', spanMs() >= timeoutMs);
        throw error;
      }
    },
    close: () => client.close(),
  };
}

function mayAnswerElsewhere(error: unknown, method: string): boolean {
  if (!isGannetError(error)) return false;
  const { rpcCode, rpcMessage } = error.details;
  // Nodes differ in the transaction versions that they know.
  if (method === 'getTransaction' && versionRefusalOf(rpcCode, rpcMessage) !== undefined) return true;
  if (error.code === 'CHAIN_RPC_ERROR') return !REFUSED_BY_ALL.has(rpcCode);
  return error.code === 'CHAIN_UNREACHABLE' || error.code === 'CHAIN_RESPONSE_INVALID';
}

/** Whether a node answered as of an earlier slot than the call asked for: some ignore `minContextSlot`. */
function isBehind(answer: unknown, params: readonly unknown[]): boolean {
  const least = params.map((param) => memberOf(param, 'minContextSlot')).find((slot) => typeof slot === 'number');
  const slot = memberOf(memberOf(answer, 'context'), 'slot');
  return least !== undefined && typeof slot === 'bigint' && slot < BigInt(least);
}

/** Whether a node gives a transaction in a version that cannot be read: another one may name it rightly. */
function isOtherVersion(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && 'otherVersion' in answer;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && name in value ? (value as Record<string, unknown>)[name]
    : undefined;
}
