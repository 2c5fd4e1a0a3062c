import { messageOf } from '../core/errors.ts';
import type { Steps } from '../core/steps.ts';
import { atOnce } from '../core/steps.ts';
import { printable } from '../core/text.ts';
import type { Millis } from '../core/time.ts';
import type { LoggedDecision } from '../engine/decision-log.ts';
import type { RowSource } from '../recording/shared/shared-source.ts';
import { longestWarmup } from './backtest.ts';
import { idleShare } from './denied.ts';
import type { InputCursor } from './driver.ts';
import type { MeasuredRun } from './measured-run.ts';
import { measureSteps } from './measured-run.ts';
import { returnsOf } from './metrics/trial-returns.ts';
import type { RecordedLooks } from './recorded-looks.ts';
import { backtestCursor } from './recorded-looks.ts';
import { glanceStep, sampleStep } from './record/run-meter.ts';
import type { BacktestSetup, BacktestStrategy } from './setup.ts';
import { freshState } from './setup.ts';
import type { Trial, TrialResult } from './trial.ts';
import type { UnreadStrategy } from './trial-strategies.ts';
import { trialStrategies } from './trial-strategies.ts';
import { watchedTokens } from './watched-tokens.ts';

/** What all trials have in common. */
export interface TrialGround {
  readonly setup: BacktestSetup;
  readonly strategies: readonly UnreadStrategy[];
  readonly rows: RowSource;
  readonly looks: RecordedLooks;
  readonly stopwatch: () => Millis;
}

/** Runs a trial in this thread, all at once. */
export function runTrial(trial: Trial, ground: TrialGround): TrialResult {
  return atOnce(trialSteps(trial, ground));
}

/** Runs a trial in this thread. What brings it down is its result; nothing is thrown. */
export function* trialSteps(trial: Trial, ground: TrialGround): Steps<TrialResult> {
  const { id } = trial;
  const strategies = trialStrategies(trial, ground.strategies, { tokens: ground.setup.tokens, feeds: ground.rows.feeds });
  if (typeof strategies === 'string') return { kind: 'refused', id, reason: strategies };
  const span = spanOf(trial, ground.setup, longestWarmup(strategies));
  if (span.from >= span.to) return { kind: 'refused', id, reason: 'warming up takes all of the recording up to the end of its period: nothing is left to trade on' };
  const stops: string[] = [];
  try {
    const run = yield* measureTrial(trial, { ...ground, strategies, span, onDecision: (decision) => { stops.push(...stopOf(decision)); } });
    return stops.length > 0 ? { kind: 'failed', id, reason: stops.join('; ') } : resultOf(trial, run);
  } catch (error) {
    return { kind: 'failed', id, reason: printable(messageOf(error), 500) };
  }
}

/** The rows of a trial, warming up included, from `begin` to before `end`; traded on from `from`. */
interface TrialSpan {
  readonly begin: Millis;
  readonly from: Millis;
  readonly to: Millis;
}

/** A period that begins before the recording has warmed anybody up begins after that. */
function spanOf({ period }: Trial, { firstAt, lastAt }: BacktestSetup, warmupMs: Millis): TrialSpan {
  const begin = period === undefined ? firstAt : Math.max(firstAt, period.from - warmupMs);
  return { begin, from: begin + warmupMs, to: period === undefined ? Infinity : Math.min(period.to, lastAt + 1) };
}

function* measureTrial({ model, period, keep }: Trial, { setup, strategies, rows, looks, stopwatch, span, onDecision }: Omit<TrialGround, 'strategies'> & {
  readonly strategies: readonly BacktestStrategy[];
  readonly span: TrialSpan;
  readonly onDecision: (decision: LoggedDecision) => void;
}): Steps<MeasuredRun> {
  const spanMs = period === undefined ? setup.lastAt - setup.firstAt : span.to - span.from;
  return yield* measureSteps({
    state: freshState(setup, strategies),
    strategies,
    seed: setup.seed,
    startAt: span.begin,
    cursor: period === undefined ? backtestCursor(rows, looks) : within(backtestCursor(rows.since(span.begin), looks), span),
    looks,
    intervals: setup.intervals,
    model: model ?? setup.model,
    currency: setup.currency,
    stopwatch,
    onDecision,
    instruments: keep === undefined ? [] : watchedTokens(strategies, setup),
    everyMs: sampleStep(spanMs),
    // Of many trials each is looked at less closely; one whose record is shown is not one of many.
    glanceEveryMs: keep === undefined ? undefined : glanceStep(spanMs),
    interval: false,
    isMadeUp: setup.isMadeUp,
  });
}

function within(cursor: InputCursor, { begin, to }: TrialSpan): InputCursor {
  return {
    next: () => {
      while (cursor.next()) if (cursor.at >= begin) return cursor.at < to;
      return false;
    },
    get at() { return cursor.at; },
    get input() { return cursor.input; },
  };
}

/** Returns what a decision says of a strategy that threw and was stopped: the engine says so in its name. Empty for any other one. */
export function stopOf({ strategy, proposal }: Pick<LoggedDecision, 'proposal' | 'strategy'>): string[] {
  const said = `strategy ${strategy} stopped: `;
  return proposal.kind === 'alert' && proposal.level === 'critical' && proposal.message.startsWith(said) ? [printable(proposal.message, 500)] : [];
}

function resultOf({ id, keep }: Trial, { result, record, series, assessment, warnings }: MeasuredRun): TrialResult {
  // How many trials there are is for whoever runs them to say.
  const ofTrials = new Set(assessment.warnings.filter(({ code }) => code === 'trials_unknown').map(({ message }) => message));
  return {
    kind: 'done', id,
    events: result.events,
    decisions: result.decisions,
    decisionHash: result.decisionHash,
    fills: result.fills.length,
    denials: result.denials,
    idle: idleShare(result),
    equity: { start: series.values[0] ?? null, end: series.values.at(-1) ?? null },
    metrics: assessment.metrics,
    returns: returnsOf(assessment),
    warnings: warnings.filter((warning) => !ofTrials.has(warning)),
    ...(keep === undefined ? {} : { record }),
  };
}
