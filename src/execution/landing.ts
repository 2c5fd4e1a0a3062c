import type { GannetError } from '../core/errors.ts';
import { isGannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { Millis } from '../core/time.ts';
import { idCheck } from '../solana/signatures.ts';
import { isUnreadable, type Attempt, type FirstProof } from '../trading/attempt.ts';
import type { Intent } from '../trading/intent.ts';
import { ExpiryWatch } from './expiry-proof.ts';
import { balanceObjection } from './input-balance.ts';
import type { ExecutorPorts, Progress, SignatureStatus } from './ports.ts';
import { landedProgress, readLanded } from './landed-fill.ts';
import { LandingHints } from './landing-hints.ts';
import { MonotonicTime } from './monotonic-time.ts';
import { HistoryCheck } from './wallet-history.ts';

const POLL_MS = 400;
/** Once every transaction has expired there is no hurry, and nodes count requests. */
const SLOW_POLL_MS = 4_000;
/** The same bytes are sent again: validators drop duplicates, so this can only help. */
const RESEND_MS = 2_000;
/** The blockhash has most likely expired by then, so sending hardly helps. */
const SLOW_RESEND_MS = 30_000;
/** The receiver of the bytes may need far longer to answer; the chain is checked meanwhile. */
const ANSWER_MS = 400;
/** The interval at which the progress of the proof is journalled. */
const KEEP_MS = 5_000;
/** After this long without an answer the outcome is reported as unknown. */
const SILENCE_MS = 10_000;
/** Longer than 150 blocks and finality: a missing proof by then is worth an alert. */
const UNPROVEN_MS = 180_000;

/** The connection of an attempt to its intent. */
interface Following {
  /** Takes intermediate states, `unknown` included; terminal states are returned. */
  readonly report: (progress: Progress) => void;
  /** Aborted where the intent was closed by others, or has no subscriber any more. */
  readonly signal: AbortSignal;
}

const FIRST_GAP_MS = 10_000;
const LAST_GAP_MS = 3_600_000;

/**
 * Sends an attempt's bytes and follows them until their outcome is known: landed, failed on the chain, or proven never
 * to land (see `ExpiryWatch`). Until then it sends only the same bytes, one call at a time. Returns the outcome, or
 * undefined after an abort; nothing runs on then. Time is monotonic: a clock jump decides nothing.
 */
export async function landAttempt(
  ports: ExecutorPorts, intent: Intent, attempt: Attempt, following: Following,
): Promise<Progress | undefined> {
  const follower = new AttemptFollower(ports, intent, attempt, following);
  try {
    for (;;) {
      await follower.sendIfDue();
      follower.sendDirectlyIfDue();
      if (follower.isEnded()) return undefined;
      const end = await follower.check();
      if (follower.isEnded()) return undefined;
      if (end !== undefined) return end;
      await follower.pause();
    }
  } finally {
    follower.close();
  }
}

interface Sent {
  readonly signature?: string | undefined;
  readonly code?: string | undefined;
  readonly reason?: string | undefined;
  readonly gatewayRequestId?: string | undefined;
}

/** The answer to a sending is a hint for people; only the chain decides. */
async function send({ service, chain }: ExecutorPorts, attempt: Attempt, signal: AbortSignal): Promise<Sent> {
  if (attempt.route === 'build' || attempt.requestId === undefined) {
    const answer = await chain.send(attempt.signedTransaction, { signal });
    return answer.kind === 'accepted' ? {} : { code: answer.code, reason: answer.message };
  }
  const answer = await service.execute({
    signedTransaction: attempt.signedTransaction,
    requestId: attempt.requestId,
    lastValidBlockHeight: attempt.lastValidBlockHeight,
  }, { signal });
  const { signature, gatewayRequestId } = answer;
  if (answer.status === 'success') return { signature, gatewayRequestId };
  return { signature, gatewayRequestId, code: String(answer.code), reason: answer.error === undefined ? undefined
    : printable(answer.error, 300) };
}

/** Whether all signatures are there: then any node can send the bytes to the chain. */
function isWhole({ chain }: ExecutorPorts, { transactionId, signedTransaction }: Attempt): boolean {
  return transactionId !== undefined && chain.readTransaction(signedTransaction).isWhole;
}

/** Follows one signed attempt until its outcome is known. */
class AttemptFollower {
  readonly #ports: ExecutorPorts;
  readonly #intent: Intent;
  readonly #attempt: Attempt;
  readonly #following: Following;
  readonly #time: MonotonicTime;
  readonly #hints: LandingHints;
  readonly #history: HistoryCheck;
  readonly #expiry: ExpiryWatch;
  readonly #alerts = new AlertThrottle();
  readonly #closing = new AbortController();
  /** Aborted when this attempt is no longer followed. */
  readonly #signal: AbortSignal;
  #isSending = false;
  /** Whether the receiver of the bytes has answered. */
  #isAnswered = false;
  #nextDirectSend: Millis = SILENCE_MS;
  #isSendingDirectly = false;
  #bug: { readonly error: unknown } | undefined;
  #transactionId: string | undefined;
  /** The transaction's id from the service. */
  #statedId: string | undefined;
  #gatewayRequestId: string | undefined;
  #submitted = false;
  #seenOnChain = false;
  /** Since when nodes contradict each other. */
  #contradictedSince: Millis | undefined;
  #nextSend: Millis;
  #lastAnswer: Millis;
  #lastKept: Millis;
  /** The first proof in the journal. */
  #keptFirst: FirstProof | undefined;

  constructor(ports: ExecutorPorts, intent: Intent, attempt: Attempt, following: Following) {
    this.#ports = ports;
    this.#intent = intent;
    this.#attempt = attempt;
    this.#following = following;
    const { watchedMs = 0, first } = ports.journal.proofOf(attempt) ?? {};
    this.#time = new MonotonicTime(ports.clock, watchedMs);
    this.#history =
      new HistoryCheck({ chain: ports.chain, owner: ports.signer.address, elapsed: () => this.#time.elapsed() });
    this.#expiry = new ExpiryWatch({ ports, intent, attempt, history: this.#history, first });
    this.#nextSend = watchedMs;
    this.#lastAnswer = watchedMs;
    this.#lastKept = watchedMs;
    this.#keptFirst = first;
    this.#transactionId = attempt.transactionId;
    this.#signal = AbortSignal.any([following.signal, this.#closing.signal]);
    this.#hints = new LandingHints(ports.chain, { transactionId: attempt.transactionId, owner: ports.signer.address });
  }

  /** Sends when it is due, and waits shortly for the answer; a later answer is processed too. */
  async sendIfDue(): Promise<void> {
    const elapsedMs = this.#time.elapsed();
    if (this.#isSending || this.#seenOnChain || elapsedMs < this.#nextSend) return;
    this.#nextSend = elapsedMs + (elapsedMs < UNPROVEN_MS ? RESEND_MS : SLOW_RESEND_MS);
    this.#isSending = true;
    const answered = new AbortController();
    void this.#send().catch((error: unknown) => { this.#bug = { error }; }).finally(() => {
      this.#isSending = false;
      answered.abort();
    });
    await this.#time.pause(ANSWER_MS, AbortSignal.any([this.#signal, answered.signal]));
  }

  /**
   * Sends an order's bytes to the chain as well, after the service has not answered for a while: the same bytes, and
   * only with all signatures. The node's answer is no proof; `check` reports an unreachable node.
   */
  sendDirectlyIfDue(): void {
    const elapsedMs = this.#time.elapsed();
    if (this.#attempt.route !== 'order' || this.#isAnswered || this.#seenOnChain || this.#isSendingDirectly
        || elapsedMs < this.#nextDirectSend) return;
    if (!isWhole(this.#ports, this.#attempt)) {
      this.#nextDirectSend = Infinity;
      return;
    }
    this.#nextDirectSend = elapsedMs + (elapsedMs < UNPROVEN_MS ? RESEND_MS : SLOW_RESEND_MS);
    this.#isSendingDirectly = true;
    void this.#ports.chain.send(this.#attempt.signedTransaction, { signal: this.#signal })
      .catch((error: unknown) => { if (!isGannetError(error)) this.#bug = { error }; })
      .finally(() => { this.#isSendingDirectly = false; });
  }

  /** Returns whether the attempt is no longer followed. Throws a defect that a sending met meanwhile. */
  isEnded(): boolean {
    if (this.#bug !== undefined) throw this.#bug.error;
    return this.#signal.aborted;
  }

  /** Aborts all calls under way. */
  close(): void {
    this.#closing.abort();
    this.#hints.close();
  }

  async #send(): Promise<void> {
    try {
      const sent = await send(this.#ports, this.#attempt, this.#signal);
      this.#isAnswered = true;
      if (!this.#signal.aborted) this.#reportSubmitted(sent);
    } catch (error) {
      if (!this.#signal.aborted) this.#noAnswer(asFault(error));
    }
  }

  #reportSubmitted({ signature, code, reason, gatewayRequestId }: Sent): void {
    this.#statedId ??= signature;
    this.#gatewayRequestId = gatewayRequestId ?? this.#gatewayRequestId;
    if (this.#submitted) return;
    this.#following.report({
      state: 'submitted', signature: this.#transactionId ?? signature, code, reason,
      gatewayRequestId: this.#gatewayRequestId,
    });
    this.#submitted = true;
  }

  /** Returns the outcome once it is known. */
  async check(): Promise<Progress | undefined> {
    this.#hints.polls();
    try {
      const found = await this.#checkOnce();
      this.#lastAnswer = this.#time.elapsed();
      this.#contradictedSince = undefined;
      if ('state' in found) return { ...found, gatewayRequestId: this.#gatewayRequestId };
      this.#explain(found);
    } catch (error) {
      if (isGannetError(error) && error.code === 'CHAIN_UNAGREED') {
        this.#unagreed(error);
        return undefined;
      }
      this.#noAnswer(asFault(error));
      this.#explain({ because: `no node could be asked: ${asFault(error).message}` });
    }
    return undefined;
  }

  /** Nodes see a transaction at different times: only a contradiction that lasts is worth an alert. */
  #unagreed({ message, details: { contradiction } }: GannetError): void {
    const elapsedMs = this.#time.elapsed();
    this.#lastAnswer = elapsedMs;
    if (contradiction !== true) {
      this.#explain({ because: message });
      return;
    }
    this.#discardProof();
    this.#contradictedSince ??= elapsedMs;
    const isLasting = elapsedMs - this.#contradictedSince >= SILENCE_MS;
    this.#explain({ because: message, ...(isLasting ? { disagrees: true } : {}) });
  }

  async pause(): Promise<void> {
    this.#keepProof();
    const usualMs = this.#time.elapsed() < UNPROVEN_MS ? POLL_MS : SLOW_POLL_MS;
    await this.#hints.pause(this.#time, usualMs, this.#signal);
  }

  /**
   * Journals the progress, so that restarts do not prevent a complete proof. A discarded first proof is overwritten at
   * once: after a crash the next process must not continue it.
   */
  #keepProof(): void {
    const watchedMs = this.#time.elapsed();
    const { first } = this.#expiry;
    const isRefuted = this.#keptFirst !== undefined && this.#keptFirst !== first;
    if ((!isRefuted && watchedMs - this.#lastKept < KEEP_MS) || this.#signal.aborted) return;
    this.#ports.journal.keepProof(this.#attempt, { watchedMs, first });
    this.#lastKept = watchedMs;
    this.#keptFirst = first;
  }

  #discardProof(): void {
    this.#expiry.reset();
    this.#keepProof();
  }

  async #checkOnce(): Promise<Progress | { readonly because: string; readonly disagrees?: true }> {
    const { chain } = this.#ports;
    const expired = await this.#expiry.expiredAt(this.#time.elapsed());
    const isExpired = typeof expired === 'bigint';
    // With another fee payer the chain identifies the transaction each time, not the service: only the wallet's
    // signature is reliable, the payer's may change. The search comes after the check of the height, so that "nothing
    // found" is a proof.
    const id = this.#attempt.transactionId ?? await this.#searched(isExpired);
    this.#transactionId = id;
    const status = id === undefined ? undefined : await chain.signatureStatus(id, {
      searchHistory: isExpired || this.#expiry.isUnagreed,
    });
    this.#seenOnChain = status !== undefined && status.confirmation !== 'processed';
    if (id !== undefined && status !== undefined) {
      this.#discardProof();
      if (status.confirmation === 'processed') return { because: `${id} was processed and waits to be confirmed` };
      return this.#landed(id, status);
    }
    if (!isExpired) {
      this.#discardProof();
      return { because: expired };
    }
    const expiry = await this.#expiry.conclude(expired, this.#time.elapsed(), id);
    if (expiry.kind === 'disagrees') return { because: expiry.reason, disagrees: true };
    if (expiry.kind === 'open') return expiry;
    const { lastValidBlockHeight, router } = this.#attempt;
    return {
      state: 'expired', router, code: 'EXPIRED',
      reason: `not landed by block height ${lastValidBlockHeight}; it can no longer land`,
    };
  }

  /**
   * Returns the id of the transaction with the wallet's signature. The service's id counts where that transaction has
   * the signature, in case the history hides it.
   */
  async #searched(isExpired: boolean): Promise<string | undefined> {
    const { chain, signer } = this.#ports;
    const { signature: ownSignature, signedTransaction: transaction, inputSlots } = this.#attempt;
    const found = await chain.findBySigner({ owner: signer.address, transaction, sinceSlot: inputSlots?.from });
    if (found !== undefined || !isExpired || this.#statedId === undefined) return found;
    const named = await chain.signaturesOf(this.#statedId);
    const isIt = isUnreadable(named) ? idCheck(transaction)(this.#statedId) : named?.includes(ownSignature) === true;
    return isIt ? this.#statedId : undefined;
  }

  async #landed(
    signature: string, status: SignatureStatus,
  ): Promise<Progress | { readonly because: string; readonly disagrees?: true }> {
    const { chain, journal, signer, ledger } = this.#ports;
    const landed = await readLanded({ chain, owner: signer.address }, {
      intent: this.#intent, attempt: this.#attempt, signature, status,
    });
    if (landed === undefined) return { because: `${signature} has landed, but the node does not give it` };
    // A confirmed block could still be replaced by one in which the same bytes succeed.
    if (landed.error !== undefined && status.confirmation !== 'finalized')
      return { because: `${signature} failed and waits to be finalized` };
    if (landed.error !== undefined) {
      // One node's report of a failure must not lead to a second swap: the wallet's balance must agree.
      const { slot, feeLamports } = landed;
      const objection = await balanceObjection(
        { chain, journal, owner: signer.address, ledger, history: this.#history }, this.#intent, this.#attempt,
        { kind: 'failed', signature, slot, feeLamports },
      );
      if (objection?.kind === 'disagrees') return { because: objection.reason, disagrees: true };
      if (objection !== undefined) return objection;
    }
    // The transaction was submitted, even without an answer so far.
    if (!this.#signal.aborted) this.#reportSubmitted({ signature });
    return landedProgress(this.#intent, this.#attempt, landed);
  }

  /** A missing answer is no outcome: the bytes may still land. */
  #noAnswer(fault: GannetError): void {
    const elapsedMs = this.#time.elapsed();
    if (this.#submitted && elapsedMs - this.#lastAnswer <= SILENCE_MS) return;
    if (this.#submitted && !this.#alerts.isDue(fault.code, elapsedMs)) return;
    this.#unknown(fault.code, fault.message);
  }

  #explain({ because, disagrees }: { readonly because: string; readonly disagrees?: true }): void {
    const elapsedMs = this.#time.elapsed();
    const code = disagrees === true ? 'PROOF_DISAGREES' : 'OUTCOME_UNPROVEN';
    if (disagrees !== true && elapsedMs < UNPROVEN_MS) return;
    if (this.#alerts.isDue(code, elapsedMs)) this.#unknown(code, because);
  }

  #unknown(code: string, reason: string): void {
    if (this.#signal.aborted) return;
    this.#following.report({ state: 'unknown', signature: this.#transactionId, code, reason: reason.slice(0, 400) });
    this.#submitted = true;
  }
}

function asFault(error: unknown): GannetError {
  if (!isGannetError(error)) throw error;
  return error;
}

/** Limits repeated alerts: the first at once, then at gaps that double from ten seconds to an hour. */
class AlertThrottle {
  readonly #due = new Map<string, { readonly at: Millis; readonly gapMs: Millis }>();

  /** Returns whether to raise this alert now, and counts it as raised. */
  isDue(alert: string, elapsedMs: Millis): boolean {
    const known = this.#due.get(alert);
    if (known !== undefined && elapsedMs < known.at) return false;
    const gapMs = known === undefined ? FIRST_GAP_MS : Math.min(known.gapMs * 2, LAST_GAP_MS);
    this.#due.set(alert, { at: elapsedMs + gapMs, gapMs });
    return true;
  }
}
