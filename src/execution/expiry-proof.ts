import { isGannetError } from '../core/errors.ts';
import type { Millis } from '../core/time.ts';
import { isUnreadable, type Attempt, type FirstProof } from '../trading/attempt.ts';
import type { Chain, ExecutorPorts } from './ports.ts';
import type { Intent } from '../trading/intent.ts';
import type { BalanceObjection } from './input-balance.ts';
import { balanceObjection } from './input-balance.ts';
import type { HistoryCheck } from './wallet-history.ts';

/** The node of a proof. */
type ProofChain = Pick<Chain, 'finalizedBlockHeight' | 'isBlockhashValid' | 'node'>;

/** The limits within which signed bytes can land. */
export interface Validity {
  readonly blockhash: string;
  /** The last block in which they can land. */
  readonly lastValidBlockHeight: bigint;
}

/** Whether an attempt's bytes can still land; `because` is the reason against their expiry. */
type ExpiryState = BalanceObjection | { readonly kind: 'proven' };

/**
 * No expiry proof is accepted sooner. At finalized a blockhash that is too new is as invalid as one that is too old, so
 * a single wrong height would suffice. 150 blocks take at least this long.
 */
const VALIDITY_MIN_MS = 45_000;
/**
 * A proof counts once it is repeated, this much later and this many finalized blocks further: a node with a late index
 * may show a transaction of the last valid block some seconds after the block.
 */
const PROOF_GAP_MS = 6_000;
const PROOF_GAP_BLOCKS = 12n;

/**
 * Collects the proof that signed bytes can no longer land: the finalized block height is past their last valid one,
 * their blockhash is no longer valid at finalized, and then the caller's search through the whole history finds
 * nothing. All of that is required twice.
 */
export class ExpiryProof {
  readonly #chain: ProofChain;
  readonly #validity: Validity;
  #first: FirstProof | undefined;
  #isUnagreed = false;

  /** Continues from an earlier process that used the same node: both proofs must come from one node. */
  constructor(chain: ProofChain, validity: Validity, first?: FirstProof) {
    this.#chain = chain;
    this.#validity = validity;
    this.#first = first?.node === chain.node ? first : undefined;
  }

  /** The time and height of the first complete proof. */
  get first(): FirstProof | undefined {
    return this.#first;
  }

  /** Whether too few nodes answered the last `expiredAt`; the bytes may have expired. */
  get isUnagreed(): boolean {
    return this.#isUnagreed;
  }

  /** Returns the finalized height where height and blockhash prove the expiry; else the reason why they do not. */
  async expiredAt(elapsedMs: Millis): Promise<bigint | string> {
    this.#isUnagreed = false;
    if (elapsedMs < VALIDITY_MIN_MS) return `it was followed for ${Math.floor(elapsedMs / 1_000)} s only`;
    try {
      return await this.#expiredNow();
    } catch (error) {
      // One node of several cannot prove the expiry; that the bytes landed, it still can.
      if (!isGannetError(error) || error.code !== 'CHAIN_UNAGREED') throw error;
      this.#isUnagreed = true;
      return error.message;
    }
  }

  async #expiredNow(): Promise<bigint | string> {
    const { lastValidBlockHeight, blockhash } = this.#validity;
    const height = await this.#chain.finalizedBlockHeight();
    if (height <= lastValidBlockHeight)
      return `finalized is at block height ${height}, it may land until ${lastValidBlockHeight}`;
    return await this.#chain.isBlockhashValid(blockhash)
      ? `the block height is ${height}, past ${lastValidBlockHeight}, but its blockhash is still valid` : height;
  }

  /**
   * Returns undefined where the proof is complete, else the missing part. Call it after a search of the history, made
   * after `expiredAt` returned the height, found nothing.
   */
  missing(height: bigint, elapsedMs: Millis): string | undefined {
    // A first height that was too high would be waited for very long: it was wrong, or this one is.
    if (this.#first === undefined || height < this.#first.height) {
      this.#first = { height, watchedMs: elapsedMs, node: this.#chain.node };
    }
    const isRepeated = elapsedMs - this.#first.watchedMs >= PROOF_GAP_MS
      && height - this.#first.height >= PROOF_GAP_BLOCKS;
    return isRepeated ? undefined
      : `its expiry was proven at block height ${this.#first.height} and must be proven once more`;
  }

  /** Discards the proof so far, after a sign that the bytes may land. */
  reset(): void {
    this.#first = undefined;
  }
}

/**
 * Collects the proof that an attempt never landed and never can, from consistent answers (the chain port refuses those
 * of nodes that lag). The proof consists of the `ExpiryProof` of its bytes, a search through the whole history that
 * finds nothing, no transaction of its id, and a wallet that still has the input.
 */
export class ExpiryWatch {
  readonly #ports: ExecutorPorts;
  readonly #intent: Intent;
  readonly #attempt: Attempt;
  readonly #history: HistoryCheck;
  readonly #proof: ExpiryProof;

  constructor({ ports, intent, attempt, history, first }: {
    readonly ports: ExecutorPorts;
    readonly intent: Intent;
    readonly attempt: Attempt;
    readonly history: HistoryCheck;
    readonly first?: FirstProof | undefined;
  }) {
    this.#ports = ports;
    this.#intent = intent;
    this.#attempt = attempt;
    this.#history = history;
    this.#proof = new ExpiryProof(ports.chain, attempt, first);
  }

  /** When and at which height the proof was complete for the first time. */
  get first(): FirstProof | undefined {
    return this.#proof.first;
  }

  /** Returns the finalized height where height and blockhash prove the expiry; else the reason why they do not. */
  expiredAt(elapsedMs: Millis): Promise<bigint | string> {
    return this.#proof.expiredAt(elapsedMs);
  }

  /** Whether too few nodes answered the last `expiredAt`; the bytes may have expired. */
  get isUnagreed(): boolean {
    return this.#proof.isUnagreed;
  }

  /**
   * Returns the state of the proof after a search of the history, made after `expiredAt` returned the height, found
   * nothing.
   */
  async conclude(height: bigint, elapsedMs: Millis, transactionId: string | undefined): Promise<ExpiryState> {
    const { chain, journal, signer, ledger } = this.#ports;
    // Checked besides statuses and balances: a node that lies about one of them must not decide alone.
    const known = transactionId === undefined ? undefined : await chain.signaturesOf(transactionId);
    if (known !== undefined) {
      this.reset();
      const gives = isUnreadable(known) ? `gives no readable one: ${known.reason}` : 'gives the transaction';
      return { kind: 'open', because: `the node has no status of ${transactionId}, but ${gives}` };
    }
    const objection = await balanceObjection(
      { chain, journal, owner: signer.address, ledger, history: this.#history }, this.#intent, this.#attempt,
    );
    if (objection !== undefined) {
      this.reset();
      return objection;
    }
    const because = this.#proof.missing(height, elapsedMs);
    return because === undefined ? { kind: 'proven' } : { kind: 'open', because };
  }

  /** Discards the proof so far, after a sign that the bytes may land. */
  reset(): void {
    this.#proof.reset();
  }
}
