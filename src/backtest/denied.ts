import { counted, grouped } from '../core/counted.ts';
import type { Millis } from '../core/time.ts';
import type { DenialCode } from '../trading/denials.ts';
import { DENIALS } from '../trading/denials.ts';

/** What the risk limits refused of a run, and the code that most of it has. */
export interface Denied {
  /** In all. */
  readonly count: number;
  readonly code: string;
  /** By that code. */
  readonly times: number;
}

/** What tells whether limits made a result. */
export interface Refusals {
  readonly denials: Readonly<Record<string, number>>;
  readonly fills: number;
  /** Share of the time after the last fill. */
  readonly idle: number;
}

/** From this share of the time on it is worth a word that nothing was traded in the end. */
export const LONG_IDLE = 0.25;

/** Returns what was refused, undefined where nothing was. */
export function deniedOf(denials: Readonly<Record<string, number>>): Denied | undefined {
  const [most] = Object.entries(denials).toSorted(([, a], [, b]) => b - a);
  return most === undefined ? undefined : { code: most[0], times: most[1], count: Object.values(denials).reduce((sum, each) => sum + each, 0) };
}

/** Where as much was refused as done, or trading ended long before the data did, the limits made the result, not the strategy alone. */
export function limitedBy({ denials, fills, idle }: Refusals): Denied | undefined {
  const denied = deniedOf(denials);
  return denied !== undefined && (denied.count >= fills || idle >= LONG_IDLE) ? denied : undefined;
}

/** Returns the share of a run's time after its last fill; 0 where there is none, for then nothing ended. */
export function idleShare({ fills, startAt, endAt }: { readonly fills: readonly { readonly at: Millis }[]; readonly startAt: Millis; readonly endAt: Millis }): number {
  const last = fills.at(-1)?.at;
  return last === undefined || endAt <= startAt ? 0 : (endAt - last) / (endAt - startAt);
}

/** Returns a code with what it means, for people: "RATE_PER_DAY (as many swaps a day as allowed)". */
export function denialText(code: string): string {
  return Object.hasOwn(DENIALS, code) ? `${code} (${DENIALS[code as DenialCode].meaning})` : code;
}

/** What is said of results that `limitedBy` names a limit of. */
export const LIMITS_MADE_IT = 'the risk limits made the result as well as the parameters did';

/** Returns in how many runs the limits made the result, and which one most often: none or one sentence. `one` is what a run is called. */
export function limitWarnings(runs: readonly Refusals[], one: string): string[] {
  const limited = runs.flatMap((run) => limitedBy(run) ?? []);
  if (limited.length === 0) return [];
  const [most] = [...Map.groupBy(limited, ({ code }) => code)].toSorted(([, a], [, b]) => b.length - a.length);
  const where = limited.length === runs.length ? (runs.length === 1 ? `the only ${one}` : `all ${counted(runs.length, one)}`) : `${grouped(String(limited.length))} of ${counted(runs.length, one)}`;
  return [`in ${where} ${LIMITS_MADE_IT}: they refused as many swaps as were made or more, or nothing was traded in the last quarter of the time; ${limited.length === 1 ? 'mostly' : 'most often'} by ${denialText(most![0])}`];
}
