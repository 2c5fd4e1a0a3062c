import type { Random } from '../../core/random.ts';
import type { Millis } from '../../core/time.ts';
import type { Decision } from '../../trading/step.ts';

/** One in so many begins anywhere: not all that matters was decided in the one run that is known. */
const ANYWHERE_EVERY = 4;

/**
 * Returns instants to begin trading at, rising, each once: one in each of `count` parts of a span, most of them right before
 * something that was decided there. Who is warmed up decides it again at once, who is not shows it; of decisions of several
 * kinds each kind comes in its turn, since what is sold first must be bought.
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
  // Just before: a timer that is due at the very instant would still belong to the past.
  const candidates = decisions.map((decision) => ({ at: decision.at - 1, kind: kindOf(decision) })).filter(({ at }) => at >= from && at < to);
  const kinds = [...new Set(candidates.map(({ kind }) => kind))];
  const starts = new Set<Millis>();
  for (let part = 0; part < count; part++) {
    const begin = from + ((to - from) * part) / count;
    const end = from + ((to - from) * (part + 1)) / count;
    const within = candidates.filter(({ at }) => at >= begin && at < end);
    // Where nothing was decided in this part, what was decided in another one says more than an instant of silence.
    const left = (within.length > 0 ? within : candidates).filter(({ at }) => !starts.has(at));
    const wanted = left.filter(({ kind }) => kind === kinds[part % kinds.length]);
    const near = wanted.length > 0 ? wanted : left;
    starts.add(near.length === 0 || part % ANYWHERE_EVERY === ANYWHERE_EVERY - 1 ? Math.floor(begin + random() * (end - begin)) : near[Math.floor(random() * near.length)]!.at);
  }
  return [...starts].toSorted((a, b) => a - b);
}

function kindOf({ proposal }: Decision): string {
  return proposal.kind === 'swap' ? `${proposal.inputMint} ${proposal.outputMint}` : proposal.kind;
}
