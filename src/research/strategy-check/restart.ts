import type { BacktestStrategy } from '../../backtest/setup.ts';
import { canonicalJson } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import type { Proposal } from '../../trading/proposal.ts';
import type { TimedProposal } from './replayed-strategy.ts';
import { ownInputs, ReplayedStrategy } from './replayed-strategy.ts';
import type { Trace, TracedCall } from './trace.ts';

/** The calls after a restart whose proposals are compared. */
const COMPARED_CALLS = 1_500;
/** What comes in the last part of them may come later after a restart: timers begin again. */
const COMPARED_SHARE = 0.8;

/** A restart after which a strategy goes on otherwise. */
interface RestartDifference {
  readonly at: Millis;
  readonly expected: Proposal | undefined;
  readonly found: Proposal | undefined;
  /** The instant of the restart. */
  readonly cutAt: Millis;
}

/** Returns where a run is cut: after at most so many of the calls that led to something, spread over the run. */
export function cutsOf(calls: readonly TracedCall[], most: number): number[] {
  const eventful = calls.flatMap(({ call, effects }, index) =>
    (call.kind === 'outcome' || effects.some(({ kind }) => kind === 'propose' || kind === 'state') ? [index + 1] : []));
  const inside = eventful.filter((index) => index > 1 && index < calls.length);
  return [...new Set(spread(inside, most))];
}

/** Returns a few of many, evenly. */
function spread(from: readonly number[], most: number): number[] {
  const few = Math.min(most, from.length);
  return Array.from({ length: few }, (_, i) => from[Math.floor(((i + 0.5) / few) * from.length)]!);
}

interface Restart {
  readonly seed: number;
  /** The number of calls before it. */
  readonly cut: number;
  /** Whether everything recorded before it warms the strategy up. */
  readonly isWarmed: boolean;
}

/**
 * Stops a strategy at one call of its trace and starts it again with the state that it had saved. Returns the first
 * proposal that a run without the restart makes and this one never does, or the other way round.
 */
export function restartDifference(
  trace: Trace, instance: BacktestStrategy, { seed, cut, isWarmed }: Restart,
): RestartDifference | undefined {
  const before = trace.calls.slice(0, cut);
  const after = trace.calls.slice(cut, cut + COMPARED_CALLS);
  const cutAt = before.at(-1)!.call.at;
  const again = new ReplayedStrategy(instance, seed, new Map());
  for (const { answers } of before) again.learn(answers);
  const own = ownInputs(instance);
  const beginAt = isWarmed ? before[0]!.call.at : cutAt;
  again.call({ kind: 'start', at: beginAt, warming: isWarmed, kept: keptIn(before) });
  for (const { call } of isWarmed ? before : []) {
    if (call.kind !== 'event' || !own.polled.has(call.input)) continue;
    again.advanceTo(call.at);
    again.call(call);
  }
  again.advanceTo(cutAt);
  if (isWarmed) {
    again.call({ kind: 'release', at: cutAt });
    again.take();
  }
  // The portfolio is shown once at each start.
  for (const input of own.portfolios) {
    const last = before.findLast(({ call }) => call.kind === 'event' && call.input === input);
    if (last !== undefined) again.call({ ...last.call, at: cutAt });
  }
  const watched = watchesIn(before);
  const expected: TimedProposal[] = [];
  for (const traced of after) {
    const { call, effects, answers } = traced;
    again.learn(answers);
    again.advanceTo(call.at);
    for (const effect of effects)
      if (effect.kind === 'propose') expected.push({ at: call.at, proposal: effect.proposal });
    if (call.kind === 'event' && !own.all.has(call.input)) {
      const input = again.watchOf(watched.get(call.input) ?? '');
      if (input !== undefined) again.call({ ...call, input });
    } else if (call.kind !== 'timer' && call.kind !== 'end') again.call(call);
    noteWatches(effects, watched);
  }
  const earlier = before.flatMap(({ call, effects }) => effects.flatMap((effect) =>
    (effect.kind === 'propose' ? [{ at: call.at, proposal: effect.proposal }] : [])));
  const until = cutAt + COMPARED_SHARE * ((after.at(-1)?.call.at ?? cutAt) - cutAt);
  const found = again.take();
  const missing = lacking(expected, found, until);
  // A proposal with a key may be repeated: the engine refuses the second one.
  const extra = lacking(found, [...expected, ...earlier.filter(({ proposal }) => 'key' in proposal)], until);
  if (missing === undefined && extra === undefined) return undefined;
  return (extra?.at ?? Infinity) < (missing?.at ?? Infinity)
    ? { cutAt, at: extra!.at, expected: undefined, found: extra!.proposal }
    : { cutAt, at: missing!.at, expected: missing!.proposal, found: undefined };
}

/** Returns the first proposal up to an instant whose content the others lack at any time. */
function lacking(
  proposals: readonly TimedProposal[], others: readonly TimedProposal[], until: Millis,
): TimedProposal | undefined {
  const known = new Set(others.map(contentOf));
  return proposals.find((proposal) => proposal.at <= until && !known.has(contentOf(proposal)));
}

/** What a proposal says, without the times in it. */
function contentOf({ proposal }: TimedProposal): string {
  return canonicalJson(proposal.kind === 'swap' ? { ...proposal, retry: undefined } : proposal);
}

function keptIn(calls: readonly TracedCall[]): string | undefined {
  return calls.flatMap(({ effects }) => effects).findLast((effect) => effect.kind === 'state')?.text;
}

function watchesIn(calls: readonly TracedCall[]): Map<number, string> {
  const watched = new Map<number, string>();
  for (const { effects } of calls) noteWatches(effects, watched);
  return watched;
}

function noteWatches(effects: TracedCall['effects'], watched: Map<number, string>): void {
  for (const effect of effects) if (effect.kind === 'watch') watched.set(effect.id, canonicalJson(effect.specs));
}
