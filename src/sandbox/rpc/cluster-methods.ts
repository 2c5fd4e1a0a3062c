import { isAddress } from '../chain/addresses.ts';
import type { SandboxChain } from '../chain/chain.ts';
import { SUPPLY_OWNERS } from '../chain/chain.ts';
import type { RpcMethods } from './rpc-params.ts';
import {
  API_VERSION, FEATURE_SET, addressOfText, choiceOf, configParam, integerOf, invalidParams, listParam, stringParam,
  viewOf, withContext,
} from './rpc-params.ts';

const MAX_ACCOUNT_BYTES = 10 * 1024 * 1024;
const FEE_WINDOW_SLOTS = 150;
const MAX_FEE_ADDRESSES = 128;
const LARGEST_ACCOUNTS = 20;

/** Returns the methods about the chain as a whole: slots, heights, blockhashes, fees. */
export function clusterMethods(chain: SandboxChain): RpcMethods {
  return {
    getHealth: () => 'ok',
    getVersion: () => ({ 'solana-core': API_VERSION, 'feature-set': FEATURE_SET }),
    getGenesisHash: () => chain.genesisHash,
    getSlot: (params) => chain.slotAt(viewOf(chain, configParam(params, 0))),
    getBlockHeight: (params) => chain.blockAt(viewOf(chain, configParam(params, 0))).height,

    getSupply: (params) => {
      const commitment = viewOf(chain, configParam(params, 0));
      const total = chain.supply();
      return withContext(chain, commitment, {
        total, circulating: total, nonCirculating: 0, nonCirculatingAccounts: [],
      });
    },

    getLargestAccounts: (params) => {
      const config = configParam(params, 0);
      const commitment = viewOf(chain, config);
      const filter = choiceOf(config['filter'], 'filter', ['circulating', 'nonCirculating']);
      if (filter === 'nonCirculating') return withContext(chain, commitment, []);
      const largest = SUPPLY_OWNERS.flatMap((owner) => [...chain.programAccounts(owner, commitment)])
        .map(([address, { lamports }]) => ({ address, lamports }))
        .sort((a, b) => Number(b.lamports - a.lamports) || (a.address < b.address ? -1 : 1));
      return withContext(chain, commitment, largest.slice(0, LARGEST_ACCOUNTS));
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
