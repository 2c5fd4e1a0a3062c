import type { Assessment } from '../metrics/metrics.ts';
import type { Markup } from '../page/markup.ts';
import { jsonInPage } from '../page/markup.ts';
import type { EmbeddedReport, ReportRecords } from './embedded.ts';
import { figuresOf } from './embedded.ts';
import { packRecord } from './packed-record.ts';

/** With drawings and tables around it, this keeps a file at some six megabytes at most. */
const MOST_CHARACTERS = 5_000_000;

/** Returns all that a report's figures are of, for the page to carry; where that is too much, what the figures of the run itself are of; undefined where that is too. */
export function embeddedData({ record, others, trials }: ReportRecords, assessments: ReadonlyMap<string, Assessment>, most = MOST_CHARACTERS): Markup | undefined {
  const carried = (names: readonly string[]): EmbeddedReport => ({
    record: packRecord(record), trials,
    others: Object.fromEntries(names.map((name) => [name, packRecord(others[name]!)])),
    figures: figuresOf(new Map([...assessments].filter(([of]) => !of.startsWith('setting ') || names.includes(of.slice('setting '.length))))),
  });
  return [Object.keys(others), []].map((names) => jsonInPage(carried(names))).find(({ markup }) => markup.length <= most);
}
