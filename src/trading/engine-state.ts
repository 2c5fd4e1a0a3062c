import type { Amount } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Mint, TokenTable } from '../market/token.ts';
import type { BookSnapshot } from './book-snapshot.ts';
import {
  budgetOf, changeBudget, readBalances, restoreBook, savedBook, snapshotBooks, writeBalances,
} from './book-snapshot.ts';
import type { CommandSource, ServiceAccessState, TradingState } from './engine-command.ts';
import type { OpenIntent } from './executor.ts';
import type { ExitOrderSnapshot, KnownDepth } from './exit-orders.ts';
import { ExitOrders } from './exit-orders.ts';
import type { Intent, IntentState } from './intent.ts';
import { TrackedIntents } from './intent.ts';
import type { RiskLimits, StrategyLimits } from './limits.ts';
import { isManualBook } from './manual/manual-book.ts';
import type { FeedSlot } from './market-cache.ts';
import { MarketCache } from './market-cache.ts';
import { Portfolio } from './portfolio.ts';
import type { Pause, PauseSnapshot } from './manual/pauses.ts';
import { restorePauses } from './manual/pauses.ts';
import type { SwapProposal } from './proposal.ts';
import type { GuardedPositionSnapshot } from './positions/guarded-positions.ts';
import { GuardedPositions } from './positions/guarded-positions.ts';
import type { ProtectionSnapshot } from './protections/memory-snapshot.ts';
import { capMemory, restoreMemory, snapshotMemory } from './protections/memory-snapshot.ts';
import type { ProtectionMemory } from './protections/memory.ts';
import { createMemory } from './protections/memory.ts';
import { recordOpen } from './protections/record-outcome.ts';
import { RecentKeys } from './recent-keys.ts';
import type { WaitingProposalSnapshot } from './retries.ts';
import { WaitingProposals } from './retries.ts';
import type { SpendSnapshot } from './usage-counters.ts';
import { SpendCounters, SwapRate } from './usage-counters.ts';

/** A strategy with its limits and inputs. */
export interface StrategyRecord {
  readonly name: string;
  readonly limits: StrategyLimits;
  /** The feeds of its inputs that polls renew. */
  readonly inputs: readonly FeedSlot[];
  /** The feeds that it watches beside them at present. */
  readonly watches: readonly FeedSlot[];
  intentCount: number;
}

/** The result of a safety check of a token. */
interface TokenCheck {
  readonly at: Millis;
  /** The codes of the findings; empty where the token is safe. */
  readonly findings: readonly string[];
}

/** Everything that `step` owns and nothing else may change. */
export interface EngineState {
  readonly tokens: TokenTable;
  readonly limits: RiskLimits;
  readonly market: MarketCache;
  readonly portfolio: Portfolio;
  readonly strategies: Map<string, StrategyRecord>;
  /** The open intents. */
  readonly intents: TrackedIntents;
  /** `strategy:key` of approved proposals. */
  readonly keys: RecentKeys;
  /** Refused proposals with a retry policy that wait for their next try. */
  readonly retries: WaitingProposals;
  /** The positions of strategies with exit rules, with what the rules remember. */
  readonly guarded: GuardedPositions;
  readonly hasExitRules: boolean;
  readonly swapRate: SwapRate;
  /** The signed amounts of tokens with a cap. */
  readonly spends: SpendCounters;
  /** The remaining parts of exits that are too large for one swap. */
  readonly exits: ExitOrders;
  /** By intent: the proposals of open exits. Not in snapshots, because a restart abandons unsigned intents. */
  readonly exitProposals: Map<string, SwapProposal>;
  /** By pair: the estimated depth of the market. Not in snapshots, because it is estimated again. */
  readonly depths: Map<string, KnownDepth>;
  /** Intent counters of strategies that are no longer configured, so that no id is used twice if they return. */
  readonly retiredCounts: Readonly<Record<string, number>>;
  trading: TradingState;
  /** The source of the state: a stricter state of the file or the start is relaxed only by it or by an operator. */
  tradingBy: CommandSource;
  /** The states of strategies that are stricter than `trading`. */
  readonly strategyTrading: Map<string, TradingState>;
  /** Strategies whose positions are being sold. */
  readonly flattening: Set<string>;
  /** Those of them that a command ordered; protections ordered the others. */
  readonly flattenOrders: Set<string>;
  /** By `pauseKey`; one that is over stays until the next change. */
  readonly pauses: Map<string, Pause>;
  readonly protections: ProtectionMemory;
  /** A token that is not in it has not been checked. Not in snapshots, because tokens are checked again. */
  readonly tokenFindings: Map<Mint, TokenCheck>;
  /** Not in snapshots, because a refused key may be valid at the next start. */
  serviceAccess: ServiceAccessState;
}

