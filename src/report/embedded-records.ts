import type { TrialCount } from '../store/trial-log.ts';
import { withTrials } from '../research/metrics/deflated-sharpe.ts';
import type { Assessment, Metrics } from '../research/metrics/metrics.ts';
import { assessRun, benchmarksOf } from '../research/metrics/run-figures.ts';
import type {
  InstrumentRecord, PriceRange, RecordedFill, RunRecord, StrategyRecord,
} from '../backtest/record/run-record.ts';
import type { Millis } from '../core/time.ts';
import type { Runs } from './packed-columns.ts';
import { added, distances, packRuns, unpackRuns } from './packed-columns.ts';

/** The data that a report carries so that its figures can be computed again: the records, and the tool's figures. */
export interface EmbeddedReport {
  readonly record: PackedRecord;
  /** The other settings by name, without prices, which their figures do not need. */
  readonly others: Readonly<Record<string, PackedRecord>>;
  readonly trials?: TrialCount | undefined;
  readonly figures: Figures;
}

/** The records behind a report's figures. */
export interface ReportRecords {
  readonly record: RunRecord;
  readonly others: Readonly<Record<string, RunRecord>>;
  /** All trials on the same data, the run included; undefined where they were not counted. */
  readonly trials?: TrialCount | undefined;
}

/** Metrics by name: `total`, `strategy 1`, `benchmark cash`, `setting pessimistic`; and `statistics`. */
type Figures = Readonly<Record<string, Metrics | Readonly<Record<string, unknown>>>>;

/** A figure that differs when it is computed again. */
interface Mismatch {
  readonly of: string;
  readonly figure: string;
  readonly embedded: unknown;
  readonly computed: unknown;
}

/** Numbers that differ only by the rounding of machines are equal. */
const TOLERANCE = 1e-9;

/**
 * Returns the assessments of all strategies together, of each strategy where there are several, of each benchmark, and
 * of each other setting.
 */
export function assessmentsOf({ record, others, trials }: ReportRecords): ReadonlyMap<string, Assessment> {
  const { strategies } = record;
  const { buy_and_hold, dca, cash } = benchmarksOf(record);
  const tried = (assessment: Assessment): Assessment =>
    (trials === undefined ? assessment : withTrials(assessment, trials));
  return new Map<string, Assessment>([
    ['total', tried(assessRun(record))],
    ...(strategies.length < 2 ? [] : strategies.map((strategy, i): [string, Assessment] =>
      [`strategy ${i + 1}`, tried(assessRun(record, [strategy]))])),
    ...Object.entries({ buy_and_hold, dca, cash }).flatMap(([name, benchmark]): [string, Assessment][] =>
      (benchmark === undefined ? [] : [[`benchmark ${name}`, benchmark.assessment]])),
    ...Object.entries(others)
      .map(([name, other]): [string, Assessment] => [`setting ${name}`, tried(assessRun(other))]),
  ]);
}

/** Returns the metrics alone. */
export function figuresOf(assessments: ReadonlyMap<string, Assessment>): Figures {
  return Object.fromEntries([...assessments].map(([of, { metrics }]) => [of, metrics]));
}

/** Returns the figures that differ from those of the records. Missing figures differ too. */
export function mismatches(embedded: Figures, computed: Figures): Mismatch[] {
  return [...new Set([...Object.keys(embedded), ...Object.keys(computed)])].flatMap((of) => {
    const [theirs, ours] = [rowsOf(embedded[of]), rowsOf(computed[of])];
    return [...new Set([...Object.keys(theirs), ...Object.keys(ours)])]
      .filter((figure) => !isSame(theirs[figure], ours[figure]))
      .map((figure) => ({ of, figure, embedded: theirs[figure] ?? null, computed: ours[figure] ?? null }));
  });
}

function rowsOf(metrics: Figures[string] | undefined): Readonly<Record<string, unknown>> {
  return { ...metrics };
}

function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== 'number' || typeof b !== 'number') return a === b;
  return Math.abs(a - b) <= TOLERANCE * Math.max(1, Math.abs(a), Math.abs(b));
}

