import type { Millis } from '../core/time.ts';
import type { Attempt, FirstProof } from '../trading/attempt.ts';
import type { Intent } from '../trading/intent.ts';
import { DeathProof } from './death-proof.ts';
import type { BalanceDoubt } from './input-balance.ts';
import { doubtOfBalance } from './input-balance.ts';
import type { LiveWorld } from './journey.ts';

/** Whether an attempt's bytes can still land; `because` says what speaks against their death. */
export type Death = BalanceDoubt | { readonly kind: 'proven' };

/**
 * Gathers the proof that an attempt never landed and never can, of answers that belong together (the chain port refuses
 * those of a node that is behind what was seen): what `DeathProof` wants of its bytes, a look-up through the whole
 * history that finds nothing, no transaction of its id, and that the wallet still has what would have been swapped.
 */
export class DeathWatch {
  readonly #world: LiveWorld;
  readonly #intent: Intent;
  readonly #attempt: Attempt;
  readonly #proof: DeathProof;

  constructor(world: LiveWorld, intent: Intent, attempt: Attempt, first?: FirstProof) {
    this.#world = world;
    this.#intent = intent;
    this.#attempt = attempt;
    this.#proof = new DeathProof(world.chain, attempt, first);
  }

  /** When and at which height the proof was complete for the first time. */
  get first(): FirstProof | undefined {
    return this.#proof.first;
  }

  /**
   * Returns the finalized height where the attempt's life is over as far as height and blockhash go; else why it is
   * not.
   */
  lifeOver(elapsedMs: Millis): Promise<bigint | string> {
    return this.#proof.lifeOver(elapsedMs);
  }

  /**
   * Returns what it comes to where the history, asked after `lifeOver` gave the height, knows nothing of the attempt.
   */
  async notFound(height: bigint, elapsedMs: Millis, transactionId: string | undefined): Promise<Death> {
    const { chain, journal, signer, ledger } = this.#world;
    // A third witness beside statuses and balances: one that lies must not have two of them in its hand.
    const signatures = transactionId === undefined ? undefined : await chain.signaturesOf(transactionId);
    if (signatures !== undefined) {
      this.alive();
      return { kind: 'open', because: `the node has no status of ${transactionId}, but gives the transaction` };
    }
    const doubt = await doubtOfBalance({ chain, journal, owner: signer.address, ledger }, this.#intent, this.#attempt);
    if (doubt !== undefined) {
      this.alive();
      return doubt;
    }
    const because = this.#proof.missing(height, elapsedMs);
    return because === undefined ? { kind: 'proven' } : { kind: 'open', because };
  }

  /** Something spoke for its life: whatever was proven before counts no more. */
  alive(): void {
    this.#proof.alive();
  }
}
