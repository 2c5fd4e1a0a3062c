import type { OperatorFunction } from 'rxjs';
import { EMPTY, map, mergeMap, of, pipe, scan } from 'rxjs';
import type { Bar, PricedQuote } from '../../../src/strategy/index.ts';

interface Building {
  readonly bar: Bar | undefined;
  readonly closed: Bar | undefined;
}

/** Makes UTC-aligned bars of quotes, and emits each with the first quote after it. There are no gaps among them. */
export function barsOf(everyMs: number): OperatorFunction<PricedQuote, Bar> {
  return pipe(
    scan(({ bar }: Building, { at, price }: PricedQuote): Building => {
      if (bar !== undefined && at < bar.closeAt) {
        const high = Math.max(bar.high, price);
        return { bar: { ...bar, high, low: Math.min(bar.low, price), close: price }, closed: undefined };
      }
      const openAt = at - at % everyMs;
      const next = { openAt, closeAt: openAt + everyMs, open: price, high: price, low: price, close: price };
      return { bar: next, closed: bar };
    }, { bar: undefined, closed: undefined }),
    map(({ closed }) => closed),
    mergeMap((closed) => (closed === undefined ? EMPTY : of(closed))),
  );
}
