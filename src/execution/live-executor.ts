import type { Subscriber } from 'rxjs';
import { EMPTY, Observable, merge } from 'rxjs';
import { GannetError } from '../core/errors.ts';
import type { Lamports } from '../core/amount.ts';
import type { Executor } from '../trading/executor.ts';
import type { Intent, IntentPurpose, Outcome } from '../trading/intent.ts';
import { isTerminal } from '../trading/intent.ts';
import type { JournalledIntent, ExecutorPorts, Progress, RetryDenial } from './ports.ts';
import { landAttempt } from './landing.ts';
import { signedProgress, withSpent } from './landed-fill.ts';
import type { Attempt } from '../trading/attempt.ts';
import type { StrategyState } from '../trading/strategy-state.ts';
import { prepareAttempt } from './prepare.ts';
import type { Resolution } from './operator-resolution.ts';
import { resolvedOutcomes } from './operator-resolution.ts';
import { unwritten, unwrittenProgress } from './journalled.ts';
import type { Millis } from '../core/time.ts';
import { isSlippageCode } from '../trading/swap-terms.ts';

/** An executor that lets the operator resolve an intent under way. */
export interface LiveExecutor extends Executor {
  /**
   * Closes an intent under way as the operator states; its outcomes are reported as always. Returns the terminal
   * outcome. Throws RESOLVE_REFUSED where it is not under way or the chain contradicts.
   */
  resolve(intentId: string, resolution: Resolution): Promise<Outcome>;
}

/** The attempts after the first: a missed exit costs more than a missed entry. */
const FURTHER_ATTEMPTS_MAX: Readonly<Record<IntentPurpose, number>> = { entry: 1, exit: 3 };
/** An older intent gets no further attempt: the basis of its decision is outdated. */
const INTENT_AGE_MAX_MS: Millis = 180_000;

/**
 * Returns the live executor: it quotes, checks, signs, journals, sends, and then checks until the outcome is known.
 * Every transition is on disk before it is reported; the signed bytes are on disk before the first one is sent.
 */
export function createLiveExecutor(ports: ExecutorPorts): LiveExecutor {
  const underWay = new Map<string, IntentRun>();
  const start = (entry: IntentStart, body: (run: IntentRun) => Promise<void>): Observable<Outcome> =>
    new Observable((subscriber) => {
      const run = new IntentRun(ports, entry, subscriber);
      underWay.set(entry.intent.id, run);
      // A defect becomes an error of the stream.
      body(run).finally(() => { underWay.delete(entry.intent.id); })
        .then(() => { subscriber.complete(); }, (error: unknown) => { subscriber.error(error); });
      return () => { run.detach(); };
    });
  return {
    execute: (intent, strategyState) =>
      start({ intent, attempt: 1, spentLamports: 0n as Lamports }, async (run) => {
        if (run.approve(strategyState)) await run.carryOut();
      }),
    reconcile: (open) => {
      const known = new Map(ports.journal.openIntents().map((entry) => [entry.intent.id, entry]));
      return merge(EMPTY, ...open.map(({ intent, state }) => {
        const entry = known.get(intent.id)
          ?? { intent, state, attempts: [], attempt: 1, spentLamports: 0n as Lamports };
        return start(entry, (run) => run.resume(entry));
      }));
    },
    async resolve(intentId, resolution) {
      const run = underWay.get(intentId);
      if (run === undefined) throw new GannetError(
        'RESOLVE_REFUSED', `${intentId}: no such intent is under way; \`gannet journal list\` shows what there is`,
      );
      return run.resolve(resolution);
    },
  };
}

/** The start of a run: the first attempt, or the point where an earlier process ended. */
type IntentStart = Pick<JournalledIntent, 'intent' | 'attempt' | 'spentLamports'>;

/** Runs one intent through its attempts. Each step is journalled, then reported. */
class IntentRun {
  readonly #ports: ExecutorPorts;
  readonly #intent: Intent;
  readonly #subscriber: Subscriber<Outcome>;
  #number: number;
  #spentLamports: Lamports;
  readonly #over = new AbortController();

  constructor(ports: ExecutorPorts, { intent, attempt, spentLamports }: IntentStart, subscriber: Subscriber<Outcome>) {
    this.#ports = ports;
    this.#intent = intent;
    this.#subscriber = subscriber;
    this.#number = attempt;
    this.#spentLamports = spentLamports;
  }

  /**
   * Journals the intent and returns whether that succeeded. On a failure the intent is abandoned, since nothing of it
   * exists yet.
   */
  approve(strategyState: StrategyState | undefined): boolean {
    try {
      this.#ports.journal.intentApproved(this.#intent, strategyState);
      return true;
    } catch (error) {
      this.#over.abort();
      this.#subscriber.next(unwritten(this.#intent, error));
      return false;
    }
  }

  /** Makes attempts until no further one may follow. */
  async carryOut(): Promise<void> {
    let before: Progress | undefined;
    for (;;) {
      this.#report({ ...before, state: 'building' });
      const end = await this.#attempt();
      if (end === undefined || this.#isEnded) return;
      const denial = isRepeatable(end) ? this.#denial() : undefined;
      if (!isRepeatable(end) || denial !== undefined) {
        this.#report(denial === undefined ? end
          : { ...end, reason: `${end.reason ?? end.state}; not tried again: ${denial.reason}` });
        return;
      }
      const { code, reason, signature, feeLamports, slot, state } = end;
      before = {
        state: 'building', ended: state === 'failed' ? 'failed' : 'expired', code, reason, signature, feeLamports, slot,
      };
      this.#number += 1;
      this.#spentLamports = (this.#spentLamports + (feeLamports ?? 0n)) as Lamports;
    }
  }

