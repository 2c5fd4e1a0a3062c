import { isGannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { Attempt, LandedSwap } from '../trading/attempt.ts';
import type { Intent } from '../trading/intent.ts';
import type { LiveWorld, Progress } from './journey.ts';
import type { SignatureStatus } from './ports.ts';
import { wait } from './wait.ts';

const POLL_MS = 400;
/** The same bytes again: validators drop duplicates, so it can only help. */
const RESEND_MS = 2_000;
/**
 * No proof of death is believed sooner: a blockhash that is too young for finalized looks as invalid there as one that
 * is too old, and then a single wrong height would do. 150 blocks take at least this long.
 */
const LIFE_MIN_MS = 45_000;
/** How long nobody need answer before the outcome is called unknown. */
const SILENCE_MS = 10_000;

/**
 * Sends an attempt's bytes and follows them until it is known what became of them: landed, landed with an error, or
 * proven never to land. Until then the only thing ever sent is the same bytes. Returns after a terminal state.
 *
 * Proof that it can never land, all from one node: the finalized block height is past the attempt's own last valid one,
 * its blockhash is no longer valid at finalized, and a look-up through the whole history finds nothing.
 */
export async function landAttempt(world: LiveWorld, intent: Intent, attempt: Attempt, tell: (progress: Progress) => void): Promise<void> {
  const watch = new Watch(world.clock);
  let { transactionId } = attempt;
  let submitted = false;
  for (;;) {
    try {
      if (watch.dueForSending()) {
        const sent = await send(world, attempt);
        if (!submitted) tell({ state: 'submitted', signature: transactionId ?? sent.signature, code: sent.code, reason: sent.reason });
        submitted = true;
      }
      // Where someone else pays, the chain is asked, not the service: only what carries our signature is ours.
      transactionId ??= await world.chain.findBySigner({ owner: world.signer.address, ownSignature: attempt.signature });
      if (await settle(world, intent, attempt, { transactionId, tell, watchedMs: watch.elapsed() })) return;
      watch.heard();
    } catch (error) {
      if (!isGannetError(error)) throw error;
      // No answer is no outcome: the bytes may be on their way.
      if (!submitted || watch.silentTooLong()) {
        tell({ state: 'unknown', signature: transactionId, code: error.code, reason: error.message.slice(0, 300) });
        submitted = true;
        watch.heard();
      }
    }
    await wait(world.clock, POLL_MS);
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

/** Tells the terminal state and returns true once there is one. */
async function settle(
  world: LiveWorld, intent: Intent, attempt: Attempt,
  { transactionId, tell, watchedMs }: { readonly transactionId: string | undefined; readonly tell: (progress: Progress) => void; readonly watchedMs: Millis },
): Promise<boolean> {
  const { chain, signer } = world;
  const expired = watchedMs >= LIFE_MIN_MS && await isPastItsLife(world, attempt);
  // Asked after the height was seen to be past, so that "nothing found" means something.
  const id = transactionId ?? (expired ? await chain.findBySigner({ owner: signer.address, ownSignature: attempt.signature }) : undefined);
  const status = id === undefined ? undefined : await chain.signatureStatus(id, { searchHistory: expired });
  if (id !== undefined && status !== undefined) return tellLanded(world, intent, attempt, id, status, tell);
  if (!expired) return false;
  tell({ state: 'expired', code: 'EXPIRED', reason: `not landed by block height ${attempt.lastValidBlockHeight}; it never can now` });
  return true;
}

async function isPastItsLife({ chain }: LiveWorld, attempt: Attempt): Promise<boolean> {
  if (await chain.finalizedBlockHeight() <= attempt.lastValidBlockHeight) return false;
  return !(await chain.isBlockhashValid(attempt.blockhash));
}

async function tellLanded(
  world: LiveWorld, intent: Intent, attempt: Attempt, id: string, status: SignatureStatus, tell: (progress: Progress) => void,
): Promise<boolean> {
  if (status.confirmation === 'processed') return false;
  const landed = await world.chain.landedSwap({
    signature: id, owner: world.signer.address, inputMint: intent.inputMint, outputMint: intent.outputMint,
  });
  if (landed === undefined) return false;
  tell(landed.error === undefined ? confirmed(intent, attempt, landed) : failed(attempt, landed));
  return true;
}

function confirmed(intent: Intent, attempt: Attempt, landed: LandedSwap): Progress {
  const { amountIn, amountOut, feeLamports, rentLamports } = landed;
  return {
    state: 'confirmed',
    router: attempt.router,
    quotedOut: attempt.quotedOut,
    signature: landed.signature,
    fill: { inputMint: intent.inputMint, outputMint: intent.outputMint, amountIn, amountOut, feeLamports, rentLamports },
  };
}

function failed(attempt: Attempt, { signature, error, feeLamports }: LandedSwap): Progress {
  return { state: 'failed', router: attempt.router, signature, code: error?.code, reason: error?.message, feeLamports };
}

/** Keeps the two rhythms of a watch: when to send again, and when silence has lasted too long. */
class Watch {
  readonly #clock: Clock;
  readonly #startedAt: Millis;
  #nextSend: Millis;
  #lastHeard: Millis;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAt = clock.now();
    this.#nextSend = clock.now();
    this.#lastHeard = clock.now();
  }

  elapsed(): Millis {
    return this.#clock.now() - this.#startedAt;
  }

  dueForSending(): boolean {
    if (this.#clock.now() < this.#nextSend) return false;
    this.#nextSend = this.#clock.now() + RESEND_MS;
    return true;
  }

  heard(): void {
    this.#lastHeard = this.#clock.now();
  }

  silentTooLong(): boolean {
    return this.#clock.now() - this.#lastHeard > SILENCE_MS;
  }
}
