import type { GeneratedMarket } from '../catalogue.ts';

const HOURS = 1 / 24;

/** The generated market in which the picture of each strategy shows it doing what it says. */
export const MARKETS: Readonly<Record<string, GeneratedMarket>> = {
  'book-imbalance': { market: 'stochastic-volatility', seed: 7, days: HOURS },
  'book-watch': { market: 'swings', seed: 7, days: 2 * HOURS },
  'bracket': { market: 'swings', seed: 7, days: 0.25 * HOURS },
  'complement-watch': { market: 'stochastic-volatility', seed: 7, days: HOURS },
  'copy-watch': { market: 'stochastic-volatility', seed: 7, days: 4 * HOURS },
  'cyclic-arbitrage': { market: 'swings', seed: 7, days: HOURS },
  'dca': { market: 'stochastic-volatility', seed: 7, days: 12 * HOURS },
  'donchian-breakout': { market: 'stochastic-volatility', seed: 7, days: 2 * HOURS },
  'ema-cross': { market: 'stochastic-volatility', seed: 7, days: 6 * HOURS },
  'event-close-watch': { market: 'stochastic-volatility', seed: 7, days: 0.5 * HOURS },
  'grid': { market: 'swings', seed: 7, days: 1 * HOURS },
  'holder-flow': { market: 'stochastic-volatility', seed: 7, days: 12 * HOURS },
  'limit': { market: 'swings', seed: 7, days: 0.25 * HOURS },
  'macd': { market: 'stochastic-volatility', seed: 7, days: 6 * HOURS },
  'mean-reversion': { market: 'swings', seed: 7, days: 2 * HOURS },
  'new-token-screen': { market: 'stochastic-volatility', seed: 7, days: 4 * HOURS },
  'pairs': { market: 'swings', seed: 7, days: 2 * HOURS },
  'probability-cross': { market: 'swings', seed: 7, days: 2 * HOURS },
  'rebalance': { market: 'swings', seed: 7, days: 1 * HOURS },
  'rsi': { market: 'swings', seed: 7, days: 2 * HOURS },
  'sma-crossover': { market: 'stochastic-volatility', seed: 7, days: 48 * HOURS },
  'trailing-stop': { market: 'swings', seed: 7, days: 0.25 * HOURS },
  'twap': { market: 'swings', seed: 7, days: 0.25 * HOURS },
  'value-averaging': { market: 'swings', seed: 7, days: 0.5 * HOURS },
};
