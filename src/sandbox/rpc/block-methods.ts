import type { Block, Commitment, LandedTransaction, SandboxChain } from '../chain/chain.ts';
import { SLOTS_PER_MINUTE } from '../market/slot-counts.ts';
import type { Config, RpcMethods } from './rpc-params.ts';
import {
  RPC_CODE, RpcError, SLOT_RANGE, choiceOf, commitmentOf, configParam, integerOf, invalidParams, slotParam, viewOf,
} from './rpc-params.ts';
import type { TransactionEncoding } from './transaction-encoding.ts';
import { encodeAccountsOf, encodeLanded, refuseVersion, TRANSACTION_ENCODINGS } from './transaction-encoding.ts';

const MAX_BLOCKS_SPAN = 500_000;
const MAX_SAMPLES = 720;
const SAMPLE_SECONDS = 60;
const DETAILS = ['full', 'accounts', 'signatures', 'none'] as const;

/** Returns the methods that read blocks and their statistics. */
export function blockMethods(chain: SandboxChain): RpcMethods {
  return {
    getFirstAvailableBlock: () => chain.firstAvailableSlot(),
    minimumLedgerSlot: () => chain.firstAvailableSlot(),

    getBlock: (params) => {
      const slot = slotParam(params, 0);
      // The second parameter may be the encoding alone, an older form that clients still send.
      const config = typeof params[1] === 'string' ? { encoding: params[1] } : configParam(params, 1);
      const block = blockAt(chain, slot, finalOrConfirmed(config));
      const { blockhash, previousBlockhash, parentSlot, unixSeconds: blockTime, height: blockHeight } = block;
      const rewards = config['rewards'] === false ? {} : { rewards: [] };
      return {
        previousBlockhash, blockhash, parentSlot, ...blockContent(chain, slot, config), ...rewards, blockTime,
        blockHeight,
      };
    },

    getBlocks: (params) => {
      const start = slotParam(params, 0);
      const hasEnd = typeof params[1] === 'number';
      const commitment = finalOrConfirmed(configParam(params, hasEnd ? 2 : 1));
      const end = Math.min(hasEnd ? slotParam(params, 1) : Infinity, chain.slotAt(commitment));
      if (end - start > MAX_BLOCKS_SPAN) throw invalidParams(`Slot range too large; max ${MAX_BLOCKS_SPAN}`);
      return chain.blocksBetween(Math.max(start, chain.firstAvailableSlot()), end).map(({ slot }) => slot);
    },

    getBlocksWithLimit: (params) => {
      const start = slotParam(params, 0);
      const limit = integerOf(params[1], 'parameter 1', SLOT_RANGE);
      if (limit === undefined) throw invalidParams('parameter 1: expected a number of blocks');
      const commitment = finalOrConfirmed(configParam(params, 2));
      if (limit > MAX_BLOCKS_SPAN) throw invalidParams(`Limit too large; max ${MAX_BLOCKS_SPAN}`);
      return chain.blocksBetween(Math.max(start, chain.firstAvailableSlot()), chain.slotAt(commitment))
        .slice(0, limit).map(({ slot }) => slot);
    },

    getBlockTime: (params) => blockAt(chain, slotParam(params, 0), 'confirmed').unixSeconds,

    getTransactionCount: (params) => {
      const newest = chain.slotAt(viewOf(chain, configParam(params, 0)));
      let newer = 0;
      for (const { slot } of chain.landedNewestFirst()) {
        if (slot <= newest) break;
        newer += 1;
      }
      return chain.transactionCount - newer;
    },

    getRecentPerformanceSamples: (params) => {
      const limit = integerOf(params[0], 'parameter 0', { min: 1, max: MAX_SAMPLES }) ?? MAX_SAMPLES;
      return performanceSamples(chain, limit);
    },
  };
}

function finalOrConfirmed(config: Config): Commitment {
  const commitment = commitmentOf(config);
  if (commitment === 'processed') throw invalidParams('Method does not support commitment below `confirmed`');
  return commitment;
}

/** Clients match on the codes, so they are the nodes' own. */
function blockAt(chain: SandboxChain, slot: number, commitment: Commitment): Block {
  if (slot > chain.slotAt(commitment))
    throw new RpcError(RPC_CODE.blockNotAvailable, `Block not available for slot ${slot}`);
  const first = chain.firstAvailableSlot();
  if (slot < first) {
    throw new RpcError(
      RPC_CODE.blockCleanedUp, `Block ${slot} cleaned up, does not exist on node. First available block: ${first}`,
    );
  }
  const [block] = chain.blocksBetween(slot, slot);
  if (block === undefined) throw new RpcError(
    RPC_CODE.slotSkipped, `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`,
  );
  return block;
}

function blockContent(chain: SandboxChain, slot: number, config: Config): object {
  const details = choiceOf(config['transactionDetails'], 'transactionDetails', DETAILS) ?? 'full';
  const encoding = choiceOf(config['encoding'], 'encoding', TRANSACTION_ENCODINGS) ?? 'json';
  const highestVersion =
    integerOf(config['maxSupportedTransactionVersion'], 'maxSupportedTransactionVersion', { min: 0, max: 255 });
  if (details === 'none') return {};
  const landed = landedIn(chain, slot);
  if (details === 'signatures') return { signatures: landed.map(({ signature }) => signature) };
  const options = { encoding, withVersion: highestVersion !== undefined };
  for (const each of landed) refuseVersion(each, highestVersion);
  return { transactions: landed.map((each) => encodeInBlock(each, { ...options, details })) };
}

function encodeInBlock(landed: LandedTransaction, options: {
  readonly encoding: TransactionEncoding; readonly withVersion: boolean; readonly details: 'full' | 'accounts';
}): object {
  if (options.details === 'accounts') return encodeAccountsOf(landed, options);
  const { slot: _slot, blockTime: _blockTime, ...inBlock } = encodeLanded(landed, options);
  return inBlock;
}

function landedIn(chain: SandboxChain, slot: number): LandedTransaction[] {
  const found: LandedTransaction[] = [];
  for (const landed of chain.landedNewestFirst()) {
    if (landed.slot < slot) break;
    if (landed.slot === slot) found.push(landed);
  }
  return found.reverse();
}

/** One sample for each whole minute of slots that is still known, the newest first. */
function performanceSamples(chain: SandboxChain, limit: number): object[] {
  const first = chain.firstAvailableSlot();
  const newest = Math.floor((chain.slot + 1) / SLOTS_PER_MINUTE) - 1;
  const oldest = Math.max(Math.ceil(first / SLOTS_PER_MINUTE), newest - limit + 1);
  const counts = new Map<number, number>();
  for (const { slot } of chain.landedNewestFirst()) {
    if (slot < oldest * SLOTS_PER_MINUTE) break;
    const minute = Math.floor(slot / SLOTS_PER_MINUTE);
    counts.set(minute, (counts.get(minute) ?? 0) + 1);
  }
  return Array.from({ length: Math.max(0, newest - oldest + 1) }, (_, index) => {
    const minute = newest - index;
    const from = minute * SLOTS_PER_MINUTE;
    const numTransactions = counts.get(minute) ?? 0;
    // The sandbox has no vote transactions.
    const numSlots = chain.blocksBetween(from, from + SLOTS_PER_MINUTE - 1).length;
    return {
      slot: from + SLOTS_PER_MINUTE - 1, numTransactions, numNonVoteTransactions: numTransactions, numSlots,
      samplePeriodSecs: SAMPLE_SECONDS,
    };
  });
}
