import type { SchedulerAction } from 'rxjs';
import type { Clock } from '../../../src/core/time.ts';
import type { JournalStore } from '../../../src/store/journal.ts';
import type { Attempt } from '../../../src/trading/attempt.ts';

/** Thrown where a process is killed within a write: whatever runs on after it is no process any more. */
export class Killed extends Error {}

/** One process: from its start to where it is killed. */
export class Life {
  isDead = false;
  readonly #dies: () => boolean;

  /** `dies` is asked at each crash point. */
  constructor(dies: () => boolean) {
    this.#dies = dies;
  }

  /** Goes past a crash point; returns whether the process is gone after it. */
  passes(): boolean {
    if (!this.isDead && this.#dies()) this.isDead = true;
    return this.isDead;
  }

  never<T>(): Promise<T> {
    return new Promise<T>(() => undefined);
  }

  /** Carries something out that cannot be interrupted, with a crash point before it and one after. */
  write<T>(work: () => T): T {
    if (this.passes()) throw new Killed();
    const result = work();
    if (this.passes()) throw new Killed();
    return result;
  }

  /** Returns a clock on which nothing of this process happens after its end. */
  clock(clock: Clock, offset: () => number): Clock {
    const isOver = (): boolean => this.isDead;
    return {
      now: () => clock.now() + offset(),
      schedule: (work, delay, state) => clock.schedule(function (this: SchedulerAction<typeof state>, given) {
        if (!isOver()) work.call(this, given as never);
      }, delay, state),
    };
  }

  /** Returns the part of a journal that an executor writes and reads, with a crash point around each write. */
  journal(journal: JournalStore, onSigned: (attempt: Attempt) => void): Pick<JournalStore, 'intentApproved'
      | 'attemptSigned' | 'transition' | 'openIntents' | 'isSigned' | 'movesSince' | 'proofOf' | 'keepProof'> {
    return {
      intentApproved: (
        intent, strategyState,
      ) => { this.write(() => { journal.intentApproved(intent, strategyState); }); },
      attemptSigned: (attempt) => {
        this.write(() => {
          journal.attemptSigned(attempt);
          onSigned(attempt);
        });
      },
      transition: (outcome) => { this.write(() => { journal.transition(outcome); }); },
      openIntents: () => journal.openIntents(),
      isSigned: (signature) => journal.isSigned(signature),
      movesSince: (attempt, mint) => journal.movesSince(attempt, mint),
      proofOf: (attempt) => journal.proofOf(attempt),
      keepProof: (attempt, progress) => { this.write(() => { journal.keepProof(attempt, progress); }); },
    };
  }
}
