import type { TrialCount } from '../../store/trial-log.ts';
import { withTrials } from '../metrics/deflated.ts';
import type { Assessment, Metrics } from '../metrics/metrics.ts';
import { assessRun, benchmarksOf } from '../record/run-figures.ts';
import type { RunRecord } from '../record/run-record.ts';
import type { PackedRecord } from './packed-record.ts';

/** What a report carries for whoever computes its figures again: the records and what the tool made of them. */
export interface EmbeddedReport {
  readonly record: PackedRecord;
  /** Of the other settings, by their names, without prices: their figures need none. */
  readonly others: Readonly<Record<string, PackedRecord>>;
  readonly trials?: TrialCount | undefined;
  readonly figures: Figures;
}

/** The records that a report's figures are of. */
export interface ReportRecords {
  readonly record: RunRecord;
  readonly others: Readonly<Record<string, RunRecord>>;
  /** Made on the same data, the run included; undefined where nobody counted. */
  readonly trials?: TrialCount | undefined;
}

/** The metrics that records lead to, by what they are of: `total`, `strategy 1`, `benchmark cash`, `setting pessimistic`. */
export type Figures = Readonly<Record<string, Metrics>>;

/** A figure that comes to something else when it is computed again. */
export interface Mismatch {
  readonly of: string;
  readonly figure: string;
  readonly embedded: unknown;
  readonly computed: unknown;
}

/** Numbers are the same where they differ by no more than machines do in their last digits. */
const TOLERANCE = 1e-9;

/** Returns what there is to say of all together, of each strategy where there are several, of each benchmark, and of each other setting. */
export function assessmentsOf({ record, others, trials }: ReportRecords): ReadonlyMap<string, Assessment> {
  const { strategies } = record;
  const { buy_and_hold, dca, cash } = benchmarksOf(record);
  const tried = (assessment: Assessment): Assessment => (trials === undefined ? assessment : withTrials(assessment, trials));
  return new Map<string, Assessment>([
    ['total', tried(assessRun(record))],
    ...(strategies.length < 2 ? [] : strategies.map((strategy, i): [string, Assessment] => [`strategy ${i + 1}`, tried(assessRun(record, [strategy]))])),
    ...Object.entries({ buy_and_hold, dca, cash }).flatMap(([name, benchmark]): [string, Assessment][] => (benchmark === undefined ? [] : [[`benchmark ${name}`, benchmark.assessment]])),
    ...Object.entries(others).map(([name, other]): [string, Assessment] => [`setting ${name}`, tried(assessRun(other))]),
  ]);
}

/** Returns the metrics alone. */
export function figuresOf(assessments: ReadonlyMap<string, Assessment>): Figures {
  return Object.fromEntries([...assessments].map(([of, { metrics }]) => [of, metrics]));
}

/** Returns where figures differ from those that a record leads to. Missing ones differ too. */
export function mismatches(embedded: Figures, computed: Figures): Mismatch[] {
  return [...new Set([...Object.keys(embedded), ...Object.keys(computed)])].flatMap((of) => {
    const [theirs, ours] = [rowsOf(embedded[of]), rowsOf(computed[of])];
    return [...new Set([...Object.keys(theirs), ...Object.keys(ours)])]
      .filter((figure) => !isSame(theirs[figure], ours[figure]))
      .map((figure) => ({ of, figure, embedded: theirs[figure] ?? null, computed: ours[figure] ?? null }));
  });
}

function rowsOf(metrics: Metrics | undefined): Readonly<Record<string, unknown>> {
  return { ...metrics };
}

function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== 'number' || typeof b !== 'number') return a === b;
  return Math.abs(a - b) <= TOLERANCE * Math.max(1, Math.abs(a), Math.abs(b));
}
