import { hash } from 'node:crypto';
import bs58 from 'bs58';
import type { SandboxChain } from '../chain/chain.ts';
import type { Config, Params, RpcMethods } from './rpc-params.ts';
import {
  API_VERSION, FEATURE_SET, RPC_CODE, RpcError, addressOfText, configParam, integerOf, invalidParams, listParam,
  slotParam, SLOT_RANGE, viewOf, withContext,
} from './rpc-params.ts';

const SLOTS_PER_EPOCH = 432_000;
const STAKED_LAMPORTS = 1_000_000_000_000_000;
/** Of the main network, where one lamport may be staked. */
const LEAST_DELEGATION_LAMPORTS = 1;
const MAX_LEADERS = 5_000;
const MAX_REWARDED_ADDRESSES = 1_000;
/** How many confirmations nodes count; the last place is for rooted blocks. */
const COUNTED_CONFIRMATIONS = 32;
const SHRED_VERSION = 1;

/** Where the RPC listens, as `host:port`; known once it does. */
export type RpcPlaces = () => { readonly rpc: string | null; readonly pubsub: string | null };

/**
 * Returns the methods about epochs, leaders, stake and rewards. One validator makes every block, holds all stake and
 * votes for each slot; it is paid nothing for it, and stores no snapshot but the state that the chain began with.
 */
export function validatorMethods(chain: SandboxChain, places: RpcPlaces): RpcMethods {
  const identity = keyOf(chain, 'identity');
  const firstSlot = chain.firstAvailableSlot();
  return {
    getIdentity: () => ({ identity }),

    getClusterNodes: () => [clusterNode(identity, places())],

    getVoteAccounts: (params) => {
      const config = configParam(params, 0);
      const commitment = viewOf(chain, config);
      const wanted = optionalAddress(config, 'votePubkey');
      const only = voteAccount(chain, chain.slotAt(commitment));
      return { current: wanted === undefined || wanted === only.votePubkey ? [only] : [], delinquent: [] };
    },

    getEpochInfo: (params) => {
      const commitment = viewOf(chain, configParam(params, 0));
      const absoluteSlot = chain.slotAt(commitment);
      return {
        absoluteSlot,
        blockHeight: chain.blockAt(commitment).height,
        epoch: epochOf(absoluteSlot),
        slotIndex: absoluteSlot % SLOTS_PER_EPOCH,
        slotsInEpoch: SLOTS_PER_EPOCH,
        transactionCount: chain.transactionCount,
      };
    },

    getEpochSchedule: () => ({
      slotsPerEpoch: SLOTS_PER_EPOCH, leaderScheduleSlotOffset: SLOTS_PER_EPOCH, warmup: false, firstNormalEpoch: 0,
      firstNormalSlot: 0,
    }),

    getSlotLeader: (params) => {
      viewOf(chain, configParam(params, 0));
      return identity;
    },

    getSlotLeaders: (params) => slotLeaders(chain, params, identity),
    getLeaderSchedule: (params) => leaderSchedule(chain, params, identity),
    getBlockProduction: (params) => blockProduction(chain, configParam(params, 0), identity),
    getBlockCommitment: (params) =>
      ({ commitment: blockCommitment(chain, slotParam(params, 0)), totalStake: STAKED_LAMPORTS }),

    getInflationGovernor: (params) => {
      viewOf(chain, configParam(params, 0));
      return { initial: 0, terminal: 0, taper: 0, foundation: 0, foundationTerm: 0 };
    },

    getInflationRate: () => ({ total: 0, validator: 0, foundation: 0, epoch: epochOf(chain.slot) }),

    getInflationReward: (params) => inflationRewards(chain, params),

    getStakeMinimumDelegation: (params) =>
      withContext(chain, viewOf(chain, configParam(params, 0)), LEAST_DELEGATION_LAMPORTS),

    getHighestSnapshotSlot: () => ({ full: firstSlot, incremental: null }),
    getMaxRetransmitSlot: () => chain.slotAt('processed'),
    getMaxShredInsertSlot: () => chain.slotAt('processed'),
    // The consensus that has such a certificate is not the one of this chain.
    getAgGenesisCert: () => null,
  };
}

function clusterNode(pubkey: string, { rpc, pubsub }: ReturnType<RpcPlaces>): object {
  return {
    pubkey, rpc, pubsub, gossip: null, tpu: null, tpuForwards: null, tpuForwardsQuic: null, tpuQuic: null,
    tpuVote: null, tvu: null, serveRepair: null, version: API_VERSION, featureSet: FEATURE_SET,
    shredVersion: SHRED_VERSION, clientId: null,
  };
}

function voteAccount(
  chain: SandboxChain, slot: number,
): Readonly<Record<string, unknown>> & { readonly votePubkey: string } {
  const epoch = epochOf(slot);
  return {
    votePubkey: keyOf(chain, 'vote'),
    nodePubkey: keyOf(chain, 'identity'),
    activatedStake: STAKED_LAMPORTS,
    commission: 0,
    epochVoteAccount: true,
    epochCredits: [[epoch, slot, epoch * SLOTS_PER_EPOCH]],
    lastVote: slot,
    rootSlot: chain.slotAt('finalized'),
  };
}

