import type { GannetError } from '../core/errors.ts';
import { isGannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { Millis } from '../core/time.ts';
import type { Attempt } from '../trading/attempt.ts';
import type { Intent } from '../trading/intent.ts';
import { DeathWatch } from './death.ts';
import type { LiveWorld, Progress } from './journey.ts';
import { landedProgress } from './landed-progress.ts';
import { SteadyTime } from './steady-time.ts';
import { Complaints } from './unproven.ts';

const POLL_MS = 400;
/** After longer than any transaction lives there is no hurry; nodes count requests. */
const SLOW_POLL_MS = 4_000;
/** The same bytes again: validators drop duplicates, so it can only help. */
const RESEND_MS = 2_000;
/** Its blockhash has most likely expired by then: sending can hardly help any more. */
const SLOW_RESEND_MS = 30_000;
/** How long nobody need answer before the outcome is called unknown. */
const SILENCE_MS = 10_000;
/** A life of 150 blocks, finality and some more: who knows nothing by then is not only slow. */
const UNPROVEN_MS = 180_000;

/** How an attempt is followed. */
export interface Following {
  /** Tells what is known on the way, `unknown` included; terminal states are returned. */
  readonly tell: (progress: Progress) => void;
  /** Whether an end would be followed by something that only a finalized one permits. */
  readonly needsFinality: (end: Progress) => boolean;
  /** Whether somebody else has closed the intent meanwhile. */
  readonly isOver: () => boolean;
}

/**
 * Sends an attempt's bytes and follows them until it is known what became of them: landed, landed with an error, or
 * proven never to land (see `DeathWatch`). Until then the only thing ever sent is the same bytes. Returns the end, or
 * undefined where somebody else closed the intent. Time is what was watched: a clock that jumps decides nothing here.
 */
export async function landAttempt(world: LiveWorld, intent: Intent, attempt: Attempt, following: Following): Promise<Progress | undefined> {
  const watch = new Watch(world, intent, attempt, following);
  for (;;) {
    await watch.sendIfDue();
    if (following.isOver()) return undefined;
    const end = await watch.look();
    if (following.isOver()) return undefined;
    if (end !== undefined) return end;
    await watch.pause();
  }
}

interface Sent {
  readonly signature?: string | undefined;
  readonly code?: string | undefined;
  readonly reason?: string | undefined;
}

/** What the other side answers is a hint for people; only the chain decides. */
async function send({ service, chain }: LiveWorld, attempt: Attempt): Promise<Sent> {
  if (attempt.route === 'build' || attempt.requestId === undefined) {
    const answer = await chain.send(attempt.signedTransaction);
    return answer.kind === 'accepted' ? {} : { code: answer.code, reason: answer.message };
  }
  const answer = await service.execute({
    signedTransaction: attempt.signedTransaction,
    requestId: attempt.requestId,
    lastValidBlockHeight: attempt.lastValidBlockHeight,
  });
  if (answer.status === 'success') return { signature: answer.signature };
  return { signature: answer.signature, code: String(answer.code), reason: answer.error === undefined ? undefined : printable(answer.error, 300) };
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
  #transactionId: string | undefined;
  #submitted = false;
  #seenOnChain = false;
  #nextSend: Millis = 0;
  #lastHeard: Millis = 0;

  constructor(world: LiveWorld, intent: Intent, attempt: Attempt, following: Following) {
    this.#world = world;
    this.#intent = intent;
    this.#attempt = attempt;
    this.#following = following;
    this.#time = new SteadyTime(world.clock);
    this.#death = new DeathWatch(world, intent, attempt);
    this.#transactionId = attempt.transactionId;
  }

  async sendIfDue(): Promise<void> {
    const elapsedMs = this.#time.elapsed();
    if (this.#seenOnChain || elapsedMs < this.#nextSend) return;
    this.#nextSend = elapsedMs + (elapsedMs < UNPROVEN_MS ? RESEND_MS : SLOW_RESEND_MS);
    try {
      const sent = await send(this.#world, this.#attempt);
      if (this.#submitted || this.#following.isOver()) return;
      this.#following.tell({ state: 'submitted', signature: this.#transactionId ?? sent.signature, code: sent.code, reason: sent.reason });
      this.#submitted = true;
    } catch (error) {
      this.#noAnswer(asFault(error));
    }
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
    await this.#time.pause(this.#time.elapsed() < UNPROVEN_MS ? POLL_MS : SLOW_POLL_MS);
  }

  async #ask(): Promise<Progress | { readonly because: string; readonly disagrees?: true }> {
    const { chain, signer } = this.#world;
    const life = await this.#death.lifeOver(this.#time.elapsed());
    const isOver = typeof life === 'bigint';
    // Where someone else pays, the chain is asked, not the service, and every time: only what carries our signature is
    // ours, and the other one's may change. All that is asked after the height was seen to be past, so that "nothing
    // found" means something.
    const id = this.#attempt.transactionId ?? await chain.findBySigner({ owner: signer.address, ownSignature: this.#attempt.signature });
    this.#transactionId = id;
    const status = id === undefined ? undefined : await chain.signatureStatus(id, { searchHistory: isOver });
    this.#seenOnChain = status !== undefined && status.confirmation !== 'processed';
    if (id !== undefined && status !== undefined) {
      this.#death.alive();
      if (status.confirmation === 'processed') return { because: `${id} was processed and waits to be confirmed` };
      return this.#landed(id, status.confirmation === 'finalized');
    }
    if (!isOver) {
      this.#death.alive();
      return { because: life };
    }
    const death = await this.#death.notFound(life, this.#time.elapsed());
    if (death.kind === 'disagrees') return { because: death.reason, disagrees: true };
    if (death.kind === 'open') return death;
    const { lastValidBlockHeight, router } = this.#attempt;
    return { state: 'expired', router, code: 'EXPIRED', reason: `not landed by block height ${lastValidBlockHeight}; it never can now` };
  }

  async #landed(signature: string, isFinalized: boolean): Promise<Progress | { readonly because: string }> {
    const { inputMint, outputMint } = this.#intent;
    const landed = await this.#world.chain.landedSwap({ signature, owner: this.#world.signer.address, inputMint, outputMint });
    if (landed === undefined) return { because: `${signature} has landed, but the node does not give it` };
    const end = landedProgress(this.#intent, this.#attempt, landed);
    // A block that is only confirmed could yet be replaced by one in which the same bytes succeed.
    return isFinalized || !this.#following.needsFinality(end) ? end : { because: `${signature} failed and waits to be finalized` };
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
    if (this.#following.isOver()) return;
    this.#following.tell({ state: 'unknown', signature: this.#transactionId, code, reason: reason.slice(0, 400) });
    this.#submitted = true;
  }
}

function asFault(error: unknown): GannetError {
  if (!isGannetError(error)) throw error;
  return error;
}
