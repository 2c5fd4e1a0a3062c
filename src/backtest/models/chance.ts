import { seededRandom } from '../../core/random.ts';

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
