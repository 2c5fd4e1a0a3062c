import type { Subscriber } from 'rxjs';
import { EMPTY, Observable, merge } from 'rxjs';
import { GannetError } from '../core/errors.ts';
import type { Lamports } from '../core/amount.ts';
import type { Executor } from '../trading/executor.ts';
import type { Intent, Outcome } from '../trading/intent.ts';
import { isTerminal } from '../trading/intent.ts';
import { furtherAttemptDenial, isRepeatable } from './further-attempts.ts';
import type { LiveWorld, Progress } from './journey.ts';
import { landAttempt } from './landing.ts';
import { signedProgress } from './landed-progress.ts';
import type { Attempt } from '../trading/attempt.ts';
import type { StrategyState } from '../trading/strategy-state.ts';
import type { JournalledIntent } from './ports.ts';
import { prepareAttempt } from './prepare.ts';
import type { OperatorWord } from './resolve.ts';
import { heedWord } from './resolve.ts';
import { withSpent } from './spent.ts';
import { unwritten, unwrittenProgress } from './unwritten.ts';

/** An executor that takes an operator's word on an intent that is under way. */
export interface LiveExecutor extends Executor {
  /**
   * Closes an intent under way on an operator's word; its journey ends with what comes of it, and is told of as always.
   * Returns the terminal outcome. Throws RESOLVE_REFUSED where it is not under way or the chain says otherwise.
   */
  resolve(intentId: string, word: OperatorWord): Promise<Outcome>;
}

/**
 * Returns the executor that trades: quote, check, sign, write down, send, and then ask until it is known what became of
 * it. Every transition is on disk before anybody hears of it; the signed bytes are on disk before the first one leaves.
 */
export function createLiveExecutor(world: LiveWorld): LiveExecutor {
  const underWay = new Map<string, Journey>();
  const start = (entry: Beginning, run: (journey: Journey) => Promise<void>): Observable<Outcome> =>
    new Observable((subscriber) => {
      const journey = new Journey(world, entry, subscriber);
      underWay.set(entry.intent.id, journey);
      // A bug on the way surfaces as an error, which nobody may swallow.
      run(journey).finally(() => { underWay.delete(entry.intent.id); })
        .then(() => { subscriber.complete(); }, (error: unknown) => { subscriber.error(error); });
      return () => { journey.leave(); };
    });
  return {
    execute: (intent, strategyState) =>
      start({ intent, attempt: 1, spentLamports: 0n as Lamports }, async (journey) => {
        if (journey.approve(strategyState)) await journey.carryOut();
      }),
    reconcile: (open) => {
      const known = new Map(world.journal.openIntents().map((entry) => [entry.intent.id, entry]));
      return merge(EMPTY, ...open.map(({ intent, state }) => {
        const entry = known.get(intent.id)
          ?? { intent, state, attempts: [], attempt: 1, spentLamports: 0n as Lamports };
        return start(entry, (journey) => journey.resume(entry));
      }));
    },
    async resolve(intentId, word) {
      const journey = underWay.get(intentId);
      if (journey === undefined) throw new GannetError(
        'RESOLVE_REFUSED', `${intentId}: no such intent is under way; \`gannet journal list\` shows what there is`,
      );
      return journey.heed(word);
    },
  };
}

/** Where a journey begins: at its first attempt, or where an earlier process left it. */
type Beginning = Pick<JournalledIntent, 'intent' | 'attempt' | 'spentLamports'>;

/** One intent on its way through its attempts. Each step is journalled, then told. */
class Journey {
  readonly #world: LiveWorld;
  readonly #intent: Intent;
  readonly #subscriber: Subscriber<Outcome>;
  #number: number;
  #spentLamports: Lamports;
  readonly #over = new AbortController();

  constructor(world: LiveWorld, { intent, attempt, spentLamports }: Beginning, subscriber: Subscriber<Outcome>) {
    this.#world = world;
    this.#intent = intent;
    this.#subscriber = subscriber;
    this.#number = attempt;
    this.#spentLamports = spentLamports;
  }

  /**
   * Writes the intent down; returns whether it is. One that cannot be written is given up, for nothing of it exists
   * yet.
   */
  approve(strategyState: StrategyState | undefined): boolean {
    try {
      this.#world.journal.intentApproved(this.#intent, strategyState);
      return true;
    } catch (error) {
      this.#over.abort();
      this.#subscriber.next(unwritten(this.#intent, error));
      return false;
    }
  }

