import { groupThousands, pluralize } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import type { DenialCode } from '../../trading/limits.ts';
import { DENIALS, isDenialCode } from '../../trading/limits.ts';

/** The refusals of a run by the risk limits, and the most frequent code. */
interface DenialSummary {
  /** The number of all refusals. */
  readonly count: number;
  readonly code: string;
  /** The number with that code. */
  readonly times: number;
}

/** The data that show whether limits shaped a result. */
interface Refusals {
  readonly denials: Readonly<Record<string, number>>;
  readonly fills: number;
  /** Share of the time after the last fill. */
  readonly idle: number;
}

/** From this share of the time on, the verdict mentions the time without trading at the end. */
export const LONG_IDLE = 0.25;

/** Returns a summary of refusals; undefined without any. */
function denialSummary(denials: Readonly<Record<string, number>>): DenialSummary | undefined {
  const [most] = Object.entries(denials).toSorted(([, a], [, b]) => b - a);
  return most === undefined ? undefined
    : { code: most[0], times: most[1], count: Object.values(denials).reduce((sum, each) => sum + each, 0) };
}

/**
 * Returns the refusals when the limits determined the result as much as the strategy: at least as many refusals as
 * fills, or no trading in the last part of the time.
 */
export function limitedBy({ denials, fills, idle }: Refusals): DenialSummary | undefined {
  const denied = denialSummary(denials);
  return denied !== undefined && (denied.count >= fills || idle >= LONG_IDLE) ? denied : undefined;
}

/** From this share of the proposals on, refusals shape the result. */
const MATERIAL_SHARE = 0.01;

/** Returns the cells of a table for refusals: their number, and the most frequent code. */
export function deniedCells(denials: Readonly<Record<string, number>>): [count: string, code: string] {
  const denied = denialSummary(denials);
  return denied === undefined ? ['0', ''] : [groupThousands(String(denied.count)), denied.code];
}

/** Returns the refusals when they are a material share of the proposals, or when a protection or a halt refused any. */
function shapedBy({ denials, fills }: Pick<Refusals, 'denials' | 'fills'>): DenialSummary | undefined {
  const denied = denialSummary(denials);
  if (denied === undefined) return undefined;
  return isProtected(denials) || denied.count >= MATERIAL_SHARE * (denied.count + fills) ? denied : undefined;
}

function isProtected(denials: Refusals['denials']): boolean {
  return Object.keys(denials)
    .some((code) => isDenialCode(code) && (DENIALS[code].category === 'protection' || code === 'TRADING_HALTED'));
}

/** Returns a warning with the refusals by code when they shape the result of a backtest. */
export function shapedWarnings({ denials, decisions, alerts }: {
  readonly denials: Refusals['denials']; readonly decisions: number; readonly alerts: number;
}): string[] {
  const proposals = decisions - alerts;
  const denied = shapedBy({ denials, fills: proposals - (denialSummary(denials)?.count ?? 0) });
  if (denied === undefined) return [];
  const codes = Object.entries(denials).toSorted(([, a], [, b]) => b - a)
    .map(([code, count]) => `${groupThousands(String(count))} by ${denialText(code)}`);
  const share = (100 * denied.count) / proposals;
  return [`the risk limits shape this result: they refused ${groupThousands(String(denied.count))} of `
    + `${pluralize(proposals, 'proposal')} (${share < 1 ? 'less than 1' : share.toFixed(0)} %), ${codes.join(', ')}; `
    + 'other limits lead to another result'];
}

/** Returns the share of a run's time after its last fill; 0 without fills. */
export function idleShare({ fills, startAt, endAt }: {
  readonly fills: readonly { readonly at: Millis }[]; readonly startAt: Millis; readonly endAt: Millis;
}): number {
  const last = fills.at(-1)?.at;
  return last === undefined || endAt <= startAt ? 0 : (endAt - last) / (endAt - startAt);
}

/** Returns a code with its meaning, for people: "RATE_PER_DAY (as many swaps a day as allowed)". */
export function denialText(code: string): string {
  return Object.hasOwn(DENIALS, code) ? `${code} (${DENIALS[code as DenialCode].meaning})` : code;
}

/** Describes results that `limitedBy` returns refusals for. */
export const LIMITS_MADE_IT = 'the risk limits determine the result as much as the parameters';

/**
 * Returns a warning with the number of runs that the limits determined or shaped, and the most frequent code. `one` is
 * the name of a run.
 */
export function limitWarnings(runs: readonly Refusals[], one: string): string[] {
  const limited = runs.flatMap((run) => limitedBy(run) ?? []);
  const others = runs.filter((run) => limitedBy(run) === undefined);
  return [...(limited.length === 0 ? [] : [
    `in ${whereText(limited.length, runs.length, one)} ${LIMITS_MADE_IT}: they refused at least as many swaps as `
      + `were made, or trading stopped before the last quarter of the time; ${mostText(limited)}`,
  ]), ...shapedRuns(others, { all: runs.length, one })];
}

/** The same for limits that shaped the result without determining it. */
function shapedRuns(runs: readonly Refusals[], { all, one }: { readonly all: number; readonly one: string }): string[] {
  const shaped = runs.flatMap((run) => shapedBy(run) ?? []);
  if (shaped.length === 0) return [];
  return [`in ${whereText(shaped.length, all, one)} the risk limits shape the result: they refused 1 % of the `
    + `proposals or more, or a protection stopped entries; ${mostText(shaped)}`];
}

function whereText(count: number, all: number, one: string): string {
  return count === all ? (all === 1 ? `the only ${one}` : `all ${pluralize(all, one)}`)
    : `${groupThousands(String(count))} of ${pluralize(all, one)}`;
}

function mostText(denied: readonly DenialSummary[]): string {
  const [most] = [...Map.groupBy(denied, ({ code }) => code)].toSorted(([, a], [, b]) => b.length - a.length);
  return `${denied.length === 1 ? 'mostly' : 'most often'} by ${denialText(most![0])}`;
}
