import { normal, seededRandom } from '../../core/random.ts';
import { SLOTS_PER_DAY } from '../slot-counts.ts';

/** Slots after which half of a deviation is gone: 40 s at 400 ms. */
const DEVIATION_HALF_LIFE_SLOTS = 100;
/** Standard deviation of the deviation at volatility 1, as a fraction: SOL moves some 0.7 % within a minute. */
const DEVIATION = 0.006;
/**
 * Slots after which half of the slow wander is gone: 12 h. Without a pull home a sandbox of weeks would lose its
 * prices.
 */
const WANDER_HALF_LIFE_SLOTS = 108_000;
const WANDER = 0.03;
/** A jump every ten minutes or so, mostly down: the dips that are worth buying. */
const JUMP_PROBABILITY = 1 / 1_500;
const JUMP_DOWN_SHARE = 0.7;

/** A price that moves one step a slot. */
export interface PriceProcess {
  readonly value: number;
  /** The volatility of now by that of the long run; 1 where it does not change. */
  readonly relativeVolatility: number;
  step(): void;
  /** Goes many steps in one stride: to where they lead as likely, without the jumps, of which soon nothing is left. */
  leap(steps: number): void;
  /** Puts the price where the operator wants it, and makes that its level. */
  set(value: number): void;
}

/**
 * How prices move: with volatility that clusters, jumps and trends (`stochastic-volatility.ts`), at random with a
 * volatility that never changes, or swinging about their level.
 */
export const PRICE_MOTIONS = ['stochastic-volatility', 'random-walk', 'swings'] as const;
/** One of `PRICE_MOTIONS`. */
export type PriceMotion = (typeof PRICE_MOTIONS)[number];

/** Standard deviation of a year's logarithm at volatility 1, as SOL's; crypto trades all year. */
const RANDOM_WALK_A_YEAR = 0.8;
const SLOTS_PER_YEAR = 365.25 * SLOTS_PER_DAY;

/**
 * Returns a seeded price whose present is the best guess of its future: value = level * exp(s n - s²/2), step after
 * step (geometric Brownian motion without drift).
 */
export function createRandomWalk(options: { seed: string; start: number; volatility: number }): PriceProcess {
  const random = seededRandom(options.seed);
  const slotSize = (RANDOM_WALK_A_YEAR * options.volatility) / Math.sqrt(SLOTS_PER_YEAR);
  let value = options.start;
  const leap = (steps: number): void => {
    if (slotSize === 0) return;
    const size = slotSize * Math.sqrt(steps);
    value *= Math.exp(size * normal(random) - (size * size) / 2);
  };
  return {
    get value() { return value; },
    relativeVolatility: 1,
    step() { leap(1); },
    leap,
    set(next) { value = next; },
  };
}

/**
 * Returns a seeded price: value = level * exp(wander + deviation), both Ornstein-Uhlenbeck processes
 * in their exact discrete form x' = x e^(-theta) + s sqrt(1 - e^(-2 theta)) n.
 */
export function createSwingingPrice(options: { seed: string; start: number; volatility: number }): PriceProcess {
  const random = seededRandom(options.seed);
  const deviationSize = DEVIATION * options.volatility;
  const deviationStep = meanReversion({ halfLifeSlots: DEVIATION_HALF_LIFE_SLOTS, size: deviationSize });
  const wanderStep = meanReversion({ halfLifeSlots: WANDER_HALF_LIFE_SLOTS, size: WANDER * options.volatility });
  let level = options.start;
  let wander = 0;
  let deviation = 0;
  let value = level;
  return {
    get value() {
      return value;
    },
    relativeVolatility: 1,
    step() {
      // Nobody else draws from its chance, and nothing would come of what it draws.
      if (options.volatility === 0) return;
      wander = wanderStep(wander, normal(random));
      deviation = deviationStep(deviation, normal(random));
      if (random() < JUMP_PROBABILITY) {
        const direction = random() < JUMP_DOWN_SHARE ? -1 : 1;
        deviation += direction * deviationSize * (2 + 2 * random());
      }
      value = level * Math.exp(wander + deviation);
    },
    leap(steps) {
      wander = meanReversion({ halfLifeSlots: WANDER_HALF_LIFE_SLOTS, size: WANDER * options.volatility, steps })(
        wander, normal(random),
      );
      deviation = meanReversion({ halfLifeSlots: DEVIATION_HALF_LIFE_SLOTS, size: deviationSize, steps })(
        deviation, normal(random),
      );
      value = level * Math.exp(wander + deviation);
    },
    set(next) {
      level = next;
      wander = 0;
      deviation = 0;
      value = next;
    },
  };
}

/**
 * Returns the step, or as many in one as `steps` says, of an Ornstein-Uhlenbeck process around 0 with the stationary
 * standard deviation `size`.
 */
export function meanReversion(
  options: { halfLifeSlots: number; size: number; steps?: number },
): (current: number, deviate: number) => number {
  const keep = 2 ** (-(options.steps ?? 1) / options.halfLifeSlots);
  const shock = options.size * Math.sqrt(1 - keep * keep);
  return (current, deviate) => current * keep + shock * deviate;
}
