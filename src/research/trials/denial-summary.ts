import { counted, grouped } from '../../core/counted.ts';
import type { Millis } from '../../core/time.ts';
import type { DenialCode } from '../../trading/denials.ts';
import { DENIALS, isDenialCode } from '../../trading/denials.ts';

/** What the risk limits refused of a run, and the code that most of it has. */
interface DenialSummary {
  /** In all. */
  readonly count: number;
  readonly code: string;
  /** By that code. */
  readonly times: number;
}

/** What tells whether limits made a result. */
interface Refusals {
  readonly denials: Readonly<Record<string, number>>;
  readonly fills: number;
  /** Share of the time after the last fill. */
  readonly idle: number;
}

/** From this share of the time on it is worth a word that nothing was traded in the end. */
export const LONG_IDLE = 0.25;

/** Returns what was refused, undefined where nothing was. */
export function denialSummary(denials: Readonly<Record<string, number>>): DenialSummary | undefined {
  const [most] = Object.entries(denials).toSorted(([, a], [, b]) => b - a);
  return most === undefined ? undefined
    : { code: most[0], times: most[1], count: Object.values(denials).reduce((sum, each) => sum + each, 0) };
}

/**
 * Where as much was refused as done, or trading ended long before the data did, the limits made the result, not the
 * strategy alone.
 */
export function limitedBy({ denials, fills, idle }: Refusals): DenialSummary | undefined {
  const denied = denialSummary(denials);
  return denied !== undefined && (denied.count >= fills || idle >= LONG_IDLE) ? denied : undefined;
}

/** From this share of the proposals on, refusals are part of the result. */
const MATERIAL_SHARE = 0.01;

/**
 * Returns what the limits refused where that is a material part of the proposals, or a protection or a halt refused
 * any.
 */
function shapedBy({ denials, fills }: Pick<Refusals, 'denials' | 'fills'>): DenialSummary | undefined {
  const denied = denialSummary(denials);
  if (denied === undefined) return undefined;
  return isProtected(denials) || denied.count >= MATERIAL_SHARE * (denied.count + fills) ? denied : undefined;
}

function isProtected(denials: Refusals['denials']): boolean {
  return Object.keys(denials)
    .some((code) => isDenialCode(code) && (DENIALS[code].category === 'protection' || code === 'TRADING_HALTED'));
}

/**
 * Returns what the limits refused of a backtest, with each code, where that is a part of its result: none or one
 * sentence.
 */
export function shapedWarnings({ denials, decisions, alerts }: {
  readonly denials: Refusals['denials']; readonly decisions: number; readonly alerts: number;
}): string[] {
  const proposals = decisions - alerts;
  const denied = shapedBy({ denials, fills: proposals - (denialSummary(denials)?.count ?? 0) });
  if (denied === undefined) return [];
  const codes = Object.entries(denials).toSorted(([, a], [, b]) => b - a)
    .map(([code, count]) => `${grouped(String(count))} by ${denialText(code)}`);
  const share = (100 * denied.count) / proposals;
  return [`the risk limits shape this result: they refused ${grouped(String(denied.count))} of `
    + `${counted(proposals, 'proposal')} (${share < 1 ? 'less than 1' : share.toFixed(0)} %), ${codes.join(', ')}; `
    + 'with other limits it is another result'];
}

/** Returns the share of a run's time after its last fill; 0 where there is none, for then nothing ended. */
export function idleShare({ fills, startAt, endAt }: {
  readonly fills: readonly { readonly at: Millis }[]; readonly startAt: Millis; readonly endAt: Millis;
}): number {
  const last = fills.at(-1)?.at;
  return last === undefined || endAt <= startAt ? 0 : (endAt - last) / (endAt - startAt);
}

/** Returns a code with what it means, for people: "RATE_PER_DAY (as many swaps a day as allowed)". */
export function denialText(code: string): string {
  return Object.hasOwn(DENIALS, code) ? `${code} (${DENIALS[code as DenialCode].meaning})` : code;
}

/** What is said of results that `limitedBy` names a limit of. */
export const LIMITS_MADE_IT = 'the risk limits made the result as well as the parameters did';

/**
 * Returns in how many runs the limits made the result, and which one most often: none or one sentence. `one` is what a
 * run is called.
 */
export function limitWarnings(runs: readonly Refusals[], one: string): string[] {
  const limited = runs.flatMap((run) => limitedBy(run) ?? []);
  const others = runs.filter((run) => limitedBy(run) === undefined);
  return [...(limited.length === 0 ? [] : [
    `in ${whereText(limited.length, runs.length, one)} ${LIMITS_MADE_IT}: they refused as many swaps as were made or `
      + `more, or nothing was traded in the last quarter of the time; ${mostText(limited)}`,
  ]), ...shapedRuns(others, { all: runs.length, one })];
}

/** Less than that, and still a part of the results. */
function shapedRuns(runs: readonly Refusals[], { all, one }: { readonly all: number; readonly one: string }): string[] {
  const shaped = runs.flatMap((run) => shapedBy(run) ?? []);
  if (shaped.length === 0) return [];
  return [`in ${whereText(shaped.length, all, one)} the risk limits shape the result: they refused 1 % of the `
    + `proposals or more, or a protection stopped entries; ${mostText(shaped)}`];
}

function whereText(count: number, all: number, one: string): string {
  return count === all ? (all === 1 ? `the only ${one}` : `all ${counted(all, one)}`)
    : `${grouped(String(count))} of ${counted(all, one)}`;
}

function mostText(denied: readonly DenialSummary[]): string {
  const [most] = [...Map.groupBy(denied, ({ code }) => code)].toSorted(([, a], [, b]) => b.length - a.length);
  return `${denied.length === 1 ? 'mostly' : 'most often'} by ${denialText(most![0])}`;
}
