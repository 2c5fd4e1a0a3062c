import type { SchedulerAction, Subscription } from 'rxjs';
import { GannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { Journal, Signer } from '../execution/ports.ts';
import type { KeptFile } from '../signer/kept-files.ts';
import { createKeptFiles } from '../signer/kept-files.ts';

/** Ends a run whose state directory vanishes: what it would write from then on, no later run could read. */
export interface StateWatch {
  /** Adds a file that this run has open. */
  add(file: KeptFile): void;
  /** Returns why nothing may be signed any more, undefined while every file is where it was. */
  fault(): string | undefined;
  /** Looks every few seconds, and tells the first fault, once; also one that was found before. */
  watch(onLost: (fault: string) => void): Subscription;
  /** Resolves with the first fault. */
  readonly lost: Promise<string>;
}

const LOOK_EVERY_MS: Millis = 2_000;

/** Returns a watch over no file yet. */
export function createStateWatch(clock: Clock): StateWatch {
  const files = createKeptFiles();
  const { promise: lost, resolve } = Promise.withResolvers<string>();
  let told: ((fault: string) => void) | undefined;
  let found: string | undefined;

  /** What was lost once stays lost: nobody knows what was written meanwhile, and where. */
  function fault(): string | undefined {
    if (found !== undefined) return found;
    found = files.fault();
    if (found === undefined) return undefined;
    told?.(found);
    resolve(found);
    return found;
  }

  return {
    add: (file) => { files.add(file); },
    fault,
    lost,
    watch(onLost) {
      told = onLost;
      if (found !== undefined) onLost(found);
      return clock.schedule(function (this: SchedulerAction<void>) {
        if (fault() === undefined) this.schedule(undefined, LOOK_EVERY_MS);
      }, LOOK_EVERY_MS);
    },
  };
}

/** Returns a signer that is asked for nothing once the state directory is lost: SIGN_REFUSED, with STATE_LOST in its details. */
export function signingWhileKept<Kept extends Signer>(signer: Kept, watch: Pick<StateWatch, 'fault'>): Kept {
  return {
    ...signer,
    sign: async (transaction, terms) => {
      const fault = watch.fault();
      if (fault !== undefined) throw new GannetError('SIGN_REFUSED', `nothing was signed: ${fault}`, { details: { code: 'STATE_LOST' } });
      return signer.sign(transaction, terms);
    },
  };
}

/**
 * Returns a journal that takes no intent once its files are lost, and whose signed bytes count as written only in a file
 * that is still there afterwards: its writes throw JOURNAL_FAILED, and nothing of them is sent.
 */
export function journalWhileKept<Kept extends Pick<Journal, 'intentApproved' | 'attemptSigned'>>(journal: Kept, watch: Pick<StateWatch, 'fault'>): Kept {
  const ensureKept = (): void => {
    const fault = watch.fault();
    if (fault !== undefined) throw new GannetError('JOURNAL_FAILED', `${fault}; this run trades nothing any more`);
  };
  return {
    ...journal,
    intentApproved: (intent, strategyState) => {
      ensureKept();
      journal.intentApproved(intent, strategyState);
    },
    attemptSigned: (attempt) => {
      journal.attemptSigned(attempt);
      ensureKept();
    },
  };
}
