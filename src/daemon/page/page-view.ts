import type { Clock, Millis } from '../../core/time.ts';
import type {
  EquityCurve, PageBucket, PageFigure, PageFigures, PageProtection, PageRange, PageState,
  PageStrategy, PriceCurve,
} from '../../dashboard/page-state.ts';
import type { Engine } from '../../engine/engine.ts';
import type { StrategyInstance } from '../../engine/strategy-host.ts';
import { describeFeedKey, symbolOf } from '../../market/market-text.ts';
import type { Mint } from '../../market/token.ts';
import { SOL_MINT } from '../../market/token.ts';
import type { FeedStats } from '../../service/feeds/feed-stats.ts';
import type { GovernorStats } from '../../service/rate/rate-governor.ts';
import type { HistoryReads } from '../../store/history.ts';
import type { JournalStore } from '../../store/journal.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import { isManualBook } from '../../trading/manual/manual-book.ts';
import { dayOf } from '../../trading/protections/memory.ts';
import { deadManSwitch } from '../control/operator-commands.ts';
import type { EquitySampler, RunEquity } from '../control/run-equity.ts';
import { protectionText, runStatusOf, statusReasons, strategyStatuses } from '../control/run-status.ts';
import type { ProtectionState, TradingView } from '../control/trading-view.ts';
import type { RunRecorder } from '../run/run-recorder.ts';
import { pageAmount } from './page-amount.ts';
import { pageLimits } from './page-limits.ts';
import { PageHistory } from './page-history.ts';
import { feedsByStrategy, pageMarket, pairReader } from './page-markets.ts';
import { pageSentence } from './page-sentence.ts';
import { pageStrategy } from './page-strategies.ts';
import type { RunStory } from './run-story.ts';

/** What the page needs of a run beside what the control API needs. */
export interface PageSources {
  readonly story: RunStory;
  /** What went out to the service and what waits, by bucket. */
  readonly requests: () => Readonly<Record<string, GovernorStats>>;
}

/** What is the same for every page. */
type SharedPageState = Omit<PageState, 'role' | 'at'>;

/** The parts of a session that the page reads. */
export interface PageViewOptions {
  readonly runId: string;
  readonly mode: 'live' | 'paper';
  readonly clock: Clock;
  readonly state: EngineState;
  readonly strategies: readonly StrategyInstance[];
  readonly engine: Engine;
  readonly runRecorder: RunRecorder;
  readonly phase: () => string;
  /** What a recovery still waits for. */
  readonly recovering: () => readonly string[];
  readonly feeds: () => readonly FeedStats[];
  readonly startAt: Millis;
  readonly isRealMoney: boolean;
  readonly equity: EquitySampler;
  readonly page: PageSources;
  readonly trading: () => TradingView;
  readonly journal: Pick<JournalStore, 'listIntents' | 'showIntent'>;
  readonly history?: HistoryReads | undefined;
}

/** What the page reads of a run. */
export interface PagePort {
  state(): SharedPageState;
  /** Undefined for an unknown strategy. */
  equity(query: { readonly range: PageRange; readonly strategy?: string | undefined }): EquityCurve | undefined;
  /** Undefined for an unknown pair. */
  prices(query: { readonly pair: string; readonly range: PageRange }): PriceCurve | undefined;
}

const DAY_MS: Millis = 86_400_000;
const FAILING_SHOWN = 10;
/** Requests are counted over this span. */
const RATE_SPAN_MS: Millis = 60_000;

/** Returns what the page reads of a run. */
export function createPagePort(view: PageViewOptions): PagePort {
  const { clock } = view;
  const history = new PageHistory(view);
  return {
    state: createStateView(view, history),
    equity: (query) => history.equity(query, clock.now()),
    prices: (query) => history.prices(query, clock.now()),
  };
}

function createStateView(view: PageViewOptions, history: PageHistory): () => SharedPageState {
  const { runId, mode, clock, state, strategies, engine, runRecorder, isRealMoney, startAt, page: { story } } = view;
  const buckets = bucketRates(view.page.requests);
  const readPairs = pairReader(state);
  return () => {
    const now = clock.now();
    const feeds = view.feeds();
    const trading = view.trading();
    const equity = view.equity.read(now);
    // Not the present: a figure would change while nothing happens.
    const asOf = feeds.reduce((newest, { lastAnswerAt = 0 }) => Math.max(newest, lastAnswerAt), startAt);
    const running = new Set(engine.running);
    const { stopped } = engine;
    const status = {
      ...trading, phase: view.phase(), service_access: runRecorder.access, feeds, waits_for: view.recovering(),
      strategies: trading.strategies.filter(({ name }) => !isManualBook(name)).map((own) => {
        const { code, reason, place = null, at } = stopped.find(({ name }) => name === own.name) ?? {};
        return {
          ...own, running: running.has(own.name),
          stopped: code === undefined ? null : { code, reason: reason!, place, at: at! },
        };
      }),
    };
    const standings = strategyStatuses(status);
    const open = runRecorder.counters.open;
    const feedsOf = feedsByStrategy(state);
    const pairs = readPairs(feeds, feedsOf);
    const scope = {
      state, now, asOf, story, unsold: trading.unsold, pairs, feedsOf,
      feeds: new Map(feeds.map((feed) => [feed.feed, feed])),
    };
    const failing = feeds.filter((feed) => feed.status !== 'healthy');
    const dead = deadManSwitch(state, now);
    return {
      run_id: runId, mode, is_real_money: isRealMoney, started_at: startAt, phase: view.phase(),
      sentence: pageSentence({
        state, now, mode, isRealMoney, standing: runStatusOf(status), reasons: statusReasons(status), trading, feeds,
        open, stopped, equity, access: runRecorder.access,
      }),
      figures: figuresOf(state, equity, {
        asOf, openSwaps: open.length, startAt,
        fees: { lamports: story.feesOfDay(now), since: Math.max(startAt, dayOf(now) * DAY_MS) },
      }),
      profit: history.periods(now, equity, asOf),
      strategies: status.strategies.map((own, index) => pageStrategy({
        trading: own, use: strategies.find(({ name }) => name === own.name)?.strategy.name ?? own.name,
        standing: standings[index]!, stopped: stopText(own.stopped),
      }, scope)).concat(manualBooks(trading, scope)),
      markets: pairs.map((pair, index) => {
        const market = pageMarket(state, pair, now);
        return { ...market, spark: history.spark(pair, index, now, market.price) };
      }),
      feeds: {
        total: feeds.length, healthy: feeds.length - failing.length,
        failing: failing.slice(0, FAILING_SHOWN)
          .map(({ feed, status: word }) => `${describeFeedKey(state.tokens, feed)} is ${word}`),
      },
      swaps: open.map((record) => story.swapOf(record)),
      limits: pageLimits(state, now, equity),
      protections: trading.protections.map((one) => pageProtection(state, one)),
      requests: buckets(now),
      alerts: story.alerts,
      denials: runRecorder.counters.denials,
      dead_man: dead === undefined ? null
        : { after_ms: dead.afterMs, fires_at: Math.round((now + dead.leftMs) / 1_000) * 1_000 },
    };
  };
}

