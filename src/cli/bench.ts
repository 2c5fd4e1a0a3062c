import { GannetError } from '../core/errors.ts';
import { nearest } from '../core/nearest.ts';
import { BACKTEST_ROWS } from './bench/backtest-rows.ts';
import type { BenchRow, Measurement } from './bench/measurement.ts';
import { JOURNAL_ROWS } from './bench/journal-row.ts';
import { POLICY_ROWS } from './bench/policy-rows.ts';
import { RECORDING_ROWS } from './bench/recording-rows.ts';
import { createSandboxRows } from './bench/sandbox-rows.ts';
import { START_ROWS } from './bench/start-rows.ts';
import type { CommandModule } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { table } from './table.ts';

export const benchCommand: CommandModule = (program, run) => {
  program.command('bench')
    .description('measures the budgets: medians of several runs with their extremes')
    .option('--only <name>', 'one row')
    .action(run(async ({ terminal, connectSigner }, flags: { readonly only?: string }) => {
      const measurements: Measurement[] = [];
      const sandbox = createSandboxRows(connectSigner);
      try {
        for (const { name, measure } of chosen(flags.only, [...BACKTEST_ROWS, ...RECORDING_ROWS, ...sandbox.rows, ...POLICY_ROWS, ...JOURNAL_ROWS, ...START_ROWS])) {
          if (process.stderr.isTTY) terminal.err(`measuring ${name} …\n`);
          measurements.push(await measure());
        }
      } finally {
        await sandbox.close();
      }
      terminal.result(measurements, () => asText(measurements, terminal.colour));
      return EXIT.done;
    }));
};

function chosen(only: string | undefined, all: readonly BenchRow[]): readonly BenchRow[] {
  if (only === undefined) return all;
  const rows = all.filter(({ name }) => name === only);
  if (rows.length > 0) return rows;
  const names = all.map(({ name }) => name);
  const close = nearest(only, names);
  throw new GannetError('USAGE', `expected one of ${names.join(', ')}, got "${only}"${close === undefined ? '' : ` (did you mean ${close}?)`}`);
}

function asText(measurements: readonly Measurement[], colour: boolean): string {
  const rows = measurements.map(({ name, value, unit, runs, min, max }) => [name, show(value), unit, String(runs), show(min), show(max)]);
  return table([['row', 'median', 'unit', 'runs', 'min', 'max'], ...rows], { right: [1, 3, 4, 5], colour });
}

function show(value: number): string {
  return value >= 1_000 ? Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ',') : String(value);
}