/** The state at the start of a run as plain data: with it and the recording the run can be repeated. */
export interface StateSnapshot {
  readonly wallet: Readonly<Record<string, string>>;
  readonly books: Readonly<Record<string, BookSnapshot>>;
  readonly keys: readonly string[];
  /** When intents were approved, within the last day, oldest first. */
  readonly approvals: readonly Millis[];
  readonly trading: TradingState;
  /** Absent in snapshots of older versions, as is what follows up to the counts. */
  readonly tradingBy?: CommandSource | undefined;
  readonly strategyTrading?: Readonly<Record<string, TradingState>> | undefined;
  readonly flattening?: readonly string[] | undefined;
  readonly flattenOrders?: readonly string[] | undefined;
  readonly pauses?: readonly PauseSnapshot[] | undefined;
  readonly protections?: ProtectionSnapshot | undefined;
  readonly exits?: readonly ExitOrderSnapshot[] | undefined;
  readonly guarded?: readonly GuardedPositionSnapshot[] | undefined;
  readonly retries?: readonly WaitingProposalSnapshot[] | undefined;
  readonly spends?: Readonly<Record<string, readonly SpendSnapshot[]>> | undefined;
  readonly intentCounts: Readonly<Record<string, number>>;
}

/** The part of a strategy's configuration that the state needs. */
export interface StrategySetup {
  readonly name: string;
  readonly budget: { readonly mint: Mint; readonly amount: Amount } | undefined;
  readonly limits: StrategyLimits;
  /** Whether it is of manual swaps: a run of them alone does not change the recorded equity of all together. */
  readonly isManual?: boolean | undefined;
}

/** The origin of a state: the configuration, a snapshot, and the open intents of an earlier run. */
interface StateSetup {
  readonly tokens: TokenTable;
  readonly limits: RiskLimits;
  readonly strategies: readonly StrategySetup[];
  readonly snapshot: StateSnapshot;
  /** The open intents of an earlier run: their reservations hold until they are resolved. */
  readonly open?: readonly OpenIntent[];
}

/** Returns the state at the start of a run: from a wallet, or from the end of an earlier run. */
export function createState(setup: StateSetup): EngineState {
  const { snapshot, open = [] } = setup;
  const portfolio = new Portfolio(readBalances(snapshot.wallet));
  const configured = [...setup.strategies, ...manualBooks(setup)];
  openBooks(portfolio, { ...setup, strategies: configured });
  const strategies = new Map(configured.map(({ name, limits }): [string, StrategyRecord] =>
    [name, { name, limits, inputs: [], watches: [], intentCount: snapshot.intentCounts[name] ?? 0 }]));
  const protections = createMemory(setup.limits.protections ?? [], setup.strategies.map(({ name }) => name), {
    ignoresTotal: setup.strategies.some(({ isManual }) => isManual),
  });
  restoreMemory(protections, snapshot.protections);
  const state: EngineState = {
    tokens: setup.tokens,
    limits: setup.limits,
    market: new MarketCache(),
    portfolio,
    strategies,
    intents: new TrackedIntents(),
    keys: new RecentKeys(snapshot.keys),
    retries: new WaitingProposals(snapshot.retries),
    guarded: new GuardedPositions(snapshot.guarded),
    hasExitRules: setup.strategies.some(({ limits }) => limits.exits !== undefined),
    swapRate: new SwapRate(snapshot.approvals),
    spends: new SpendCounters(snapshot.spends),
    // The exits of strategies that are not of this run wait: a manual swap between two runs must not lose them.
    exits: new ExitOrders(snapshot.exits),
    exitProposals: new Map(),
    depths: new Map(),
    retiredCounts: snapshot.intentCounts,
    trading: snapshot.trading,
    tradingBy: snapshot.tradingBy ?? 'operator',
    strategyTrading: new Map(Object.entries(snapshot.strategyTrading ?? {})),
    flattening: new Set(snapshot.flattening),
    flattenOrders: new Set(snapshot.flattenOrders),
    pauses: restorePauses(snapshot.pauses),
    protections,
    tokenFindings: new Map(),
    serviceAccess: 'granted',
  };
  for (const { intent, state: reached } of open) restoreIntent(state, intent, reached);
  for (const [name, book] of portfolio.books) {
    const saved = savedBook(snapshot.books, name);
    if (!book.isConfigured || isManualBook(name)) portfolio.returnUnspent(name);
    else if (saved !== undefined) changeBudget({ portfolio, protections }, setup.tokens, name, saved);
  }
  return state;
}

/**
 * Returns the books of manual swaps that an earlier run left. A run of one manual swap has none of them, as it has no
 * other strategy. An intent that was approved after the last snapshot says what its book spends.
 */
