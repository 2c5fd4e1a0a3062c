import type { Lamports } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { Mint } from '../../market/token.ts';
import type { ExitResult } from '../costs.ts';
import type { StrategyBook } from '../portfolio.ts';
import type { Protection, ProtectionScope } from '../protection.ts';
import type { ProtectionChange } from './protection-change.ts';
import type { Reach, Reaches } from './reach.ts';
import { reachesOf } from './reach.ts';
import type { ProtectionRule } from './rules.ts';
import { isOfEquity, rulesOf } from './rules.ts';

/**
 * Something that happened: its place among all that did, and when. A release forgets by place, since instants repeat.
 */
export interface Noted {
  readonly n: number;
  readonly at: Millis;
}

/** An exit whose result is known. */
export interface NotedExit extends Noted, ExitResult {}

/** What is remembered of one strategy, one token, or everything; no longer lists than some protection looks at. */
export interface SubjectMemory {
  exits: NotedExit[];
  failures: Noted[];
  lastTrade: Noted | undefined;
  lastLoss: Noted | undefined;
  /** Swaps in a row that became unknown. */
  unknowns: Noted[];
  /** The UTC day, counted from the epoch, of which the fees are. */
  feeDay: number;
  fees: Lamports;
  /** The place of the last thing that was noted of it. */
  notedN: number;
}

/** One of those of whom a swap is remembered, and how much of it. */
export interface SwapSubject {
  readonly memory: SubjectMemory;
  readonly reach: Reach;
}

/** From what losses are measured. */
export interface Heights {
  peak: bigint;
  dayStart: bigint;
}

/** What a strategy, or all of them, is worth in a token, and what it was. */
export interface EquityRecord extends Heights {
  /** The token, and whose equity is in it: where these change, heights are carried over in proportion. */
  basis: string;
  value: bigint;
  /**
   * Whether every part had a price that is fresh enough; else one without counts at its last, and all of it where there
   * never was any.
   */
  isKnown: boolean;
  /** The UTC day, counted from the epoch, of the last look. */
  day: number;
  /** Network fees in the token, of so many lamports of the book. */
  feeCost: bigint;
  feesCosted: bigint;
  /** The heights of protections that began anew, each its own: one that lets go takes no other's away. */
  readonly anew: Map<ProtectionRule, Heights>;
}

/** A strategy with a budget, and the token in which it is valued: what each look at equity needs of it. */
export interface ValuedBook {
  readonly name: string;
  readonly book: StrategyBook;
  readonly currency: Mint;
  /** Undefined before it ever had a value. */
  record: EquityRecord | undefined;
}

/** A protection that is on. */
export interface Fired {
  /** From when an `elapsed` release counts. */
  since: Millis;
  /** How much had happened when it came on, or was prolonged. */
  n: number;
  readonly reason: string;
}

/** One protection looking at one subject. */
export interface Watch {
  readonly rule: ProtectionRule;
  /** The strategy's name or the token's mint; empty where the scope is global. */
  readonly subject: string;
  readonly memory: SubjectMemory;
  fired: Fired | undefined;
  /** When it let go the last time: what was before does not count. */
  reset: Noted | undefined;
  /** The fees of the day on which it began anew, paid until then. */
  feesBefore: { readonly day: number; readonly fees: Lamports } | undefined;
  /** Up to which place what is noted of its subject was looked at; nothing yet where it is negative. */
  lookedN: number;
}

/** What the chain has less of a token than the ledger, and the place of the last time it became more. */
export interface Missing {
  readonly n: number;
  readonly amount: bigint;
}

/** Everything that protections remember; what they look at besides is the rest of the state. */
export interface ProtectionMemory {
  readonly rules: readonly ProtectionRule[];
  /** By `<kind>:<scope>:<number>:<subject>`. */
  readonly watches: Map<string, Watch>;
  /** Those that prices or time alone can bring on. */
  readonly timely: Watch[];
  /** By `<scope>:<name>`. */
  readonly subjects: Map<string, SubjectMemory>;
  /** By strategy and token: of whom its swaps in that token are remembered. */
  readonly swapSubjects: Map<string, Map<Mint, readonly SwapSubject[]>>;
  readonly reaches: Reaches;
  /** Whether some protection depends on what things are worth, and of all together if this run looks at that. */
  readonly watchesEquity: boolean;
  readonly watchesTotal: boolean;
  /** By strategy, and under the empty name all together. */
  readonly equity: Map<string, EquityRecord>;
  /** The strategies whose equity is looked at; once known, they stay for the run. */
  valued: readonly ValuedBook[] | undefined;
  /** In what, and of whom, all together are valued; once known, it stays for the run. */
  totalBasis: string | undefined;
  /** Since when the outcome of an open intent is unknown, by its id. */
  readonly unknownSince: Map<string, Noted>;
  /** What the chain has less than the ledger, by mint. */
  readonly missing: Map<Mint, Missing>;
  /** What nobody has taken up yet. */
  changes: ProtectionChange[];
  /** How many protections are on. */
  on: number;
  /** How much happened so far. */
  count: number;
  /** Never goes back. */
  now: Millis;
  /** From when silence is counted; the first look of this process. */
  startedAt: Millis | undefined;
  /** The last sign of an operator. */
  presenceAt: Millis | undefined;
  /** How often to look where nothing is held: as often as the shortest span asks for. */
  readonly idleEveryMs: Millis;
  /** A market event before this instant changes nothing that protections would not see in time anyway. */
  nextLookAt: Millis;
}

