import type { DoubtCode, MetricWarning } from '../metrics/doubts.ts';

/** They say why a figure is not there, and nothing against those that are. */
const ONLY_MISSING: ReadonlySet<DoubtCode> = new Set<DoubtCode>([
  'breakeven_left_out', 'drawdown_open', 'interval_left_out', 'no_drawdown', 'no_loss', 'no_trades', 'no_variance', 'no_win', 'not_above_benchmark', 'not_deflated',
  'nothing_below_mar', 'nothing_quoted', 'nothing_sent', 'short_span',
]);

/** Returns warnings apart from those that only say why a figure is missing, which `doubts` are told by. */
export function splitWarnings(warnings: readonly string[], doubts: readonly MetricWarning[]): { readonly warnings: readonly string[]; readonly missing: readonly string[] } {
  const only = new Set(doubts.filter(({ code }) => ONLY_MISSING.has(code)).map(({ message }) => message));
  return { warnings: warnings.filter((warning) => !only.has(warning)), missing: warnings.filter((warning) => only.has(warning)) };
}
