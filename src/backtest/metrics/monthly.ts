import type { EquitySeries } from './equity-series.ts';

/** What a month came to. */
export interface MonthlyReturn {
  readonly year: number;
  /** 1 to 12, by UTC. */
  readonly month: number;
  /** Undefined where it began with nothing or less. */
  readonly change: number | undefined;
}

/** Returns each month's change from the last value before it, the first month's from the first value; months without a point are left out. */
export function monthlyReturns({ times, values }: EquitySeries): MonthlyReturn[] {
  const months: { year: number; month: number; begin: number; end: number }[] = [];
  for (const [i, at] of times.entries()) {
    const date = new Date(at);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1];
    const last = months.at(-1);
    if (last?.year === year && last.month === month) last.end = values[i]!;
    else months.push({ year, month, begin: last?.end ?? values[i]!, end: values[i]! });
  }
  return months.map(({ year, month, begin, end }) => ({ year, month, change: begin > 0 ? end / begin - 1 : undefined }));
}
