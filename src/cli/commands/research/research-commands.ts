import type { BoxedCommand, CommandContext, CommandModule } from '../../command.ts';
import { example } from '../../command.ts';
import { durationFlag, wholeNumber } from '../../input/flags.ts';
import {
  GRID_FLAG, OBJECTIVE_FLAG, RECORDING_FLAG, REPORT_FLAG, TIMERANGE_FLAG, WORKERS_FLAG,
} from '../../input/research-flags.ts';
import type { TimeRange } from '../../../recording/reader.ts';
import { formatDuration } from '../../../core/time.ts';
import { DEFAULT_TRIAL_LIMIT_MS } from '../../../research/trials/trial.ts';

// Definitions alone: what these commands do runs strategy code, and so runs in a boxed process.

export const backtestCommand: CommandModule = (program, run) => {
  program.command('backtest <config>')
    .description('runs the strategies of a configuration over a recording, with simulated fills')
    .addHelpText('after', example('gannet backtest config/dca.yaml --recording synthetic-30d-7'))
    .requiredOption(...RECORDING_FLAG)
    .option(...TIMERANGE_FLAG)
    .option(...REPORT_FLAG)
    .option('--grid', 'also runs under other latencies and costs (default: with --report, up to 3 million events)')
    .option('--no-grid', 'never runs under other latencies and costs')
    .option('--trades <file>', 'also writes every trade, as CSV')
    .action(run(onRecording('backtest')));
};

export const sweepCommand: CommandModule = (program, run) => {
  program.command('sweep <config>')
    .description('runs the parameters of a grid over a recording, and says how reliable the best result is')
    .addHelpText('after', example('gannet sweep config/sma-crossover.yaml --recording synthetic-30d-7 \\\n'
      + '    --grid config/sma-crossover.grid.yaml'))
    .requiredOption(...RECORDING_FLAG)
    .option(...TIMERANGE_FLAG)
    .requiredOption(...GRID_FLAG)
    .option(...WORKERS_FLAG)
    .option(...OBJECTIVE_FLAG)
    .option(...REPORT_FLAG)
    .option(
      '--trial-limit <duration>', `time limit of one trial (default: ${formatDuration(DEFAULT_TRIAL_LIMIT_MS)})`,
      durationFlag,
    )
    .option('--fresh', 'runs every trial again, also those that an earlier sweep has finished')
    .action(run(onRecording('sweep')));
};

export const walkForwardCommand: CommandModule = (program, run) => {
  program.command('walk-forward <config>')
    .description('chooses parameters on one part of a recording, tests them on the next part, and moves on')
    .addHelpText('after', example('gannet walk-forward config/sma-crossover.yaml --recording synthetic-30d-7 \\\n'
      + '    --grid config/sma-crossover.grid.yaml --in-sample 10d --out-of-sample 2d'))
    .requiredOption(...RECORDING_FLAG)
    .option(...TIMERANGE_FLAG)
    .requiredOption(...GRID_FLAG)
    .requiredOption('--in-sample <duration>', 'the time to choose on, such as 10d', durationFlag)
    .requiredOption(
      '--out-of-sample <duration>', 'the time to test on, such as 2d; also the step between folds', durationFlag,
    )
    .option(...OBJECTIVE_FLAG)
    .option('--anchored', 'every choice uses the recording from its start, not only --in-sample')
    .option(...WORKERS_FLAG)
    .option(...REPORT_FLAG)
    .action(run(onRecording('walk-forward')));
};

export const lookaheadCommand: CommandModule = (program, run) => {
  program.command('lookahead <config>')
    .description('changes the future of a recording and reports decisions that differ before the change')
    .requiredOption(...RECORDING_FLAG)
    .option(...TIMERANGE_FLAG)
    .option('--times <n>', 'the number of instants at which the future is changed', wholeNumber(1, 999_999), 9)
    .option('--seed <n>', 'the seed of the instants and of the noise', wholeNumber(1, 999_999), 1)
    .option('--warm-up', 'also checks whether a longer history before the start changes decisions')
    .action(run(onRecording('lookahead')));
};

export const replayCommand: CommandModule = (program, run) => {
  program.command('replay <run>')
    .description('repeats a recorded run and compares every decision; takes the id or the folder of the run')
    .action(run(async (context: CommandContext, name: string) =>
      context.runBoxed(context, { command: 'replay', run: name, flags: {} })));
};

/** The options that name files, and the part of the recording. */
interface FileFlags {
  readonly timerange?: TimeRange;
  readonly recording: string;
  readonly grid?: string | boolean;
  readonly report?: string;
  readonly trades?: string;
}

function onRecording(command: BoxedCommand) {
  return async (context: CommandContext, file: string, flags: FileFlags) => {
    const { recording, grid, report, trades, timerange } = flags;
    return context.runBoxed(context, {
      command, file, recording, report, trades, timerange, flags, grid: typeof grid === 'string' ? grid : undefined,
    });
  };
}
