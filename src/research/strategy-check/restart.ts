import type { BacktestStrategy } from '../../backtest/setup.ts';
import { canonicalJson } from '../../core/json.ts';
import type { ProposalDifference, TimedProposal } from './replayed-strategy.ts';
import { differenceOf, ownInputs, ReplayedStrategy } from './replayed-strategy.ts';
import type { Trace, TracedCall } from './trace.ts';

/** The calls after a restart whose proposals are compared. */
const COMPARED_CALLS = 1_500;
const CUTS = 8;

/** A restart after which a strategy goes on otherwise. */
interface RestartDifference extends ProposalDifference {
  /** The instant of the restart. */
  readonly cutAt: number;
}

/** Returns where a run is cut: after calls that led to something, spread over the run. */
export function cutsOf(calls: readonly TracedCall[]): number[] {
  const eventful = calls.flatMap(({ call, effects }, index) =>
    (call.kind === 'outcome' || effects.some(({ kind }) => kind === 'propose' || kind === 'state') ? [index + 1] : []));
  const inside = eventful.filter((index) => index > 1 && index < calls.length);
  const middle = calls.length > 4 ? [Math.floor(calls.length / 2)] : [];
  return [...new Set([...spread(inside), ...middle])].toSorted((a, b) => a - b);
}

/** Returns a few of many, evenly. */
function spread(from: readonly number[]): number[] {
  const few = Math.min(CUTS, from.length);
  return Array.from({ length: few }, (_, i) => from[Math.floor(((i + 0.5) / few) * from.length)]!);
}

/**
 * Stops a strategy at one call of its trace and starts it again: with the state that it had saved and a warm-up over
 * everything recorded before. Returns the first proposal that is not the one of the run without a restart.
 */
export function restartDifference(
  trace: Trace, instance: BacktestStrategy, { seed, cut }: { readonly seed: number; readonly cut: number },
): RestartDifference | undefined {
  const before = trace.calls.slice(0, cut);
  const after = trace.calls.slice(cut, cut + COMPARED_CALLS);
  const cutAt = before.at(-1)!.call.at;
  const again = new ReplayedStrategy(instance, seed, new Map());
  for (const { answers } of before) again.learn(answers);
  const own = ownInputs(instance);
  again.call({ kind: 'start', at: before[0]!.call.at, warming: true, kept: keptIn(before) });
  for (const { call } of before) {
    if (call.kind !== 'event' || !own.polled.has(call.input)) continue;
    again.advanceTo(call.at);
    again.call(call);
  }
  again.advanceTo(cutAt);
  again.call({ kind: 'release', at: cutAt });
  // The portfolio is shown once at each start.
  for (const input of own.portfolios) {
    const last = before.findLast(({ call }) => call.kind === 'event' && call.input === input);
    if (last !== undefined) again.call({ ...last.call, at: cutAt });
  }
  again.take();
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
  const found = again.take();
  // Timers after the last compared call are not compared.
  const difference = differenceOf(expected, found);
  return difference === undefined ? undefined : { ...difference, cutAt };
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
