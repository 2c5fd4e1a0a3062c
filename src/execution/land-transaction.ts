import type { GannetError } from '../core/errors.ts';
import { isGannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';
import { ExpiryProof, type Validity } from './expiry-proof.ts';
import type { Chain } from './ports.ts';
import { LandingHints } from './landing-hints.ts';
import { MonotonicTime } from './monotonic-time.ts';

const POLL_MS: Millis = 400;
/** The same bytes are sent again: validators drop duplicates, so this can only help. */
const RESEND_MS: Millis = 2_000;

/** Signed bytes that are no swap. */
interface PlainTransaction extends Validity {
  /** Signed. */
  readonly transaction: Uint8Array;
  /** The fee payer's, base58. */
  readonly signature: string;
}

/** The outcome of a transaction. */
export type TransactionEnd =
  | { readonly kind: 'landed' }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  | { readonly kind: 'expired'; readonly message: string };

/**
 * Sends the signed bytes of a transaction that is no swap, repeatedly, until its outcome is known: confirmed, finalized
 * with an error, or proven never to land. Returns undefined once `isCancelled` returns true; the transaction may still
 * land. A fault of the node is no outcome: it goes to `onFault`, and the calls go on.
 */
export async function landTransaction(
  { chain, clock }: {
    readonly chain: Pick<
      Chain, 'send' | 'signatureStatus' | 'finalizedBlockHeight' | 'isBlockhashValid' | 'transactionHints$'
    >;
    readonly clock: Clock;
  },
  sent: PlainTransaction,
  { isCancelled, onFault }: { readonly isCancelled: () => boolean; readonly onFault: (fault: GannetError) => void },
): Promise<TransactionEnd | undefined> {
  const time = new MonotonicTime(clock);
  const proof = new ExpiryProof(chain, sent);
  const hints = new LandingHints(chain, { transactionId: sent.signature });
  let nextSendMs: Millis = 0;
  let isSeen = false;
  let hint = '';

  async function sendIfDue(): Promise<void> {
    const elapsedMs = time.elapsed();
    if (isSeen || elapsedMs < nextSendMs) return;
    nextSendMs = elapsedMs + RESEND_MS;
    const answer = await chain.send(sent.transaction);
    // A hint for people; only the chain decides.
    if (answer.kind === 'rejected') hint = `; the node answered ${answer.code}, ${answer.message}`;
  }

  async function check(): Promise<TransactionEnd | undefined> {
    hints.polls();
    const elapsedMs = time.elapsed();
    const expired = await proof.expiredAt(elapsedMs);
    // The search comes after the check of the height, so that "nothing found" is a proof.
    const status = await chain.signatureStatus(sent.signature, { searchHistory: typeof expired === 'bigint' });
    isSeen = status !== undefined && status.confirmation !== 'processed';
    if (status !== undefined) {
      proof.reset();
      if (status.error === undefined) return isSeen ? { kind: 'landed' } : undefined;
      // A confirmed block could still be replaced by one in which the same bytes succeed.
      return status.confirmation === 'finalized' ? { kind: 'failed', ...status.error } : undefined;
    }
    if (typeof expired === 'string') {
      proof.reset();
      return undefined;
    }
    if (proof.missing(expired, elapsedMs) !== undefined) return undefined;
    return {
      kind: 'expired', message: `not landed by block height ${sent.lastValidBlockHeight}; it can no longer land${hint}`,
    };
  }

  try {
    for (;;) {
      for (const step of [sendIfDue, check]) {
        if (isCancelled()) return undefined;
        try {
          const end = await step();
          if (end !== undefined) return end;
        } catch (error) {
          if (!isGannetError(error)) throw error;
          if (isCancelled()) return undefined;
          onFault(error);
        }
      }
      await hints.pause(time, POLL_MS);
    }
  } finally {
    hints.close();
  }
}
