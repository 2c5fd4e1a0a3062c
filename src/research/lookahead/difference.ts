import { canonicalJson } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import type { Decision } from '../../trading/step.ts';

/** The first decision that differs between two runs. */
export interface Difference {
  readonly seq: number;
  readonly at: Millis;
  /** Null when this run made no decision. */
  readonly expected: Decision | null;
  readonly found: Decision | null;
}

/** The decisions to compare. */
interface Span {
  readonly from?: Millis | undefined;
  /** Exclusive. */
  readonly until?: Millis | undefined;
}

/**
 * Returns the first decision in which two runs of a strategy differ. Sequence numbers are not compared: a neighbour's
 * decision, or one more row of warm-up, shifts them all.
 */
export function firstDifference(
  expected: readonly Decision[], found: readonly Decision[], { from = -Infinity, until = Infinity }: Span = {},
): Difference | undefined {
  const within = ({ at }: Decision): boolean => at >= from && at < until;
  const wanted = expected.filter(within);
  const got = found.filter(within);
  for (let i = 0; i < Math.max(wanted.length, got.length); i++) {
    const [a, b] = [wanted[i] ?? null, got[i] ?? null];
    if (a !== null && b !== null && isSame(a, b)) continue;
    // Of two decisions at different times, the earlier one has no counterpart.
    const isExpected = a !== null && (b === null || a.at <= b.at);
    const isFound = b !== null && (a === null || b.at <= a.at);
    const { seq, at } = isExpected ? a : b!;
    return { seq, at, expected: isExpected ? a : null, found: isFound ? b : null };
  }
  return undefined;
}

function isSame(a: Decision, b: Decision): boolean {
  return a.at === b.at && a.verdict === b.verdict && a.code === b.code
    && (isShallowEqual(a.proposal, b.proposal) || canonicalJson(a.proposal) === canonicalJson(b.proposal));
}

/** Most proposals have no nested values, so that this cheap comparison decides. */
function isShallowEqual(a: object, b: object): boolean {
  const members = Object.entries(a);
  return members.length === Object.keys(b).length
    && members.every(([key, value]) => Object.hasOwn(b, key) && Reflect.get(b, key) === value);
}
