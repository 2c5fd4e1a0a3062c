import type { Lamports } from '../../core/amount.ts';
import type { Millis } from '../../core/time.ts';
import type { Mint } from '../../market/token.ts';
import type { DenialCode, Protection, ProtectionScope } from '../limits.ts';
import type { ExitResult, StrategyBook } from '../portfolio.ts';
import type { ProtectionRule } from './catalogue.ts';
import { isOfEquity, rulesOf } from './catalogue.ts';

/** An event with its sequence number and time. A release resets by number, because times repeat. */
export interface Noted {
  readonly n: number;
  readonly at: Millis;
}

/** An exit whose result is known. */
interface NotedExit extends Noted, ExitResult {}

/** The records of one strategy, one token, or everything. The lists are as long as a protection needs. */
export interface SubjectMemory {
  exits: NotedExit[];
  failures: Noted[];
  lastTrade: Noted | undefined;
  lastLoss: Noted | undefined;
  /** Swaps in a row that became unknown. */
  unknowns: Noted[];
  /** The UTC day of `fees`, counted from the epoch. */
  feeDay: number;
  fees: Lamports;
  /** The number of its latest event. */
  notedN: number;
}

/** The lengths of the lists that the protections of a scope need. */
interface Lookback {
  readonly exits: number;
  readonly failures: number;
  readonly unknowns: number;
}

type Lookbacks = Readonly<Record<ProtectionScope, Lookback>>;

/** A record that a swap is counted in, with the lengths of its lists. */
export interface SubjectEntry {
  readonly memory: SubjectMemory;
  readonly lookback: Lookback;
}

/** The values from which losses are measured. */
export interface Heights {
  peak: bigint;
  dayStart: bigint;
}

/** The equity of a strategy, or of all, with its peak. */
export interface EquityRecord extends Heights {
  /** The token and the strategies; where they change, the heights are scaled. */
  basis: string;
  value: bigint;
  /**
   * Whether every part has a fresh price. A part without one keeps its last price; without any, all keeps its value.
   */
  isKnown: boolean;
  /** The UTC day of the last update, counted from the epoch. */
  day: number;
  /** The cost of network fees in the token, and the lamports of the book that it contains. */
  feeCost: bigint;
  feesCosted: bigint;
  /** The number of changes of its value and heights: while it stays, a drawdown does not change. */
  changes: number;
  /** The revision of the book whose worth it has, where that depends on no price; otherwise negative. */
  settled: number;
  /** The heights since the reset of a protection; each protection has its own. */
  readonly resetHeights: Map<ProtectionRule, Heights>;
}

/** A strategy with a budget, as the update of equity needs it. */
export interface ValuedBook {
  readonly name: string;
  readonly book: StrategyBook;
  readonly currency: Mint;
  /** Undefined before its first known value. */
  record: EquityRecord | undefined;
}

/** The trigger of a protection. */
export interface Fired {
  /** The start of an `elapsed` release. */
  since: Millis;
  /** The number of the latest event when it was triggered or prolonged. */
  n: number;
  readonly reason: string;
}

/** One protection for one subject. */
export interface Watch {
  readonly rule: ProtectionRule;
  /** The strategy's name or the token's mint; empty where the scope is global. */
  readonly subject: string;
  readonly memory: SubjectMemory;
  fired: Fired | undefined;
  /** The last release; earlier events do not count. */
  reset: Noted | undefined;
  /** The fees of the day of the last release, paid before it. */
  feesBefore: { readonly day: number; readonly fees: Lamports } | undefined;
  /** The latest event or change of its subject that was checked; negative before the first check. */
  checkedN: number;
  /** Of `max-drawdown`: the record of its subject, undefined before its first known value. */
  equity: EquityRecord | undefined;
}

/** The amount of a token that the chain has less than the ledger, and the number of its last increase. */
interface Missing {
  readonly n: number;
  readonly amount: bigint;
}

/** The trigger or the release of a protection. It is reported to people and kept over restarts. */
export interface ProtectionChange {
  readonly change: 'fired' | 'released';
  readonly protection: Protection;
  /** The strategy's name or the token's mint; empty where the scope is global. */
  readonly subject: string;
  readonly code: DenialCode;
  /** For people: why it was triggered or released. */
  readonly reason: string;
  readonly at: Millis;
}

/** The state of all protections. */
export interface ProtectionMemory {
  readonly rules: readonly ProtectionRule[];
  /** By `<kind>:<scope>:<number>:<subject>`. */
  readonly watches: Map<string, Watch>;
  /** The watches that prices or time alone can trigger. */
  readonly timely: Watch[];
  /** By `<scope>:<name>`. */
  readonly subjects: Map<string, SubjectMemory>;
  /** By strategy and token: the records that their swaps are counted in. */
  readonly subjectsBySwap: Map<string, Map<Mint, readonly SubjectEntry[]>>;
  readonly lookbacks: Lookbacks;
  /** Whether a protection depends on equity; `watchesTotal`: on that of all strategies together. */
  readonly watchesEquity: boolean;
  readonly watchesTotal: boolean;
  /** By strategy; under the empty name all together. */
  readonly equity: Map<string, EquityRecord>;
  /** The strategies whose equity is updated; fixed for the run. */
  valued: readonly ValuedBook[] | undefined;
  /** The basis of all strategies together; fixed for the run. */
  totalBasis: string | undefined;
  /** By id: since when the outcome of an open intent has been unknown. */
  readonly unknownSince: Map<string, Noted>;
  /** By mint: the amount that the chain has less than the ledger. */
  readonly missing: Map<Mint, Missing>;
  /** The changes that `takeChanges` has not taken yet. */
  changes: ProtectionChange[];
  /** The number of triggered protections. */
  on: number;
  /** The number of the latest event. */
  count: number;
  /** Never goes back. */
  now: Millis;
  /** The start of silence of feeds: the first check of this process. */
  startedAt: Millis | undefined;
  /** The last sign of an operator's presence. */
  presenceAt: Millis | undefined;
  /** The interval of checks while nothing is held. */
  readonly idleEveryMs: Millis;
  /** Market events before this instant cause no check. */
  nextCheckAt: Millis;
  /** Whether a check at the same instant finds nothing new: since the last one, proposals were refused at most. */
  isCurrent: boolean;
}

