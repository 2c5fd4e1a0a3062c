import { deflateRawSync } from 'node:zlib';
import type { Assessment } from '../research/metrics/metrics.ts';
import type { RunStatistics } from '../research/metrics/run-statistics.ts';
import type { EmbeddedReport, ReportRecords } from './embedded-records.ts';
import { figuresOf, packRecord } from './embedded-records.ts';
import { flatStatistics } from './printed-statistics.ts';
import type { Markup } from '../web/markup.ts';
import { markup } from '../web/markup.ts';

/** The figures that a report prints. */
interface ReportedFigures {
  readonly assessments: ReadonlyMap<string, Assessment>;
  readonly statistics: RunStatistics;
}

/** The limit of packed data. With drawings and tables, it keeps the file below about four megabytes. */
const MOST_CHARACTERS = 3_000_000;

/**
 * Returns the records behind a report's figures, for the page to carry. Without the other settings where that is too
 * much; undefined where the run's own records are too much.
 */
export function embeddedData(
  { record, others, trials }: ReportRecords,
  { assessments, statistics }: ReportedFigures,
  most = MOST_CHARACTERS,
): Markup | undefined {
  const carried = (names: readonly string[]): EmbeddedReport => ({
    record: packRecord(record), trials,
    others: Object.fromEntries(names.map((name) => [name, packRecord(others[name]!)])),
    figures: {
      ...figuresOf(new Map([...assessments].filter(([of]) =>
        !of.startsWith('setting ') || names.includes(of.slice('setting '.length))))),
      statistics: flatStatistics(statistics),
    },
  });
  for (const names of [Object.keys(others), []]) {
    const packed = packData(carried(names));
    if (packed.length <= most) return markup`${packed}`;
  }
  return undefined;
}

/**
 * Returns data as letters and digits: JSON, deflated (RFC 1951), in base64. That is less than half of the size, and
 * cannot end an element.
 */
export function packData(data: unknown): string {
  return deflateRawSync(JSON.stringify(data), { level: 9 }).toString('base64');
}
