import type { Millis } from '../../core/time.ts';
import { formatDuration, shortDuration } from '../../core/time.ts';
import type { Leak } from './leak.ts';
import { leakOf } from './leak.ts';
import { compared } from './moved.ts';
import type { History, PassAnswer } from './pass.ts';

/** Whether a longer history before the start changes what a strategy decides after it. */
export interface WarmUpVerdict {
  /** As configured. */
  readonly warmupMs: Millis;
  /** The least of the histories that were tried from which on decisions stay the same; undefined where not even the longest but one does. */
  readonly enoughMs: Millis | undefined;
  readonly longestMs: Millis;
  readonly tradeFrom: Millis;
  /** Where the configured history and the longest first decide otherwise. */
  readonly leak: Leak | undefined;
}

/** How many histories are tried, each half as long as the next. */
const HISTORIES = 6;

/**
 * Trades from the middle of a recording on, after the configured history and after ever longer ones, and compares what is
 * decided from there on with what the longest leads to.
 */
export async function judgeWarmUp({ warmupMs, startAt, endAt, run }: {
  readonly warmupMs: Millis;
  readonly startAt: Millis;
  readonly endAt: Millis;
  readonly run: (history: History) => Promise<PassAnswer>;
}): Promise<WarmUpVerdict> {
  const half = Math.floor((endAt - startAt) / 2);
  const longestMs = Math.max(half, warmupMs);
  const tradeFrom = startAt + longestMs;
  const longest = await run({ tradeFrom, warmupMs: longestMs });
  const tried = new Set([warmupMs]);
  for (let n = HISTORIES; n > 0; n--) tried.add(Math.max(warmupMs, Math.floor(longestMs / 2 ** n)));

  let leak: Leak | undefined;
  let enoughMs: Millis | undefined;
  for (const history of tried) {
    if (history >= longestMs) continue;
    const moved = compared(longest, await run({ tradeFrom, warmupMs: history }));
    if (moved === undefined) enoughMs ??= history;
    else {
      // A shorter one that led to the same did so by luck.
      enoughMs = undefined;
      if (history === warmupMs) {
        leak = leakOf(moved.difference, { poison: 'warm-up', from: null, process: 'fresh', detail: `a history of ${shortDuration(longestMs)} before the start leads to another decision than ${warmupMs === 0 ? 'none, as configured' : `the configured ${formatDuration(warmupMs)}`}${moved.fault}` });
      }
    }
  }
  return { warmupMs, enoughMs, longestMs, tradeFrom, leak };
}
