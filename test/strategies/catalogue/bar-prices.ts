import type { Strategy } from '../../../src/strategy/index.ts';
import type { StrategyRun, TestOptions, TimelineEntry } from '../../../src/testing/index.ts';
import { testStrategy } from '../../../src/testing/index.ts';

// Bars of ten seconds from prices every five seconds: the first price stands before the first bar, each further two
// make a bar, and the second of them is its close.

/** The parameters of such bars. */
export const TEN_SECONDS = { bar: '10s', poll: '5s' } as const;

/** A price every five seconds by feed; undefined is a time without a price. */
type Prices = Readonly<Record<string, readonly (number | undefined)[]>>;

const SECONDS = 5;

/** Returns the prices of bars that close at these prices, each without any other price. */
export function closesAt(...closes: readonly number[]): number[] {
  return [closes[0]!, ...closes.flatMap((close) => [close, close])];
}

/** Shows prices from the start on. */
export function shownBars(strategy: Strategy, options: TestOptions, prices: Prices): StrategyRun {
  return testStrategy(strategy, options).series(`${SECONDS}s`, prices);
}

/** Shows prices from the start on, and restarts the strategy a second after every fifth bar. */
export function shownWithRestarts(strategy: Strategy, options: TestOptions, prices: Prices): StrategyRun {
  const run = testStrategy(strategy, options);
  const length = Math.max(...Object.values(prices).map((all) => all.length));
  for (let from = 0; from < length; from += 10) {
    // The first part ends with the price before the first bar and ten of five bars.
    const [first, end] = [from === 0 ? 0 : from + 1, from + 11];
    run.feeds(Object.fromEntries(Object.entries(prices).map(([feed, all]) => [feed, lines(all, first, end)])));
    if (end < length) run.restart({ after: '1s' });
  }
  return run;
}

function lines(all: Prices[string], first: number, end: number): TimelineEntry[] {
  return all.slice(first, end).flatMap((price, index): TimelineEntry[] =>
    (price === undefined ? [] : [[`${(first + index) * SECONDS}s`, price]]));
}

/** Returns prices that swing in a slow and a fast wave. */
export function waves(count: number, amplitude = 10): number[] {
  return Array.from({ length: count }, (_, n) =>
    100 + amplitude * Math.sin(n / 12) + 0.3 * amplitude * Math.sin(n / 2));
}
