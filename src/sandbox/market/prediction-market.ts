import { indexedNormal, indexedRandom } from './indexed-random.ts';

/** The scales of one drift, as multiples of its half-life, and what each adds to the variance; together 1. */
const SCALES = [
  { halfLives: 8, share: 0.25 },
  { halfLives: 2, share: 0.35 },
  { halfLives: 0.5, share: 0.25 },
  { halfLives: 0.125, share: 0.15 },
] as const;

/**
 * Returns a stationary random function of time with mean 0 and standard deviation 1, which can be computed at any step
 * without the steps before it: deviates on lattices of several widths, blended by cosine and sine so that the variance
 * stays the same between them.
 */
function createDrift(options: { seed: string; halfLifeSlots: number }): (step: number) => number {
  const random = indexedRandom(options.seed);
  const layers = SCALES.map(({ halfLives, share }) =>
    ({ width: Math.max(1, halfLives * options.halfLifeSlots), weight: Math.sqrt(share) }));
  return (step) => {
    let value = 0;
    layers.forEach(({ width, weight }, lane) => {
      const place = Math.floor(step / width);
      const angle = (step / width - place) * (Math.PI / 2);
      value += weight * (Math.cos(angle) * indexedNormal(random, place, lane)
        + Math.sin(angle) * indexedNormal(random, place + 1, lane));
    });
    return value;
  };
}

/** A price in ten-thousandths of a dollar, the finest the books are written in. */
export interface PredictionLevel {
  readonly price: number;
  /** Contracts; fractional. */
  readonly size: number;
}

/** Resting bids of both sides, best first. */
export interface PredictionBook {
  readonly yes: readonly PredictionLevel[];
  readonly no: readonly PredictionLevel[];
}

/**
 * The answer to a request for a book: null where the venue has none to give, `unreachable` where the venue does not
 * answer.
 */
export type BookAnswer = PredictionBook | null | 'unreachable';

/** The best bids of both sides, in ten-thousandths of a dollar. */
export interface BestBids {
  readonly yes: number | undefined;
  readonly no: number | undefined;
}

/** How a market of the sandbox behaves. */
export interface PredictionMarketOptions {
  readonly marketId: string;
  /** The probability of YES around which it drifts. */
  readonly probability: number;
  /** Standard deviation of the log odds around it. */
  readonly swing: number;
  readonly halfLifeSlots: number;
  /** Price step and distance between the best prices, in ten-thousandths of a dollar. */
  readonly tick: number;
  readonly spread: number;
  readonly levels: number;
  readonly sizePerLevel: number;
  /**
   * `thinning` goes through two-sided, one-sided and empty phases of a minute each;
   * `failing` answers for two minutes and then for one does not.
   */
  readonly liquidity: 'two-sided' | 'one-sided' | 'thinning' | 'failing' | 'none';
}

/** A market's prices and books, at any step of the market's time, past or future. `lean` is added to the log odds. */
export interface PredictionMarket {
  readonly marketId: string;
  probability(step: number, lean?: number): number;
  bestBids(step: number, lean?: number): BestBids;
  book(step: number, lean?: number): BookAnswer;
}

/** One dollar in ten-thousandths. */
export const DOLLAR = 10_000;
const PHASE_SLOTS = 150;
const PHASES = 3;
const SIZE_SPREAD = 0.7;

