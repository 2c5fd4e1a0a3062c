import { InvalidArgumentError } from 'commander';
import { wholeNumber } from './flags.ts';
import { nearest } from '../../core/text.ts';
import type { ObjectiveName } from '../../research/trials/objectives.ts';
import { DEFAULT_OBJECTIVE, isObjectiveName, OBJECTIVES } from '../../research/trials/objectives.ts';

const OBJECTIVE_NAMES = Object.keys(OBJECTIVES).join(', ');

/** The recording that a research command reads. */
export const RECORDING_FLAG =
  ['--recording <dir>', 'a recording: its folder, or the id of the run that made it'] as const;

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

function objectiveName(text: string): ObjectiveName {
  if (isObjectiveName(text)) return text;
  const close = nearest(text, Object.keys(OBJECTIVES));
  const hint = close === undefined ? '' : ` (did you mean ${close}?)`;
  throw new InvalidArgumentError(`expected one of ${OBJECTIVE_NAMES}${hint}.`);
}