function manualBooks({ strategies, snapshot, open = [] }: StateSetup): StrategySetup[] {
  if (strategies.some(({ isManual }) => isManual)) return [];
  const names = new Set([...Object.keys(snapshot.books), ...open.map(({ intent }) => intent.strategy)]);
  return [...names].filter(isManualBook).flatMap((name) => {
    const intent = open.find(({ intent: { strategy } }) => strategy === name)?.intent;
    const mint = budgetOf(savedBook(snapshot.books, name))?.mint
      ?? (intent?.purpose === 'exit' ? intent.outputMint : intent?.inputMint);
    return mint === undefined ? []
      : [{ name, budget: { mint, amount: 0n as Amount }, limits: {}, isManual: true }];
  });
}

/** Opens the books of configured strategies, and of others that hold something or have an open intent. */
function openBooks(portfolio: Portfolio, { strategies, snapshot, open = [] }: StateSetup): void {
  for (const { name, budget, isManual } of strategies) {
    portfolio.openBook(name, budget, { isManual });
    const saved = savedBook(snapshot.books, name);
    if (saved !== undefined) restoreBook(portfolio.book(name), saved);
  }
  for (const name of new Set([...Object.keys(snapshot.books), ...open.map(({ intent }) => intent.strategy)])) {
    if (portfolio.books.has(name)) continue;
    const saved = savedBook(snapshot.books, name);
    portfolio.openBook(name, budgetOf(saved), { isConfigured: false, isManual: saved?.isByHand });
    if (saved !== undefined) restoreBook(portfolio.book(name), saved);
  }
}

/** Adds an intent that an earlier run left open. It locks its input and nothing else. */
function restoreIntent(state: EngineState, intent: Intent, reached: IntentState): void {
  const { id, inputMint, amountIn, createdAt } = intent;
  recordOpen(state.protections, intent, reached);
  state.intents.add({ intent, state: reached, isUnproven: true });
  state.portfolio.reserve(intent);
  // The signer has counted a signed intent, even if no snapshot was saved since.
  if (isSigned(reached) && state.limits.caps?.has(inputMint) === true)
    state.spends.note(inputMint, { at: createdAt, amount: amountIn, id: `${id}/1` });
}

function isSigned(state: OpenIntent['state']): boolean {
  return state === 'signed' || state === 'submitted' || state === 'unknown';
}

/** Returns a snapshot with nothing but a wallet: the first start. */
export function freshSnapshot(wallet: ReadonlyMap<Mint, Amount>): StateSnapshot {
  return { wallet: writeBalances(wallet), books: {}, keys: [], approvals: [], trading: 'active', intentCounts: {} };
}

/** Returns the present state as plain data. Open intents are not in it: they are the journal’s to remember. */
export function snapshotState(state: EngineState): StateSnapshot {
  return {
    wallet: writeBalances(state.portfolio.wallet),
    books: snapshotBooks(state.portfolio),
    keys: [...state.keys],
    approvals: state.swapRate.times,
    trading: state.trading,
    tradingBy: state.tradingBy,
    strategyTrading: Object.fromEntries(state.strategyTrading),
    flattening: [...state.flattening],
    flattenOrders: [...state.flattenOrders],
    ...(state.pauses.size === 0 ? {} : { pauses: [...state.pauses.values()] }),
    protections: snapshotMemory(state.protections),
    ...(state.exits.size === 0 ? {} : { exits: state.exits.snapshot() }),
    ...(state.guarded.size === 0 ? {} : { guarded: state.guarded.snapshot() }),
    ...(state.retries.size === 0 ? {} : { retries: state.retries.snapshot() }),
    ...(state.limits.caps === undefined || state.limits.caps.size === 0 ? {} : { spends: state.spends.snapshot() }),
    intentCounts: { ...state.retiredCounts, ...Object.fromEntries([...state.strategies.values()]
      .map(({ name, intentCount }) => [name, intentCount])) },
  };
}

/**
 * Starts a run at an instant, before its first input. Where the clock of the earlier run was ahead, its later entries
 * are moved to this instant. Otherwise time would stand still until the clock has caught up, prices would be too old,
 * and protections would not be checked. Returns how far the earlier run was ahead in milliseconds, 0 where it was not.
 */
export function beginRun(state: EngineState, startAt: Millis): Millis {
  const { protections, swapRate, spends, retries, keys, strategies } = state;
  // A key may have been used after the snapshot was saved: the journal knows.
  retries.drop(startAt, (name, { strategy }) => keys.has(name) || !strategies.has(strategy));
  const aheadMs = Math.max(protections.now, swapRate.times.at(-1) ?? -Infinity) - startAt;
  if (!(aheadMs > 0)) return 0;
  capMemory(protections, startAt);
  swapRate.cap(startAt);
  spends.cap(startAt);
  return aheadMs;
}
