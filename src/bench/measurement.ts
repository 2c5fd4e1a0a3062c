import { mkdirSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';

/** The measurement of one budget: the median of several runs with the extremes. */
export interface Measurement {
  readonly name: string;
  readonly value: number;
  readonly unit: 'events/s' | 'evaluations/s' | 'ms' | 'bytes' | 'swaps/s' | 's' | 'MB';
  readonly runs: number;
  readonly min: number;
  readonly max: number;
}

/** A budget with its measurement. */
export interface BenchRow {
  readonly name: string;
  readonly measure: () => Promise<Measurement>;
}

/** Returns the median and the extremes of some runs, rounded to four significant digits. */
export function measured(name: string, unit: Measurement['unit'], values: readonly number[]): Measurement {
  const sorted = [...values].sort((a, b) => a - b);
  return {
    name, unit, runs: sorted.length,
    value: round(percentile(sorted, 0.5)), min: round(sorted[0]!), max: round(sorted.at(-1)!),
  };
}

function round(value: number): number {
  return Number(value.toPrecision(4));
}

/** Returns the value below which a share of sorted values lies, by nearest rank. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

/** Microseconds between two samples: short enough to show what happens once in a hundred events. */
const SAMPLING_US = 200;

/**
 * Does some work and writes a CPU profile of this thread to `<dir>/<name>.cpuprofile`, for the developer tools of a
 * browser. The profile excludes other processes and threads.
 */
export async function profiled<T>(
  work: () => Promise<T>, { dir, name }: { readonly dir: string; readonly name: string },
): Promise<T> {
  mkdirSync(dir, { recursive: true });
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: SAMPLING_US });
    await session.post('Profiler.start');
    try {
      return await work();
    } finally {
      const { profile } = await session.post('Profiler.stop');
      writeFileSync(join(dir, `${name}.cpuprofile`), JSON.stringify(profile));
    }
  } finally {
    session.disconnect();
  }
}
