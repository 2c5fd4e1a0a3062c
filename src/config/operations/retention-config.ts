import { z } from 'zod';
import type { Millis } from '../../core/time.ts';
import { formatDuration, parseDuration } from '../../core/time.ts';
import { duration, isDuration } from '../schema-fields.ts';

const UNITS: Readonly<Record<string, number>> = { kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };
const SIZE = /^(\d{1,6}(?:\.\d{1,3})?)(kB|MB|GB|TB)$/;

/** Returns the bytes of a size such as "500MB", in powers of a thousand; undefined for another text. */
function parseSize(text: string): number | undefined {
  const [, value, unit] = SIZE.exec(text) ?? [];
  const bytes = value === undefined ? 0 : Math.round(Number(value) * UNITS[unit!]!);
  return bytes > 0 ? bytes : undefined;
}

const size = (standard: string, description: string) => z.string()
  .refine((text) => parseSize(text) !== undefined, { message: 'expected a size such as "500MB" or "1.5GB"' })
  .default(standard).meta({ description, examples: [standard] });

const age = (standard: string, description: string, leastMs: Millis) => duration(standard)
  .refine((text) => !isDuration(text) || parseDuration(text) >= leastMs, {
    message: `expected at least ${formatDuration(leastMs)}`,
  }).default(standard).meta({ description, examples: [standard] });

const HOUR_MS: Millis = 3_600_000;
/** Signatures of the last day are compared with the signer's counters, so swaps are kept whole for longer. */
const JOURNAL_LEAST_MS: Millis = 48 * HOUR_MS;

/** How long the files of runs are kept, and how much room they may take. */
export const retentionSchema = z.strictObject({
  enabled: z.boolean().default(true).meta({ description: 'false: a run deletes nothing; only "gannet prune" does.' }),
  budget: size('1GB', 'The size of the state directory and the folder of recordings together. Over it the oldest '
    + 'recordings, logs and decisions of runs go first; an alert says so where that is not enough.'),
  recordings: z.strictObject({
    max_age: age('30d', 'Recorded hours of runs are deleted after this time.', HOUR_MS),
    max_size: size('300MB', 'The size of all recordings of runs together; the oldest hours go first.'),
  }).prefault({}).meta({ description: 'The recordings that runs made. Generated, imported and kept ones stay.' }),
  runs: z.strictObject({
    max_age: age('30d', 'Decisions and copies of code are deleted after this time; manifests stay.', HOUR_MS),
    max_size: size('100MB', 'The size of the files of all runs together.'),
  }).prefault({}).meta({ description: 'The folders in "runs" that the daemon made. Backtests stay.' }),
  logs: z.strictObject({
    max_age: age('14d', 'Log files are deleted after this time.', HOUR_MS),
    max_size: size('100MB', 'The size of all log files together.'),
  }).prefault({}).meta({ description: 'The files in "logs".' }),
  journal: z.strictObject({
    max_age: age('3d', 'Finished swaps are packed after this time: profit, tax file and search still have them, their '
      + 'signed bytes and the steps between are deleted. At least 2d.', JOURNAL_LEAST_MS),
  }).prefault({}).meta({ description: 'The journal. No swap is ever deleted from it.' }),
}).meta({ description: 'How long the files of runs are kept. docs/operations/state.md.' });

/** The age and the size up to which a kind of files is kept. */
interface RetentionLimit {
  readonly maxAgeMs: Millis;
  readonly maxBytes: number;
}

/** How long the files of runs are kept, and how much room they may take. */
export interface RetentionConfig {
  readonly enabled: boolean;
  readonly budgetBytes: number;
  readonly recordings: RetentionLimit;
  readonly runs: RetentionLimit;
  readonly logs: RetentionLimit;
  readonly journal: Pick<RetentionLimit, 'maxAgeMs'>;
}

type Limit = z.output<typeof retentionSchema>['logs'];

/** Returns the section with its values as numbers. */
export function resolveRetention(section: z.output<typeof retentionSchema>): RetentionConfig {
  const limit = ({ max_age: maxAge, max_size: maxSize }: Limit): RetentionLimit =>
    ({ maxAgeMs: parseDuration(maxAge), maxBytes: parseSize(maxSize)! });
  const { enabled, budget, recordings, runs, logs, journal } = section;
  return {
    enabled, budgetBytes: parseSize(budget)!, recordings: limit(recordings), runs: limit(runs), logs: limit(logs),
    journal: { maxAgeMs: parseDuration(journal.max_age) },
  };
}
