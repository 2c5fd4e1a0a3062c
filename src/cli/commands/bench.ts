import { join } from 'node:path';
import { BACKTEST_ROWS, MEMORY_ROWS, SWEEP_ROWS } from '../../bench/backtest-rows.ts';
import { DAEMON_ROWS } from '../../bench/daemon-rows.ts';
import { PAGE_ROWS } from '../../bench/page-rows.ts';
import { START_ROWS } from '../../bench/start-rows.ts';
import { HOST_ROWS } from '../../bench/host-rows.ts';
import type { BenchRow, Measurement } from '../../bench/measurement.ts';
import { profiled } from '../../bench/measurement.ts';
import { JOURNAL_ROWS, POLICY_ROWS } from '../../bench/policy-rows.ts';
import { RECORDING_ROWS } from '../../bench/recording-rows.ts';
import { createSandboxRows } from '../../bench/sandbox-rows.ts';
import { GannetError } from '../../core/errors.ts';
import { nearest } from '../../core/text.ts';
import type { CommandModule } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { table } from '../output/table.ts';

interface BenchFlags {
  readonly only?: string;
  readonly cpuProf?: string | true;
}

export const benchCommand: CommandModule = (program, run) => {
  program.command('bench')
    .description('measures the performance budgets: the median of several runs with the extremes')
    .option('--only <names>', 'the rows to measure, separated by commas')
    .option('--cpu-prof [dir]', 'also writes a CPU profile of this process per row, <row>.cpuprofile (default: '
      + 'profiles of the state directory); slows the rows down')
    .action(run(async ({ terminal, options, connectSigner }, flags: BenchFlags) => {
      const measurements: Measurement[] = [];
      const sandbox = createSandboxRows(connectSigner);
      const profiles = flags.cpuProf === true ? join(options.stateDir, 'profiles') : flags.cpuProf;
      try {
        const all = [
          ...BACKTEST_ROWS, ...SWEEP_ROWS, ...MEMORY_ROWS, ...RECORDING_ROWS, ...sandbox.rows, ...POLICY_ROWS,
          ...JOURNAL_ROWS, ...HOST_ROWS, ...START_ROWS, ...DAEMON_ROWS, ...PAGE_ROWS,
        ];
        for (const { name, measure } of chosen(flags.only, all)) {
          if (process.stderr.isTTY) terminal.err(`measuring ${name} …\n`);
          measurements.push(profiles === undefined ? await measure()
            : await profiled(measure, { dir: profiles, name }));
        }
      } finally {
        await sandbox.close();
      }
      terminal.result(measurements, () => asText(measurements, terminal.colour));
      if (profiles !== undefined) terminal.err(`profiles are in ${profiles}\n`);
      return EXIT.done;
    }));
};

/** Returns the named rows in the order of the table. Throws USAGE for an unknown name. */
function chosen(only: string | undefined, all: readonly BenchRow[]): readonly BenchRow[] {
  if (only === undefined) return all;
  const names = all.map(({ name }) => name);
  const wanted = only.split(',').map((name) => name.trim());
  for (const name of wanted) {
    if (names.includes(name)) continue;
    const close = nearest(name, names);
    throw new GannetError(
      'USAGE',
      `expected rows of ${names.join(', ')}, got "${name}"${close === undefined ? '' : ` (did you mean ${close}?)`}`,
    );
  }
  return all.filter(({ name }) => wanted.includes(name));
}

function asText(measurements: readonly Measurement[], colour: boolean): string {
  const rows = measurements.map(({ name, value, unit, runs, min, max }) =>
    [name, show(value), unit, String(runs), show(min), show(max)]);
  return table([['row', 'median', 'unit', 'runs', 'min', 'max'], ...rows], { right: [1, 3, 4, 5], colour });
}

function show(value: number): string {
  return value >= 1_000 ? Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ',') : String(value);
}
