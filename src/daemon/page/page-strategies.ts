import type { Millis } from '../../core/time.ts';
import type { PageAmount, PageFigure, PageLevel, PageLevelLine, PagePosition, PageStrategy }
  from '../../dashboard/page-state.ts';
import type { FeedKey } from '../../market/event.ts';
import type { Mint } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import type { FeedStats } from '../../service/feeds/feed-stats.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import { exitLevels } from '../../trading/positions/exit-rules.ts';
import { saleValue } from '../../trading/positions/sale-value.ts';
import type { StrategyStatus } from '../control/session-state.ts';
import type { StrategyTrading, UnsoldState } from '../control/trading-view.ts';
import { pageAmount, priceText } from './page-amount.ts';
import type { WatchedPair } from './page-markets.ts';
import { pairName } from './page-markets.ts';
import type { RunStory } from './run-story.ts';

/** What the page shows of a strategy beside the engine's state. */
interface StrategyFacts {
  readonly trading: StrategyTrading;
  readonly use: string;
  readonly standing: StrategyStatus;
  /** Why it no longer runs, for people; undefined while it runs. */
  readonly stopped: string | undefined;
}

/** What all strategies of one moment share. */
interface StrategyScope {
  readonly state: EngineState;
  readonly now: Millis;
  /** When the newest data came. */
  readonly asOf: Millis;
  readonly story: RunStory;
  readonly unsold: readonly UnsoldState[];
  readonly feeds: ReadonlyMap<FeedKey, FeedStats>;
  readonly feedsOf: ReadonlyMap<string, readonly FeedKey[]>;
  readonly pairs: readonly WatchedPair[];
}

const LEVELS: Readonly<Record<StrategyStatus, PageLevel>> = {
  'trading': 'good', 'waiting': 'check', 'exits-only': 'check', 'flattening': 'check', 'halted': 'check',
  'stopped': 'act',
};

/** Returns a strategy as the page shows it. */
export function pageStrategy({ trading: { name }, use, standing, stopped }: StrategyFacts, scope: StrategyScope):
PageStrategy {
  const { state, now, asOf, story, pairs } = scope;
  const { tokens, portfolio } = state;
  const { budget, balances, feesLamports, swaps } = portfolio.book(name);
  const positions = positionsOf(name, scope);
  const equity = equityOf(state, name, now);
  const figure = (units: bigint, explanation: string): PageFigure =>
    ({ amount: pageAmount(tokens, budget!.mint, units), explanation, as_of: asOf, is_known: true });
  return {
    name, use, standing, level: LEVELS[standing], stopped: stopped ?? null,
    budget: budget === undefined ? null : pageAmount(tokens, budget.mint, budget.amount),
    cash: budget === undefined ? null : pageAmount(tokens, budget.mint, balances.get(budget.mint) ?? 0n),
    equity: equity === undefined ? null
      : figure(equity, 'The free part of the budget, plus every position at what its sale brings now, less the network '
        + 'fees that this strategy has paid.'),
    profit: equity === undefined || budget === undefined ? null
      : figure(equity - budget.amount, 'Equity less budget, since this strategy got its budget.'),
    positions, swaps, fees: pageAmount(tokens, SOL_MINT, feesLamports),
    last_decision: story.lastDecision(name) ?? null, next_due: nextDue(name, scope),
    pairs: pairs.filter(({ strategies }) => strategies.includes(name)).map((pair) => pair.name),
  };
}

/** Returns what a strategy holds beside its budget's token. */
function positionsOf(strategy: string, { state, now, unsold }: Pick<StrategyScope, 'state' | 'now' | 'unsold'>):
PagePosition[] {
  const { tokens, portfolio, guarded, intents } = state;
  const { budget, balances, costs } = portfolio.book(strategy);
  return [...balances].filter(([mint, amount]) => mint !== budget?.mint && amount > 0n).map(([mint, amount]) => {
    const into = budget?.mint;
    const value = into === undefined ? undefined : saleValue(state, { mint, into, amount }, now);
    const cost = costs.get(mint);
    const shown = (units: bigint | undefined): PageAmount | null =>
      (units === undefined || into === undefined ? null : pageAmount(tokens, into, units));
    const left = unsold.find((one) => one.strategy === strategy && one.mint === mint);
    return {
      strategy, amount: pageAmount(tokens, mint, amount), value: shown(value), cost: shown(cost),
      profit: shown(value === undefined || cost === undefined ? undefined : value - cost),
      since: guarded.get(strategy, mint)?.since ?? null,
      pair: pairName(tokens, mint, into ?? 'USD'),
      is_moving: intents.values().some(({ intent }) => intent.strategy === strategy && intent.inputMint === mint),
      unsold: left === undefined ? null : `${left.code}: ${left.reason}`,
    };
  });
}

/** Returns all positions of a run, or those of a strategy or a token. */
export function pagePositions(
  state: EngineState, now: Millis, only: { readonly strategy?: string | undefined; readonly mint?: Mint | undefined },
): PagePosition[] {
  return [...state.strategies.keys()].filter((name) => only.strategy === undefined || name === only.strategy)
    .flatMap((name) => positionsOf(name, { state, now, unsold: [] }))
    .filter(({ amount }) => only.mint === undefined || amount.mint === only.mint);
}

/** Returns the prices at which the positions in a token were bought, and at which exit rules sell them. */
export function positionLevels(state: EngineState, base: Mint, quote: Mint): PageLevelLine[] {
  const { portfolio, guarded, tokens } = state;
  return [...state.strategies.keys()].flatMap((strategy) => {
    const { budget, balances, costs } = portfolio.book(strategy);
    const amount = balances.get(base);
    if (budget?.mint !== quote || amount === undefined || amount === 0n) return [];
    const position = guarded.get(strategy, base);
    const { stop, target } = position === undefined ? { stop: undefined, target: undefined }
      : exitLevels(state, position);
    const line = (kind: PageLevelLine['kind'], value: bigint | undefined): PageLevelLine[] => {
      const price = value === undefined ? undefined
        : priceText(tokens, { mint: base, amount }, { mint: quote, amount: value });
      return price === undefined ? [] : [{ strategy, kind, price }];
    };
    return [...line('entry', costs.get(base)), ...line('stop', stop), ...line('target', target)];
  });
}

/** Returns the equity of a strategy in its budget's token; undefined without a budget or a price. */
function equityOf(state: EngineState, strategy: string, now: Millis): bigint | undefined {
  const { budget, balances, feesLamports } = state.portfolio.book(strategy);
  if (budget === undefined) return undefined;
  const { mint: into } = budget;
  let value = 0n;
  for (const [mint, amount] of balances) {
    const part = saleValue(state, { mint, into, amount }, now);
    if (part === undefined) return undefined;
    value += part;
  }
  // Without a price of SOL the small fees are left out, as in the protections.
  return feesLamports === 0n ? value
    : value - (saleValue(state, { mint: SOL_MINT, into, amount: feesLamports }, now) ?? 0n);
}

/** A strategy decides when an input arrives: when the first of its feeds is due. */
function nextDue(name: string, { feeds, feedsOf }: StrategyScope): Millis | null {
  const due = (feedsOf.get(name) ?? []).flatMap((feed) => {
    const { lastAnswerAt, everyMs = 0 } = feeds.get(feed) ?? {};
    return lastAnswerAt === undefined ? [] : [lastAnswerAt + everyMs];
  });
  return due.length === 0 ? null : Math.min(...due);
}
