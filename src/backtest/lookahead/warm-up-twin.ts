import { GannetError } from '../../core/errors.ts';
import { seededRandom } from '../../core/random.ts';
import type { Millis } from '../../core/time.ts';
import { formatDuration, shortDuration } from '../../core/time.ts';
import { stopOf } from '../run-trial.ts';
import { lengthsBetween, lengthWithin, mostBetween } from './history-lengths.ts';
import type { Leak } from './leak.ts';
import { leakOf } from './leak.ts';
import type { Moved } from './moved.ts';
import { compared } from './moved.ts';
import type { History, PassAnswer } from './pass.ts';
import { startTimes } from './start-times.ts';

/** Whether a longer history before the start changes what a strategy decides after it. */
export interface WarmUpVerdict {
  /** As configured. */
  readonly warmupMs: Millis;
  /**
   * The least of the histories that were tried from which on decisions stay the same after every start; undefined where not even
   * the longest but one does, and where nothing was compared.
   */
  readonly enoughMs: Millis | undefined;
  /** The longest that any start was given; 0 where there was no start. */
  readonly longestMs: Millis;
  /** Where trading began, rising: none where the recording is too short for a longer history than the configured one. */
  readonly starts: readonly Millis[];
  /** After how many of these the configured history and the longest decide otherwise. */
  readonly differing: number;
  /** How many decisions that followed the longest history were held against those that followed the configured one. */
  readonly compared: number;
  /** Where the configured history and the longest first decide otherwise. */
  readonly leak: Leak | undefined;
}

/** One start alone may well be one at which nothing depends on what was before. */
const STARTS = 8;
/** Before the first start there is so much of the recording beyond the configured history. */
const LEAD = 1 / 8;
/** So much of the recording is shown before a start at most: all of it each time would take minutes. */
const LONGEST = 1 / 2;
/** What a start comes to is compared over so many rows: most of what a history leaves shows at once. */
const STRETCH_ROWS = 10_000;

/** A start with what the longest history before it leads to. */
interface Start {
  readonly tradeFrom: Millis;
  readonly longestMs: Millis;
  readonly longest: PassAnswer;
}

/**
 * Begins to trade at several instants of a recording, after the configured history and after all that there is, and compares
 * what is decided from there on. Where that differs it looks for the least history that leads to the same as the longest
 * after every start. `run` may be asked for several passes at once; without a history it is to run the configured backtest.
 * Throws STRATEGY_INVALID where the strategy cannot be run at all.
 */
export async function judgeWarmUp({ strategy, warmupMs, startAt, endAt, seed, run }: {
  readonly strategy: string;
  readonly warmupMs: Millis;
  readonly startAt: Millis;
  readonly endAt: Millis;
  /** Where the starts come from. */
  readonly seed: number;
  readonly run: (history?: History) => Promise<PassAnswer>;
}): Promise<WarmUpVerdict> {
  const ran = (answer: PassAnswer): PassAnswer => {
    if (answer.fault !== undefined) throw new GannetError('STRATEGY_INVALID', `strategy ${strategy} cannot be run: ${answer.fault}`);
    return answer;
  };
  const span = endAt - startAt;
  const { decisions } = ran(await run());
  const instants = startTimes({ decisions: decisions.filter(isOwn), from: Math.ceil(startAt + warmupMs + LEAD * span), to: endAt, count: STARTS, random: seededRandom(`${seed}:${strategy}:warm-up`) });
  const starts = await Promise.all(instants.map(async (tradeFrom): Promise<Start> => {
    const longestMs = Math.min(tradeFrom - startAt, Math.max(Math.floor(LONGEST * span), 2 * warmupMs));
    return { tradeFrom, longestMs, longest: ran(await run({ tradeFrom, warmupMs: longestMs, rows: STRETCH_ROWS })) };
  }));
  const after = async ({ tradeFrom, longest }: Start, history: Millis): Promise<Moved | undefined> => compared(longest, await run({ tradeFrom, warmupMs: history, rows: STRETCH_ROWS }));

  const found = (await Promise.all(starts.map(async (start) => ({ start, moved: await after(start, warmupMs) })))).filter((each): each is { start: Start; moved: Moved } => each.moved !== undefined);
  const [first] = found;
  const held = starts.reduce((sum, { longest }) => sum + longest.decisions.filter(isOwn).length, 0);
  const longestMs = Math.max(0, ...starts.map((start) => start.longestMs));
  const about = { warmupMs, longestMs, starts: instants, differing: found.length, compared: held };
  if (first === undefined) return { ...about, enoughMs: held === 0 ? undefined : warmupMs, leak: undefined };

  const doubtful = new Set(found.map(({ start }) => start));
  return {
    ...about,
    enoughMs: await leastEnough(async (history) => {
      // Where a shorter one was not enough, this one is the likeliest not to be.
      const inOrder = [...doubtful, ...starts.filter((start) => !doubtful.has(start))].filter((start) => start.longestMs > history);
      return everyOf(inOrder, async (start) => await after(start, history) === undefined);
    }, { warmupMs, longestMs }),
    leak: leakOf(first.moved.difference, { poison: 'warm-up', from: null, process: 'fresh', detail: `a history of ${shortDuration(first.start.longestMs)} before the start leads to another decision than ${warmupMs === 0 ? 'none, as configured' : `the configured ${formatDuration(warmupMs)}`}${first.moved.fault}` }),
  };
}

/** Down from the longest, until one is not enough: a still shorter one that led to the same would do so by luck. Then between that one and the one before. */
async function leastEnough(isEnough: (history: Millis) => Promise<boolean>, { warmupMs, longestMs }: Pick<WarmUpVerdict, 'warmupMs' | 'longestMs'>): Promise<Millis | undefined> {
  let short = warmupMs;
  let enough: Millis | undefined;
  for (const history of lengthsBetween(warmupMs, longestMs)) {
    if (!await isEnough(history)) {
      short = history;
      break;
    }
    enough = history;
  }
  if (enough === undefined) {
    const most = mostBetween(short, longestMs);
    if (most !== undefined && await isEnough(most)) enough = most;
  }
  while (enough !== undefined) {
    const middle = lengthWithin(short, enough);
    if (middle === undefined) break;
    if (await isEnough(middle)) enough = middle;
    else short = middle;
  }
  return enough;
}

/** Two at a time, and no more once one of them is not. */
async function everyOf<T>(items: readonly T[], is: (item: T) => Promise<boolean>): Promise<boolean> {
  for (let i = 0; i < items.length; i += 2) {
    if ((await Promise.all(items.slice(i, i + 2).map(is))).includes(false)) return false;
  }
  return true;
}

/** What the engine says of a strategy that it stopped is no decision of that strategy. */
function isOwn(decision: PassAnswer['decisions'][number]): boolean {
  return stopOf(decision).length === 0;
}
