import { GannetError } from '../../core/errors.ts';
import { seededRandom } from '../../core/random.ts';
import type { Millis } from '../../core/time.ts';
import { formatDuration, shortDuration } from '../../core/time.ts';
import { stopMessages } from '../trials/run-trial.ts';
import type { Leak, PassDifference } from './leak.ts';
import { comparePasses, leakOf } from './leak.ts';
import type { History, PassAnswer } from './pass.ts';
import { startTimes } from './instants.ts';

/** Whether a longer history before the start changes a strategy's later decisions. */
export interface WarmUpVerdict {
  /** As configured. */
  readonly warmupMs: Millis;
  /**
   * The shortest tried history from which on decisions stay the same after every start. Undefined when only the longest
   * one was enough, and when nothing was compared.
   */
  readonly enoughMs: Millis | undefined;
  /** The longest history of any start; 0 without a start. */
  readonly longestMs: Millis;
  /**
   * The beginnings of trading, rising. None when the recording has no room for a longer history than the configured
   * one.
   */
  readonly starts: readonly Millis[];
  /** The number of starts after which the configured history and the longest one lead to different decisions. */
  readonly differing: number;
  /** The number of decisions after the longest history that were compared with those after the configured one. */
  readonly compared: number;
  /** The first difference between the configured history and the longest one. */
  readonly leak: Leak | undefined;
}

/** Several, because at a single start nothing may depend on the history. */
const STARTS = 8;
/** The share of the recording before the first start, beyond the configured history. */
const LEAD = 1 / 8;
/** The maximum share of the recording before a start: all of it each time would take minutes. */
const LONGEST = 1 / 2;
/** Decisions are compared over so many rows, because most effects of a history appear soon. */
const STRETCH_ROWS = 10_000;

/** A start with the result after the longest history. */
interface Start {
  readonly tradeFrom: Millis;
  readonly longestMs: Millis;
  readonly longest: PassAnswer;
}

/**
 * Begins to trade at several instants of a recording, after the configured history and after the longest one, and
 * compares the decisions from there on. When they differ, it searches for the shortest history that leads to the same
 * decisions as the longest one after every start. `run` may be called concurrently; without a history it runs the
 * configured backtest. Throws STRATEGY_INVALID when the strategy cannot run at all.
 */
export async function judgeWarmUp({ strategy, warmupMs, startAt, endAt, seed, run }: {
  readonly strategy: string;
  readonly warmupMs: Millis;
  readonly startAt: Millis;
  readonly endAt: Millis;
  /** Seeds the choice of the starts. */
  readonly seed: number;
  readonly run: (history?: History) => Promise<PassAnswer>;
}): Promise<WarmUpVerdict> {
  const ran = (answer: PassAnswer): PassAnswer => {
    if (answer.fault === undefined) return answer;
    throw new GannetError('STRATEGY_INVALID', `strategy ${strategy} cannot be run: ${answer.fault}`);
  };
  const span = endAt - startAt;
  const { decisions } = ran(await run());
  const instants = startTimes({
    decisions: decisions.filter(isOwn), from: Math.ceil(startAt + warmupMs + LEAD * span), to: endAt, count: STARTS,
    random: seededRandom(`${seed}:${strategy}:warm-up`),
  });
  const starts = await Promise.all(instants.map(async (tradeFrom): Promise<Start> => {
    const longestMs = Math.min(tradeFrom - startAt, Math.max(Math.floor(LONGEST * span), 2 * warmupMs));
    return { tradeFrom, longestMs, longest: ran(await run({ tradeFrom, warmupMs: longestMs, rows: STRETCH_ROWS })) };
  }));
  const after = async ({ tradeFrom, longest }: Start, history: Millis): Promise<PassDifference | undefined> => (
    comparePasses(longest, await run({ tradeFrom, warmupMs: history, rows: STRETCH_ROWS })));

  const configured = await Promise.all(starts.map(async (start) => ({ start, found: await after(start, warmupMs) })));
  const differing = configured.flatMap(({ start, found }) => (found === undefined ? [] : [{ start, found }]));
  const [first] = differing;
  const compared = starts.reduce((sum, { longest }) => sum + longest.decisions.filter(isOwn).length, 0);
  const longestMs = Math.max(0, ...starts.map((start) => start.longestMs));
  const verdict = { warmupMs, longestMs, starts: instants, differing: differing.length, compared };
  if (first === undefined) return { ...verdict, enoughMs: compared === 0 ? undefined : warmupMs, leak: undefined };

  const sensitive = new Set(differing.map(({ start }) => start));
  const inOrder = [...sensitive, ...starts.filter((start) => !sensitive.has(start))];
  // The starts at which a shorter history was not enough come first: they are most likely to fail again.
  const isEnough = (history: Millis): Promise<boolean> => everyOf(
    inOrder.filter((start) => start.longestMs > history), async (start) => await after(start, history) === undefined);
  const than = warmupMs === 0 ? 'no history, as configured' : `the configured ${formatDuration(warmupMs)}`;
  const detail = `a history of ${shortDuration(first.start.longestMs)} before the start leads to another decision `
    + `than ${than}${first.found.fault}`;
  return {
    ...verdict,
    enoughMs: await leastEnough(isEnough, { warmupMs, longestMs }),
    leak: leakOf(first.found.difference, { cause: 'warm-up', from: null, process: 'fresh', detail }),
  };
}

