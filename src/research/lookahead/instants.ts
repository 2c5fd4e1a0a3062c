import type { Random } from '../../core/random.ts';
import type { Millis } from '../../core/time.ts';
import type { Decision } from '../../trading/step.ts';

/** One start in so many is at a random instant, because the known run does not show every decision that matters. */
const ANYWHERE_EVERY = 4;

/**
 * Returns instants to begin trading at, rising, each once: one in each of `count` parts of a span, most of them right
 * before a known decision. A strategy that is warmed up repeats that decision at once. The kinds of decisions take
 * turns, because a token must be bought before it can be sold.
 */
export function startTimes({ decisions, from, to, count, random }: {
  /** Of a run over all of the recording, rising. */
  readonly decisions: readonly Decision[];
  readonly from: Millis;
  /** Exclusive. */
  readonly to: Millis;
  readonly count: number;
  readonly random: Random;
}): Millis[] {
  if (from >= to) return [];
  // Just before the decision: a timer that is due at that very instant would still belong to the past.
  const candidates = decisions
    .map((decision) => ({ at: decision.at - 1, kind: kindOf(decision) }))
    .filter(({ at }) => at >= from && at < to);
  const kinds = [...new Set(candidates.map(({ kind }) => kind))];
  const starts = new Set<Millis>();
  for (let part = 0; part < count; part++) {
    const begin = from + ((to - from) * part) / count;
    const end = from + ((to - from) * (part + 1)) / count;
    const within = candidates.filter(({ at }) => at >= begin && at < end);
    // In a part without decisions, a decision of another part tells more than a random instant.
    const left = (within.length > 0 ? within : candidates).filter(({ at }) => !starts.has(at));
    const wanted = left.filter(({ kind }) => kind === kinds[part % kinds.length]);
    const near = wanted.length > 0 ? wanted : left;
    const isAnywhere = near.length === 0 || part % ANYWHERE_EVERY === ANYWHERE_EVERY - 1;
    starts.add(isAnywhere
      ? Math.floor(begin + random() * (end - begin)) : near[Math.floor(random() * near.length)]!.at);
  }
  return [...starts].toSorted((a, b) => a - b);
}

function kindOf({ proposal }: Decision): string {
  return proposal.kind === 'swap' ? `${proposal.inputMint} ${proposal.outputMint}` : proposal.kind;
}

/**
 * Returns instants at which a perturbed future begins, each once, between the first and the last row: the first ones
 * right after decisions and at decisions, because a decision must not need later rows, then random ones.
 */
export function sampleTimes({ decidedAt, startAt, endAt, count, random }: {
  /** The times of decisions, rising. */
  readonly decidedAt: readonly Millis[];
  readonly startAt: Millis;
  readonly endAt: Millis;
  readonly count: number;
  readonly random: Random;
}): Millis[] {
  const instants = [...new Set(decidedAt)];
  const times = new Set<Millis>();
  const add = (at: Millis): void => { if (at > startAt && at <= endAt && times.size < count) times.add(at); };
  const drawn = Array.from({ length: count }, () => instants[Math.floor(random() * instants.length)]);
  const decisions = [instants[0], instants.at(-1), ...drawn];
  const aroundMax = Math.ceil((2 / 3) * count);
  for (const at of decisions) {
    if (at === undefined || times.size >= aroundMax) break;
    add(at + 1);
    add(at);
  }
  for (let tries = 0; tries < 10 * count; tries++) add(Math.ceil(startAt + random() * (endAt - startAt)));
  return [...times];
}
