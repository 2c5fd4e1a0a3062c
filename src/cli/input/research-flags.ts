import { InvalidArgumentError } from 'commander';
import { wholeNumber } from './flags.ts';
import { nearest, printable } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import type { TimeRange } from '../../recording/reader.ts';
import type { ObjectiveName } from '../../research/trials/objectives.ts';
import { DEFAULT_OBJECTIVE, isObjectiveName, OBJECTIVES } from '../../research/trials/objectives.ts';

const OBJECTIVE_NAMES = Object.keys(OBJECTIVES).join(', ');

/** The recording that a research command reads. */
export const RECORDING_FLAG =
  ['--recording <dir>', 'a recording: its folder, or the id of the run that made it'] as const;

/** The span of the recording. */
export const TIMERANGE_FLAG = [
  '--timerange <from..to>', 'trade on this part of the recording only: UTC dates or instants, such as '
    + '2026-01-10..2026-01-20, from the first to before the second; either may be left out', timeRange,
] as const;

/** The file that names the parameters of a sweep or a walk-forward. */
export const GRID_FLAG = [
  '--grid <file>', 'the parameters: { params: { <strategy>.<parameter>: [values] | { from, to, step } } }',
] as const;

/** The file of the HTML report. */
export const REPORT_FLAG =
  ['--report <file>', 'also writes a report, as one HTML file; its folder is created if missing'] as const;

/** The number of threads. */
export const WORKERS_FLAG = [
  '--workers <n>', 'threads; their number changes no result (default: one per processor core)', wholeNumber(1, 999),
] as const;

/** The figure by which parameters are compared. */
export const OBJECTIVE_FLAG = [
  '--objective <name>', `the figure to compare by: ${OBJECTIVE_NAMES}`, objectiveName, DEFAULT_OBJECTIVE,
] as const;

const INSTANT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)?)?$/;

function timeRange(text: string): TimeRange {
  const ends = text.split('..');
  if (ends.length !== 2 || text === '..') throw new InvalidArgumentError(
    'expected FROM..TO, such as 2026-01-10..2026-01-20; either end may be left out.',
  );
  const [from, to] = ends.map((end) => (end === '' ? undefined : instantOf(end)));
  if (from !== undefined && to !== undefined && from >= to)
    throw new InvalidArgumentError(`expected the beginning before the end, got ${text}.`);
  return { from, to };
}

/** Reads an ISO 8601 date or instant, in UTC unless it names an offset. */
function instantOf(text: string): Millis {
  const isZoned = text.length === 10 || /Z$|[+-]\d\d:\d\d$/.test(text);
  const at = INSTANT.test(text) ? Date.parse(isZoned ? text : `${text}Z`) : Number.NaN;
  // Date.parse takes 2026-02-30 as the second of March.
  const isDay = new Date(`${text.slice(0, 10)}T00:00Z`).getUTCDate() === Number(text.slice(8, 10));
  if (Number.isNaN(at) || !isDay) throw new InvalidArgumentError(
    `expected a UTC date or instant, such as 2026-01-10 or 2026-01-10T12:30, got "${printable(text, 60)}".`,
  );
  return at;
}

function objectiveName(text: string): ObjectiveName {
  if (isObjectiveName(text)) return text;
  const close = nearest(text, Object.keys(OBJECTIVES));
  const hint = close === undefined ? '' : ` (did you mean ${close}?)`;
  throw new InvalidArgumentError(`expected one of ${OBJECTIVE_NAMES}${hint}.`);
}
