import type { GannetError } from '../core/errors.ts';
import { isGannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';
import { DeathProof, type Lifetime } from './death-proof.ts';
import type { Chain } from './ports.ts';
import { SteadyTime } from './steady-time.ts';

const POLL_MS: Millis = 400;
/** The same bytes again: validators drop duplicates, so it can only help. */
const RESEND_MS: Millis = 2_000;

/** Signed bytes that are no swap: what they do is seen by whether they landed. */
export interface PlainTransaction extends Lifetime {
  /** Signed. */
  readonly transaction: Uint8Array;
  /** The fee payer's, base58. */
  readonly signature: string;
}

/** What became of them. */
export type TransactionEnd =
  | { readonly kind: 'landed' }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  | { readonly kind: 'expired'; readonly message: string };

/**
 * Sends signed bytes of a transaction that is no swap, again and again the same ones, until it is known what became of
 * them: confirmed, finalized with an error, or proven never to land. Returns undefined once `isOver` says that nobody
 * waits any more: they may land all the same. A node that does not answer is no outcome: `onTrouble` hears of it, and
 * it is asked on.
 */
export async function landTransaction(
  { chain, clock }: {
    readonly chain: Pick<Chain, 'send' | 'signatureStatus' | 'finalizedBlockHeight' | 'isBlockhashValid'>;
    readonly clock: Clock;
  },
  sent: PlainTransaction,
  { isOver, onTrouble }: { readonly isOver: () => boolean; readonly onTrouble: (fault: GannetError) => void },
): Promise<TransactionEnd | undefined> {
  const time = new SteadyTime(clock);
  const proof = new DeathProof(chain, sent);
  let nextSendMs: Millis = 0;
  let isSeen = false;
  let said = '';

  async function sendIfDue(): Promise<void> {
    const elapsedMs = time.elapsed();
    if (isSeen || elapsedMs < nextSendMs) return;
    nextSendMs = elapsedMs + RESEND_MS;
    const answer = await chain.send(sent.transaction);
    // A hint for people: only the chain decides.
    if (answer.kind === 'rejected') said = `; the node said ${answer.code}, ${answer.message}`;
  }

  async function look(): Promise<TransactionEnd | undefined> {
    const elapsedMs = time.elapsed();
    const life = await proof.lifeOver(elapsedMs);
    // Asked after the height was seen to be past, so that "nothing found" means something.
    const status = await chain.signatureStatus(sent.signature, { searchHistory: typeof life === 'bigint' });
    isSeen = status !== undefined && status.confirmation !== 'processed';
    if (status !== undefined) {
      proof.alive();
      if (status.error === undefined) return isSeen ? { kind: 'landed' } : undefined;
      // A block that is only confirmed could yet be replaced by one in which the same bytes succeed.
      return status.confirmation === 'finalized' ? { kind: 'failed', ...status.error } : undefined;
    }
    if (typeof life === 'string') {
      proof.alive();
      return undefined;
    }
    if (proof.missing(life, elapsedMs) !== undefined) return undefined;
    return {
      kind: 'expired', message: `not landed by block height ${sent.lastValidBlockHeight}; it never can now${said}`,
    };
  }

  for (;;) {
    for (const step of [sendIfDue, look]) {
      if (isOver()) return undefined;
      try {
        const end = await step();
        if (end !== undefined) return end;
      } catch (error) {
        if (!isGannetError(error)) throw error;
        if (isOver()) return undefined;
        onTrouble(error);
      }
    }
    await time.pause(POLL_MS);
  }
}
