import type { SchedulerAction, Subscription } from 'rxjs';
import { GannetError } from '../../core/errors.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { Journal, Signer } from '../../execution/ports.ts';
import type { KeptFile } from '../../signer/counters/kept-files.ts';
import { createKeptFiles } from '../../signer/counters/kept-files.ts';

/** Ends a run whose state files vanish: no later run could read what this one writes from then on. */
export interface StateWatch {
  /** Adds an open file of this run. */
  add(file: KeptFile): void;
  /** Returns why signing must stop; undefined while every file is in its place. */
  fault(): string | undefined;
  /** Checks every few seconds and reports the first fault once, including an earlier one. */
  watch(onLost: (fault: string) => void): Subscription;
  /** Resolves with the first fault. */
  readonly lost: Promise<string>;
}

const CHECK_EVERY_MS: Millis = 2_000;

/** Returns a watch without files. */
export function createStateWatch(clock: Clock): StateWatch {
  const files = createKeptFiles();
  const { promise: lost, resolve } = Promise.withResolvers<string>();
  let report: ((fault: string) => void) | undefined;
  let found: string | undefined;

  /** A fault is final, because writes in between may have gone elsewhere. */
  function fault(): string | undefined {
    if (found !== undefined) return found;
    found = files.fault();
    if (found === undefined) return undefined;
    report?.(found);
    resolve(found);
    return found;
  }

  return {
    add: (file) => { files.add(file); },
    fault,
    lost,
    watch(onLost) {
      report = onLost;
      if (found !== undefined) onLost(found);
      return clock.schedule(function (this: SchedulerAction<void>) {
        if (fault() === undefined) this.schedule(undefined, CHECK_EVERY_MS);
      }, CHECK_EVERY_MS);
    },
  };
}

/** Returns a signer that throws SIGN_REFUSED, with STATE_LOST in its details, once state files are lost. */
export function signingWhileKept<Kept extends Signer>(signer: Kept, watch: Pick<StateWatch, 'fault'>): Kept {
  return {
    ...signer,
    sign: async (transaction, terms) => {
      const fault = watch.fault();
      if (fault !== undefined)
        throw new GannetError('SIGN_REFUSED', `nothing was signed: ${fault}`, { details: { code: 'STATE_LOST' } });
      return signer.sign(transaction, terms);
    },
  };
}

/**
 * Returns a journal whose writes throw JOURNAL_FAILED once state files are lost, so that nothing of them is sent. It
 * checks before it takes an intent, and after it wrote signed bytes.
 */
export function journalWhileKept<Kept extends Pick<Journal, 'intentApproved' | 'attemptSigned'>>(
  journal: Kept, watch: Pick<StateWatch, 'fault'>,
): Kept {
  const ensureKept = (): void => {
    const fault = watch.fault();
    if (fault !== undefined) throw new GannetError('JOURNAL_FAILED', `${fault}; this run no longer trades`);
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
