import type { Amount } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Mint, TokenTable } from '../market/token.ts';
import type { BookSnapshot } from './book-snapshot.ts';
import { budgetOf, readBalances, restoreBook, savedBook, snapshotBooks, writeBalances } from './book-snapshot.ts';
import { changeBudget } from './budget-change.ts';
import type { CommandSource, ServiceAccessState, TradingState } from './command.ts';
import type { OpenIntent } from './executor.ts';
import type { ExitOrderSnapshot, KnownDepth } from './exit-orders.ts';
import { ExitOrders } from './exit-orders.ts';
import type { RiskLimits, StrategyLimits } from './limits.ts';
import type { FeedSlot } from './market-cache.ts';
import { MarketCache } from './market-cache.ts';
import { Portfolio } from './portfolio.ts';
import type { ProtectionMemory } from './protections/memory.ts';
import { createMemory } from './protections/memory.ts';
import type { ProtectionSnapshot } from './protections/memory-snapshot.ts';
import { restoreMemory, snapshotMemory } from './protections/memory-snapshot.ts';
import { recordOpen } from './protections/record.ts';
import { RecentKeys } from './recent-keys.ts';
import type { SwapProposal } from './proposal.ts';
import type { SpendSnapshot } from './spend-tally.ts';
import { SpendTally } from './spend-tally.ts';
import { SwapRate } from './swap-rate.ts';
import { TrackedIntents } from './tracked-intents.ts';

/** A strategy as risk knows it. */
export interface StrategyRecord {
  readonly name: string;
  readonly limits: StrategyLimits;
  /** The feeds it looks at. */
  readonly inputs: readonly FeedSlot[];
  intentCount: number;
}

/** What a look at a token came to, and when. */
export interface TokenLook {
  readonly at: Millis;
  /** Codes of what is wrong with it, none where it is good. */
  readonly findings: readonly string[];
}

/** Everything that `step` owns and nothing else may change. */
export interface EngineState {
  readonly tokens: TokenTable;
  readonly limits: RiskLimits;
  readonly market: MarketCache;
  readonly portfolio: Portfolio;
  readonly strategies: Map<string, StrategyRecord>;
  /** Those that are open. */
  readonly intents: TrackedIntents;
  /** `strategy:key` of proposals acted on. */
  readonly keys: RecentKeys;
  readonly swapRate: SwapRate;
  /** What was signed away of tokens that have a cap. */
  readonly spends: SpendTally;
  /** Exits that are too large for one swap, as far as they are still to be made. */
  readonly exits: ExitOrders;
  /**
   * By intent: what strategies asked for with the exits that are open. In no snapshot: a restart gives up what is
   * unsigned.
   */
  readonly exitProposals: Map<string, SwapProposal>;
  /** By pair: what the market was found to take at once. In no snapshot: it is found out anew. */
  readonly depths: Map<string, KnownDepth>;
  /** Intent counters of strategies that are no longer configured: should they come back, no id is given twice. */
  readonly retiredCounts: Readonly<Record<string, number>>;
  trading: TradingState;
  /** Who set it: what the file or the start did, only they or an operator undo. */
  tradingBy: CommandSource;
  /** Of strategies that are not as free as everything else. */
  readonly strategyTrading: Map<string, TradingState>;
  /** Strategies whose positions are being sold. */
  readonly flattening: Set<string>;
  /** Those of them that were told to by a command; the others are by protections. */
  readonly flattenOrders: Set<string>;
  readonly protections: ProtectionMemory;
  /** A token that is not in it was not looked at. In no snapshot: the look is made anew. */
  readonly tokenFindings: Map<Mint, TokenLook>;
  /** Not the operator's word, and in no snapshot: a key that was refused may be good at the next start. */
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
  readonly protections?: ProtectionSnapshot | undefined;
  readonly exits?: readonly ExitOrderSnapshot[] | undefined;
  readonly spends?: Readonly<Record<string, readonly SpendSnapshot[]>> | undefined;
  readonly intentCounts: Readonly<Record<string, number>>;
}

