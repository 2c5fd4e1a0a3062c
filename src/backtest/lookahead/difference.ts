import { canonicalJson } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import type { Decision } from '../../trading/step.ts';

/** The first decision that is not the same. */
export interface Difference {
  readonly seq: number;
  readonly at: Millis;
  /** Null where nothing was decided. */
  readonly expected: Decision | null;
  readonly found: Decision | null;
}

/** Which decisions count. */
export interface Span {
  readonly from?: Millis | undefined;
  /** Exclusive. */
  readonly until?: Millis | undefined;
}

/**
 * Returns where two runs of a strategy first decided otherwise. Numbers do not count: a neighbour's decision, or one row
 * more of a warm-up, moves them all.
 */
export function firstDifference(expected: readonly Decision[], found: readonly Decision[], { from = -Infinity, until = Infinity }: Span = {}): Difference | undefined {
  const within = ({ at }: Decision): boolean => at >= from && at < until;
  const wanted = expected.filter(within);
  const got = found.filter(within);
  for (let i = 0; i < Math.max(wanted.length, got.length); i++) {
    const [a, b] = [wanted[i] ?? null, got[i] ?? null];
    if (a !== null && b !== null && isSame(a, b)) continue;
    // Of two at different times the later is no answer to the earlier.
    const isExpected = a !== null && (b === null || a.at <= b.at);
    const isFound = b !== null && (a === null || b.at <= a.at);
    const { seq, at } = isExpected ? a : b!;
    return { seq, at, expected: isExpected ? a : null, found: isFound ? b : null };
  }
  return undefined;
}

function isSame(a: Decision, b: Decision): boolean {
  return a.at === b.at && a.verdict === b.verdict && a.code === b.code && (isAlike(a.proposal, b.proposal) || canonicalJson(a.proposal) === canonicalJson(b.proposal));
}

/** Most proposals hold nothing within anything: no text need be made to see that they are the same. */
function isAlike(a: object, b: object): boolean {
  const members = Object.entries(a);
  return members.length === Object.keys(b).length && members.every(([key, value]) => Object.hasOwn(b, key) && Reflect.get(b, key) === value);
}
