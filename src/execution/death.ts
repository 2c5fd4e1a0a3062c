import type { Millis } from '../core/time.ts';
import type { Attempt } from '../trading/attempt.ts';
import type { Intent } from '../trading/intent.ts';
import type { LiveWorld } from './journey.ts';

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

/** Whether an attempt's bytes can still land; `because` says what speaks against their death. */
export type Death = { readonly kind: 'open'; readonly because: string } | { readonly kind: 'disagrees'; readonly reason: string } | { readonly kind: 'proven' };

/**
 * Gathers the proof that an attempt never landed and never can, of answers that belong together (the chain port refuses
 * those of a node that is behind what was seen): the finalized block height is past the attempt's own last valid one, its
 * blockhash is no longer valid at finalized, then a look-up through the whole history finds nothing, then the wallet still
 * has what would have been swapped. All that twice.
 */
export class DeathWatch {
  readonly #world: LiveWorld;
  readonly #intent: Intent;
  readonly #attempt: Attempt;
  #first: { readonly height: bigint; readonly elapsedMs: Millis } | undefined;

  constructor(world: LiveWorld, intent: Intent, attempt: Attempt) {
    this.#world = world;
    this.#intent = intent;
    this.#attempt = attempt;
  }

  /** Returns the finalized height where the attempt's life is over as far as height and blockhash go; else why it is not. */
  async lifeOver(elapsedMs: Millis): Promise<bigint | string> {
    const { chain } = this.#world;
    const { lastValidBlockHeight, blockhash } = this.#attempt;
    if (elapsedMs < LIFE_MIN_MS) return `it was followed for ${Math.floor(elapsedMs / 1_000)} s only`;
    const height = await chain.finalizedBlockHeight();
    if (height <= lastValidBlockHeight) return `finalized is at block height ${height}, it may land until ${lastValidBlockHeight}`;
    return await chain.isBlockhashValid(blockhash) ? `the block height is ${height}, past ${lastValidBlockHeight}, but its blockhash is still valid` : height;
  }

  /** Returns what it comes to where the history, asked after `lifeOver` gave the height, knows nothing of the attempt. */
  async notFound(height: bigint, elapsedMs: Millis): Promise<Death> {
    const disagreement = await this.#missingInput();
    if (disagreement !== undefined) {
      this.alive();
      return { kind: 'disagrees', reason: disagreement };
    }
    this.#first ??= { height, elapsedMs };
    const isRepeated = elapsedMs - this.#first.elapsedMs >= PROOF_GAP_MS && height - this.#first.height >= PROOF_GAP_BLOCKS;
    return isRepeated ? { kind: 'proven' } : { kind: 'open', because: `its death was proven at block height ${this.#first.height} and is to be proven once more` };
  }

  /** Something spoke for its life: whatever was proven before counts no more. */
  alive(): void {
    this.#first = undefined;
  }

  async #missingInput(): Promise<string | undefined> {
    const { chain, journal, signer } = this.#world;
    const { inputBalance } = this.#attempt;
    const { inputMint, amountIn } = this.#intent;
    if (inputBalance === undefined) return undefined;
    const { amount, slot } = await chain.tokenBalance(signer.address, inputMint);
    const spent = journal.spentSince(this.#attempt, inputMint);
    if (inputBalance - spent - amount < amountIn) return undefined;
    const others = spent === 0n ? '' : `, of which other swaps took ${spent}`;
    return `no node finds the transaction and it can land no more, but the wallet has ${amount} of ${inputMint} at slot ${slot} and had ${inputBalance} when it was signed${others}: as much is missing as it would have swapped`;
  }
}
