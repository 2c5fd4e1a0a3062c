import type { EquitySeries } from '../../../src/research/metrics/equity-series.ts';

export const HOUR = 3_600_000;
export const DAY = 86_400_000;
export const START = Date.UTC(2025, 0, 1);

/** Returns values a day apart. */
export function daily(values: readonly number[], start = START): EquitySeries {
  return { times: values.map((_, i) => start + i * DAY), values };
}

/** Returns the 200 returns that the figures of `WAVE_BY_SCIPY` were computed of, with numpy 2 and scipy 1.17. */
export function wave(): number[] {
  return Array.from({ length: 200 }, (_, i) => 0.001 + 0.02 * Math.sin(1.7 * i) + 0.01 * Math.cos(0.37 * i) ** 3);
}

/** By daily bars, of 10 000 at the beginning. */
export const WAVE_BY_SCIPY = {
  total_return: 0.17272389228928575, cagr: 0.337730967931652, volatility: 0.2919572401155927, sharpe: 1.142160732651901,
  sortino: 1.712330318672783, max_drawdown: 0.05265567548438843, max_drawdown_absolute: 651.8281379555137,
  ulcer_index: 0.02816613300153035, skewness: 0.007547261619549953, kurtosis: 1.8845304004951728,
  psr: 0.8003627255663388, min_track_record_length: 758.7699547185487,
} as const;
export const WAVE_SHARPE_RISK_FREE_5E4 = 0.5166410506337582;
export const WAVE_SORTINO_MAR_2E3 = -1.8188259497095425;
