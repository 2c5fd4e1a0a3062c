import { InvalidArgumentError } from 'commander';
import type { CommandContext, CommandModule } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { readSeries, unitWarning } from '../../input/series-file.ts';
import { metricsText } from '../../output/metrics-text.ts';
import type { Assessment } from '../../../research/metrics/metrics.ts';
import { assess } from '../../../research/metrics/metrics.ts';

interface AnalyzeFlags {
  readonly periodsPerYear?: number;
  readonly mar?: number;
  readonly riskFree?: number;
}

export const analyzeCommand: CommandModule = (program, run) => {
  program.command('analyze <file>')
    .description(
      'the metrics of an equity or return series: a CSV file, or "-", with the columns time,equity or return',
    )
    .option(
      '--periods-per-year <n>',
      'periods per year; required for returns, and for equity it makes each row a period', positiveNumber,
    )
    .option('--mar <x>', 'the minimum acceptable return per period, for Sortino (default: 0)', anyNumber)
    .option('--risk-free <x>', 'the risk-free return per period, for Sharpe (default: 0)', anyNumber)
    .action(run(async (
      { terminal, interrupt }: CommandContext, file: string, { periodsPerYear, mar, riskFree }: AnalyzeFlags,
    ) => {
      const series = await readSeries(file, { periodsPerYear, interrupt });
      const assessed = assess(series, { strictness: 'analyze', mar, riskFree });
      const warning = unitWarning(series);
      const assessment = warning === undefined ? assessed : { ...assessed, warnings: [warning, ...assessed.warnings] };
      terminal.result(asJson(assessment), () => asText(assessment));
      return EXIT.done;
    }));
};

function asJson({ metrics, sharpeInterval, irregular, path, warnings }: Assessment): unknown {
  return {
    ...metrics,
    sharpe_interval: sharpeInterval ?? null,
    sharpe_irregular: irregular?.sharpe ?? null,
    points: path.points.length,
    returns: path.returns?.length ?? null,
    bar_seconds: path.barMs === undefined ? null : path.barMs / 1_000,
    periods_per_year: path.perYear ?? null,
    coverage: path.coverage,
    years: path.years ?? null,
    warnings,
  };
}

function asText(assessment: Assessment): string {
  const { path: { returns, barName, years } } = assessment;
  const bars = barName === undefined ? 'periods as given' : `bars of ${barName}`;
  const span = years === undefined ? '' : `, ${(years * 365.25).toFixed(1)} days`;
  return `${metricsText(assessment)}\n  ${returns?.length ?? 'no'} returns, ${bars}${span}\n`;
}

function anyNumber(text: string): number {
  const value = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) throw new InvalidArgumentError('expected a number.');
  return value;
}

function positiveNumber(text: string): number {
  const value = anyNumber(text);
  if (value <= 0) throw new InvalidArgumentError('expected a number above 0.');
  return value;
}
