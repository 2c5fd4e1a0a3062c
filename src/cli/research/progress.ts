import type { Millis } from '../../core/time.ts';
import { roughDuration } from '../../core/time.ts';
import { stopwatch } from '../bench/measurement.ts';
import type { Terminal } from '../terminal.ts';

/** One line that is written over, where somebody looks on. */
export interface ProgressLine {
  readonly show: (done: number, all: number) => void;
  readonly end: () => void;
}

const EVERY_MS: Millis = 100;

/** Returns a line that tells how many trials are done, how fast, and how long the rest takes. */
export function trialProgress(terminal: Pick<Terminal, 'err'>): ProgressLine {
  if (!process.stderr.isTTY) return { show: () => undefined, end: () => undefined };
  const startedAt = stopwatch();
  let shownAt = -Infinity;
  return {
    show: (done, all) => {
      const now = stopwatch();
      if (now - shownAt < EVERY_MS && done < all) return;
      shownAt = now;
      const rate = done / Math.max(1, now - startedAt);
      terminal.err(`\r\u001B[K  ${done} of ${all} trials, ${Math.floor((100 * done) / all)} %, ${(rate * 1_000).toPrecision(2)} a second, ${roughDuration((all - done) / rate)} left`);
    },
    end: () => { terminal.err('\r\u001B[K'); },
  };
}