/** A key of the validator's; nothing is ever signed with it. */
function keyOf(chain: SandboxChain, purpose: string): string {
  return bs58.encode(hash('sha256', `${purpose} ${chain.genesisHash}`, 'buffer'));
}

function epochOf(slot: number): number {
  return Math.floor(slot / SLOTS_PER_EPOCH);
}

/** The leaders of the epochs of the chain are known, and those of the next one. */
function hasLeaders(chain: SandboxChain, epoch: number): boolean {
  return epoch >= epochOf(chain.firstAvailableSlot()) && epoch <= epochOf(chain.slot) + 1;
}

function slotLeaders(chain: SandboxChain, params: Params, identity: string): string[] {
  const start = slotParam(params, 0);
  const limit = integerOf(params[1], 'parameter 1', SLOT_RANGE);
  if (limit === undefined) throw invalidParams('parameter 1: expected a number of leaders');
  if (limit > MAX_LEADERS) throw refusal(`Invalid limit; max ${MAX_LEADERS}`);
  const missing = [start, start + limit - 1].map(epochOf).find((epoch) => !hasLeaders(chain, epoch));
  if (limit > 0 && missing !== undefined)
    throw refusal(`Invalid slot range: leader schedule for epoch ${missing} is unavailable`);
  return Array.from({ length: limit }, () => identity);
}

/** The slot may be left out, with the configuration in its place. */
function leaderSchedule(chain: SandboxChain, params: Params, identity: string): object | null {
  const isConfig = typeof params[0] === 'object' && params[0] !== null;
  const config = configParam(params, isConfig ? 0 : 1);
  const commitment = viewOf(chain, config);
  const slot = isConfig ? undefined : integerOf(params[0], 'parameter 0', SLOT_RANGE);
  const wanted = optionalAddress(config, 'identity');
  if (!hasLeaders(chain, epochOf(slot ?? chain.slotAt(commitment)))) return null;
  if (wanted !== undefined && wanted !== identity) return {};
  return { [identity]: Array.from({ length: SLOTS_PER_EPOCH }, (_, index) => index) };
}

function blockProduction(chain: SandboxChain, config: Config, identity: string): object {
  const commitment = viewOf(chain, config);
  const wanted = optionalAddress(config, 'identity');
  const oldest = chain.firstAvailableSlot();
  const newest = chain.slotAt(commitment);
  const range = configParam([config['range']], 0);
  const epochStart = epochOf(newest) * SLOTS_PER_EPOCH;
  const isGiven = config['range'] !== undefined && config['range'] !== null;
  const first = integerOf(range['firstSlot'], 'range.firstSlot', SLOT_RANGE);
  if (isGiven && first === undefined) throw invalidParams('range.firstSlot: expected a slot');
  const firstSlot = first ?? Math.max(epochStart, oldest);
  const lastSlot = integerOf(range['lastSlot'], 'range.lastSlot', SLOT_RANGE) ?? newest;
  if (lastSlot < firstSlot) throw refusal(`lastSlot, ${lastSlot}, cannot be less than firstSlot, ${firstSlot}`);
  if (firstSlot < oldest) throw refusal(`firstSlot, ${firstSlot}, is too small; min ${oldest}`);
  if (lastSlot > newest) throw refusal(`lastSlot, ${lastSlot}, is too large; max ${newest}`);
  const produced = chain.blocksBetween(firstSlot, lastSlot).length;
  const byIdentity = wanted === undefined || wanted === identity
    ? { [identity]: [lastSlot - firstSlot + 1, produced] } : {};
  return withContext(chain, commitment, { byIdentity, range: { firstSlot, lastSlot } });
}

/** Returns the stake that voted for a block, at the place of its confirmations; null where it is not counted. */
function blockCommitment(chain: SandboxChain, slot: number): number[] | null {
  const confirmations = chain.slot - slot;
  if (confirmations > COUNTED_CONFIRMATIONS || chain.blocksBetween(slot, slot).length === 0) return null;
  const place = Math.min(confirmations, COUNTED_CONFIRMATIONS - 1);
  return Array.from({ length: COUNTED_CONFIRMATIONS }, (_, index) => (index === place ? STAKED_LAMPORTS : 0));
}

/** No address was rewarded in any epoch that is over; the rewards of an epoch come with the first block of the next. */
function inflationRewards(chain: SandboxChain, params: Params): null[] {
  const addresses = params[0] === undefined || params[0] === null ? []
    : listParam(params, 0, MAX_REWARDED_ADDRESSES)
      .map((address, index) => addressOfText(address, `parameter 0[${index}]`));
  const config = configParam(params, 1);
  const now = chain.slotAt(viewOf(chain, config));
  const epoch = integerOf(config['epoch'], 'epoch', SLOT_RANGE) ?? Math.max(0, epochOf(now) - 1);
  const firstSlot = (epoch + 1) * SLOTS_PER_EPOCH;
  if (firstSlot > now)
    throw new RpcError(RPC_CODE.blockNotAvailable, `Block not available for slot ${firstSlot}`);
  return addresses.map(() => null);
}

function optionalAddress(config: Config, name: string): string | undefined {
  return config[name] === undefined || config[name] === null ? undefined : addressOfText(config[name], name);
}

/** Clients know these sentences from nodes. */
function refusal(message: string): RpcError {
  return new RpcError(RPC_CODE.invalidParams, message);
}