/** A record in a report: times as distances, columns as runs, and fills as rows that refer to a list of names. */
interface PackedRecord extends Omit<RunRecord, 'times' | 'strategies' | 'instruments' | 'fills' | 'benchmarks'> {
  readonly steps: readonly Millis[];
  readonly strategies: readonly (Omit<StrategyRecord, 'equity' | 'held'>
    & { readonly equity: Runs; readonly held: Runs })[];
  readonly instruments: readonly (Omit<InstrumentRecord, 'bids' | 'asks' | 'range'>
    & { readonly bids: Runs; readonly asks: Runs; readonly range?: PackedRange | undefined })[];
  readonly names: readonly string[];
  /** The reasons of the fills, each once; absent in records of earlier versions. */
  readonly reasons?: readonly string[] | undefined;
  readonly fills: readonly PackedFill[];
  readonly benchmarks?: { readonly cash: number; readonly buyAndHold: Runs; readonly dca: Runs } | undefined;
}

type PackedRange = Readonly<Record<keyof PriceRange, Runs>>;

type PackedFill = readonly [
  step: Millis, strategy: number, input: number, output: number, amountIn: string, amountOut: string,
  quotedOut: string | null, value: number | null, costs: number | null, reason?: number | null,
];

/** Returns a record without its repetitions, which are most of it. */
export function packRecord({ times, strategies, instruments, fills, benchmarks, ...rest }: RunRecord): PackedRecord {
  const names = [...new Set(fills.flatMap(({ strategy, input, output }) => [strategy, input, output]))];
  const place = new Map(names.map((name, i) => [name, i]));
  const reasons = [...new Set(fills.flatMap(({ reason }) => (reason === undefined ? [] : [reason])))];
  const reasonPlace = new Map(reasons.map((reason, i) => [reason, i]));
  const steps = distances(fills.map(({ at }) => at));
  return {
    ...rest,
    steps: distances(times),
    strategies: strategies.map(({ equity, held, ...strategy }) =>
      ({ ...strategy, equity: packRuns(equity), held: packRuns(held) })),
    instruments: instruments.map(({ bids, asks, range, ...instrument }) => ({
      ...instrument, bids: packRuns(bids), asks: packRuns(asks),
      ...(range === undefined ? {}
        : { range: { lowest: packRuns(range.lowest), highest: packRuns(range.highest) } }),
    })),
    ...(benchmarks === undefined ? {}
      : { benchmarks: { ...benchmarks, buyAndHold: packRuns(benchmarks.buyAndHold), dca: packRuns(benchmarks.dca) } }),
    names, reasons,
    fills: fills.map((fill, i): PackedFill => {
      const { strategy, input, output, amountIn, amountOut, quotedOut, value, costs, reason } = fill;
      return [
        steps[i]!, place.get(strategy)!, place.get(input)!, place.get(output)!, amountIn, amountOut, quotedOut, value,
        costs, reason === undefined ? null : reasonPlace.get(reason)!,
      ];
    }),
  };
}

/** Returns a packed record as it was. */
export function unpackRecord(
  { steps, strategies, instruments, names, reasons = [], fills, benchmarks, ...rest }: PackedRecord,
): RunRecord {
  const fillTimes = added(fills.map(([step]) => step));
  return {
    ...rest,
    times: added(steps),
    strategies: strategies.map(({ equity, held, ...strategy }) =>
      ({ ...strategy, equity: unpackRuns(equity), held: unpackRuns(held) })),
    instruments: instruments.map(({ bids, asks, range, ...instrument }) => ({
      ...instrument, bids: unpackRuns(bids), asks: unpackRuns(asks),
      ...(range === undefined ? {}
        : { range: { lowest: unpackRuns(range.lowest), highest: unpackRuns(range.highest) } }),
    })),
    ...(benchmarks === undefined ? {} : {
      benchmarks: { ...benchmarks, buyAndHold: unpackRuns(benchmarks.buyAndHold), dca: unpackRuns(benchmarks.dca) },
    }),
    fills: fills.map((packed, i): RecordedFill => {
      const [, strategy, input, output, amountIn, amountOut, quotedOut, value, costs, reason = null] = packed;
      return {
        at: fillTimes[i]!, strategy: names[strategy]!, input: names[input]!, output: names[output]!, amountIn,
        amountOut, quotedOut, value, costs, ...(reason === null ? {} : { reason: reasons[reason]! }),
      };
    }),
  };
}
