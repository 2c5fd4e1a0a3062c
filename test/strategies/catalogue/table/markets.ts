import type { GeneratedMarket } from '../catalogue.ts';

const HOURS = 1 / 24;

/** The generated market in which the picture of each strategy shows it doing what it says. */
export const MARKETS: Readonly<Record<string, GeneratedMarket>> = {
  'book-imbalance': { market: 'stochastic-volatility', seed: 7, days: HOURS },
  'book-watch': { market: 'swings', seed: 7, days: 2 * HOURS },
  'bracket': { market: 'swings', seed: 7, days: 0.25 * HOURS },
  'complement-watch': { market: 'stochastic-volatility', seed: 7, days: HOURS },
  'copy-watch': { market: 'stochastic-volatility', seed: 7, days: 4 * HOURS },
  'dca': { market: 'stochastic-volatility', seed: 7, days: 12 * HOURS },
  'event-close-watch': { market: 'stochastic-volatility', seed: 7, days: 0.5 * HOURS },
  'grid': { market: 'swings', seed: 7, days: 1 * HOURS },
  'holder-flow': { market: 'stochastic-volatility', seed: 7, days: 12 * HOURS },
  'limit': { market: 'swings', seed: 7, days: 0.25 * HOURS },
  'mean-reversion': { market: 'swings', seed: 7, days: 48 * HOURS },
  'new-token-screen': { market: 'stochastic-volatility', seed: 7, days: 4 * HOURS },
  'probability-cross': { market: 'swings', seed: 7, days: 2 * HOURS },
  'rebalance': { market: 'swings', seed: 7, days: 1 * HOURS },
  'sma-crossover': { market: 'stochastic-volatility', seed: 7, days: 48 * HOURS },
  'trailing-stop': { market: 'swings', seed: 7, days: 0.25 * HOURS },
  'twap': { market: 'swings', seed: 7, days: 0.25 * HOURS },
  'value-averaging': { market: 'swings', seed: 7, days: 0.5 * HOURS },
};
