import type { BacktestStrategy } from '../../backtest/setup.ts';
import type { Millis } from '../../core/time.ts';
import type { TimedProposal } from './replayed-strategy.ts';
import { differenceOf, firstAnswers, firstExtra, ownInputs, ReplayedStrategy } from './replayed-strategy.ts';
import type { Trace, TracedCall } from './trace.ts';

/** The calls after a start whose proposals are compared. */
const COMPARED_CALLS = 600;
const STARTS = 4;
/** Shares of the longest history that are tried, falling. */
const SHARES = [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32] as const;

/** A strategy that decides before it has seen enough. */
interface EarlyDecision extends TimedProposal {
  readonly startAt: Millis;
  /** The shortest history found from which on its proposals are the same as after a longer one. */
  readonly enoughMs: Millis;
}

/** What a longer history before the start changes. */
export interface HistoryVerdict {
  /** The number of proposals compared; 0 where nothing can be said. */
  readonly compared: number;
  readonly early: EarlyDecision | undefined;
  /** Whether no history is long enough: what it proposes depends on its start. */
  readonly neverSame: boolean;
}

/** Returns an instance in modules of its own. */
export type Load = () => Promise<BacktestStrategy>;

/**
 * Starts a strategy at several instants of its trace, after the configured history and after all of it, and compares
 * what it proposes. Its portfolio never changes, so that one other decision does not lead to the next. A strategy that
 * waits until it has seen enough proposes less after a short history, but nothing else.
 */
export async function judgeHistory(
  trace: Trace, load: Load, { seed, warmupMs }: { readonly seed: number; readonly warmupMs: Millis },
): Promise<HistoryVerdict> {
  const own = ownInputs(await load());
  const events = trace.calls.filter(({ call }) => call.kind === 'event' && own.polled.has(call.input));
  const answers = firstAnswers(trace.calls);
  let compared = 0;
  let neverSame = false;
  for (const start of startsOf(trace, events)) {
    const startAt = events[start]!.call.at;
    const longestMs = startAt - events[0]!.call.at;
    const after = async (historyMs: Millis): Promise<readonly TimedProposal[]> =>
      proposalsAfter(new ReplayedStrategy(await load(), seed, answers), events, { start, historyMs });
    const longest = await after(longestMs);
    compared += longest.length;
    // What it proposes at its first event follows from its start: a purchase that is due, for example.
    const extra = firstExtra(longest, (await after(warmupMs)).filter(({ at }) => at > startAt));
    if (extra === undefined) continue;
    let enoughMs: Millis | undefined;
    for (const share of SHARES) {
      const historyMs = Math.ceil(longestMs * share);
      if (historyMs <= warmupMs || differenceOf(longest, await after(historyMs)) !== undefined) break;
      enoughMs = historyMs;
    }
    if (enoughMs !== undefined) return { compared, neverSame: false, early: { ...extra, startAt, enoughMs } };
    neverSame = true;
  }
  return { compared, neverSame, early: undefined };
}

/** Starts right before known proposals of the second half, where there are any. */
function startsOf({ calls }: Trace, events: readonly TracedCall[]): number[] {
  const proposedAt = calls.filter(({ effects }) => effects.some(({ kind }) => kind === 'propose'))
    .map(({ call }) => call.at);
  const from = Math.floor(events.length / 2);
  const until = Math.max(from, Math.floor(events.length * 0.95));
  const starts = new Set<number>();
  for (let part = 0; part < STARTS; part++) {
    const begin = from + Math.floor(((until - from) * part) / STARTS);
    const end = from + Math.floor(((until - from) * (part + 1)) / STARTS);
    if (end <= begin) continue;
    const at = proposedAt.find((time) => time >= events[begin]!.call.at && time < events[end - 1]!.call.at);
    const near = at === undefined ? begin : events.findIndex(({ call }) => call.at >= at);
    starts.add(part % 2 === 0 ? begin : near);
  }
  return [...starts].filter((index) => index > 0 && index < events.length);
}

function proposalsAfter(
  strategy: ReplayedStrategy, events: readonly TracedCall[],
  { start, historyMs }: { readonly start: number; readonly historyMs: Millis },
): readonly TimedProposal[] {
  const startAt = events[start]!.call.at;
  const history = historyMs === 0 ? [] : events.slice(0, start).filter(({ call }) => call.at >= startAt - historyMs);
  const isWarming = history.length > 0;
  strategy.call({ kind: 'start', at: history[0]?.call.at ?? startAt, warming: isWarming, kept: undefined });
  for (const { call } of history) {
    strategy.advanceTo(call.at);
    strategy.call(call);
  }
  strategy.advanceTo(startAt - 1);
  if (isWarming) strategy.call({ kind: 'release', at: startAt - 1 });
  strategy.take();
  for (const { call } of events.slice(start, start + COMPARED_CALLS)) {
    strategy.advanceTo(call.at);
    strategy.call(call);
  }
  return strategy.take();
}