/**
 * Descends from the longest length until one is not enough, then searches between that one and the one before. A length
 * that is still shorter would lead to the same decisions only by luck.
 */
async function leastEnough(
  isEnough: (history: Millis) => Promise<boolean>,
  { warmupMs, longestMs }: Pick<WarmUpVerdict, 'warmupMs' | 'longestMs'>,
): Promise<Millis | undefined> {
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

/** Two at a time, until one of them fails. */
async function everyOf<T>(items: readonly T[], is: (item: T) => Promise<boolean>): Promise<boolean> {
  for (let i = 0; i < items.length; i += 2) {
    if ((await Promise.all(items.slice(i, i + 2).map(is))).includes(false)) return false;
  }
  return true;
}

/** The engine's message about a stopped strategy is no decision of that strategy. */
function isOwn(decision: PassAnswer['decisions'][number]): boolean {
  return stopMessages(decision).length === 0;
}

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];

/** Round lengths of history, each about four times the one before. */
const USUAL: readonly Millis[] = [
  SECOND, 4 * SECOND, 15 * SECOND, MINUTE, 4 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR, 2 * DAY, 8 * DAY,
  32 * DAY,
  128 * DAY,
];
/** When no round length is enough, this share of the longest history is tried. */
const MOST = 3 / 4;

/** Lengths are rounded to a step, because finer differences do not matter. */
const STEPS: readonly (readonly [below: Millis, step: Millis])[] = [
  [MINUTE, SECOND], [10 * MINUTE, 10 * SECOND], [2 * HOUR, MINUTE], [DAY, 10 * MINUTE],
];

/** Returns the lengths of history to try between two lengths, falling. */
function lengthsBetween(shortest: Millis, longest: Millis): Millis[] {
  return USUAL.filter((length) => length > shortest && length < MOST * longest).toReversed();
}

/** Returns the longest length worth trying between two lengths; undefined when there is none. */
function mostBetween(shortest: Millis, longest: Millis): Millis | undefined {
  const most = rounded(MOST * longest);
  return most > shortest && most < longest ? most : undefined;
}

/** Returns a length about in the middle of two; undefined when they are adjacent. */
function lengthWithin(short: Millis, long: Millis): Millis | undefined {
  const middle = rounded(short === 0 ? long / 2 : Math.sqrt(short * long));
  return middle > short && middle < long ? middle : undefined;
}

function rounded(length: Millis): Millis {
  const step = STEPS.find(([below]) => length < below)?.[1] ?? HOUR;
  return Math.ceil(length / step) * step;
}