/** The prediction markets that are always there: tickers of one provider, numbers of the other. */
export const PREDICTION_MARKETS: readonly PredictionMarketOptions[] = [
  {
    marketId: 'SPRINGTIDE-26DEC31', probability: 0.55, swing: 0.35, halfLifeSlots: 150, tick: 100, spread: 200,
    levels: 10, sizePerLevel: 900, liquidity: 'two-sided',
  },
  {
    marketId: 'HERRINGRUN-27MAR01', probability: 0.31, swing: 0.15, halfLifeSlots: 450, tick: 100, spread: 100,
    levels: 8, sizePerLevel: 2_400, liquidity: 'two-sided',
  },
  {
    marketId: '540817', probability: 0.58, swing: 0.25, halfLifeSlots: 300, tick: 10, spread: 30, levels: 14,
    sizePerLevel: 350.5, liquidity: 'two-sided',
  },
  {
    marketId: 'KRAKEN-26DEC31', probability: 0.006, swing: 0.4, halfLifeSlots: 600, tick: 10, spread: 20, levels: 12,
    sizePerLevel: 5_000, liquidity: 'two-sided',
  },
  {
    marketId: 'LIGHTHOUSE-27JAN15', probability: 0.72, swing: 0.2, halfLifeSlots: 300, tick: 100, spread: 200,
    levels: 5, sizePerLevel: 120, liquidity: 'one-sided',
  },
  {
    marketId: '541266', probability: 0.44, swing: 0.3, halfLifeSlots: 200, tick: 100, spread: 400, levels: 4,
    sizePerLevel: 60, liquidity: 'thinning',
  },
  {
    marketId: '541301', probability: 0.38, swing: 0.25, halfLifeSlots: 300, tick: 100, spread: 200, levels: 6,
    sizePerLevel: 400, liquidity: 'failing',
  },
  {
    marketId: 'DOLDRUMS-26NOV30', probability: 0.5, swing: 0, halfLifeSlots: 300, tick: 100, spread: 100, levels: 0,
    sizePerLevel: 0, liquidity: 'none',
  },
];

/** Returns a seeded prediction market whose log odds drift around where its options put them. */
export function createPredictionMarket(options: PredictionMarketOptions & { seed: string }): PredictionMarket {
  const seed = `${options.seed}:${options.marketId}`;
  const drift = createDrift({ seed: `${seed}:odds`, halfLifeSlots: options.halfLifeSlots });
  const chance = { yes: indexedRandom(`${seed}:yes`), no: indexedRandom(`${seed}:no`) };
  const home = Math.log(options.probability / (1 - options.probability));

  const probability = (step: number, lean = 0): number =>
    1 / (1 + Math.exp(-(home + options.swing * drift(step) + lean)));
  const bestPrice = (fairPrice: number): number =>
    Math.floor((fairPrice * DOLLAR - options.spread / 2) / options.tick) * options.tick;

  const bestBids = (step: number, lean = 0): BestBids => {
    const thin = options.liquidity === 'thinning' ? phaseOf(step) : 0;
    const yesMissing = options.levels === 0 || thin === 2;
    const noMissing = options.levels === 0 || thin !== 0 || options.liquidity === 'one-sided';
    const fair = probability(step, lean);
    return { yes: yesMissing ? undefined : positive(bestPrice(fair)), no: noMissing ? undefined
      : positive(bestPrice(1 - fair)) };
  };

  /** Redraws one level a step, so that each is drawn once in as many steps as there are levels. */
  const side = (name: 'yes' | 'no', best: number | undefined, step: number): PredictionLevel[] => {
    if (best === undefined) return [];
    const levels: PredictionLevel[] = [];
    for (let i = 0; i < options.levels; i++) {
      const price = best - i * options.tick;
      const age = Math.floor((step + i) / options.levels);
      const size = Math.round(options.sizePerLevel * Math.exp(SIZE_SPREAD * indexedNormal(chance[name], age, i)) * 100)
        / 100;
      if (price > 0 && size > 0) levels.push({ price, size });
    }
    return levels;
  };

  return {
    marketId: options.marketId,
    probability,
    bestBids,
    book(step, lean = 0) {
      if (options.liquidity === 'none') return null;
      if (options.liquidity === 'failing' && phaseOf(step) === 2) return 'unreachable';
      const best = bestBids(step, lean);
      return { yes: side('yes', best.yes, step), no: side('no', best.no, step) };
    },
  };
}

/** Returns 0, 1, 2, 0 ... also before the first step. */
function phaseOf(step: number): number {
  const phase = Math.floor(step / PHASE_SLOTS);
  return phase - PHASES * Math.floor(phase / PHASES);
}

function positive(price: number): number | undefined {
  return price > 0 ? price : undefined;
}
