import { messageOf } from '../../core/errors.ts';
import type { ChunkedWork } from '../../core/chunked-work.ts';
import { printable } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import type { LoggedDecision } from '../../engine/decision-log.ts';
import type { RowSource } from '../../recording/shared/shared-source.ts';
import { longestWarmup } from '../../backtest/backtest.ts';
import { idleShare } from './denial-summary.ts';
import type { InputCursor } from '../../backtest/driver.ts';
import type { MeasuredRun } from './measured-run.ts';
import { measureInChunks } from './measured-run.ts';
import { returnsOf } from '../metrics/deflated-sharpe.ts';
import { goesOn, whileRunning } from '../box/phases.ts';
import type { RecordedChecks } from '../../backtest/recorded-checks.ts';
import { backtestCursor } from '../../backtest/recorded-checks.ts';
import { extremesStep, sampleStep } from '../../backtest/record/equity-sampler.ts';
import type { BacktestSetup, BacktestStrategy } from '../../backtest/setup.ts';
import { freshState, watchedTokens } from '../../backtest/setup.ts';
import type { Trial, TrialResult } from './trial.ts';
import { rawParamsIn } from './trial.ts';
import type { z } from 'zod';
import type { FeedKey } from '../../market/event.ts';
import type { Token } from '../../market/token.ts';
import { tokenTable } from '../../market/token.ts';
import { withTokens } from '../../strategy/params.ts';
import { missingFeeds } from '../../backtest/missing-feeds.ts';

/** A strategy of the configuration with its code, and with parameters as in the file. */
export interface UnparsedStrategy extends Omit<BacktestStrategy, 'params'> {
  readonly rawParams: unknown;
}

/** The context in which parameters are parsed: the known tokens, and the recorded feeds. */
interface ParsingContext {
  readonly tokens: readonly Token[];
  readonly feeds: readonly FeedKey[];
}

const LONGEST_REASON = 500;

/** Returns the strategies with the parameters of a trial, or the reason why it is refused. */
export function trialStrategies(
  trial: Pick<Trial, 'params'>, strategies: readonly UnparsedStrategy[], { tokens, feeds }: ParsingContext,
): readonly BacktestStrategy[] | string {
  const table = tokenTable(tokens);
  const read: BacktestStrategy[] = [];
  try {
    for (const { rawParams, ...strategy } of strategies) {
      const parsed = withTokens(table, () =>
        strategy.strategy.params.safeParse(rawParamsIn(trial, { name: strategy.name, rawParams })));
      if (!parsed.success) return `${strategy.name}: ${reasonOf(parsed.error)}`;
      read.push({ ...strategy, params: parsed.data });
    }
    const missing = missingFeeds(read, { feeds, tokens: table });
    return missing === undefined ? read : `the recording ${missing}`;
  } catch (error) {
    // A schema and `inputs` are the author's code, which may throw.
    return `the strategy fails on these parameters before it starts: ${printable(messageOf(error), LONGEST_REASON)}`;
  }
}

