import type { Amount, Lamports } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { Mint } from '../../market/token.ts';
import type { ProtectionScope } from '../limits.ts';
import type { ProtectionRule } from './catalogue.ts';
import type { Noted, ProtectionMemory, SubjectMemory, Watch } from './memory.ts';
import { dayOf, subjectMemory, watchOf } from './memory.ts';

/** The state of protections as plain data; amounts are texts. */
export interface ProtectionSnapshot {
  readonly count: number;
  /** Null before anything happened. */
  readonly now: Millis | null;
  readonly presenceAt: Millis | null;
  readonly watches: readonly WatchSnapshot[];
  readonly subjects: readonly SubjectSnapshot[];
  readonly equity: Readonly<Record<string, EquitySnapshot>>;
  readonly unknownSince: Readonly<Record<string, Noted>>;
  /** The amount alone in snapshots of older versions. */
  readonly missing: Readonly<Record<string, string | { readonly n: number; readonly amount: string }>>;
}

/** A watch that was triggered or released. Family and number find it again under a changed configuration. */
interface WatchSnapshot {
  readonly family: string;
  readonly number: number;
  readonly subject: string;
  readonly fired: { readonly since: Millis; readonly n: number; readonly reason: string } | null;
  readonly reset: Noted | null;
  /** Absent without a reset, and in snapshots of older versions; the same applies to the fees. */
  readonly heights?: { readonly peak: string; readonly dayStart: string } | undefined;
  readonly feesBefore?: { readonly day: number; readonly fees: string } | undefined;
}

interface SubjectSnapshot {
  readonly scope: ProtectionScope;
  readonly name: string;
  readonly exits: readonly (Noted & { readonly cost: string; readonly profit: string })[];
  readonly failures: readonly Noted[];
  readonly lastTrade: Noted | null;
  readonly lastLoss: Noted | null;
  /** Their number alone in snapshots of older versions. */
  readonly unknowns: readonly Noted[] | number;
  /** Null before the first fee. */
  readonly feeDay: number | null;
  readonly fees: string;
}

interface EquitySnapshot {
  readonly basis: string;
  readonly value: string;
  readonly isKnown: boolean;
  readonly peak: string;
  readonly day: number;
  readonly dayStart: string;
  readonly feeCost: string;
  readonly feesCosted: string;
}

/** Returns the memory as plain data. */
export function snapshotMemory(memory: ProtectionMemory): ProtectionSnapshot {
  return {
    count: memory.count,
    now: memory.now === -Infinity ? null : memory.now,
    presenceAt: memory.presenceAt ?? null,
    watches: [...memory.watches.values()].filter(({ fired, reset }) => fired !== undefined || reset !== undefined)
      .map((watch) => snapshotWatch(memory, watch)),
    subjects: [...memory.subjects].map(([key, { exits, failures, lastTrade, lastLoss, unknowns, feeDay, fees }]) => ({
      scope: key.slice(0, key.indexOf(':')) as ProtectionScope,
      name: key.slice(key.indexOf(':') + 1),
      exits: exits.map(({ n, at, cost, profit }) => ({ n, at, cost: cost.toString(), profit: profit.toString() })),
      failures: [...failures], lastTrade: lastTrade ?? null, lastLoss: lastLoss ?? null, unknowns: [...unknowns],
      feeDay: feeDay === -Infinity ? null : feeDay, fees: fees.toString(),
    })),
    equity: Object.fromEntries([...memory.equity].map(([name, record]) => [name, {
      basis: record.basis, value: record.value.toString(), isKnown: record.isKnown, peak: record.peak.toString(),
      day: record.day, dayStart: record.dayStart.toString(), feeCost: record.feeCost.toString(),
      feesCosted: record.feesCosted.toString(),
    }])),
    unknownSince: Object.fromEntries(memory.unknownSince),
    missing: Object.fromEntries([...memory.missing].map(([mint, { n, amount }]) =>
      [mint, { n, amount: amount.toString() }])),
  };
}

function snapshotWatch(
  { equity }: ProtectionMemory, { rule, subject, fired, reset, feesBefore }: Watch,
): WatchSnapshot {
  const heights = equity.get(subject)?.resetHeights.get(rule);
  return {
    family: rule.family, number: rule.number, subject, fired: fired === undefined ? null : { ...fired },
    reset: reset === undefined ? null : { ...reset },
    ...(heights === undefined ? {}
      : { heights: { peak: heights.peak.toString(), dayStart: heights.dayStart.toString() } }),
    ...(feesBefore === undefined ? {} : { feesBefore: { day: feesBefore.day, fees: feesBefore.fees.toString() } }),
  };
}

