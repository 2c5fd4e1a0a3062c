import type { Clock, Millis } from '../../core/time.ts';
import type { Engine } from '../../engine/engine.ts';
import type { FeedKey } from '../../market/event.ts';
import { feedKey, originOfKey } from '../../market/feed.ts';
import { describeFeedKey, symbolOf } from '../../market/market-text.ts';
import type { Mint } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import type { FeedStats } from '../../service/feeds/feed-stats.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import type { IntentState } from '../../trading/intent.ts';
import { usdValueOf } from '../../trading/valuation.ts';
import type { EquitySampler } from '../control/run-equity.ts';
import { bookEquity, budgetedBooks } from '../control/run-equity.ts';
import type { RunRecorder } from '../run/run-recorder.ts';

/** Money in a token, whole units as a number: figures for people and charts, which decide nothing. */
interface TokenFigure {
  readonly token: string;
  readonly value: number;
}

/** The equity of the run or of a strategy. */
interface EquityFigures {
  readonly equity: TokenFigure;
  /** Undefined without a price in dollars. */
  readonly usd: number | undefined;
  readonly drawdown: number;
  /** Of the run: since its start. Of a strategy: over its budget. */
  readonly profit: number;
}

/** The age and health of one feed that has a series of its own. */
interface FeedFigures {
  readonly feed: string;
  readonly isHealthy: boolean;
  /** Undefined before the first answer. */
  readonly ageMs: Millis | undefined;
  readonly everyMs: Millis;
}

/** Feeds without series of their own: of tokens that strategies watch while they run, and those beyond the bound. */
interface OtherFeeds {
  readonly total: number;
  readonly healthy: number;
  readonly oldestMs: Millis;
}

/** What the metrics show of a run beside its state. */
export interface RunFigures {
  readonly now: Millis;
  readonly feeds: readonly FeedFigures[];
  readonly otherFeeds: OtherFeeds;
  readonly total: (EquityFigures & { readonly today: number }) | undefined;
  readonly strategies: readonly (EquityFigures & { readonly strategy: string })[];
  readonly wallet: { readonly sol: number; readonly reserveSol: number; readonly feesSol: number };
  readonly caps: readonly { readonly token: string; readonly span: 'hour' | 'day'; readonly ratio: number }[];
  readonly openIntents: readonly { readonly state: IntentState; readonly createdAt: Millis }[];
}

/** The parts of a session that the figures are read from. */
interface FiguresView {
  readonly clock: Clock;
  readonly state: EngineState;
  readonly engine: Pick<Engine, 'declaredFeeds'>;
  readonly feeds: () => readonly FeedStats[];
  readonly equity: EquitySampler;
  readonly runRecorder: Pick<RunRecorder, 'counters'>;
}

/** The most feeds with series of their own. */
const FEED_SERIES_MAX = 1_000;
const SOL_UNITS = 1e9;
const MICRO = 1e6;

/** Returns the reader of a run's figures. */
export function figuresOf(view: FiguresView): () => RunFigures {
  const { clock, state, runRecorder: { counters } } = view;
  const peaks = new Map<string, bigint>();
  return () => {
    const now = clock.now();
    return {
      now,
      ...feedFigures(view),
      total: totalFigures(view, now),
      strategies: strategyFigures(state, now, peaks),
      wallet: {
        sol: Number(state.portfolio.wallet.get(SOL_MINT) ?? 0n) / SOL_UNITS,
        reserveSol: Number(state.limits.solReserve) / SOL_UNITS,
        feesSol: Number(counters.feesLamports) / SOL_UNITS,
      },
      caps: capRatios(state, now),
      openIntents: counters.open.map(({ intent, state: reached }) => ({ state: reached, createdAt: intent.createdAt })),
    };
  };
}

function feedFigures(
  { engine, feeds: read, state: { tokens } }: FiguresView,
): Pick<RunFigures, 'feeds' | 'otherFeeds'> {
  const declared = new Set<FeedKey>(engine.declaredFeeds.map(feedKey));
  const names = new Set<string>();
  const feeds: FeedFigures[] = [];
  const others = { total: 0, healthy: 0, oldestMs: 0 };
  for (const { feed, status, ageMs, everyMs } of read()) {
    // Another program sends signals when it likes: their age says nothing.
    if (originOfKey(feed) === 'webhook') continue;
    if (declared.has(feed) && feeds.length < FEED_SERIES_MAX) {
      const text = describeFeedKey(tokens, feed);
      const name = names.has(text) ? feed : text;
      names.add(name);
      feeds.push({ feed: name, isHealthy: status === 'healthy', ageMs, everyMs });
      continue;
    }
    others.total += 1;
    if (status === 'healthy') others.healthy += 1;
    others.oldestMs = Math.max(others.oldestMs, ageMs ?? 0);
  }
  return { feeds, otherFeeds: others };
}

function totalFigures({ state, equity }: FiguresView, now: Millis): RunFigures['total'] {
  const total = equity.read(now);
  if (total === null) return undefined;
  const mint = total.mint as Mint;
  const units = unitsOf(state, mint);
  return {
    ...money(state, mint, BigInt(total.value), now), drawdown: total.drawdown,
    profit: Number(total.change_since_start) / units, today: Number(total.day_change) / units,
  };
}

/** The peak outlives a restart where a protection keeps it; otherwise it is the highest equity that was read. */
function strategyFigures(state: EngineState, now: Millis, peaks: Map<string, bigint>): RunFigures['strategies'] {
  return budgetedBooks(state).flatMap(({ name, book }) => {
    const { budget: { mint, amount } } = book;
    const equity = bookEquity(state, book, mint, now);
    if (equity === undefined) return [];
    const kept = state.protections.equity.get(name)?.peak ?? 0n;
    const peak = [kept, peaks.get(name) ?? 0n, equity].reduce((highest, one) => (one > highest ? one : highest));
    peaks.set(name, peak);
    return [{
      strategy: name, ...money(state, mint, equity, now),
      drawdown: peak > 0n ? Number(((peak - equity) * 1_000_000n) / peak) / MICRO : 0,
      profit: Number(equity - amount) / unitsOf(state, mint),
    }];
  });
}

function money(
  state: EngineState, mint: Mint, value: bigint, now: Millis,
): Pick<EquityFigures, 'equity' | 'usd'> {
  const usd = usdValueOf(state, { mint, amount: value }, now);
  return {
    equity: { token: symbolOf(state.tokens, mint), value: Number(value) / unitsOf(state, mint) },
    usd: usd === undefined ? undefined : Number(usd.microUsd) / MICRO,
  };
}

function unitsOf({ tokens }: EngineState, mint: Mint): number {
  return 10 ** (tokens.byMint(mint)?.decimals ?? 0);
}

/** Returns the used share of each cap of the signer, as far as this daemon knows. */
function capRatios({ limits, spends, tokens }: EngineState, now: Millis): RunFigures['caps'] {
  return [...limits.caps ?? []].flatMap(([mint, { perHour, perDay }]) =>
    ([['hour', perHour], ['day', perDay]] as const).flatMap(([span, limit]) => (limit === undefined || limit <= 0n ? []
      : [{ token: symbolOf(tokens, mint), span, ratio: Number(spends.used(mint, span, now)) / Number(limit) }])));
}