/** The name of the equity of all strategies together. */
export const ALL = '';

/** The interval of checks by market events while something is held. Proposals and outcomes always cause a check. */
export const CHECK_EVERY_MS = 10_000;
const IDLE_EVERY_MAX_MS = 60_000;

/** Returns the initial state of protections. `ignoresTotal`: this run does not update the equity of all together. */
export function createMemory(protections: readonly Protection[], strategies: readonly string[], {
  ignoresTotal = false,
}: { readonly ignoresTotal?: boolean } = {}): ProtectionMemory {
  const ofEquity = protections.filter(isOfEquity);
  const memory: ProtectionMemory = {
    rules: rulesOf(protections), watches: new Map(), timely: [], subjects: new Map(), subjectsBySwap: new Map(),
    lookbacks: lookbacksOf(protections), equity: new Map(), valued: undefined, totalBasis: undefined,
    unknownSince: new Map(), missing: new Map(),
    watchesEquity: ofEquity.length > 0, watchesTotal: !ignoresTotal && ofEquity.some(({ scope }) => scope === 'global'),
    changes: [], on: 0, count: 0, now: -Infinity, startedAt: undefined, presenceAt: undefined,
    idleEveryMs: idleEvery(protections),
    nextCheckAt: protections.length === 0 ? Infinity : -Infinity, isCurrent: false,
  };
  watchSubject(memory, 'global', '');
  for (const name of strategies) watchSubject(memory, 'strategy', name);
  return memory;
}

/** Returns a quarter of the shortest span after which time alone triggers a protection, within bounds. */
function idleEvery(protections: readonly Protection[]): Millis {
  const spans = protections.map(({ trigger }) => ('afterMs' in trigger ? trigger.afterMs : Infinity));
  return Math.min(IDLE_EVERY_MAX_MS, Math.max(CHECK_EVERY_MS, Math.min(...spans) / 4));
}

/** Adds the watches of a scope's protections for a subject. */
function watchSubject(memory: ProtectionMemory, scope: ProtectionScope, subject: string): void {
  for (const rule of memory.rules) {
    if (rule.protection.scope === scope) watchOf(memory, rule, subject);
  }
}

/** Returns the watch of a protection for a subject, a new one for a new subject. */
export function watchOf(memory: ProtectionMemory, rule: ProtectionRule, subject: string): Watch {
  const key = `${rule.family}:${rule.number}:${subject}`;
  const known = memory.watches.get(key);
  if (known !== undefined) return known;
  const watch: Watch = {
    rule, subject, memory: subjectMemory(memory, rule.protection.scope, subject), fired: undefined, reset: undefined,
    feesBefore: undefined, checkedN: -1, equity: undefined,
  };
  memory.watches.set(key, watch);
  if (rule.isTimely) memory.timely.push(watch);
  return watch;
}

/** Returns the records of a subject, new ones for a new subject. */
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

/** Returns whether an event is later than the last release of a protection: only such events count. */
export function isLater({ n }: Pick<Noted, 'n'>, reset: Noted | undefined): boolean {
  return reset === undefined || n > reset.n;
}

/** Returns whether this run ignores a protection, because it depends on the equity of all strategies together. */
export function isIgnored({ watchesTotal }: ProtectionMemory, { protection }: ProtectionRule): boolean {
  return !watchesTotal && protection.scope === 'global' && isOfEquity(protection);
}

/** Returns the UTC day of an instant, counted from the epoch. */
export function dayOf(at: Millis): number {
  return Math.floor(at / 86_400_000);
}

/** Returns the lookback of each scope's protections. */
function lookbacksOf(protections: readonly Protection[]): Lookbacks {
  return {
    strategy: lookbackOf(protections, 'strategy'), token: lookbackOf(protections, 'token'),
    global: lookbackOf(protections, 'global'),
  };
}

function lookbackOf(protections: readonly Protection[], scope: ProtectionScope): Lookback {
  const lookback = { exits: 0, failures: 0, unknowns: 0 };
  for (const { trigger, scope: own } of protections) {
    if (own !== scope) continue;
    if (trigger.kind === 'loss-streak') lookback.exits = Math.max(lookback.exits, trigger.losses);
    if (trigger.kind === 'low-profit') lookback.exits = Math.max(lookback.exits, trigger.trades);
    if (trigger.kind === 'error-rate') lookback.failures = Math.max(lookback.failures, trigger.failures);
    if (trigger.kind === 'blind-execution') lookback.unknowns = Math.max(lookback.unknowns, trigger.unknowns);
  }
  return lookback;
}

