import type { Millis } from '../core/time.ts';
import { roughDuration } from '../core/time.ts';
import { stopwatch } from './bench/measurement.ts';
import type { Terminal } from './terminal.ts';

/** One line that is written over, where somebody looks on. */
export interface ProgressLine {
  readonly show: (done: number, all: number) => void;
  readonly end: () => void;
}

const EVERY_MS: Millis = 100;
const WIPE = '\r\u001B[K';

/** Returns a line that tells how much is done of what, how fast, and how long the rest takes; nothing where stderr is no terminal. */
export function progressLine(terminal: Pick<Terminal, 'err'>, what: string): ProgressLine {
  if (!process.stderr.isTTY) return { show: () => undefined, end: () => undefined };
  const startedAt = stopwatch();
  let shownAt = -Infinity;
  return {
    show: (done, all) => {
      const now = stopwatch();
      if (now - shownAt < EVERY_MS && done < all) return;
      shownAt = now;
      terminal.err(`${WIPE}  ${progressText(done, all, { what, elapsedMs: now - startedAt })}`);
    },
    end: () => { terminal.err(WIPE); },
  };
}

/** Returns the words of a progress line. */
export function progressText(done: number, all: number, { what, elapsedMs }: { readonly what: string; readonly elapsedMs: Millis }): string {
  const rate = done / Math.max(1, elapsedMs);
  const left = done === 0 ? '' : `, ${rateText(rate * 1_000)} a second, ${roughDuration(Math.max(0, all - done) / rate)} left`;
  return `${count(done)} of ${count(all)} ${what}, ${Math.floor((100 * done) / Math.max(1, all))} %${left}`;
}

function rateText(perSecond: number): string {
  return perSecond < 100 ? perSecond.toPrecision(2) : count(Math.round(perSecond));
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}
