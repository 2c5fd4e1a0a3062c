import { longestWarmup } from '../../../backtest/backtest.ts';
import type { BoxedContext, PreparedCall } from '../../boxed/boxed-context.ts';
import type { WalkForwardAnswer } from './walk-forward-answer.ts';
import { asJson, asText, reportInput } from './walk-forward-answer.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { readGridFile } from '../../input/grid-file.ts';
import { openResearchInput } from '../../input/open-research-input.ts';
import { progressLine } from '../../output/progress.ts';
import { reportFile } from '../../output/report-file.ts';
import { GannetError } from '../../../core/errors.ts';
import { groupThousands, pluralize } from '../../../core/text.ts';
import type { Millis } from '../../../core/time.ts';
import { renderWalkForward } from '../../../report/walk-forward-report.ts';
import { writePage } from '../../../report/write-report.ts';
import { withTrials } from '../../../research/metrics/deflated-sharpe.ts';
import type { ResearchInput } from '../../../research/research-input.ts';
import { MOST_TRIALS } from '../../../research/sweep/grid.ts';
import type { ObjectiveName } from '../../../research/trials/objectives.ts';
import { planTrials } from '../../../research/trials/plan-trials.ts';
import type { TrialCounter } from '../../../research/trials/trial-counter.ts';
import { openTrialCounter } from '../../../research/trials/trial-counter.ts';
import { createTrialPool } from '../../../research/trials/trial-pool.ts';
import { foldPlan } from '../../../research/walk-forward/folds.ts';
import { warningsOf } from '../../../research/walk-forward/walk-forward-verdict.ts';
import type { OpenPool, WalkForwardResult } from '../../../research/walk-forward/walk-forward.ts';
import { walkForward } from '../../../research/walk-forward/walk-forward.ts';
import type { TrialCount } from '../../../store/trial-log.ts';

interface WalkForwardFlags {
  readonly grid: string;
  readonly inSample: Millis;
  readonly outOfSample: Millis;
  readonly objective: ObjectiveName;
  readonly anchored?: boolean;
  readonly workers?: number;
  readonly report?: string;
}

/** Runs a walk-forward and prints its result. */
export async function walkForwardAction(context: BoxedContext, call: PreparedCall): Promise<ExitCode> {
  const { terminal, host } = context;
  const flags = call.flags as WalkForwardFlags;
  const input = await openResearchInput(context, call);
  const counter = await openTrialCounter({ openLog: () => host.openTrialLog(), subject: input });
  try {
    const answer = await walk(context, { input, counter, flags });
    const report =
      reportFile(flags.report, (path) => writePage(path, renderWalkForward(reportInput(answer))), terminal);
    terminal.result(asJson(answer, report.path), () => asText(answer, report.path));
    return !report.isLost && answer.result.deviation === undefined && answer.result.joined !== undefined
      ? EXIT.done : EXIT.failed;
  } finally {
    counter.close();
  }
}

async function walk({ interrupt, terminal, host }: BoxedContext, { input, counter, flags }: {
  readonly input: ResearchInput;
  readonly counter: TrialCounter;
  readonly flags: WalkForwardFlags;
}): Promise<WalkForwardAnswer> {
  const { config, recording, setup } = input;
  const { inSample: inSampleMs, outOfSample: outOfSampleMs, objective, anchored = false } = flags;
  const plan = foldPlan({
    firstAt: setup.firstAt, lastAt: setup.lastAt, warmupMs: longestWarmup(setup.strategies), inSampleMs, outOfSampleMs,
    anchored,
  });
  const grid = await readGridFile(flags.grid, config);
  const { trials: planned, refused } = await planTrials(grid, input, interrupt);
  const all = plan.folds.length * planned.length;
  if (all > MOST_TRIALS) {
    throw new GannetError('USAGE', `${pluralize(plan.folds.length, 'fold')} of `
      + `${pluralize(planned.length, 'parameter set')} are ${pluralize(all, 'trial')}; at most `
      + `${groupThousands(String(MOST_TRIALS))} are allowed: take a coarser grid, or a longer --out-of-sample`);
  }
  const progress = progressLine(terminal, 'trials');
  const openPool: OpenPool = (purpose) => createTrialPool(setup, {
    workers: purpose === 'judge' ? 1 : flags.workers, interrupt, recording, box: host.workers,
  });
  const result = await walkForward(openPool, {
    folds: plan.folds, sets: planned.map(({ trial }) => trial.params), objective, onProgress: progress.show,
  });
  progress.end();
  counter.count(result.trials, { areFolds: true });
  const trials = countItself(result, {
    counter, terms: { grid, in_sample_ms: inSampleMs, out_of_sample_ms: outOfSampleMs, anchored, objective },
  });
  const deflated = deflatedBy(result, trials);
  return {
    input, plan, objective, anchored, inSampleMs, outOfSampleMs, trials, result: deflated,
    sets: planned.map(({ trial }) => trial.params),
    warnings: [...counter.warnings, ...warningsOf(deflated, { subject: input, plan, refused })],
  };
}

function countItself(
  { joined }: WalkForwardResult, { counter, terms }: { readonly counter: TrialCounter; readonly terms: unknown },
): TrialCount | undefined {
  if (joined === undefined) return undefined;
  const { times } = joined.series;
  return counter.countWalkForward({
    terms, period: { from: times[0]!, to: times.at(-1)! + 1 }, sharpe: joined.assessment.metrics.sharpe,
  });
}

function deflatedBy(result: WalkForwardResult, trials: TrialCount | undefined): WalkForwardResult {
  const { joined } = result;
  return joined === undefined || trials === undefined ? result
    : { ...result, joined: { ...joined, assessment: withTrials(joined.assessment, trials) } };
}
