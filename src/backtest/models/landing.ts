import type { Amount } from '../../core/amount.ts';
import { afterSlippage, mulDiv } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { LandingModel } from '../../trading/simulation-model.ts';
import type { SettingRow } from './settings.ts';
import { seededRandom } from '../../core/random.ts';

/** The router of makers, whose quotes are firm: a swap is filled as quoted or not at all. */
const MAKER_ROUTER = 'rfqz';

const BPS = 10_000n;

/** Returns whether a router's quotes are firm. */
export function isFirm(router: string): boolean {
  return router === MAKER_ROUTER;
}

/** The way of a transaction to the chain, whatever its price. */
type Passage = 'arrives' | 'arrives-unseen' | 'expires';

/**
 * Returns whether a transaction arrives, and whether its landing is seen in time. It expires where it takes too long.
 */
export function passageOf(
  { drop, unknown }: AttemptChance, { dropProbability, unknownProbability, expiryMs }: LandingModel,
  landLatencyMs: Millis,
): Passage {
  if (drop < dropProbability || landLatencyMs > expiryMs) return 'expires';
  return unknown < unknownProbability ? 'arrives-unseen' : 'arrives';
}

/** A swap on arrival: the accepted output, and the output at the current price. */
interface Arrival {
  readonly acceptedOut: Amount;
  readonly arrivalOut: Amount;
  readonly isFirm: boolean;
}

/**
 * Returns the output of a swap on arrival, before it is compared with the threshold: the quoted one where the setting
 * or a firm quote says so, else the output on arrival less the adverse move of fills, floored. Undefined where a maker
 * declines to sign, since the price moved in the taker's favour.
 */
export function arrivingOutput(
  { acceptedOut, arrivalOut, isFirm: firm }: Arrival, { adverseBps, lastLookBps }: LandingModel, row: SettingRow,
): Amount | undefined {
  if (firm) return isDeclined(acceptedOut, arrivalOut, lastLookBps * row.makerTolerance) ? undefined : acceptedOut;
  if (row.fill === 'quoted') return acceptedOut;
  return adverseBps === 0 ? arrivalOut : afterSlippage(arrivalOut, adverseBps);
}

function isDeclined(acceptedOut: Amount, arrivalOut: Amount, toleranceBps: number): boolean {
  return toleranceBps !== Infinity
    && arrivalOut > mulDiv(acceptedOut, BPS + BigInt(Math.floor(toleranceBps)), BPS, 'floor');
}

/** The random numbers of one attempt, each in [0, 1). */
export interface AttemptChance {
  readonly quote: number;
  readonly sign: number;
  readonly land: number;
  readonly drop: number;
  readonly unknown: number;
}

/**
 * Returns the random numbers of an intent's attempt. They follow from seed and id alone, so that the order of execution
 * does not matter, and an intent has the same numbers in every setting.
 */
export function chanceOf(seed: number | string, intentId: string): AttemptChance {
  const random = seededRandom(`${seed}:${intentId}`);
  return { quote: random(), sign: random(), land: random(), drop: random(), unknown: random() };
}
