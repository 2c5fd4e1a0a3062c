import { deflateRawSync } from 'node:zlib';
import type { Assessment } from '../metrics/metrics.ts';
import type { Markup } from '../page/markup.ts';
import { markup } from '../page/markup.ts';
import type { EmbeddedReport, ReportRecords } from './embedded.ts';
import { figuresOf } from './embedded.ts';
import { packRecord } from './packed-record.ts';

/** Packed, as they stand in the file: with drawings and tables around it, this keeps it at some four megabytes at most. */
const MOST_CHARACTERS = 3_000_000;

/** Returns all that a report's figures are of, for the page to carry; where that is too much, what the figures of the run itself are of; undefined where that is too. */
export function embeddedData({ record, others, trials }: ReportRecords, assessments: ReadonlyMap<string, Assessment>, most = MOST_CHARACTERS): Markup | undefined {
  const carried = (names: readonly string[]): EmbeddedReport => ({
    record: packRecord(record), trials,
    others: Object.fromEntries(names.map((name) => [name, packRecord(others[name]!)])),
    figures: figuresOf(new Map([...assessments].filter(([of]) => !of.startsWith('setting ') || names.includes(of.slice('setting '.length))))),
  });
  for (const names of [Object.keys(others), []]) {
    const packed = packData(carried(names));
    if (packed.length <= most) return markup`${packed}`;
  }
  return undefined;
}

/** Returns data as letters and digits: their JSON, deflated (RFC 1951), in base64. Less than half of it is left, and nothing in it could end an element. */
export function packData(data: unknown): string {
  return deflateRawSync(JSON.stringify(data), { level: 9 }).toString('base64');
}