function stopText(
  stopped: { readonly code: string; readonly reason: string; readonly place: string | null } | null,
): string | undefined {
  if (stopped === null) return undefined;
  const { code, reason, place } = stopped;
  return `${reason} (${code})${place === null ? '' : ` in ${place}`}`;
}

/** What manual swaps have bought and not sold, and what they buy at present, as if of strategies. */
function manualBooks({ strategies }: TradingView, scope: Parameters<typeof pageStrategy>[1]): PageStrategy[] {
  return strategies.filter(({ name }) => isManualBook(name))
    .map((own) => pageStrategy({ trading: own, use: 'manual', standing: 'trading', stopped: undefined }, scope))
    .filter(({ name, positions }) => positions.length > 0
      || scope.state.intents.values().some(({ intent }) => intent.strategy === name))
    .map((book) => ({ ...book, budget: null, cash: null, equity: null, profit: null }));
}

/** The fees of a part of a day. */
interface FeesSince {
  readonly lamports: bigint;
  readonly since: Millis;
}

function figuresOf(state: EngineState, equity: RunEquity | null, { asOf, openSwaps, fees, startAt }: {
  readonly asOf: Millis; readonly openSwaps: number; readonly fees: FeesSince; readonly startAt: Millis;
}): PageFigures {
  const figure = (units: string, explanation: string): PageFigure | null => (equity === null ? null : {
    amount: pageAmount(state.tokens, equity.mint as Mint, BigInt(units)), explanation, as_of: asOf,
    is_known: equity.is_known,
  });
  return {
    equity: figure(equity?.value ?? '0', 'The free budgets of all strategies, plus every position at its price now, '
      + 'less the network fees that they have paid. The rest of the wallet is left out.'),
    today: figure(equity?.day_change ?? '0', 'Equity now less equity at midnight UTC, or at the start of this run '
      + 'where that is later.'),
    since_start: figure(equity?.change_since_start ?? '0', 'Equity now less equity at the first instant of this run '
      + `(${new Date(startAt).toISOString().slice(0, 16).replace('T', ' ')} UTC) at which everything had a price.`),
    drawdown: equity === null ? null : {
      now: equity.drawdown, limit: drawdownLimit(state),
      explanation: 'How far equity is under its highest value so far, as a share of that value.',
    },
    open_swaps: openSwaps,
    fees_today: {
      amount: pageAmount(state.tokens, SOL_MINT, fees.lamports), as_of: asOf, is_known: true,
      explanation: 'Network fees and tips of swaps that have ended since '
        + `${new Date(fees.since).toISOString().slice(0, 16).replace('T', ' ')} UTC, failed swaps included.`,
    },
  };
}

function drawdownLimit({ limits: { protections = [] } }: EngineState): number | null {
  const limits = protections.flatMap(({ trigger, scope }) =>
    (trigger.kind === 'max-drawdown' && scope === 'global' ? [trigger.limitPct / 100] : []));
  return limits.length === 0 ? null : Math.min(...limits);
}

function pageProtection({ tokens }: EngineState, one: ProtectionState): PageProtection {
  return {
    text: protectionText(one), since: one.since, until: one.until,
    subject: one.subject === '' ? null : one.scope === 'token' ? symbolOf(tokens, one.subject) : one.subject,
  };
}

/** Returns the buckets with the rate of their requests over the last minute. */
function bucketRates(read: PageSources['requests']): (now: Millis) => PageBucket[] {
  let samples: readonly { readonly at: Millis; readonly sent: Readonly<Record<string, number>> }[] = [];
  return (now) => {
    const stats = read();
    const sent = Object.fromEntries(Object.entries(stats).map(([name, each]) => [name, each.sent]));
    const recent = samples.filter(({ at }) => at > now - RATE_SPAN_MS && at < now);
    samples = [...recent, { at: now, sent }];
    const [oldest] = samples;
    const seconds = (now - oldest!.at) / 1_000;
    return Object.entries(stats).map(([name, own]) => ({
      name, allowed_per_second: own.requestsPerSecond, sent: own.sent, refused: own.refused, queued: own.queued,
      in_flight: own.inFlight, cool_down_until: own.coolDownUntil ?? null,
      used_per_second: seconds === 0 ? 0 : Math.round((own.sent - oldest!.sent[name]!) / seconds * 100) / 100,
    }));
  };
}
