import type { Millis } from '../../core/time.ts';
import type { MonthlyReturn } from '../metrics/monthly.ts';
import type { HeatMap } from '../page/heat-map.ts';
import type { Span } from '../page/line-chart.ts';
import type { ImpactNote } from '../simulation-notes.ts';
import type { CostRow } from '../cost-breakdown.ts';
import type { MeasuredRun, MeasuredSettings } from '../measured-run.ts';
import type { TrialCount } from '../../store/trial-log.ts';
import type { Benchmarks } from '../record/run-figures.ts';

/** A name and what it is, in one line or several; text from anywhere. */
export type NamedText = readonly [name: string, text: string | readonly string[]];

/** What a report is made of. */
export interface ReportInput {
  readonly runId: string;
  /** What was run, for the headline. */
  readonly subject: string;
  /** Before anything else. */
  readonly warnings: readonly string[];
  readonly verdict: readonly string[];
  readonly run: MeasuredRun;
  readonly settings: MeasuredSettings;
  readonly benchmarks: Benchmarks;
  /** Made on the same data, this run included; undefined where nobody counted. */
  readonly trials?: TrialCount | undefined;
  readonly months: readonly MonthlyReturn[];
  readonly costs: readonly CostRow[];
  /** Where the impact of own swaps comes from, by direction: its name, and what its fills rest on. */
  readonly ownImpact: readonly NamedImpact[];
  /** What comes of other latencies and other costs. */
  readonly grid?: HeatMap | undefined;
  readonly silences?: Silences | undefined;
  /** By symbol, as finely as they were recorded, of the times that are looked at from near. */
  readonly prices?: ReadonlyMap<string, RecordedPrices> | undefined;
  readonly decisionRates?: DecisionRates | undefined;
  readonly parameters: readonly NamedText[];
  readonly hashes: readonly NamedText[];
}

/** An impact note with a name for people. */
export type NamedImpact = Pick<ImpactNote, 'fills' | 'displaced'> & { readonly name: string };

/** By the swap's id, how much came out for each unit that goes in by the last price that was quoted of its pair, either way, when it was decided; both in smallest units. */
export type DecisionRates = ReadonlyMap<string, number>;

/** Prices of one token as they were recorded: each holds until the next. */
export interface RecordedPrices {
  /** They rise strictly. */
  readonly times: readonly Millis[];
  /** What a purchase takes and what a sale brings, as far as either was recorded: in the currency for a whole token, one for each of the times. */
  readonly lines: readonly { readonly label: string; readonly values: readonly (number | null)[] }[];
  /** What was quoted, in a sentence. */
  readonly source: string;
}

/** When a recording heard nothing of the market: prices are not drawn there. */
export interface Silences {
  /** Of any token. */
  readonly all: readonly Span[];
  readonly bySymbol: ReadonlyMap<string, readonly Span[]>;
}
