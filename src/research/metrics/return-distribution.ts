import type { EquitySeries } from './equity-series.ts';

/** The return of a month. */
export interface MonthlyReturn {
  readonly year: number;
  /** 1 to 12, by UTC. */
  readonly month: number;
  /** Undefined when the month began with 0 or less. */
  readonly change: number | undefined;
}

/**
 * Returns each month's change from the last value before it; the first month's from the first value. Months without a
 * point are left out.
 */
export function monthlyReturns({ times, values }: EquitySeries): MonthlyReturn[] {
  const months: { year: number; month: number; begin: number; end: number }[] = [];
  for (const [i, at] of times.entries()) {
    const date = new Date(at);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1];
    const last = months.at(-1);
    if (last?.year === year && last.month === month) last.end = values[i]!;
    else months.push({ year, month, begin: last?.end ?? values[i]!, end: values[i]! });
  }
  return months.map(({ year, month, begin, end }) =>
    ({ year, month, change: begin > 0 ? end / begin - 1 : undefined }));
}

/** A range of values and their number: from `from`, below `to`; the last range includes its end. */
interface HistogramBin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/**
 * Returns the distribution of values over at most `most` bins of equal, round width. One edge is 0, so that no bin
 * mixes losses and gains.
 */
export function histogram(values: readonly number[], most = 24): HistogramBin[] {
  if (values.length === 0) return [];
  const low = values.reduce((least, value) => Math.min(least, value), 0);
  const high = values.reduce((largest, value) => Math.max(largest, value), 0);
  if (low === high) return [{ from: 0, to: 0, count: values.length }];
  const width = roundWidth((high - low) / Math.max(1, most - 2));
  const first = Math.floor(low / width);
  const counts = Array.from({ length: Math.max(1, Math.ceil(high / width) - first) }, () => 0);
  for (const value of values) counts[Math.min(counts.length - 1, Math.floor(value / width) - first)]! += 1;
  return counts.map((count, i) => ({ from: (first + i) * width, to: (first + i + 1) * width, count }));
}

/** The next 1, 2 or 5 times a power of ten. */
function roundWidth(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5].map((step) => step * power).find((width) => width >= least * (1 - 1e-9)) ?? 10 * power;
}
