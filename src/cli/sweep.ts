import type { ObjectiveName } from '../backtest/objectives.ts';
import { DEFAULT_OBJECTIVE } from '../backtest/objectives.ts';
import type { Millis } from '../core/time.ts';
import { formatDuration } from '../core/time.ts';
import { writeWhole } from './backtest-report.ts';
import { makeRoomFor } from './file-places.ts';
import type { CommandContext, CommandModule } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { reportFile } from './report-file.ts';
import { durationFlag, OBJECTIVE_NAMES, objectiveName, workerCount } from './research/flags.ts';
import { readGridFile } from './research/grid-file.ts';
import { openSubject } from './research/subject.ts';
import { openTrialCounter } from './research/trial-counter.ts';
import { DEFAULT_TRIAL_LIMIT_MS } from './research/trial-pool.ts';
import { asJson, asText } from './sweep/answer.ts';
import { openFinishedTrials } from './sweep/finished-trials.ts';
import { renderSweep } from './sweep/report.ts';
import { runSweep } from './sweep/run-sweep.ts';
import { trialBasis } from './sweep/trial-basis.ts';

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
    .description('tries parameters of strategies over a recording, and says how far the best can be believed')
    .requiredOption('--recording <dir>', 'a recording: its folder, or the id of the run that made it')
    .requiredOption('--grid <file>', 'which parameters to try: { params: { <strategy>.<parameter>: [values] | { from, to, step } } }')
    .option('--workers <n>', 'threads; the results are the same with any number (default: as many as the machine runs at once)', workerCount)
    .option('--objective <name>', `what is best: ${OBJECTIVE_NAMES}`, objectiveName, DEFAULT_OBJECTIVE)
    .option('--report <file>', 'also writes the report, as one HTML file that needs nothing else; its folder is made where there is none')
    .option('--trial-limit <duration>', `how long one trial may take before it has failed (default: ${formatDuration(DEFAULT_TRIAL_LIMIT_MS)})`, durationFlag)
    .option('--fresh', 'runs everything again, also what an earlier sweep has finished')
    .action(run(async (context: CommandContext, file: string, flags: SweepFlags) => {
      const { terminal, options } = context;
      if (flags.report !== undefined) makeRoomFor(flags.report, '--report');
      const subject = await openSubject(context, { file, recording: flags.recording });
      const grid = await readGridFile(flags.grid, subject.config);
      const finished = openFinishedTrials(options.stateDir, await trialBasis(subject), { fresh: flags.fresh ?? false });
      const counter = await openTrialCounter({ stateDir: options.stateDir, subject });
      try {
        const outcome = await runSweep(context, { subject, grid, finished, counter, objective: flags.objective, workers: flags.workers, limitMs: flags.trialLimit });
        const report = reportFile(flags.report, (path) => writeWhole(path, renderSweep(outcome)), terminal);
        terminal.result(asJson(outcome, report.path), () => asText(outcome, report.path));
        return report.isLost || outcome.best?.isRepeatable === false || outcome.rows.length === 0 ? EXIT.failed : EXIT.done;
      } finally {
        finished.close();
        counter.close();
      }
    }));
};
