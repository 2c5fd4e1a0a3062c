import type { CommandContext, CommandModule } from '../../command.ts';
import { example } from '../../command.ts';
import { asJson, asText } from './sweep-answer.ts';
import { EXIT } from '../../exit-codes.ts';
import { ensureWritable } from '../../input/files.ts';
import { durationFlag } from '../../input/flags.ts';
import { readGridFile } from '../../input/grid-file.ts';
import { openResearchInput } from '../../input/open-research-input.ts';
import { GRID_FLAG, OBJECTIVE_FLAG, RECORDING_FLAG, REPORT_FLAG, WORKERS_FLAG } from '../../input/research-flags.ts';
import { progressLine } from '../../output/progress.ts';
import { reportFile } from '../../output/report-file.ts';
import type { Millis } from '../../../core/time.ts';
import { formatDuration } from '../../../core/time.ts';
import { renderSweep } from '../../../report/sweep-report.ts';
import { writePage } from '../../../report/write-report.ts';
import { openFinishedTrials, trialBasis } from '../../../research/sweep/finished-trials.ts';
import { runSweep } from '../../../research/sweep/run-sweep.ts';
import type { ObjectiveName } from '../../../research/trials/objectives.ts';
import { openTrialCounter } from '../../../research/trials/trial-counter.ts';
import { DEFAULT_TRIAL_LIMIT_MS } from '../../../research/trials/trial-pool.ts';

interface SweepFlags {
  readonly recording: string;
  readonly grid: string;
  readonly workers?: number;
  readonly objective: ObjectiveName;
  readonly report?: string;
  readonly trialLimit?: Millis;
  readonly fresh?: boolean;
}

export const sweepCommand: CommandModule = (program, run) => {
  program.command('sweep <config>')
    .description('runs the parameters of a grid over a recording, and says how reliable the best result is')
    .addHelpText('after', example('gannet sweep config/sma-crossover.yaml --recording synthetic-30d-7 \\\n'
      + '    --grid config/sma-crossover.grid.yaml'))
    .requiredOption(...RECORDING_FLAG)
    .requiredOption(...GRID_FLAG)
    .option(...WORKERS_FLAG)
    .option(...OBJECTIVE_FLAG)
    .option(...REPORT_FLAG)
    .option(
      '--trial-limit <duration>', `time limit of one trial (default: ${formatDuration(DEFAULT_TRIAL_LIMIT_MS)})`,
      durationFlag,
    )
    .option('--fresh', 'runs every trial again, also those that an earlier sweep has finished')
    .action(run(async (context: CommandContext, file: string, flags: SweepFlags) => {
      const { terminal, options, interrupt } = context;
      if (flags.report !== undefined) ensureWritable(flags.report, '--report');
      const input = await openResearchInput(context, { file, recording: flags.recording });
      const grid = await readGridFile(flags.grid, input.config);
      const finished = openFinishedTrials(options.stateDir, await trialBasis(input), { fresh: flags.fresh ?? false });
      const counter = await openTrialCounter({ stateDir: options.stateDir, subject: input });
      try {
        const progress = progressLine(terminal, 'trials');
        const outcome = await runSweep({
          input, grid, finished, counter, interrupt, onProgress: progress.show,
          objective: flags.objective, workers: flags.workers, limitMs: flags.trialLimit,
        }).finally(progress.end);
        const report = reportFile(flags.report, (path) => writePage(path, renderSweep(outcome)), terminal);
        terminal.result(asJson(outcome, report.path), () => asText(outcome, report.path));
        const isUsable = outcome.rows.length > 0 && outcome.best?.isRepeatable !== false;
        return isUsable && !report.isLost ? EXIT.done : EXIT.failed;
      } finally {
        finished.close();
        counter.close();
      }
    }));
};