function reasonOf({ issues }: z.ZodError): string {
  return printable(
    issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`)).join('; '),
    LONGEST_REASON,
  );
}

/** The context that all trials share. */
export interface TrialContext {
  readonly setup: BacktestSetup;
  readonly strategies: readonly UnparsedStrategy[];
  readonly rows: RowSource;
  readonly checks: RecordedChecks;
  readonly stopwatch: () => Millis;
}

/** Runs a trial in this thread. A failure is its result; nothing is thrown. */
export function* runTrialInChunks(trial: Trial, context: TrialContext): ChunkedWork<TrialResult> {
  const { id } = trial;
  const strategies = whileRunning(context.strategies, () =>
    trialStrategies(trial, context.strategies, { tokens: context.setup.tokens, feeds: context.rows.feeds }));
  if (typeof strategies === 'string') return { kind: 'refused', id, reason: strategies };
  const span = spanOf(trial, context.setup, longestWarmup(strategies));
  if (span.from >= span.to) return {
    kind: 'refused', id,
    reason: 'the warm-up takes the whole recording up to the end of the period: no time is left to trade',
  };
  const stops: string[] = [];
  try {
    const run = yield* measureTrial(trial, {
      ...context, strategies, span, onDecision: (decision) => { stops.push(...stopMessages(decision)); },
    });
    return stops.length > 0 ? { kind: 'failed', id, reason: stops.join('; ') } : resultOf(trial, run);
  } catch (error) {
    return { kind: 'failed', id, reason: printable(messageOf(error), 500) };
  }
}

/** The rows of a trial from `begin`, with the warm-up, to before `end`; trading starts at `from`. */
interface TrialSpan {
  readonly begin: Millis;
  readonly from: Millis;
  readonly to: Millis;
}

/** A period that begins before the recording covers the warm-up begins after the warm-up. */
function spanOf({ period }: Trial, { firstAt, lastAt }: BacktestSetup, warmupMs: Millis): TrialSpan {
  const begin = period === undefined ? firstAt : Math.max(firstAt, period.from - warmupMs);
  return { begin, from: begin + warmupMs, to: period === undefined ? Infinity : Math.min(period.to, lastAt + 1) };
}

function* measureTrial({ model, period, keep }: Trial,
  { setup, strategies, rows, checks, stopwatch, span, onDecision }: Omit<TrialContext, 'strategies'> & {
    readonly strategies: readonly BacktestStrategy[];
    readonly span: TrialSpan;
    readonly onDecision: (decision: LoggedDecision) => void;
  }): ChunkedWork<MeasuredRun> {
  const spanMs = period === undefined ? setup.lastAt - setup.firstAt : span.to - span.from;
  return yield* measureInChunks({
    state: freshState(setup, strategies),
    strategies,
    seed: setup.seed,
    startAt: span.begin,
    cursor: period === undefined ? backtestCursor(rows, checks)
      : within(backtestCursor(rows.since(span.begin), checks), span),
    checks,
    feeds: rows.feeds,
    intervals: setup.intervals,
    model: model ?? setup.model,
    currency: setup.currency,
    stopwatch,
    onDecision,
    instruments: keep === undefined ? [] : watchedTokens(strategies, setup),
    everyMs: sampleStep(spanMs),
    // One of many trials is sampled less often. A trial whose record is shown is not one of many.
    extremesEveryMs: keep === undefined ? undefined : extremesStep(spanMs),
    endAt: keep === undefined ? undefined : Math.min(span.to, setup.lastAt),
    interval: false,
    keepsFills: keep !== undefined,
    isMadeUp: setup.isMadeUp,
  });
}

function within(cursor: InputCursor, { begin, to }: TrialSpan): InputCursor {
  return {
    next: () => {
      while (cursor.next()) {
        goesOn();
        if (cursor.at >= begin) return cursor.at < to;
      }
      return false;
    },
    get at() { return cursor.at; },
    get input() { return cursor.input; },
    quotes: (most) => {
      const run = cursor.quotes?.(most);
      return run && { ...run, since: begin, until: to };
    },
    skip: (rows) => cursor.skip?.(rows),
  };
}

/** Returns the engine's message about a strategy that threw and was stopped; empty for any other decision. */
export function stopMessages({ strategy, proposal }: Pick<LoggedDecision, 'proposal' | 'strategy'>): string[] {
  return proposal.kind === 'alert' && proposal.level === 'critical'
    && proposal.message.startsWith(`strategy ${strategy} stopped: `) ? [printable(proposal.message, 500)] : [];
}

function resultOf({ id, keep }: Trial, { result, record, series, assessment, warnings }: MeasuredRun): TrialResult {
  // The caller knows the number of trials.
  const ofTrials = new Set(assessment.warnings.filter(({ code }) => code === 'trials_unknown').map(({ message }) =>
    message));
  return {
    kind: 'done', id,
    events: result.events,
    decisions: result.decisions,
    decisionHash: result.decisionHash,
    fills: result.fillCount,
    denials: result.denials,
    idle: idleShare(result),
    equity: { start: series.values[0] ?? null, end: series.values.at(-1) ?? null },
    metrics: assessment.metrics,
    returns: returnsOf(assessment),
    warnings: warnings.filter((warning) => !ofTrials.has(warning)),
    ...(keep === undefined ? {} : { record }),
  };
}