/** Restores the state of protections from a snapshot, as far as the configured protections need it. */
export function restoreMemory(memory: ProtectionMemory, saved: ProtectionSnapshot | undefined): void {
  if (saved === undefined) return;
  memory.count = saved.count;
  memory.now = saved.now ?? -Infinity;
  memory.presenceAt = saved.presenceAt ?? undefined;
  for (const subject of saved.subjects) {
    const { exits, failures, lastTrade, lastLoss, unknowns, feeDay, fees } = subject;
    Object.assign(subjectMemory(memory, subject.scope, subject.name), {
      exits: exits.map(({ n, at, cost, profit }) => ({ n, at, cost: BigInt(cost) as Amount, profit: BigInt(profit) })),
      failures: [...failures], lastTrade: lastTrade ?? undefined, lastLoss: lastLoss ?? undefined,
      unknowns: typeof unknowns === 'number'
        ? Array.from({ length: unknowns }, () => ({ n: saved.count, at: saved.now ?? 0 })) : [...unknowns],
      feeDay: feeDay ?? -Infinity, fees: BigInt(fees) as Lamports,
    });
  }
  for (const [name, { basis, isKnown, day, ...texts }] of Object.entries(saved.equity)) {
    memory.equity.set(name, {
      basis, isKnown, day, value: BigInt(texts.value), peak: BigInt(texts.peak), dayStart: BigInt(texts.dayStart),
      feeCost: BigInt(texts.feeCost), feesCosted: BigInt(texts.feesCosted), changes: 0,
      settled: -1, resetHeights: new Map(),
    });
  }
  for (const watch of saved.watches) restoreWatch(memory, watch);
  for (const [id, since] of Object.entries(saved.unknownSince)) memory.unknownSince.set(id, since);
  for (const [mint, missing] of Object.entries(saved.missing)) {
    // An older version saved only amounts that no release had forgotten, so they are later than every release.
    const { n, amount } = typeof missing === 'string' ? { n: saved.count + 1, amount: missing } : missing;
    memory.missing.set(mint as Mint, { n, amount: BigInt(amount) });
    memory.count = Math.max(memory.count, n);
  }
}

function restoreWatch(
  memory: ProtectionMemory, { family, number, subject, fired, reset, heights, feesBefore }: WatchSnapshot,
): void {
  const rule = closestRule(memory.rules, family, number);
  if (rule === undefined) return;
  const watch = watchOf(memory, rule, subject);
  if (fired !== null && watch.fired === undefined) {
    watch.fired = { ...fired };
    memory.on += 1;
  }
  if (reset === null || (watch.reset !== undefined && reset.n <= watch.reset.n)) return;
  watch.reset = { ...reset };
  if (feesBefore !== undefined) watch.feesBefore = { day: feesBefore.day, fees: BigInt(feesBefore.fees) as Lamports };
  if (heights !== undefined)
    memory.equity.get(subject)
      ?.resetHeights.set(rule, { peak: BigInt(heights.peak), dayStart: BigInt(heights.dayStart) });
}

/** Returns the rule of the same family and number, else the last of the family, so that no trigger is lost. */
function closestRule(rules: readonly ProtectionRule[], family: string, number: number): ProtectionRule | undefined {
  const relatives = rules.filter((rule) => rule.family === family);
  return relatives[number - 1] ?? relatives.at(-1);
}

/** Moves times that are later than an instant to it, and later days to its day. The order of events stays. */
export function capMemory(memory: ProtectionMemory, at: Millis): void {
  memory.now = Math.min(memory.now, at);
  if (memory.presenceAt !== undefined) memory.presenceAt = Math.min(memory.presenceAt, at);
  // Watches come before subjects, because they compare with the subjects' days.
  for (const watch of memory.watches.values()) capWatch(watch, at);
  for (const subject of memory.subjects.values()) capSubject(subject, at);
  for (const record of memory.equity.values()) record.day = Math.min(record.day, dayOf(at));
  for (const [id, since] of memory.unknownSince) memory.unknownSince.set(id, capped(since, at));
}

function capWatch(watch: Watch, at: Millis): void {
  const { fired, reset, feesBefore, memory: { feeDay } } = watch;
  if (fired !== undefined) fired.since = Math.min(fired.since, at);
  if (reset !== undefined) watch.reset = capped(reset, at);
  // Fees of a day that is no longer recorded would enlarge the budget of a later day.
  watch.feesBefore = feesBefore?.day === feeDay ? { ...feesBefore, day: Math.min(feeDay, dayOf(at)) } : undefined;
}

function capSubject(subject: SubjectMemory, at: Millis): void {
  subject.exits = subject.exits.map((exit) => capped(exit, at));
  subject.failures = subject.failures.map((failure) => capped(failure, at));
  subject.unknowns = subject.unknowns.map((unknown) => capped(unknown, at));
  subject.lastTrade &&= capped(subject.lastTrade, at);
  subject.lastLoss &&= capped(subject.lastLoss, at);
  subject.feeDay = Math.min(subject.feeDay, dayOf(at));
}

function capped<T extends Noted>(noted: T, at: Millis): T {
  return noted.at > at ? { ...noted, at } : noted;
}