  /**
   * Continues an intent of an earlier process: signed bytes are sent again unchanged; an unsigned attempt cannot land.
   * A recovery signs nothing new.
   */
  async resume({ state, attempts }: JournalledIntent): Promise<void> {
    if (isTerminal(state)) return;
    const attempt = attempts.find(({ number }) => number === this.#number);
    if (attempt === undefined) {
      this.#report({
        state: 'abandoned', code: 'RESTARTED',
        reason: `the process ended before ${this.#number === 1 ? 'anything' : `attempt ${this.#number}`} was signed`,
      });
      return;
    }
    // The attempt was journalled as signed, but the process ended before it reported that.
    if (state === 'approved') this.#report({ state: 'building' });
    if (state === 'approved' || state === 'building') this.#report(signedProgress(attempt));
    const end = await this.#land(attempt);
    if (end !== undefined) this.#report(end);
  }

  /**
   * Ends without a subscriber: nothing more is signed, sent or written. An open intent stays open for the next process.
   */
  detach(): void {
    this.#over.abort();
  }

  get #isEnded(): boolean {
    return this.#over.signal.aborted;
  }

  /** Closes the intent as the operator states, unless it closes by itself meanwhile. */
  async resolve(resolution: Resolution): Promise<Outcome> {
    const { chain, signer, journal } = this.#ports;
    const find = (): JournalledIntent | undefined =>
      journal.openIntents().find(({ intent }) => intent.id === this.#intent.id);
    const refused = (why: string): GannetError => new GannetError('RESOLVE_REFUSED', `${this.#intent.id}: ${why}`);
    const entry = find();
    if (entry === undefined || this.#isEnded) throw refused('it is closed already');
    // While the disk is full, the journal may still hold an earlier attempt.
    if (entry.attempt !== this.#number) throw refused(`the journal knows of attempt ${entry.attempt} only, and it is `
      + `at attempt ${this.#number}; wait until there is room to write`);
    if (entry.state === 'approved' || entry.state === 'building')
      throw refused('it is being quoted and signed at this moment; wait for its outcome');
    const outcomes = await resolvedOutcomes({ chain, journal, owner: signer.address }, entry, resolution);
    const now = find();
    if (this.#isEnded || now === undefined || entry.attempt !== this.#number || now.state === 'building')
      throw refused('it went on by itself meanwhile');
    for (const outcome of outcomes) this.#publish(outcome);
    return outcomes.at(-1)!;
  }

  async #attempt(): Promise<Progress | undefined> {
    const prepared = await prepareAttempt(this.#ports, this.#intent, this.#number);
    if (prepared.kind === 'refused') {
      return {
        state: 'abandoned', router: prepared.router, code: prepared.code, reason: prepared.reason,
        ...(prepared.capRoom === undefined ? {} : { capRoom: prepared.capRoom }),
      };
    }
    if (this.#isEnded) return undefined;
    const { attempt } = prepared;
    try {
      this.#ports.journal.attemptSigned(attempt);
    } catch (error) {
      // Without its row nothing is sent, so the signed bytes cannot land.
      return unwrittenProgress(error);
    }
    this.#report(signedProgress(attempt));
    return this.#land(attempt);
  }

  #land(attempt: Attempt): Promise<Progress | undefined> {
    return landAttempt(this.#ports, this.#intent, attempt, {
      report: (progress) => { this.#report(progress); }, signal: this.#over.signal,
    });
  }

  #denial(): ReturnType<typeof furtherAttemptDenial> {
    return furtherAttemptDenial(this.#ports, this.#intent, this.#number);
  }

  /** Reports nothing after the end. */
  #report(progress: Progress): void {
    if (this.#isEnded) return;
    this.#publish({
      kind: 'outcome', intentId: this.#intent.id, attempt: this.#number, ...withSpent(progress, this.#spentLamports),
    });
  }

  #publish(outcome: Outcome): void {
    this.#ports.journal.transition(outcome);
    if (isTerminal(outcome.state)) this.#over.abort();
    this.#subscriber.next(outcome);
  }
}

/** Returns whether another attempt may follow: after an expiry, or after a failure for slippage. */
function isRepeatable({ state, code }: Progress): boolean {
  return state === 'expired' || (state === 'failed' && isSlippageCode(code));
}

/**
 * Returns the reason against another attempt, undefined where one is allowed. The new attempt gets a new quote and a
 * new verdict of the signer; the minimum output stays that of the intent.
 */
function furtherAttemptDenial(
  { clock, mayTryAgain }: Pick<ExecutorPorts, 'clock' | 'mayTryAgain'>, intent: Intent, attemptNumber: number,
): RetryDenial | undefined {
  const max = FURTHER_ATTEMPTS_MAX[intent.purpose];
  if (attemptNumber > max) return {
    code: 'ATTEMPTS_LIMIT',
    reason: `${attemptNumber} attempts were made, ${max + 1} are allowed for an ${intent.purpose}`,
  };
  const ageMs = clock.now() - intent.createdAt;
  // A negative age: the clock was set back, so the age is unknown.
  if (!(ageMs >= 0 && ageMs <= INTENT_AGE_MAX_MS)) {
    return { code: 'INTENT_TOO_OLD', reason: `it was decided ${Math.round(ageMs / 1_000)} s ago, another attempt is `
      + `made within ${INTENT_AGE_MAX_MS / 1_000} s` };
  }
  return mayTryAgain?.(intent);
}
