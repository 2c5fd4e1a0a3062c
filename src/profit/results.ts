import type { Millis } from '../core/time.ts';
import type { Mint, TokenTable } from '../market/token.ts';
import type { Figures, PeriodName } from './figures.ts';
import { DAY_MS, FigureSums, PERIODS, dayOf, startOf } from './figures.ts';
import type { Booked } from './ledger.ts';

/** Figures of each period, one for each currency. */
export type PeriodFigures = Readonly<Record<PeriodName, readonly Figures[]>>;

/** The results of one UTC day in one currency. */
export interface DayFigures extends Figures {
  readonly day: string;
}

/** Results by currency and UTC day. */
class DayResults {
  readonly #days = new Map<Mint, Map<number, FigureSums>>();

  add(booked: Booked): void {
    const { currency, swap } = booked;
    const days = ofKey(this.#days, currency, () => new Map<number, FigureSums>());
    ofKey(days, Math.floor(swap.at / DAY_MS), () => new FigureSums(currency)).add(booked);
  }

  /** Returns the figures of the periods that end now; a currency without a swap in a period is not in it. */
  periods(at: Millis, tokens: TokenTable): PeriodFigures {
    return Object.fromEntries(PERIODS.map((period) => [period, this.#since(startOf(period, at), tokens)])) as
      Record<PeriodName, Figures[]>;
  }

  /** Returns the figures of the whole UTC day before. */
  yesterday(at: Millis, tokens: TokenTable): Figures[] {
    const today = startOf('today', at);
    return this.#since(today - DAY_MS, tokens, today);
  }

  #since(start: Millis, tokens: TokenTable, end = Infinity): Figures[] {
    return [...this.#days].flatMap(([currency, days]) => {
      const own = [...days].filter(([day]) => day * DAY_MS >= start && day * DAY_MS < end).map(([, sums]) => sums);
      const sum = own.reduce((all, day) => all.plus(day), new FigureSums(currency));
      return own.length === 0 ? [] : [sum.figures(tokens)];
    });
  }

  /** Returns the days with swaps, oldest first, one for each currency. */
  days(tokens: TokenTable): DayFigures[] {
    return [...this.#days.values()].flatMap((days) =>
      [...days].map(([day, sums]) => ({ day: dayOf(day * DAY_MS), ...sums.figures(tokens) })))
      .toSorted((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0));
  }
}

/** The results of all swaps, summed up as they are added. */
export class ProfitResults {
  readonly total = new DayResults();
  readonly strategies = new Map<string, DayResults>();
  readonly tokens = new Map<Mint, DayResults>();

  add(booked: Booked): void {
    const { swap: { inputMint, outputMint }, book, currency } = booked;
    this.total.add(booked);
    ofKey(this.strategies, book, () => new DayResults()).add(booked);
    ofKey(this.tokens, inputMint === currency ? outputMint : inputMint, () => new DayResults()).add(booked);
  }
}

function ofKey<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key) ?? make();
  map.set(key, known);
  return known;
}
