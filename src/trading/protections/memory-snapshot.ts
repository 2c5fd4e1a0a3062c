import type { Amount, Lamports } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { Mint } from '../../market/token.ts';
import type { ProtectionScope } from '../protection.ts';
import type { Noted, ProtectionMemory, ProtectionRule } from './memory.ts';
import { subjectMemory, watchOf } from './memory.ts';

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
  readonly missing: Readonly<Record<string, string>>;
}

/** One that is on, or was. The family and the number find it again under a changed configuration. */
interface WatchSnapshot {
  readonly family: string;
  readonly number: number;
  readonly subject: string;
  readonly fired: { readonly since: Millis; readonly n: number; readonly reason: string } | null;
  readonly reset: Noted | null;
}

interface SubjectSnapshot {
  readonly scope: ProtectionScope;
  readonly name: string;
  readonly exits: readonly (Noted & { readonly cost: string; readonly profit: string })[];
  readonly failures: readonly Noted[];
  readonly lastTrade: Noted | null;
  readonly lastLoss: Noted | null;
  readonly unknowns: number;
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
      .map(({ rule: { family, number }, subject, fired, reset }) => ({
        family, number, subject, fired: fired === undefined ? null : { ...fired }, reset: reset === undefined ? null : { ...reset },
      })),
    subjects: [...memory.subjects].map(([key, { exits, failures, lastTrade, lastLoss, unknowns, feeDay, fees }]) => ({
      scope: key.slice(0, key.indexOf(':')) as ProtectionScope,
      name: key.slice(key.indexOf(':') + 1),
      exits: exits.map(({ n, at, cost, profit }) => ({ n, at, cost: cost.toString(), profit: profit.toString() })),
      failures: [...failures], lastTrade: lastTrade ?? null, lastLoss: lastLoss ?? null, unknowns,
      feeDay: feeDay === -Infinity ? null : feeDay, fees: fees.toString(),
    })),
    equity: Object.fromEntries([...memory.equity].map(([name, record]) => [name, {
      basis: record.basis, value: record.value.toString(), isKnown: record.isKnown, peak: record.peak.toString(), day: record.day,
      dayStart: record.dayStart.toString(), feeCost: record.feeCost.toString(), feesCosted: record.feesCosted.toString(),
    }])),
    unknownSince: Object.fromEntries(memory.unknownSince),
    missing: Object.fromEntries([...memory.missing].map(([mint, amount]) => [mint, amount.toString()])),
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
      failures: [...failures], lastTrade: lastTrade ?? undefined, lastLoss: lastLoss ?? undefined, unknowns,
      feeDay: feeDay ?? -Infinity, fees: BigInt(fees) as Lamports,
    });
  }
  for (const { family, number, subject, fired, reset } of saved.watches) {
    const rule = closestRule(memory.rules, family, number);
    if (rule === undefined) continue;
    const watch = watchOf(memory, rule, subject);
    if (fired !== null && watch.fired === undefined) {
      watch.fired = { ...fired };
      memory.on += 1;
    }
    if (reset !== null && (watch.reset === undefined || reset.n > watch.reset.n)) watch.reset = { ...reset };
  }
  for (const [name, { basis, isKnown, day, ...texts }] of Object.entries(saved.equity)) {
    memory.equity.set(name, {
      basis, isKnown, day, value: BigInt(texts.value), peak: BigInt(texts.peak), dayStart: BigInt(texts.dayStart),
      feeCost: BigInt(texts.feeCost), feesCosted: BigInt(texts.feesCosted),
    });
  }
  for (const [id, since] of Object.entries(saved.unknownSince)) memory.unknownSince.set(id, since);
  for (const [mint, amount] of Object.entries(saved.missing)) memory.missing.set(mint as Mint, BigInt(amount));
}

/** Of its family the one of the same number, else the last: what has come on is not lost because another was taken out. */
function closestRule(rules: readonly ProtectionRule[], family: string, number: number): ProtectionRule | undefined {
  const relatives = rules.filter((rule) => rule.family === family);
  return relatives[number - 1] ?? relatives.at(-1);
}
