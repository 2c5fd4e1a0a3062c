import { normal, seededRandom } from '../../core/random.ts';
import { meanReversion } from './price-process.ts';

/** A price in ten-thousandths of a dollar, the finest the books are written in. */
export interface PredictionLevel {
  readonly price: number;
  /** Contracts; fractional. */
  readonly size: number;
}

/** Resting bids of both sides, best first; null where the venue has no book to give. */
export interface PredictionBook {
  readonly yes: readonly PredictionLevel[];
  readonly no: readonly PredictionLevel[];
}

/** How a market of the sandbox behaves. */
export interface PredictionMarketOptions {
  readonly marketId: string;
  /** Where the probability of YES starts and returns to. */
  readonly probability: number;
  /** Standard deviation of the log odds around there. */
  readonly swing: number;
  readonly halfLifeSlots: number;
  /** Price step and distance between the best prices, in ten-thousandths of a dollar. */
  readonly tick: number;
  readonly spread: number;
  readonly levels: number;
  readonly sizePerLevel: number;
  /** `thinning` goes through two-sided, one-sided and empty phases of a minute each. */
  readonly liquidity: 'two-sided' | 'one-sided' | 'thinning' | 'none';
}

export interface PredictionMarket {
  readonly marketId: string;
  readonly probability: number;
  step(): void;
  book(): PredictionBook | null;
}

/** One dollar in ten-thousandths. */
const DOLLAR = 10_000;
const PHASE_SLOTS = 150;

/** The prediction markets of the embedded service: tickers of one provider, numbers of the other. */
export const PREDICTION_MARKETS: readonly PredictionMarketOptions[] = [
  { marketId: 'SPRINGTIDE-26DEC31', probability: 0.55, swing: 0.35, halfLifeSlots: 150, tick: 100, spread: 200, levels: 10, sizePerLevel: 900, liquidity: 'two-sided' },
  { marketId: 'HERRINGRUN-27MAR01', probability: 0.31, swing: 0.15, halfLifeSlots: 450, tick: 100, spread: 100, levels: 8, sizePerLevel: 2_400, liquidity: 'two-sided' },
  { marketId: '540817', probability: 0.58, swing: 0.25, halfLifeSlots: 300, tick: 10, spread: 30, levels: 14, sizePerLevel: 350.5, liquidity: 'two-sided' },
  { marketId: 'KRAKEN-26DEC31', probability: 0.006, swing: 0.4, halfLifeSlots: 600, tick: 10, spread: 20, levels: 12, sizePerLevel: 5_000, liquidity: 'two-sided' },
  { marketId: 'LIGHTHOUSE-27JAN15', probability: 0.72, swing: 0.2, halfLifeSlots: 300, tick: 100, spread: 200, levels: 5, sizePerLevel: 120, liquidity: 'one-sided' },
  { marketId: '541266', probability: 0.44, swing: 0.3, halfLifeSlots: 200, tick: 100, spread: 400, levels: 4, sizePerLevel: 60, liquidity: 'thinning' },
  { marketId: 'DOLDRUMS-26NOV30', probability: 0.5, swing: 0, halfLifeSlots: 300, tick: 100, spread: 100, levels: 0, sizePerLevel: 0, liquidity: 'none' },
];

/** Returns a seeded prediction market whose log odds revert to where they started. */
export function createPredictionMarket(options: PredictionMarketOptions & { seed: string }): PredictionMarket {
  const random = seededRandom(`${options.seed}:${options.marketId}`);
  const home = logOdds(options.probability);
  const stepDeviation = meanReversion({ halfLifeSlots: options.halfLifeSlots, size: options.swing });
  const sizes = { yes: startSizes(options, random), no: startSizes(options, random) };
  let deviation = 0;
  let slots = 0;

  const probability = (): number => 1 / (1 + Math.exp(-(home + deviation)));

  const side = (fairPrice: number, levelSizes: readonly number[]): PredictionLevel[] => {
    const best = Math.floor((fairPrice * DOLLAR - options.spread / 2) / options.tick) * options.tick;
    return levelSizes
      .map((size, index) => ({ price: best - index * options.tick, size: Math.round(size * 100) / 100 }))
      .filter(({ price, size }) => price > 0 && size > 0);
  };

  return {
    marketId: options.marketId,
    get probability() {
      return probability();
    },
    step() {
      slots++;
      deviation = stepDeviation(deviation, normal(random));
      for (const levelSizes of [sizes.yes, sizes.no]) {
        const index = Math.floor(random() * levelSizes.length);
        if (index < levelSizes.length) levelSizes[index] = drawSize(options, random);
      }
    },
    book() {
      if (options.liquidity === 'none') return null;
      const phase = options.liquidity === 'thinning' ? Math.floor(slots / PHASE_SLOTS) % 3 : 0;
      const yesMissing = phase === 2;
      const noMissing = phase !== 0 || options.liquidity === 'one-sided';
      return {
        yes: yesMissing ? [] : side(probability(), sizes.yes),
        no: noMissing ? [] : side(1 - probability(), sizes.no),
      };
    },
  };
}

function logOdds(probability: number): number {
  return Math.log(probability / (1 - probability));
}

function startSizes(options: PredictionMarketOptions, random: () => number): number[] {
  return Array.from({ length: options.levels }, () => drawSize(options, random));
}

function drawSize(options: PredictionMarketOptions, random: () => number): number {
  return options.sizePerLevel * Math.exp(0.7 * normal(random));
}
