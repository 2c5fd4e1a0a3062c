import type { Amount, Lamports } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { Mint } from '../../market/token.ts';
import type { ProtectionScope } from '../protection.ts';
import type { Noted, ProtectionMemory, Watch } from './memory.ts';
import { subjectMemory, watchOf } from './memory.ts';
import type { ProtectionRule } from './rules.ts';

/** What protections remember as plain data; amounts are texts. */
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

/** One that is on, or was. The family and the number find it again under a changed configuration. */
interface WatchSnapshot {
  readonly family: string;
  readonly number: number;
  readonly subject: string;
  readonly fired: { readonly since: Millis; readonly n: number; readonly reason: string } | null;
  readonly reset: Noted | null;
  /** Absent where it did not begin anew, and in snapshots of older versions, as are the fees. */
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
  const heights = equity.get(subject)?.anew.get(rule);
  return {
    family: rule.family, number: rule.number, subject, fired: fired === undefined ? null : { ...fired },
    reset: reset === undefined ? null : { ...reset },
    ...(heights === undefined ? {}
      : { heights: { peak: heights.peak.toString(), dayStart: heights.dayStart.toString() } }),
    ...(feesBefore === undefined ? {} : { feesBefore: { day: feesBefore.day, fees: feesBefore.fees.toString() } }),
  };
}

/** Fills a fresh memory with what an earlier one held, as far as the protections of now still ask for it. */
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
      feeCost: BigInt(texts.feeCost), feesCosted: BigInt(texts.feesCosted), anew: new Map(),
    });
  }
  for (const watch of saved.watches) restoreWatch(memory, watch);
  for (const [id, since] of Object.entries(saved.unknownSince)) memory.unknownSince.set(id, since);
  for (const [mint, missing] of Object.entries(saved.missing)) {
    // What an older version still counted no protection had let go of: it is later than anything that one did.
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
    memory.equity.get(subject)?.anew.set(rule, { peak: BigInt(heights.peak), dayStart: BigInt(heights.dayStart) });
}

/**
 * Of its family the one of the same number, else the last: what has come on is not lost because another was taken out.
 */
function closestRule(rules: readonly ProtectionRule[], family: string, number: number): ProtectionRule | undefined {
  const relatives = rules.filter((rule) => rule.family === family);
  return relatives[number - 1] ?? relatives.at(-1);
}
