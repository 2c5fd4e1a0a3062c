import type { BoxedContext, PreparedCall } from '../../boxed/boxed-context.ts';
import { asJson, asText } from './sweep-answer.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { readGridFile } from '../../input/grid-file.ts';
import { openResearchInput } from '../../input/open-research-input.ts';
import { progressLine } from '../../output/progress.ts';
import { reportFile } from '../../output/report-file.ts';
import type { Millis } from '../../../core/time.ts';
import { renderSweep } from '../../../report/sweep-report.ts';
import { writePage } from '../../../report/write-report.ts';
import { openFinishedTrials, trialBasis } from '../../../research/sweep/finished-trials.ts';
import { runSweep } from '../../../research/sweep/run-sweep.ts';
import type { ObjectiveName } from '../../../research/trials/objectives.ts';
import { openTrialCounter } from '../../../research/trials/trial-counter.ts';

interface SweepFlags {
  readonly grid: string;
  readonly workers?: number;
  readonly objective: ObjectiveName;
  readonly report?: string;
  readonly trialLimit?: Millis;
  readonly fresh?: boolean;
}

/** Runs a sweep and prints its result. */
export async function sweep(context: BoxedContext, call: PreparedCall): Promise<ExitCode> {
  const { terminal, options, interrupt, host } = context;
  const flags = call.flags as SweepFlags;
  const input = await openResearchInput(context, call);
  const grid = await readGridFile(flags.grid, input.config);
  const finished = openFinishedTrials(options.stateDir, await trialBasis(input), {
    fresh: flags.fresh ?? false, sync: host.syncTrials,
  });
  const counter = await openTrialCounter({ openLog: () => host.openTrialLog(), subject: input });
  try {
    const progress = progressLine(terminal, 'trials');
    const outcome = await runSweep({
      input, grid, finished, counter, interrupt, onProgress: progress.show,
      objective: flags.objective, workers: flags.workers, limitMs: flags.trialLimit,
      box: host.workers,
    }).finally(progress.end);
    const report = reportFile(flags.report, (path) => writePage(path, renderSweep(outcome)), terminal);
    terminal.result(asJson(outcome, report.path), () => asText(outcome, report.path));
    const isUsable = outcome.rows.length > 0 && outcome.best?.isRepeatable !== false;
    return isUsable && !report.isLost ? EXIT.done : EXIT.failed;
  } finally {
    finished.close();
    counter.close();
  }
}