/** The name under which the equity of all strategies together is kept. */
export const ALL = '';

/**
 * How often market events alone make protections look while something is held, in event time: proposals and outcomes
 * always do.
 */
export const LOOK_EVERY_MS = 10_000;
const IDLE_EVERY_MAX_MS = 60_000;

/**
 * Returns the memory of protections that have seen nothing yet; `leavesTotal` where what all are worth is another run's
 * to look at.
 */
export function createMemory(protections: readonly Protection[], strategies: readonly string[], {
  leavesTotal = false,
}: { readonly leavesTotal?: boolean } = {}): ProtectionMemory {
  const ofEquity = protections.filter(isOfEquity);
  const memory: ProtectionMemory = {
    rules: rulesOf(protections), watches: new Map(), timely: [], subjects: new Map(), swapSubjects: new Map(),
    reaches: reachesOf(protections), equity: new Map(), valued: undefined, totalBasis: undefined,
    unknownSince: new Map(), missing: new Map(),
    watchesEquity: ofEquity.length > 0, watchesTotal: !leavesTotal && ofEquity.some(({ scope }) => scope === 'global'),
    changes: [], on: 0, count: 0, now: -Infinity, startedAt: undefined, presenceAt: undefined,
    idleEveryMs: idleEvery(protections),
    nextLookAt: protections.length === 0 ? Infinity : -Infinity,
  };
  watchSubject(memory, 'global', '');
  for (const name of strategies) watchSubject(memory, 'strategy', name);
  return memory;
}

/** A quarter of the shortest span after which time alone brings something on, within bounds. */
function idleEvery(protections: readonly Protection[]): Millis {
  const spans = protections.map(({ trigger }) => ('afterMs' in trigger ? trigger.afterMs : Infinity));
  return Math.min(IDLE_EVERY_MAX_MS, Math.max(LOOK_EVERY_MS, Math.min(...spans) / 4));
}

/** Makes the protections of a scope look at a subject. */
export function watchSubject(memory: ProtectionMemory, scope: ProtectionScope, subject: string): void {
  for (const rule of memory.rules) {
    if (rule.protection.scope === scope) watchOf(memory, rule, subject);
  }
}

/** Returns how one protection looks at one subject. */
export function watchOf(memory: ProtectionMemory, rule: ProtectionRule, subject: string): Watch {
  const key = `${rule.family}:${rule.number}:${subject}`;
  const known = memory.watches.get(key);
  if (known !== undefined) return known;
  const watch: Watch = {
    rule, subject, memory: subjectMemory(memory, rule.protection.scope, subject), fired: undefined, reset: undefined,
    feesBefore: undefined, lookedN: -1,
  };
  memory.watches.set(key, watch);
  if (rule.isTimely) memory.timely.push(watch);
  return watch;
}

/** Returns what is remembered of a subject, made where there is nothing yet. */
export function subjectMemory(memory: ProtectionMemory, scope: ProtectionScope, name: string): SubjectMemory {
  const key = `${scope}:${name}`;
  const known = memory.subjects.get(key);
  if (known !== undefined) return known;
  const fresh: SubjectMemory = {
    exits: [], failures: [], lastTrade: undefined, lastLoss: undefined, unknowns: [], feeDay: -Infinity,
    fees: 0n as Lamports, notedN: 0,
  };
  memory.subjects.set(key, fresh);
  if (scope === 'token') watchSubject(memory, scope, name);
  return fresh;
}

/** Returns whether something happened after a protection let go the last time: only that counts. */
export function isLater({ n }: Pick<Noted, 'n'>, reset: Noted | undefined): boolean {
  return reset === undefined || n > reset.n;
}

/** Returns whether a protection looks at what all strategies together are worth, which this run leaves as it is. */
export function isLeftAlone({ watchesTotal }: ProtectionMemory, { protection }: ProtectionRule): boolean {
  return !watchesTotal && protection.scope === 'global' && isOfEquity(protection);
}

/** Returns the UTC day of an instant, counted from the epoch. */
export function dayOf(at: Millis): number {
  return Math.floor(at / 86_400_000);
}
