import { limitedBy } from '../../backtest/denied.ts';
import { OBJECTIVES } from '../../backtest/objectives.ts';
import type { Benchmark } from '../../backtest/record/run-figures.ts';
import type { DoneTrial } from '../../backtest/trial.ts';
import type { FoldOutcome } from '../../backtest/walk-forward/fold-outcome.ts';
import type { TradedPeriod } from '../../backtest/walk-forward/folds.ts';
import { walkForwardVerdict } from '../../backtest/walk-forward/verdict.ts';
import { formatDuration } from '../../core/time.ts';
import { equityJson } from '../equity-json.ts';
import { trialsJson } from '../research/trials-text.ts';
import type { WalkForwardAnswer } from './answer.ts';

/** Returns an answer for scripts. `report` is where the report was written. */
export function asJson(answer: WalkForwardAnswer, report: string | undefined): unknown {
  const { subject: { setup: { currency } }, sets, objective, anchored, inSampleMs, outOfSampleMs, result, trials, warnings } = answer;
  const { folds, joined, judged, positive, efficiency, stability } = result;
  const benchmarkJson = (benchmark: Benchmark | undefined): unknown => (benchmark === undefined ? null : {
    equity: equityJson(benchmark.series.values, currency), metrics: benchmark.assessment.metrics,
  });
  return {
    terms: { objective, in_sample: formatDuration(inSampleMs), out_of_sample: formatDuration(outOfSampleMs), anchored, parameter_sets: sets.length },
    folds: folds.map((fold) => foldJson(fold, answer)),
    judged_folds: judged,
    positive_folds: positive,
    efficiency: efficiency ?? null,
    stability: {
      choices: stability.choices, changes: stability.changes,
      parameters: stability.parameters.map(({ strategy, parameter, changes, values }) => ({ strategy, parameter, changes, values })),
    },
    out_of_sample: joined === undefined ? null : {
      period: periodJson({ from: joined.series.times[0]!, to: joined.series.times.at(-1)! }),
      equity: equityJson(joined.series.values, currency),
      metrics: joined.assessment.metrics,
      sharpe_interval: joined.assessment.sharpeInterval ?? null,
      benchmarks: { buy_and_hold: benchmarkJson(joined.benchmarks.buy_and_hold), dca: benchmarkJson(joined.benchmarks.dca), cash: benchmarkJson(joined.benchmarks.cash) },
    },
    repeatable: result.deviation === undefined,
    trials: trialsJson(trials),
    verdict: walkForwardVerdict(result),
    warnings,
    figure_warnings: joined?.assessment.warnings ?? [],
    report: report ?? null,
  };
}

function foldJson({ fold, tried, choice, outOfSample, status, reason }: FoldOutcome, { objective, subject: { setup: { currency } } }: WalkForwardAnswer): unknown {
  const { valueOf } = OBJECTIVES[objective];
  const count = (kind: string): number => tried.filter((result) => result.kind === kind).length;
  return {
    number: fold.number,
    status,
    reason: reason ?? null,
    params: choice?.params ?? null,
    in_sample: {
      period: periodJson(fold.inSample),
      done: count('done'), refused: count('refused'), failed: count('failed'),
      objective: choice?.value ?? null,
      fills: choice?.inSample.fills ?? null,
      ...limitsJson(choice?.inSample),
      decision_hash: choice?.inSample.decisionHash ?? null,
      metrics: choice?.inSample.metrics ?? null,
    },
    out_of_sample: {
      period: periodJson(fold.outOfSample),
      objective: outOfSample === undefined ? null : valueOf(outOfSample),
      events: outOfSample?.events ?? null,
      fills: outOfSample?.fills ?? null,
      ...limitsJson(outOfSample),
      decision_hash: outOfSample?.decisionHash ?? null,
      equity: equityJson(outOfSample === undefined ? [] : [outOfSample.equity.start, outOfSample.equity.end].filter((value) => value !== null), currency),
      metrics: outOfSample?.metrics ?? null,
    },
  };
}

/** What was refused, and the code of most of it where the limits made the result. */
function limitsJson(result: DoneTrial | undefined): { readonly denials: DoneTrial['denials'] | null; readonly limited_by: string | null } {
  return result === undefined ? { denials: null, limited_by: null } : { denials: result.denials, limited_by: limitedBy(result)?.code ?? null };
}

function periodJson({ from, to }: TradedPeriod): unknown {
  return { start: new Date(from).toISOString(), end: new Date(to).toISOString() };
}
