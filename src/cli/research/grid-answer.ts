import { shareText } from '../../backtest/metrics/figure-text.ts';
import type { SensitivityGrid } from '../../backtest/sensitivity-grid.ts';
import { table } from '../table.ts';

/** Returns a grid for scripts: total returns, a row for each latency, null where there is none. */
export function gridJson({ latency, cost, totalReturn, halfSpreadBps }: SensitivityGrid): unknown {
  return {
    latency, cost, half_spread_bps: halfSpreadBps,
    total_return: totalReturn.map((row) => row.map((value) => (typeof value === 'number' ? value : null))),
    missing: [...new Set(totalReturn.flat().filter((value) => typeof value === 'string'))],
  };
}

/** Returns a grid for people. */
export function gridText({ latency, cost, totalReturn, halfSpreadBps }: SensitivityGrid): string {
  const rows = latency.map((factor, row) => [`latency × ${factor}`, ...totalReturn[row]!.map((value) => (typeof value === 'number' ? shareText(value) : '-'))]);
  return `${table([['total return', ...cost.map((factor) => `costs × ${factor}`)], ...rows], { right: cost.map((_, i) => i + 1) })}  costs: fees, and half of the spread, ${halfSpreadBps.toFixed(2)} bps a swap\n`;
}