  /** Makes attempts until one ends in a way that no further one may follow. */
  async carryOut(): Promise<void> {
    let before: Progress | undefined;
    for (;;) {
      this.#tell({ ...before, state: 'building' });
      const end = await this.#attempt();
      if (end === undefined || this.#isOver) return;
      const denial = isRepeatable(end) ? this.#denial() : undefined;
      if (!isRepeatable(end) || denial !== undefined) {
        this.#tell(denial === undefined ? end
          : { ...end, reason: `${end.reason ?? end.state}; not tried again: ${denial.reason}` });
        return;
      }
      const { code, reason, signature, feeLamports, state } = end;
      before =
        { state: 'building', ended: state === 'failed' ? 'failed' : 'expired', code, reason, signature, feeLamports };
      this.#number += 1;
      this.#spentLamports = (this.#spentLamports + (feeLamports ?? 0n)) as Lamports;
    }
  }

  /**
   * Resolves what a process that is gone left open: what was signed is sent again, the same bytes; where nothing is
   * signed of the present attempt, nothing can land. A recovery signs nothing: what was decided before it is not begun
   * anew.
   */
  async resume({ state, attempts }: JournalledIntent): Promise<void> {
    if (isTerminal(state)) return;
    const attempt = attempts.find(({ number }) => number === this.#number);
    if (attempt === undefined) {
      this.#tell({
        state: 'abandoned', code: 'RESTARTED',
        reason: `the process ended before ${this.#number === 1 ? 'anything' : `attempt ${this.#number}`} was signed`,
      });
      return;
    }
    // Written down as signed, but the process ended before it could say so.
    if (state === 'approved') this.#tell({ state: 'building' });
    if (state === 'approved' || state === 'building') this.#tell(signedProgress(attempt));
    const end = await this.#land(attempt);
    if (end !== undefined) this.#tell(end);
  }

  /** Nobody listens any more: nothing more is signed, sent or written. What is open stays so, for the next process. */
  leave(): void {
    this.#over.abort();
  }

  get #isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** Closes the intent on an operator's word, unless it closes by itself while the chain is asked. */
  async heed(word: OperatorWord): Promise<Outcome> {
    const { chain, signer, journal } = this.#world;
    const find = (): JournalledIntent | undefined =>
      journal.openIntents().find(({ intent }) => intent.id === this.#intent.id);
    const refused = (why: string): GannetError => new GannetError('RESOLVE_REFUSED', `${this.#intent.id}: ${why}`);
    const entry = find();
    if (entry === undefined || this.#isOver) throw refused('it is closed already');
    // What the disk does not take waits: then the journal tells of an attempt that ended.
    if (entry.attempt !== this.#number) throw refused(`the journal knows of attempt ${entry.attempt} only, and it is `
      + `at attempt ${this.#number}; wait until there is room to write`);
    if (entry.state === 'approved' || entry.state === 'building')
      throw refused('it is being quoted and signed this moment; wait for what comes of it');
    const outcomes = await heedWord({ chain, journal, owner: signer.address }, entry, word);
    const now = find();
    if (this.#isOver || now === undefined || entry.attempt !== this.#number || now.state === 'building')
      throw refused('it went on by itself meanwhile');
    for (const outcome of outcomes) this.#report(outcome);
    return outcomes.at(-1)!;
  }

  async #attempt(): Promise<Progress | undefined> {
    const prepared = await prepareAttempt(this.#world, this.#intent, this.#number);
    if (prepared.kind === 'refused') {
      return {
        state: 'abandoned', router: prepared.router, code: prepared.code, reason: prepared.reason,
        ...(prepared.capRoom === undefined ? {} : { capRoom: prepared.capRoom }),
      };
    }
    if (this.#isOver) return undefined;
    const { attempt } = prepared;
    try {
      this.#world.journal.attemptSigned(attempt);
    } catch (error) {
      // Without its row nothing leaves; what is signed and was never sent cannot land.
      return unwrittenProgress(error);
    }
    this.#tell(signedProgress(attempt));
    return this.#land(attempt);
  }

  #land(attempt: Attempt): Promise<Progress | undefined> {
    return landAttempt(this.#world, this.#intent, attempt, {
      tell: (progress) => { this.#tell(progress); }, over: this.#over.signal,
    });
  }

  #denial(): ReturnType<typeof furtherAttemptDenial> {
    return furtherAttemptDenial(this.#world, this.#intent, this.#number);
  }

  /** Nothing any more once it is closed. */
  #tell(progress: Progress): void {
    if (this.#isOver) return;
    this.#report({
      kind: 'outcome', intentId: this.#intent.id, attempt: this.#number, ...withSpent(progress, this.#spentLamports),
    });
  }

  #report(outcome: Outcome): void {
    this.#world.journal.transition(outcome);
    if (isTerminal(outcome.state)) this.#over.abort();
    this.#subscriber.next(outcome);
  }
}
