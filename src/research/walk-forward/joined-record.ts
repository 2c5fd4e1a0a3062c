import { assert } from '../../core/assert.ts';
import type { Millis } from '../../core/time.ts';
import { seriesOf } from '../metrics/run-figures.ts';
import type { InstrumentRecord, RecordedFill, RunRecord, StrategyRecord } from '../../backtest/record/run-record.ts';

/** The out-of-sample record of a fold. */
interface FoldRecord {
  readonly number: number;
  /** The time of its first row. */
  readonly from: Millis;
  readonly record: RunRecord;
}

/**
 * Returns the records of folds as one, in which each fold begins with the final equity of the one before. Holdings at a
 * fold's end count at the proceeds of a sale, and the next fold begins with money alone. Every fold is a separate
 * strategy, worth nothing outside its time, so that no fold sells purchases of another. Each record has at least one
 * time at which everything had a price.
 */
export function joinRecords(folds: readonly FoldRecord[]): RunRecord {
  const parts = folds.map((fold, place) => ({ ...fold, kept: keptTimes(fold, folds[place + 1]?.from), factor: 1 }));
  let worth: number | undefined;
  for (const part of parts) {
    const { values } = seriesOf(part.record, part.record.strategies);
    const [first, last] = [values[0], values.at(-1)];
    assert(first !== undefined && last !== undefined && first > 0, () => `fold ${part.number} begins with money`);
    part.factor = (worth ?? first) / first;
    worth = last * part.factor;
  }
  const times = parts.flatMap(({ record, kept }) => record.times.slice(0, kept));
  return {
    currency: parts[0]?.record.currency ?? '',
    ...(parts[0]?.record.isMadeUp === true ? { isMadeUp: true } : {}),
    times,
    strategies: parts.map((part, place) => strategyOf(part, { before: sum(parts.slice(0, place)), all: times.length })),
    instruments: instrumentsOf(parts),
    fills: parts.flatMap(({ number, record, factor }) =>
      record.fills.map((fill) => scaled(fill, nameOf(number), factor)))
      .toSorted((a, b) => a.at - b.at),
  };
}

interface Part extends FoldRecord {
  /** The number of its times before the next fold begins. */
  readonly kept: number;
  /** The factor that scales its money to that of the first fold. */
  readonly factor: number;
}

/** The last sample includes swaps that land after the end; the next fold continues from it. */
function keptTimes({ record: { times } }: FoldRecord, next: Millis | undefined): number {
  const first = next === undefined ? -1 : times.findIndex((at) => at >= next);
  return first < 0 ? times.length : first;
}

function strategyOf(
  { number, record, kept, factor }: Part, { before, all }: { readonly before: number; readonly all: number },
): StrategyRecord {
  const total = (pick: (strategy: StrategyRecord) => number): number =>
    record.strategies.reduce((whole, strategy) => whole + pick(strategy), 0);
  const column = (pick: (strategy: StrategyRecord) => readonly (number | null)[]): (number | null)[] => {
    const values: (number | null)[] = Array<number>(all).fill(0);
    for (let i = 0; i < kept; i++) {
      let value: number | null = 0;
      for (const strategy of record.strategies) {
        const own: number | null = pick(strategy)[i] ?? null;
        value = value === null || own === null ? null : value + own * factor;
      }
      values[before + i] = value;
    }
    return values;
  };
  return {
    name: nameOf(number),
    equity: column(({ equity }) => equity),
    held: column(({ held }) => held),
    sent: total(({ sent }) => sent),
    landed: total(({ landed }) => landed),
    feesPaid: total(({ feesPaid }) => feesPaid) * factor,
  };
}

/** Folds may trade different markets, if those are parameters. */
function instrumentsOf(parts: readonly Part[]): InstrumentRecord[] {
  const all = new Map(parts.flatMap(({ record }) =>
    record.instruments.map((instrument) => [instrument.symbol, instrument] as const)));
  return [...all.values()].map(({ symbol, decimals, costs }) => {
    const column = (pick: (instrument: InstrumentRecord) => readonly (number | null)[]): (number | null)[] =>
      parts.flatMap(({ record, kept }) => {
        const own = record.instruments.find((instrument) => instrument.symbol === symbol);
        return own === undefined ? Array<null>(kept).fill(null) : pick(own).slice(0, kept);
      });
    return {
      symbol, decimals, bids: column(({ bids }) => bids), asks: column(({ asks }) => asks),
      ...(costs === undefined ? {} : { costs }),
    };
  });
}

function scaled({ value, costs, ...fill }: RecordedFill, strategy: string, factor: number): RecordedFill {
  return {
    ...fill, strategy, value: value === null ? null : value * factor, costs: costs === null ? null : costs * factor,
  };
}

function nameOf(number: number): string {
  return `fold ${number}`;
}

function sum(parts: readonly Part[]): number {
  return parts.reduce((total, { kept }) => total + kept, 0);
}
