import type { Terminal } from './terminal.ts';
import type { Millis } from '../../core/time.ts';
import { roughDuration } from '../../core/time.ts';
import { stopwatch } from '../../research/stopwatch.ts';

/** A line on a terminal that overwrites itself. */
interface ProgressLine {
  readonly show: (done: number, all: number) => void;
  readonly end: () => void;
}

const EVERY_MS: Millis = 100;
/** Before this, the rate of the first parts is no estimate of the rest. */
const ESTIMATE_AFTER_MS: Millis = 2_000;
const WIPE = '\r\u001B[K';

/** Returns a progress line: share done, rate and time left. It prints nothing when standard error is no terminal. */
export function progressLine(terminal: Pick<Terminal, 'err'>, what: string): ProgressLine {
  if (!process.stderr.isTTY) return { show: () => undefined, end: () => undefined };
  // The rate is measured from the first finished part, so that it excludes the start.
  let first: { readonly at: Millis; readonly done: number } | undefined;
  let shownAt = -Infinity;
  return {
    show: (done, all) => {
      const now = stopwatch();
      if (now - shownAt < EVERY_MS && done < all) return;
      shownAt = now;
      first ??= { at: now, done };
      terminal.err(`${WIPE}  ${progressText(done, all, { what, elapsedMs: now - first.at, before: first.done })}`);
    },
    end: () => { terminal.err(WIPE); },
  };
}

/** Returns the text of a progress line; `before` parts were done when the time started. */
export function progressText(done: number, all: number, { what, elapsedMs, before = 0 }: {
  readonly what: string; readonly elapsedMs: Millis; readonly before?: number;
}): string {
  const rate = (done - before) / Math.max(1, elapsedMs);
  const left = done <= before || elapsedMs < ESTIMATE_AFTER_MS ? ''
    : `, ${rateText(rate * 1_000)} a second, ${roughDuration(Math.max(0, all - done) / rate)} left`;
  return `${count(done)} of ${count(all)} ${what}, ${Math.floor((100 * done) / Math.max(1, all))} %${left}`;
}

function rateText(perSecond: number): string {
  return perSecond < 100 ? perSecond.toPrecision(2) : count(Math.round(perSecond));
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}
