import type { GeneratedMarket } from '../catalogue.ts';

const HOURS = 1 / 24;

/** The generated market in which the picture of each strategy shows it doing what it says. */
export const MARKETS: Readonly<Record<string, GeneratedMarket>> = {
  'book-watch': { market: 'swings', seed: 7, days: 2 * HOURS },
  'dca': { market: 'stochastic-volatility', seed: 7, days: 24 * HOURS },
  'mean-reversion': { market: 'swings', seed: 7, days: 48 * HOURS },
  'sma-crossover': { market: 'stochastic-volatility', seed: 7, days: 48 * HOURS },
};
