import type { Millis } from '../core/time.ts';
import type { FirstProof } from '../trading/attempt.ts';
import type { Chain } from './ports.ts';

/**
 * No proof of death is believed sooner: a blockhash that is too young for finalized looks as invalid there as one that
 * is too old, and then a single wrong height would do. 150 blocks take at least this long.
 */
const LIFE_MIN_MS = 45_000;
/**
 * A proof is believed when it is had again, so much later and so many finalized blocks further: a transaction of the
 * last valid block may come to light some seconds after the block, on a node whose index is late.
 */
const PROOF_GAP_MS = 6_000;
const PROOF_GAP_BLOCKS = 12n;

/** The node of a proof. */
type ProofChain = Pick<Chain, 'finalizedBlockHeight' | 'isBlockhashValid' | 'node'>;

/** What bounds the life of signed bytes. */
export interface Lifetime {
  readonly blockhash: string;
  /** The last block in which they can land. */
  readonly lastValidBlockHeight: bigint;
}

/**
 * Gathers the proof that signed bytes can land no more: the finalized block height is past their last valid one and
 * their blockhash is no longer valid at finalized, and a look-up through the whole history, which is the caller's, then
 * finds nothing. All that twice.
 */
export class DeathProof {
  readonly #chain: ProofChain;
  readonly #lifetime: Lifetime;
  #first: FirstProof | undefined;

  /** Goes on from where an earlier process was, if that process asked the same node: both proofs must come from one. */
  constructor(chain: ProofChain, lifetime: Lifetime, first?: FirstProof) {
    this.#chain = chain;
    this.#lifetime = lifetime;
    this.#first = first?.node === chain.node ? first : undefined;
  }

  /** When and at which height it was complete for the first time. */
  get first(): FirstProof | undefined {
    return this.#first;
  }

  /**
   * Returns the finalized height where the bytes' life is over as far as height and blockhash go; else why it is not.
   */
  async lifeOver(elapsedMs: Millis): Promise<bigint | string> {
    const { lastValidBlockHeight, blockhash } = this.#lifetime;
    if (elapsedMs < LIFE_MIN_MS) return `it was followed for ${Math.floor(elapsedMs / 1_000)} s only`;
    const height = await this.#chain.finalizedBlockHeight();
    if (height <= lastValidBlockHeight)
      return `finalized is at block height ${height}, it may land until ${lastValidBlockHeight}`;
    return await this.#chain.isBlockhashValid(blockhash)
      ? `the block height is ${height}, past ${lastValidBlockHeight}, but its blockhash is still valid` : height;
  }

  /**
   * Returns undefined where the proof is complete, once the history, asked after `lifeOver` gave the height, knows
   * nothing of the bytes; else what is missing.
   */
  missing(height: bigint, elapsedMs: Millis): string | undefined {
    // A height that was too high would be waited for as long as the chain takes to get there: it was wrong, or this one
    // is.
    if (this.#first === undefined || height < this.#first.height) {
      this.#first = { height, watchedMs: elapsedMs, node: this.#chain.node };
    }
    const isRepeated = elapsedMs - this.#first.watchedMs >= PROOF_GAP_MS
      && height - this.#first.height >= PROOF_GAP_BLOCKS;
    return isRepeated ? undefined
      : `its death was proven at block height ${this.#first.height} and is to be proven once more`;
  }

  /** Something spoke for their life: whatever was proven before counts no more. */
  alive(): void {
    this.#first = undefined;
  }
}
