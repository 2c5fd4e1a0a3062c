import { normal, seededRandom, type Random } from '../../core/random.ts';
import { SLOTS_PER_DAY, SLOTS_PER_MINUTE } from '../slot-counts.ts';
import { meanReversion, type PriceProcess } from './price-process.ts';

const DAYS_PER_YEAR = 365.25;
const SLOTS_PER_YEAR = DAYS_PER_YEAR * SLOTS_PER_DAY;
/** Standard deviation of a year's logarithm at volatility 1, drift apart: SOL's in most years. */
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

/** What the jumps bring to a year's variance is not left to the rest. */
const DIFFUSION_A_SLOT = Math.sqrt((VOLATILITY_A_YEAR ** 2 - JUMP ** 2 * JUMPS_PER_SLOT * SLOTS_PER_YEAR)
  / SLOTS_PER_YEAR);

/**
 * Returns a seeded price with volatility that clusters (log-normal, three time scales; the model of S. Taylor, 1982),
 * jumps (R. Merton, 1976) and trends of days to weeks. Apart from the trend, the present price is the best guess of the
 * next one: no move tells the direction of the next, only its size. Volatility and drift change once a minute.
 */
export function createStochasticVolatility(options: { seed: string; start: number; volatility: number }): PriceProcess {
  // Each cause draws from a stream of its own, so that one of them can be changed and the others stay.
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

  /** Moves by a normal deviate whose exponential is 1 on average, the drift apart. */
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
