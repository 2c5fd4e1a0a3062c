import { longestWarmup } from '../backtest/backtest.ts';
import { withTrials } from '../backtest/metrics/deflated.ts';
import { counted, grouped } from '../core/counted.ts';
import type { ObjectiveName } from '../backtest/objectives.ts';
import { DEFAULT_OBJECTIVE } from '../backtest/objectives.ts';
import { MOST_TRIALS } from '../backtest/sweep/grid.ts';
import type { OpenPool, WalkForwardResult } from '../backtest/walk-forward.ts';
import { walkForward } from '../backtest/walk-forward.ts';
import { foldPlan } from '../backtest/walk-forward/folds.ts';
import { renderWalkForward } from '../backtest/walk-forward/report.ts';
import { GannetError } from '../core/errors.ts';
import type { Millis } from '../core/time.ts';
import type { TrialCount } from '../store/trial-log.ts';
import { writeWhole } from './backtest-report.ts';
import { makeRoomFor } from './file-places.ts';
import type { CommandContext, CommandModule } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { reportFile } from './report-file.ts';
import { durationFlag, OBJECTIVE_NAMES, objectiveName, workerCount } from './research/flags.ts';
import { readGridFile } from './research/grid-file.ts';
import { planTrials } from './research/plan-trials.ts';
import { progressLine } from './progress.ts';
import type { Subject } from './research/subject.ts';
import { openSubject } from './research/subject.ts';
import type { TrialCounter } from './research/trial-counter.ts';
import { openTrialCounter } from './research/trial-counter.ts';
import { createTrialPool } from './research/trial-pool.ts';
import type { WalkForwardAnswer } from './walk-forward/answer.ts';
import { reportInput } from './walk-forward/answer.ts';
import { asJson } from './walk-forward/answer-json.ts';
import { asText } from './walk-forward/answer-text.ts';
import { warningsOf } from './walk-forward/warnings.ts';

interface WalkForwardFlags {
  readonly recording: string;
  readonly grid: string;
  readonly inSample: Millis;
  readonly outOfSample: Millis;
  readonly objective: ObjectiveName;
  readonly anchored?: boolean;
  readonly workers?: number;
  readonly report?: string;
}

export const walkForwardCommand: CommandModule = (program, run) => {
  program.command('walk-forward <config>')
    .description('chooses parameters by one part of a recording, judges them by the next, and rolls on')
    .requiredOption('--recording <dir>', 'a recording: its folder, or the id of the run that made it')
    .requiredOption('--grid <file>', 'which parameters to choose among: { params: { <strategy>.<parameter>: [values] | { from, to, step } } }')
    .requiredOption('--in-sample <duration>', 'how much to choose by, such as 10d', durationFlag)
    .requiredOption('--out-of-sample <duration>', 'how much to judge by, such as 2d; also how far each fold goes on', durationFlag)
    .option('--objective <name>', `what is best: ${OBJECTIVE_NAMES}`, objectiveName, DEFAULT_OBJECTIVE)
    .option('--anchored', 'every choice looks back to the beginning, not only over --in-sample')
    .option('--workers <n>', 'threads; the results are the same with any number (default: as many as the machine runs at once)', workerCount)
    .option('--report <file>', 'also writes the report, as one HTML file that needs nothing else; its folder is made where there is none')
    .action(run(async (context: CommandContext, file: string, flags: WalkForwardFlags) => {
      const { terminal, options } = context;
      if (flags.report !== undefined) makeRoomFor(flags.report, '--report');
      const subject = await openSubject(context, { file, recording: flags.recording });
      const counter = await openTrialCounter({ stateDir: options.stateDir, subject });
      try {
        const answer = await walk(context, { subject, counter, flags });
        const report = reportFile(flags.report, (path) => writeWhole(path, renderWalkForward(reportInput(answer))), terminal);
        terminal.result(asJson(answer, report.path), () => asText(answer, report.path));
        return !report.isLost && answer.result.deviation === undefined && answer.result.joined !== undefined ? EXIT.done : EXIT.failed;
      } finally {
        counter.close();
      }
    }));
};

async function walk({ interrupt, terminal }: CommandContext, { subject, counter, flags }: {
  readonly subject: Subject;
  readonly counter: TrialCounter;
  readonly flags: WalkForwardFlags;
}): Promise<WalkForwardAnswer> {
  const { config, recording, setup } = subject;
  const { inSample: inSampleMs, outOfSample: outOfSampleMs, objective, anchored = false } = flags;
  const plan = foldPlan({ firstAt: setup.firstAt, lastAt: setup.lastAt, warmupMs: longestWarmup(setup.strategies), inSampleMs, outOfSampleMs, anchored });
  const grid = await readGridFile(flags.grid, config);
  const { trials: planned, refused } = await planTrials(grid, subject, interrupt);
  const all = plan.folds.length * planned.length;
  if (all > MOST_TRIALS) {
    throw new GannetError('USAGE', `${counted(plan.folds.length, 'fold')} of ${counted(planned.length, 'parameter set')} are ${counted(all, 'trial')}, more than ${grouped(String(MOST_TRIALS))}: take a coarser grid, or a longer --out-of-sample`);
  }
  const progress = progressLine(terminal, 'trials');
  const openPool: OpenPool = (purpose) => createTrialPool(setup, { workers: purpose === 'judge' ? 1 : flags.workers, interrupt, recording });
  const result = await walkForward(openPool, { folds: plan.folds, sets: planned.map(({ trial }) => trial.params), objective, onProgress: progress.show });
  progress.end();
  counter.count(result.trials, { areFolds: true });
  const trials = countItself(result, { counter, terms: { grid, in_sample_ms: inSampleMs, out_of_sample_ms: outOfSampleMs, anchored, objective } });
  const deflated = deflatedBy(result, trials);
  return {
    subject, plan, objective, anchored, inSampleMs, outOfSampleMs, trials, result: deflated, sets: planned.map(({ trial }) => trial.params),
    warnings: [...counter.warnings, ...warningsOf(deflated, { subject, plan, refused })],
  };
}

function countItself({ joined }: WalkForwardResult, { counter, terms }: { readonly counter: TrialCounter; readonly terms: unknown }): TrialCount | undefined {
  if (joined === undefined) return undefined;
  const { times } = joined.series;
  return counter.countWalkForward({ terms, period: { from: times[0]!, to: times.at(-1)! + 1 }, sharpe: joined.assessment.metrics.sharpe });
}

function deflatedBy(result: WalkForwardResult, trials: TrialCount | undefined): WalkForwardResult {
  const { joined } = result;
  return joined === undefined || trials === undefined ? result : { ...result, joined: { ...joined, assessment: withTrials(joined.assessment, trials) } };
}
