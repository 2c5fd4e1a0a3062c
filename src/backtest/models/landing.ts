import type { Amount } from '../../core/amount.ts';
import { afterSlippage, mulDiv } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { LandingModel } from '../../trading/simulation-model.ts';
import type { SettingRow } from './settings.ts';
import { seededRandom } from '../../core/random.ts';

/** The router whose quotes are a maker's word: filled as quoted, or not at all. */
const MAKER_ROUTER = 'rfqz';

const BPS = 10_000n;

/** Returns whether a router's quotes are firm. */
export function isFirm(router: string): boolean {
  return router === MAKER_ROUTER;
}

/** What becomes of a transaction on its way, before the price is looked at. */
export type Passage = 'arrives' | 'arrives-unseen' | 'expires';

/**
 * Returns whether a transaction arrives, and whether anybody hears of it in time; one that takes longer than its life
 * expires.
 */
export function passageOf(
  { drop, unknown }: AttemptChance, { dropProbability, unknownProbability, expiryMs }: LandingModel,
  landLatencyMs: Millis,
): Passage {
  if (drop < dropProbability || landLatencyMs > expiryMs) return 'expires';
  return unknown < unknownProbability ? 'arrives-unseen' : 'arrives';
}

/** A swap on arrival: what was accepted, and what it would bring now. */
export interface Arrival {
  readonly acceptedOut: Amount;
  readonly arrivalOut: Amount;
  readonly isFirm: boolean;
}

/**
 * Returns what a swap brings on arrival, before it is held against its threshold: as quoted where the setting says so
 * or a maker keeps his word; else the price on arrival less what fills fall short by, floored. Undefined where the
 * maker, at his last look, does not sign: the price moved in the taker's favour.
 */
export function arrivingOutput(
  { acceptedOut, arrivalOut, isFirm: firm }: Arrival, { adverseBps, lastLookBps }: LandingModel, row: SettingRow,
): Amount | undefined {
  if (firm) return isRefusedAtLastLook(acceptedOut, arrivalOut, lastLookBps * row.lastLook) ? undefined : acceptedOut;
  if (row.fill === 'quoted') return acceptedOut;
  return adverseBps === 0 ? arrivalOut : afterSlippage(arrivalOut, adverseBps);
}

function isRefusedAtLastLook(acceptedOut: Amount, arrivalOut: Amount, patienceBps: number): boolean {
  return patienceBps !== Infinity
    && arrivalOut > mulDiv(acceptedOut, BPS + BigInt(Math.floor(patienceBps)), BPS, 'floor');
}

/** What chance has in store for one attempt, each a number of [0, 1). */
export interface AttemptChance {
  readonly quote: number;
  readonly sign: number;
  readonly land: number;
  readonly drop: number;
  readonly unknown: number;
}

/**
 * Returns the chance of an intent's attempt: it follows from seed and id alone, so that the order in which intents are
 * carried out does not matter, and the same intent has the same luck in every setting.
 */
export function chanceOf(seed: number | string, intentId: string): AttemptChance {
  const random = seededRandom(`${seed}:${intentId}`);
  return { quote: random(), sign: random(), land: random(), drop: random(), unknown: random() };
}