/** What one strategy brings to the state. */
export interface StrategySetup {
  readonly name: string;
  readonly budget: { readonly mint: Mint; readonly amount: Amount } | undefined;
  readonly limits: StrategyLimits;
  /**
   * Whether it is one swap that an operator asked for by hand: a run of such leaves the equity of all together as it
   * is.
   */
  readonly isByHand?: boolean | undefined;
}

/** Returns the state in which a run starts: from a wallet, or from where an earlier run ended. */
export function createState(setup: {
  readonly tokens: TokenTable;
  readonly limits: RiskLimits;
  readonly strategies: readonly StrategySetup[];
  readonly snapshot: StateSnapshot;
  /** What an earlier run left open: its reservations hold until it is resolved. */
  readonly open?: readonly OpenIntent[];
}): EngineState {
  const { snapshot } = setup;
  const portfolio = new Portfolio(readBalances(snapshot.wallet));
  const strategies = new Map<string, StrategyRecord>();
  for (const { name, budget, limits, isByHand } of setup.strategies) {
    portfolio.openBook(name, budget, { isByHand });
    const saved = savedBook(snapshot.books, name);
    if (saved !== undefined) restoreBook(portfolio.book(name), saved);
    strategies.set(name, { name, limits, inputs: [], intentCount: snapshot.intentCounts[name] ?? 0 });
  }
  // What a strategy that is no longer configured holds, or has under way, is still somebody's money.
  for (const name of new Set([
    ...Object.keys(snapshot.books), ...(setup.open ?? []).map(({ intent }) => intent.strategy),
  ])) {
    if (portfolio.books.has(name)) continue;
    const saved = savedBook(snapshot.books, name);
    portfolio.openBook(name, budgetOf(saved), { isConfigured: false, isByHand: saved?.isByHand });
    if (saved !== undefined) restoreBook(portfolio.book(name), saved);
  }
  const intents = new TrackedIntents();
  const spends = new SpendTally(snapshot.spends);
  // Those of strategies that are not of this run wait: a swap by hand between two runs must not lose them.
  const exits = new ExitOrders(snapshot.exits);
  const protections = createMemory(setup.limits.protections ?? [], [...strategies.keys()], {
    leavesTotal: setup.strategies.some(({ isByHand }) => isByHand),
  });
  restoreMemory(protections, snapshot.protections);
  for (const { intent, state } of setup.open ?? []) {
    recordOpen(protections, intent, state);
    // What an earlier run left open locks its input and no more.
    intents.add({ intent, state, isUnproven: true });
    portfolio.reserve(intent);
    // Signed before the process ended: the signer has counted it, whether or not a snapshot was made since.
    const { id, inputMint, amountIn, createdAt } = intent;
    if (isSigned(state) && setup.limits.caps?.has(inputMint) === true)
      spends.note(inputMint, { at: createdAt, amount: amountIn, id: `${id}/1` });
  }
  for (const [name, book] of portfolio.books) {
    const saved = savedBook(snapshot.books, name);
    if (!book.isConfigured) portfolio.returnUnspent(name);
    else if (saved !== undefined) changeBudget({ portfolio, protections }, setup.tokens, name, saved);
  }
  return {
    tokens: setup.tokens,
    limits: setup.limits,
    market: new MarketCache(),
    portfolio,
    strategies,
    intents,
    keys: new RecentKeys(snapshot.keys),
    swapRate: new SwapRate(snapshot.approvals),
    spends,
    exits,
    exitProposals: new Map(),
    depths: new Map(),
    retiredCounts: snapshot.intentCounts,
    trading: snapshot.trading,
    tradingBy: snapshot.tradingBy ?? 'operator',
    strategyTrading: new Map(Object.entries(snapshot.strategyTrading ?? {})),
    flattening: new Set(snapshot.flattening),
    flattenOrders: new Set(snapshot.flattenOrders),
    protections,
    tokenFindings: new Map(),
    serviceAccess: 'granted',
  };
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
    protections: snapshotMemory(state.protections),
    ...(state.exits.size === 0 ? {} : { exits: state.exits.snapshot() }),
    ...(state.limits.caps === undefined || state.limits.caps.size === 0 ? {} : { spends: state.spends.snapshot() }),
    intentCounts: { ...state.retiredCounts, ...Object.fromEntries([...state.strategies.values()]
      .map(({ name, intentCount }) => [name, intentCount])) },
  };
}
