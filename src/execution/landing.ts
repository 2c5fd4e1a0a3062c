import type { GannetError } from '../core/errors.ts';
import { isGannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { Millis } from '../core/time.ts';
import type { Attempt, FirstProof } from '../trading/attempt.ts';
import type { Intent } from '../trading/intent.ts';
import { DeathWatch } from './death.ts';
import { doubtOfBalance } from './input-balance.ts';
import type { LiveWorld, Progress } from './journey.ts';
import { landedProgress } from './landed-progress.ts';
import type { SignatureStatus } from './ports.ts';
import { readLanded } from './read-landed.ts';
import { SteadyTime } from './steady-time.ts';
import { Complaints } from './unproven.ts';

const POLL_MS = 400;
/** After longer than any transaction lives there is no hurry; nodes count requests. */
const SLOW_POLL_MS = 4_000;
/** The same bytes again: validators drop duplicates, so it can only help. */
const RESEND_MS = 2_000;
/** Its blockhash has most likely expired by then: sending can hardly help any more. */
const SLOW_RESEND_MS = 30_000;
/** Whoever is given the bytes may take far longer to answer; the chain is asked meanwhile. */
const ANSWER_MS = 400;
/** How often it is written down how far the proof has come. */
const KEEP_MS = 5_000;
/** How long nobody need answer before the outcome is called unknown. */
const SILENCE_MS = 10_000;
/** A life of 150 blocks, finality and some more: who knows nothing by then is not only slow. */
const UNPROVEN_MS = 180_000;

/** How an attempt is followed. */
export interface Following {
  /** Tells what is known on the way, `unknown` included; terminal states are returned. */
  readonly tell: (progress: Progress) => void;
  /** Aborted where somebody else has closed the intent, or nobody listens any more. */
  readonly over: AbortSignal;
}

/**
 * Sends an attempt's bytes and follows them until it is known what became of them: landed, landed with an error, or
 * proven never to land (see `DeathWatch`). Until then the only thing ever sent is the same bytes, one call at a time.
 * Returns the end, or undefined where it is over before; nothing of it runs on then. Time is what was watched: a clock
 * that jumps decides nothing here.
 */
export async function landAttempt(
  world: LiveWorld, intent: Intent, attempt: Attempt, following: Following,
): Promise<Progress | undefined> {
  const watch = new Watch(world, intent, attempt, following);
  try {
    for (;;) {
      await watch.sendIfDue();
      watch.sendDirectlyIfDue();
      if (watch.isOver()) return undefined;
      const end = await watch.look();
      if (watch.isOver()) return undefined;
      if (end !== undefined) return end;
      await watch.pause();
    }
  } finally {
    watch.close();
  }
}

interface Sent {
  readonly signature?: string | undefined;
  readonly code?: string | undefined;
  readonly reason?: string | undefined;
}

/** What the other side answers is a hint for people; only the chain decides. */
async function send({ service, chain }: LiveWorld, attempt: Attempt, signal: AbortSignal): Promise<Sent> {
  if (attempt.route === 'build' || attempt.requestId === undefined) {
    const answer = await chain.send(attempt.signedTransaction, { signal });
    return answer.kind === 'accepted' ? {} : { code: answer.code, reason: answer.message };
  }
  const answer = await service.execute({
    signedTransaction: attempt.signedTransaction,
    requestId: attempt.requestId,
    lastValidBlockHeight: attempt.lastValidBlockHeight,
  }, { signal });
  if (answer.status === 'success') return { signature: answer.signature };
  return { signature: answer.signature, code: String(answer.code), reason: answer.error === undefined ? undefined
    : printable(answer.error, 300) };
}

const SIGNATURE_BYTES = 64;

/** Whether nobody else need sign or pay: then any node can carry the bytes to the chain. */
function isWhole({ chain }: LiveWorld, { transactionId, signedTransaction }: Attempt): boolean {
  if (transactionId === undefined) return false;
  const { signers } = chain.readTransaction(signedTransaction);
  // A packet has far fewer signatures than their number takes a second byte for.
  return signers.every((_, index) => {
    const slot = signedTransaction.subarray(1 + index * SIGNATURE_BYTES, 1 + (index + 1) * SIGNATURE_BYTES);
    return slot.some((byte) => byte !== 0);
  });
}

/** One attempt on its way: what was sent and heard so far. */
class Watch {
  readonly #world: LiveWorld;
  readonly #intent: Intent;
  readonly #attempt: Attempt;
  readonly #following: Following;
  readonly #time: SteadyTime;
  readonly #death: DeathWatch;
  readonly #complaints = new Complaints();
  readonly #closing = new AbortController();
  /** Aborted once this attempt is followed no more, for whatever reason. */
  readonly #over: AbortSignal;
  #isSending = false;
  /** Whether whoever was given the bytes said anything about them. */
  #isAnswered = false;
  #nextDirectSend: Millis = SILENCE_MS;
  #isSendingDirectly = false;
  #bug: { readonly error: unknown } | undefined;
  #transactionId: string | undefined;
  /** What the service said the transaction is. */
  #saidId: string | undefined;
  #submitted = false;
  #seenOnChain = false;
  #nextSend: Millis;
  #lastHeard: Millis;
  #lastKept: Millis;
  /** As it is on disk. */
  #keptFirst: FirstProof | undefined;

  constructor(world: LiveWorld, intent: Intent, attempt: Attempt, following: Following) {
    this.#world = world;
    this.#intent = intent;
    this.#attempt = attempt;
    this.#following = following;
    const { watchedMs = 0, first } = world.journal.proofOf(attempt) ?? {};
    this.#time = new SteadyTime(world.clock, watchedMs);
    this.#death = new DeathWatch(world, intent, attempt, first);
    this.#nextSend = watchedMs;
    this.#lastHeard = watchedMs;
    this.#lastKept = watchedMs;
    this.#keptFirst = first;
    this.#transactionId = attempt.transactionId;
    this.#over = AbortSignal.any([following.over, this.#closing.signal]);
  }

  /** Sends where it is time to, and waits a little for the answer, which is heard whenever it comes. */
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
    await this.#time.pause(ANSWER_MS, AbortSignal.any([this.#over, answered.signal]));
  }

  /**
   * Sends an order's bytes to the chain too where the service has said nothing about them for a while: the same bytes,
   * and only where they are whole without it. What the node answers is no proof, and `look` tells whether it can be
   * asked at all.
   */
  sendDirectlyIfDue(): void {
    const elapsedMs = this.#time.elapsed();
    if (this.#attempt.route !== 'order' || this.#isAnswered || this.#seenOnChain || this.#isSendingDirectly
        || elapsedMs < this.#nextDirectSend) return;
    if (!isWhole(this.#world, this.#attempt)) {
      this.#nextDirectSend = Infinity;
      return;
    }
    this.#nextDirectSend = elapsedMs + (elapsedMs < UNPROVEN_MS ? RESEND_MS : SLOW_RESEND_MS);
    this.#isSendingDirectly = true;
    void this.#world.chain.send(this.#attempt.signedTransaction, { signal: this.#over })
      .catch((error: unknown) => { if (!isGannetError(error)) this.#bug = { error }; })
      .finally(() => { this.#isSendingDirectly = false; });
  }

  /** Returns whether it is to be followed no more. Throws what a sending found to be a bug meanwhile. */
  isOver(): boolean {
    if (this.#bug !== undefined) throw this.#bug.error;
    return this.#over.aborted;
  }

  /** Ends what is under way. */
  close(): void {
    this.#closing.abort();
  }

  async #send(): Promise<void> {
    try {
      const sent = await send(this.#world, this.#attempt, this.#over);
      this.#isAnswered = true;
      if (!this.#over.aborted) this.#tellSubmitted(sent);
    } catch (error) {
      if (!this.#over.aborted) this.#noAnswer(asFault(error));
    }
  }

  #tellSubmitted({ signature, code, reason }: Sent): void {
    this.#saidId ??= signature;
    if (this.#submitted) return;
    this.#following.tell({ state: 'submitted', signature: this.#transactionId ?? signature, code, reason });
    this.#submitted = true;
  }

  /** Returns the end where there is one by now. */
  async look(): Promise<Progress | undefined> {
    try {
      const found = await this.#ask();
      this.#lastHeard = this.#time.elapsed();
      if ('state' in found) return found;
      this.#explain(found);
    } catch (error) {
      this.#noAnswer(asFault(error));
      this.#explain({ because: `nobody could be asked: ${asFault(error).message}` });
    }
    return undefined;
  }

  async pause(): Promise<void> {
    this.#keepProof();
    await this.#time.pause(this.#time.elapsed() < UNPROVEN_MS ? POLL_MS : SLOW_POLL_MS, this.#over);
  }

  /**
   * A process that begins anew with each restart would never come to the end of a proof. A first proof that counts no
   * more is overwritten at once: after a kill the next process must not take it up again.
   */
  #keepProof(): void {
    const watchedMs = this.#time.elapsed();
    const { first } = this.#death;
    const isRefuted = this.#keptFirst !== undefined && this.#keptFirst !== first;
    if ((!isRefuted && watchedMs - this.#lastKept < KEEP_MS) || this.#over.aborted) return;
    this.#world.journal.keepProof(this.#attempt, { watchedMs, first });
    this.#lastKept = watchedMs;
    this.#keptFirst = first;
  }

  #alive(): void {
    this.#death.alive();
    this.#keepProof();
  }

  async #ask(): Promise<Progress | { readonly because: string; readonly disagrees?: true }> {
    const { chain, signer } = this.#world;
    const life = await this.#death.lifeOver(this.#time.elapsed());
    const isOver = typeof life === 'bigint';
    // Where someone else pays, the chain is asked, not the service, and every time: only what carries our signature is
    // ours, and the other one's may change. All that is asked after the height was seen to be past, so that "nothing
    // found" means something.
    const id = this.#attempt.transactionId
      ?? await chain.findBySigner({
        owner: signer.address, ownSignature: this.#attempt.signature, sinceSlot: this.#attempt.inputSlots?.from,
      })
      ?? (isOver ? await this.#namedByService() : undefined);
    this.#transactionId = id;
    const status = id === undefined ? undefined : await chain.signatureStatus(id, { searchHistory: isOver });
    this.#seenOnChain = status !== undefined && status.confirmation !== 'processed';
    if (id !== undefined && status !== undefined) {
      this.#alive();
      if (status.confirmation === 'processed') return { because: `${id} was processed and waits to be confirmed` };
      return this.#landed(id, status);
    }
    if (!isOver) {
      this.#alive();
      return { because: life };
    }
    const death = await this.#death.notFound(life, this.#time.elapsed(), id);
    if (death.kind === 'disagrees') return { because: death.reason, disagrees: true };
    if (death.kind === 'open') return death;
    const { lastValidBlockHeight, router } = this.#attempt;
    return {
      state: 'expired', router, code: 'EXPIRED',
      reason: `not landed by block height ${lastValidBlockHeight}; it never can now`,
    };
  }

  /**
   * Returns the id that the service gave where it is a transaction of ours: a history that hides it is then not the
   * only witness.
   */
  async #namedByService(): Promise<string | undefined> {
    if (this.#saidId === undefined) return undefined;
    const signatures = await this.#world.chain.signaturesOf(this.#saidId);
    return signatures?.includes(this.#attempt.signature) === true ? this.#saidId : undefined;
  }

  async #landed(
    signature: string, status: SignatureStatus,
  ): Promise<Progress | { readonly because: string; readonly disagrees?: true }> {
    const { chain, journal, signer, ledger } = this.#world;
    const landed = await readLanded({ chain, owner: signer.address }, {
      intent: this.#intent, attempt: this.#attempt, signature, status,
    });
    if (landed === undefined) return { because: `${signature} has landed, but the node does not give it` };
    // A block that is only confirmed could yet be replaced by one in which the same bytes succeed.
    if (landed.error !== undefined && status.confirmation !== 'finalized')
      return { because: `${signature} failed and waits to be finalized` };
    if (landed.error !== undefined) {
      // One node's word that it failed must not lead to a second swap: the wallet has to agree.
      const { slot, feeLamports } = landed;
      const doubt = await doubtOfBalance(
        { chain, journal, owner: signer.address, ledger }, this.#intent, this.#attempt,
        { kind: 'failed', signature, slot, feeLamports },
      );
      if (doubt?.kind === 'disagrees') return { because: doubt.reason, disagrees: true };
      if (doubt !== undefined) return doubt;
    }
    // It was, whether or not whoever was given the bytes has answered by now.
    if (!this.#over.aborted) this.#tellSubmitted({ signature });
    return landedProgress(this.#intent, this.#attempt, landed);
  }

  /** No answer is no outcome: the bytes may be on their way. */
  #noAnswer(fault: GannetError): void {
    const elapsedMs = this.#time.elapsed();
    if (this.#submitted && elapsedMs - this.#lastHeard <= SILENCE_MS) return;
    if (this.#submitted && !this.#complaints.isDue(fault.code, elapsedMs)) return;
    this.#unknown(fault.code, fault.message);
  }

  #explain({ because, disagrees }: { readonly because: string; readonly disagrees?: true }): void {
    const elapsedMs = this.#time.elapsed();
    const code = disagrees === true ? 'PROOF_DISAGREES' : 'OUTCOME_UNPROVEN';
    if (disagrees !== true && elapsedMs < UNPROVEN_MS) return;
    if (this.#complaints.isDue(code, elapsedMs)) this.#unknown(code, because);
  }

  #unknown(code: string, reason: string): void {
    if (this.#over.aborted) return;
    this.#following.tell({ state: 'unknown', signature: this.#transactionId, code, reason: reason.slice(0, 400) });
    this.#submitted = true;
  }
}

function asFault(error: unknown): GannetError {
  if (!isGannetError(error)) throw error;
  return error;
}
