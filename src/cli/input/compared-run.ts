import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import type { RunTerms } from '../../backtest/record/run-record.ts';
import { GannetError, messageOf } from '../../core/errors.ts';
import { parseJson } from '../../core/json.ts';
import { printable } from '../../core/text.ts';
import { runDirOf } from '../../daemon/files/find-run.ts';
import { RESULT_FILE } from '../../daemon/files/run-files.ts';
import { faultText } from '../../recording/import/input-file.ts';
import type { EmbeddedReport } from '../../report/embedded-records.ts';
import { unpackRecord } from '../../report/embedded-records.ts';
import { withTrials } from '../../research/metrics/deflated-sharpe.ts';
import type { Metrics } from '../../research/metrics/metrics.ts';
import { assessRun } from '../../research/metrics/run-figures.ts';
import type { RunStatistics } from '../../research/metrics/run-statistics.ts';
import { runStatistics } from '../../research/metrics/run-statistics.ts';

/** The result of a backtest, as a file keeps it. */
export interface ComparedRun {
  /** As it was given on the command line. */
  readonly source: string;
  readonly metrics: Metrics;
  /** Undefined where an earlier version made the file. */
  readonly statistics: RunStatistics | undefined;
  readonly terms: RunTerms | undefined;
  readonly isMadeUp: boolean;
}

/** No answer and no report is larger. */
const MOST_BYTES = 64 * 1_048_576;
const MOST_UNPACKED_BYTES = 512 * 1_048_576;
const DATA = /id="data"[^>]*>([A-Za-z0-9+/=\s]+)</;

/**
 * Returns the result of a backtest: from a report, from a file with the answer of `--json`, or by the id or the folder
 * of the run. The figures of a report are computed again from its data. Throws USAGE and RUN_NOT_FOUND.
 */
export function readComparedRun(stateDir: string, source: string): ComparedRun {
  const file = fileOf(stateDir, source);
  const text = textOf(file, source);
  try {
    return { source, ...(/^\s*</.test(text) ? ofReport(text) : ofAnswer(text)) };
  } catch (error) {
    throw new GannetError('USAGE', `${printable(source)} holds no result of a backtest: ${printable(messageOf(error))}`
      + '; give a report of "gannet backtest", its answer with --json, or the id of its run', { cause: error });
  }
}

/** A file comes before a run of that name, and a run's folder holds its answer. */
function fileOf(stateDir: string, source: string): string {
  for (const place of [resolve(source), runDirOf(stateDir, source)]) {
    if (!existsSync(place)) continue;
    if (!statSync(place).isDirectory()) return place;
    const result = join(place, RESULT_FILE);
    if (existsSync(result)) return result;
    throw new GannetError('RUN_NOT_FOUND', `${printable(place)} holds no ${RESULT_FILE}: it is no run of "gannet `
      + 'backtest", or one of an earlier version; run the backtest again, or give its report');
  }
  throw new GannetError('RUN_NOT_FOUND', `expected a report, an answer or the id of a backtest, but there is no file `
    + `${printable(source)}, and ${stateDir} has no run of that name`);
}

function textOf(file: string, source: string): string {
  const refused = (why: string, cause?: unknown): GannetError =>
    new GannetError('USAGE', `${printable(source)} cannot be read: ${why}`, { cause });
  const { size } = statSync(file);
  if (size > MOST_BYTES) throw refused(`it has ${size} bytes, more than any result of a backtest`);
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw refused(faultText(cause), cause);
  }
}

function ofReport(page: string): Omit<ComparedRun, 'source'> {
  const packed = DATA.exec(page)?.[1];
  if (packed === undefined) throw new Error('it is a page without the data of a report');
  const unpacked =
    inflateRawSync(Buffer.from(packed, 'base64'), { maxOutputLength: MOST_UNPACKED_BYTES }).toString('utf8');
  const { record: carried, trials } = JSON.parse(unpacked) as EmbeddedReport;
  const record = unpackRecord(carried);
  const assessment = assessRun(record, record.strategies, { interval: false });
  return {
    metrics: (trials === undefined ? assessment : withTrials(assessment, trials)).metrics,
    statistics: runStatistics(record), terms: record.terms, isMadeUp: record.isMadeUp === true,
  };
}

/** The part of an answer that is compared. */
interface Answer {
  readonly metrics?: unknown;
  readonly statistics?: RunStatistics;
  readonly terms?: RunTerms | null;
  readonly is_made_up?: boolean;
  readonly decision_hash?: unknown;
}

function ofAnswer(text: string): Omit<ComparedRun, 'source'> {
  const answer = parseJson(text) as Answer | null;
  if (typeof answer !== 'object' || answer === null || !isMetrics(answer.metrics) || answer.decision_hash === undefined)
    throw new Error('it is no answer of "gannet backtest"');
  const { metrics, statistics, terms, is_made_up: isMadeUp = false } = answer;
  return { metrics, statistics, terms: terms ?? undefined, isMadeUp };
}

function isMetrics(value: unknown): value is Metrics {
  return typeof value === 'object' && value !== null && 'total_return' in value && 'sharpe' in value
    && Object.values(value).every((figure) => figure === null || ['number', 'string'].includes(typeof figure));
}
