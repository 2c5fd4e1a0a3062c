import { GannetError } from '../core/errors.ts';
import { nearest } from '../core/nearest.ts';
import { BACKTEST_ROWS } from './bench/backtest-rows.ts';
import type { Measurement } from './bench/measurement.ts';
import { RECORDING_ROWS } from './bench/recording-rows.ts';
import { SANDBOX_ROWS } from './bench/sandbox-rows.ts';
import { START_ROWS } from './bench/start-rows.ts';
import type { CommandModule } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { table } from './table.ts';

const ROWS = [...BACKTEST_ROWS, ...RECORDING_ROWS, ...SANDBOX_ROWS, ...START_ROWS];

export const benchCommand: CommandModule = (program, run) => {
  program.command('bench')
    .description('measures the budgets: medians of several runs with their extremes')
    .option('--only <name>', 'one row')
    .action(run(async ({ terminal }, flags: { readonly only?: string }) => {
      const measurements: Measurement[] = [];
      for (const { name, measure } of chosen(flags.only)) {
        if (process.stderr.isTTY) terminal.err(`measuring ${name} …\n`);
        measurements.push(await measure());
      }
      terminal.result(measurements, () => asText(measurements, terminal.colour));
      return EXIT.done;
    }));
};

function chosen(only: string | undefined): typeof ROWS {
  if (only === undefined) return ROWS;
  const rows = ROWS.filter(({ name }) => name === only);
  if (rows.length > 0) return rows;
  const names = ROWS.map(({ name }) => name);
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
