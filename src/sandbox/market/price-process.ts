import type { Random } from '../../core/random.ts';
import { normal, seededRandom } from '../../core/random.ts';
import { SLOTS_PER_DAY, SLOTS_PER_MINUTE } from './slot-counts.ts';

/** A price that moves one step a slot. */
export interface PriceProcess {
  readonly value: number;
  /** The current volatility relative to the long run's; 1 where it does not change. */
  readonly relativeVolatility: number;
  step(): void;
  /** Goes many steps at once, to a value of the same distribution. It leaves out the jumps, whose effect decays. */
  leap(steps: number): void;
  /** Sets the price, and makes it the level. */
  set(value: number): void;
}

/**
 * How prices move: with volatility that clusters, jumps and trends (`stochastic-volatility`), at random with a
 * volatility that never changes, or swinging about their level.
 */
export const PRICE_MOTIONS = ['stochastic-volatility', 'random-walk', 'swings'] as const;
/** One of `PRICE_MOTIONS`. */
export type PriceMotion = (typeof PRICE_MOTIONS)[number];

/** Slots after which half of a deviation is gone: 40 s at 400 ms. */
const DEVIATION_HALF_LIFE_SLOTS = 100;
/** Standard deviation of the deviation at volatility 1, as a fraction: SOL moves some 0.7 % within a minute. */
const DEVIATION = 0.006;
/**
 * Slots after which half of the slow wander is gone: 12 h. Without mean reversion the prices of a sandbox of weeks
 * would drift away.
 */
const WANDER_HALF_LIFE_SLOTS = 108_000;
const WANDER = 0.03;
/** A jump every ten minutes or so, mostly down: the dips that are worth buying. */
const JUMP_PROBABILITY = 1 / 1_500;
const JUMP_DOWN_SHARE = 0.7;

/** Standard deviation of a year's logarithm at volatility 1, as SOL's; crypto trades all year. */
const RANDOM_WALK_A_YEAR = 0.8;
const SLOTS_PER_YEAR = 365.25 * SLOTS_PER_DAY;

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
      // No other process draws from this generator, and a draw would change nothing.
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

/** Standard deviation of a year's logarithm at volatility 1, without drift: SOL's in most years. */
const VOLATILITY_A_YEAR = 0.8;
/**
 * The logarithm of the volatility is the sum of three stationary processes: bursts of minutes, sessions of hours,
 * weeks.
 */
const VOLATILITY_LAYERS = [
  { halfLifeSlots: 20 * SLOTS_PER_MINUTE, size: 0.25 },
  { halfLifeSlots: 0.25 * SLOTS_PER_DAY, size: 0.3 },
  { halfLifeSlots: 5 * SLOTS_PER_DAY, size: 0.35 },
] as const;
const LOG_VARIANCE = VOLATILITY_LAYERS.reduce((sum, { size }) => sum + size * size, 0);
/** News: two jumps a day, 0.8 % each at volatility 1, up as often as down. */
const JUMPS_PER_SLOT = 2 / SLOTS_PER_DAY;
const JUMP = 0.008;
/**
 * Trends: the drift a year at volatility 1, and how long half of it lasts. Knowing it is worth a Sharpe ratio of 0.75.
 */
const DRIFT_A_YEAR = 0.6;
const DRIFT_HALF_LIFE_SLOTS = 7 * SLOTS_PER_DAY;

/** The diffusion has the year's variance without the part of the jumps. */
const DIFFUSION_A_SLOT = Math.sqrt((VOLATILITY_A_YEAR ** 2 - JUMP ** 2 * JUMPS_PER_SLOT * SLOTS_PER_YEAR)
  / SLOTS_PER_YEAR);

/**
 * Returns a seeded price with volatility that clusters (log-normal, three time scales; the model of S. Taylor, 1982),
 * jumps (R. Merton, 1976) and trends of days to weeks. Apart from the trend, the present price is the best guess of the
 * next one: no move tells the direction of the next, only its size. Volatility and drift change once a minute.
 */
export function createStochasticVolatility(options: { seed: string; start: number; volatility: number }): PriceProcess {
  // Each cause draws from its own stream, so that one can change without the others.
  const [random, volatilityRandom, driftRandom, jumpRandom] = ['moves', 'volatility', 'drift', 'jumps']
    .map((stream) => seededRandom(`${options.seed}:${stream}`)) as [Random, Random, Random, Random];
  const layers = VOLATILITY_LAYERS.map((layer) =>
    ({ step: meanReversion({ ...layer, steps: SLOTS_PER_MINUTE }), value: layer.size * normal(volatilityRandom) }));
  const stepDrift =
    meanReversion({ halfLifeSlots: DRIFT_HALF_LIFE_SLOTS, size: DRIFT_A_YEAR, steps: SLOTS_PER_MINUTE });
  let drift = DRIFT_A_YEAR * normal(driftRandom);
  let value = options.start;
  let relative = 1;
  let slotsLeft = 0;
  let slotsToJump = waitingTime();

  function waitingTime(): number {
    return Math.ceil(-Math.log(1 - jumpRandom()) / JUMPS_PER_SLOT);
  }

  const beginMinute = (): void => {
    slotsLeft = SLOTS_PER_MINUTE;
    drift = stepDrift(drift, normal(driftRandom));
    let log = 0;
    for (const layer of layers) log += layer.value = layer.step(layer.value, normal(volatilityRandom));
    // The mean square over time is 1.
    relative = Math.exp(log - LOG_VARIANCE);
  };

  /** Moves by a normal deviate whose exponential is 1 on average without the drift. */
  const move = (
    size: number, deviate: number, trend: number,
  ): void => { value *= Math.exp(size * deviate - (size * size) / 2 + trend); };

  const advance = (slots: number): void => {
    if (slotsLeft === 0) beginMinute();
    move(options.volatility * DIFFUSION_A_SLOT * relative * Math.sqrt(slots), normal(random), options.volatility
      * (drift / SLOTS_PER_YEAR) * slots);
    slotsLeft -= slots;
    slotsToJump -= slots;
    if (slotsToJump > 0) return;
    move(options.volatility * JUMP, normal(jumpRandom), 0);
    slotsToJump = waitingTime();
  };

  return {
    get value() { return value; },
    get relativeVolatility() { return relative; },
    step() { if (options.volatility !== 0) advance(1); },
    leap(steps) {
      if (options.volatility === 0) return;
      for (let left = steps; left > 0;) {
        const slots = Math.min(left, slotsLeft === 0 ? SLOTS_PER_MINUTE : slotsLeft);
        advance(slots);
        left -= slots;
      }
    },
    set(next) { value = next; },
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
