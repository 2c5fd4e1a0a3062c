import { hash } from 'node:crypto';
import bs58 from 'bs58';
import { seededRandom } from '../../core/random.ts';

/**
 * The commitment of a read: the newest block now (processed), one slot ago (confirmed) or 32 slots ago (finalized).
 */
export type Commitment = 'processed' | 'confirmed' | 'finalized';

export interface Block {
  slot: number;
  /** Counts blocks, not slots: a skipped slot has none. */
  height: number;
  blockhash: string;
  unixSeconds: number;
  /** The slot and the hash of the block before; for the first one, the genesis. */
  parentSlot: number;
  previousBlockhash: string;
}

export interface LatestBlockhash {
  blockhash: string;
  lastValidBlockHeight: number;
}

interface BlocksOptions {
  genesisSlot: number;
  genesisHeight: number;
  genesisUnixSeconds: number;
  slotMs: number;
  /** How many blocks a blockhash stays good for. */
  blockhashBlocks: number;
  /** Share of slots without a block. */
  skippedSlots: number;
  seed: number | string;
}

export interface Blocks {
  readonly slot: number;
  readonly height: number;
  readonly genesisHash: string;
  /** Advances by that many slots. */
  advance: (count: number) => void;
  /** Returns the block of the current slot, making it if the slot was about to be skipped. */
  produce: () => Block;
  /** Returns the blockhash on which the block of the current slot builds. */
  parentHash: () => string;
  /** Returns the slot of `blockAt`: a slot without a block is no state of the chain. */
  slotAt: (commitment: Commitment) => number;
  blockAt: (commitment: Commitment) => Block;
  latestBlockhash: (commitment: Commitment) => LatestBlockhash;
  isValid: (blockhash: string, commitment: Commitment) => boolean;
  /** Returns the slot's own time in seconds since the epoch. */
  unixSeconds: (slot: number) => number;
  newestFirst: (count: number) => Block[];
  /** Returns the blocks of a range of slots, both ends included, as far as they are kept. */
  between: (from: number, to: number) => Block[];
  /** Returns the slot of the oldest block that is kept. */
  oldestSlot: () => number;
}

export const SLOTS_BEHIND: Readonly<Record<Commitment, number>> = { processed: 0, confirmed: 1, finalized: 32 };
// More than any reader needs: 150 blocks of validity seen from 32 slots ago, and the slot hashes.
const KEPT_BLOCKS = 600;

/** Returns the slots, blocks, blockhashes and expiry of a chain; the same for the same seed. */
export function createBlocks(options: BlocksOptions): Blocks {
  const random = seededRandom(`blocks:${options.seed}`);
  const genesisHash = hash('sha256', `gannet sandbox ${options.seed} ${options.genesisUnixSeconds}`, 'buffer');
  const blocks: Block[] = [];
  const heights = new Map<string, number>();
  let lastHash = genesisHash;
  let slot = options.genesisSlot;
  let height = options.genesisHeight - 1;

  function unixSeconds(atSlot: number): number {
    return options.genesisUnixSeconds + Math.floor(((atSlot - options.genesisSlot) * options.slotMs) / 1000);
  }

  function addBlock(): Block {
    const parent = blocks.at(-1);
    const previousBlockhash = parent?.blockhash ?? bs58.encode(lastHash);
    lastHash = hash('sha256', lastHash, 'buffer');
    height += 1;
    const blockhash = bs58.encode(lastHash);
    const block = {
      slot, height, blockhash, unixSeconds: unixSeconds(slot), parentSlot: parent?.slot ?? slot - 1, previousBlockhash,
    };
    blocks.push(block);
    heights.set(block.blockhash, height);
    if (blocks.length > KEPT_BLOCKS) heights.delete(blocks.shift()!.blockhash);
    return block;
  }

  function advance(count: number): void {
    // No caller can read blocks that are dropped before this call returns, so a leap of a million slots makes none of
    // them.
    const leap = Math.max(0, count - 2 * KEPT_BLOCKS);
    slot += leap;
    height += Math.round(leap * (1 - options.skippedSlots));
    for (let i = leap; i < count; i++) {
      slot += 1;
      if (random() >= options.skippedSlots) addBlock();
    }
  }

  function produce(): Block {
    const newest = blocks.at(-1)!;
    return newest.slot === slot ? newest : addBlock();
  }

  function parentHash(): string {
    const newest = blocks.at(-1)!;
    return newest.slot === slot ? newest.previousBlockhash : newest.blockhash;
  }

  function blockAt(commitment: Commitment): Block {
    const until = slot - SLOTS_BEHIND[commitment];
    return blocks.findLast((block) => block.slot <= until) ?? blocks[0]!;
  }

  function isValid(blockhash: string, commitment: Commitment): boolean {
    const known = heights.get(blockhash);
    const now = blockAt(commitment).height;
    // A block younger than the commitment's view is unknown there: a finalized bank does not know a fresh blockhash.
    return known !== undefined && known <= now && now <= known + options.blockhashBlocks;
  }

  addBlock();
  return {
    get slot() {
      return slot;
    },
    get height() {
      return height;
    },
    genesisHash: bs58.encode(genesisHash),
    advance,
    produce,
    parentHash,
    slotAt: (commitment) => blockAt(commitment).slot,
    blockAt,
    latestBlockhash: (commitment) => {
      const block = blockAt(commitment);
      return { blockhash: block.blockhash, lastValidBlockHeight: block.height + options.blockhashBlocks };
    },
    isValid,
    unixSeconds,
    newestFirst: (count) => blocks.slice(-count).reverse(),
    between: (from, to) => blocks.filter((block) => block.slot >= from && block.slot <= to),
    oldestSlot: () => blocks[0]!.slot,
  };
}
