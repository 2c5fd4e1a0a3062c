import { hash } from 'node:crypto';
import bs58 from 'bs58';
import { isAddress } from '../chain/addresses.ts';
import type { SandboxChain } from '../chain/chain.ts';
import type { RpcMethods } from './rpc-params.ts';
import {
  API_VERSION, addressOfText, configParam, integerOf, invalidParams, listParam, stringParam, viewOf, withContext,
} from './rpc-params.ts';

const SLOTS_PER_EPOCH = 432_000;
const MAX_ACCOUNT_BYTES = 10 * 1024 * 1024;
const FEE_WINDOW_SLOTS = 150;
const MAX_FEE_ADDRESSES = 128;
const FEATURE_SET = 0;
const STAKED_LAMPORTS = 1_000_000_000_000_000;

/** Returns the methods about the chain as a whole: slots, heights, blockhashes, fees. */
export function clusterMethods(chain: SandboxChain): RpcMethods {
  return {
    getHealth: () => 'ok',
    getVersion: () => ({ 'solana-core': API_VERSION, 'feature-set': FEATURE_SET }),
    getGenesisHash: () => chain.genesisHash,
    getSlot: (params) => chain.slotAt(viewOf(chain, configParam(params, 0))),
    getBlockHeight: (params) => chain.blockAt(viewOf(chain, configParam(params, 0))).height,

    getEpochInfo: (params) => {
      const commitment = viewOf(chain, configParam(params, 0));
      const absoluteSlot = chain.slotAt(commitment);
      return {
        absoluteSlot,
        blockHeight: chain.blockAt(commitment).height,
        epoch: Math.floor(absoluteSlot / SLOTS_PER_EPOCH),
        slotIndex: absoluteSlot % SLOTS_PER_EPOCH,
        slotsInEpoch: SLOTS_PER_EPOCH,
        transactionCount: chain.transactionCount,
      };
    },

    getEpochSchedule: () => ({
      slotsPerEpoch: SLOTS_PER_EPOCH, leaderScheduleSlotOffset: SLOTS_PER_EPOCH, warmup: false, firstNormalEpoch: 0,
      firstNormalSlot: 0,
    }),

    getIdentity: () => ({ identity: keyOf(chain, 'identity') }),

    getVoteAccounts: (params) => {
      const config = configParam(params, 0);
      const commitment = viewOf(chain, config);
      const wanted = config['votePubkey'] === undefined || config['votePubkey'] === null ? undefined
        : addressOfText(config['votePubkey'], 'votePubkey');
      const only = voteAccount(chain, chain.slotAt(commitment));
      return { current: wanted === undefined || wanted === only.votePubkey ? [only] : [], delinquent: [] };
    },

    getSupply: (params) => {
      const commitment = viewOf(chain, configParam(params, 0));
      const total = chain.supply();
      return withContext(chain, commitment, {
        total, circulating: total, nonCirculating: 0, nonCirculatingAccounts: [],
      });
    },

    getLatestBlockhash: (params) => {
      const commitment = viewOf(chain, configParam(params, 0));
      return withContext(chain, commitment, chain.latestBlockhash(commitment));
    },

    isBlockhashValid: (params) => {
      const blockhash = stringParam(params, 0);
      if (!isAddress(blockhash)) throw invalidParams('parameter 0: expected the base58 of a blockhash');
      const commitment = viewOf(chain, configParam(params, 1));
      return withContext(chain, commitment, chain.isBlockhashValid(blockhash, commitment));
    },

    getMinimumBalanceForRentExemption: (params) => {
      const bytes = integerOf(params[0], 'parameter 0', { min: 0, max: MAX_ACCOUNT_BYTES });
      if (bytes === undefined) throw invalidParams('parameter 0: expected the size of an account in bytes');
      return chain.rentExemption(bytes);
    },

    getRecentPrioritizationFees: (params) => {
      const locked = params[0] === undefined || params[0] === null ? []
        : listParam(params, 0, MAX_FEE_ADDRESSES).map((key) => addressOfText(key, 'parameter 0'));
      return recentPrioritizationFees(chain, locked);
    },
  };
}

/** One validator makes every block, holds all stake and votes for each slot. */
function voteAccount(
  chain: SandboxChain, slot: number,
): Readonly<Record<string, unknown>> & { readonly votePubkey: string } {
  const epoch = Math.floor(slot / SLOTS_PER_EPOCH);
  const before = epoch * SLOTS_PER_EPOCH;
  return {
    votePubkey: keyOf(chain, 'vote'),
    nodePubkey: keyOf(chain, 'identity'),
    activatedStake: STAKED_LAMPORTS,
    commission: 0,
    epochVoteAccount: true,
    epochCredits: [[epoch, slot, before]],
    lastVote: slot,
    rootSlot: chain.slotAt('finalized'),
  };
}

/** A key of the validator's; nothing is ever signed with it. */
function keyOf(chain: SandboxChain, purpose: string): string {
  return bs58.encode(hash('sha256', `${purpose} ${chain.genesisHash}`, 'buffer'));
}

/** The least price per unit, in micro-lamports, that landed in each recent slot while locking all of these accounts. */
function recentPrioritizationFees(
  chain: SandboxChain, locked: readonly string[],
): { slot: number; prioritizationFee: bigint }[] {
  const oldest = Math.max(chain.slot - FEE_WINDOW_SLOTS + 1, 0);
  const leastBySlot = new Map<number, bigint>();
  for (const transaction of chain.landedNewestFirst()) {
    if (transaction.slot < oldest) break;
    if (!locked.every((key) => transaction.writableKeys.includes(key))) continue;
    const least = leastBySlot.get(transaction.slot);
    const price = transaction.microLamportsPerUnit;
    if (least === undefined || price < least) leastBySlot.set(transaction.slot, price);
  }
  return Array.from({ length: chain.slot - oldest + 1 }, (_, index) => ({
    slot: oldest + index,
    prioritizationFee: leastBySlot.get(oldest + index) ?? 0n,
  }));
}
