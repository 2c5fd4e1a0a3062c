import { OPEN_STATES, TERMINAL_STATES } from '../../trading/intent.ts';
import type { MetricDefinition, Reading, Sample } from './metric-definition.ts';
import { enumerated, single } from './metric-definition.ts';

const STATUSES = [
  'starting', 'recovering', 'trading', 'exits-only', 'flattening', 'halted', 'stopped', 'waiting-for-service',
  'draining', 'ended',
] as const;
const STRATEGY_STATUSES = ['trading', 'exits-only', 'flattening', 'halted', 'stopped', 'waiting'] as const;
const TRADING_STATES = ['active', 'reduce-only', 'halted'] as const;
const FEED_STATUSES = ['healthy', 'unhealthy'] as const;

/** About feeds, decisions, swaps and money. */
export const TRADING_METRICS: readonly MetricDefinition[] = [
  {
    name: 'gannet_status', type: 'gauge', labels: ['status'],
    help: '1 for the status of the daemon, as "gannet status" shows it, 0 for the others.',
    read: ({ state }) => enumerated('status', STATUSES, (status) => status === (state?.standing ?? 'starting')),
  },
  {
    name: 'gannet_trading_state', type: 'gauge', labels: ['state'],
    help: '1 for what may be traded now, protections included, 0 for the others.',
    read: ({ state }) => (state === undefined ? []
      : enumerated('state', TRADING_STATES, (word) => word === state.effective)),
  },
  {
    name: 'gannet_strategy_status', type: 'gauge', labels: ['strategy', 'status'],
    help: '1 for the status of each strategy, 0 for the others.',
    read: ({ state }) => (state?.strategies ?? []).flatMap(({ name, standing }) =>
      enumerated('status', STRATEGY_STATUSES, (status) => status === standing)
        .map(({ labels, value }) => ({ labels: { strategy: name, ...labels }, value }))),
  },
  {
    name: 'gannet_protections_triggered', type: 'gauge', labels: [],
    help: 'The protections that are triggered now.',
    read: ({ state }) => single(state?.protections.length),
  },
  {
    name: 'gannet_dead_man_left_seconds', type: 'gauge', labels: [],
    help: 'How long until a dead man’s switch stops trading unless an operator shows up. Absent without one.',
    read: ({ state }) => single(state?.dead_man === null ? undefined : seconds(state?.dead_man.left_ms)),
  },
  {
    name: 'gannet_feeds', type: 'gauge', labels: ['status'],
    help: 'The feeds by status, those without a series of their own included.',
    read: ({ figures }) => {
      if (figures === undefined) return [];
      const { feeds, otherFeeds } = figures;
      const healthy = feeds.filter(({ isHealthy }) => isHealthy).length + otherFeeds.healthy;
      const counts = { healthy, unhealthy: feeds.length + otherFeeds.total - healthy };
      return FEED_STATUSES.map((status) => ({ labels: { status }, value: counts[status] }));
    },
  },
  {
    name: 'gannet_feed_healthy', type: 'gauge', labels: ['feed'],
    help: '1 where the last poll of the feed succeeded, otherwise 0.',
    read: (reading) => ofFeeds(reading, ({ isHealthy }) => (isHealthy ? 1 : 0)),
  },
  {
    name: 'gannet_feed_age_seconds', type: 'gauge', labels: ['feed'],
    help: 'The time since the last answer of the feed. Absent before the first one.',
    read: (reading) => ofFeeds(reading, ({ ageMs }) => seconds(ageMs)),
  },
  {
    name: 'gannet_feed_interval_seconds', type: 'gauge', labels: ['feed'],
    help: 'The configured interval of the feed.',
    read: (reading) => ofFeeds(reading, ({ everyMs }) => seconds(everyMs)),
  },
  {
    name: 'gannet_other_feeds', type: 'gauge', labels: [],
    help: 'The feeds without series of their own: of tokens that strategies watch while they run, and beyond 1,000.',
    read: ({ figures }) => single(figures?.otherFeeds.total),
  },
  {
    name: 'gannet_other_feeds_oldest_age_seconds', type: 'gauge', labels: [],
    help: 'The age of the oldest answer among the feeds without series of their own; 0 without such feeds.',
    read: ({ figures }) => single(seconds(figures?.otherFeeds.oldestMs)),
  },
  {
    name: 'gannet_last_tick_timestamp_seconds', type: 'gauge', labels: [],
    help: 'When any feed was last answered, in seconds since the Unix epoch. Absent before the first answer.',
    read: ({ state }) => single(seconds(newest(state?.feeds.map((feed) => feed.last_answer_at) ?? []))),
  },
  {
    name: 'gannet_last_decision_timestamp_seconds', type: 'gauge', labels: [],
    help: 'When a proposal was last approved or denied. Absent before the first one of this run.',
    read: ({ events }) => single(seconds(events.lastDecisionAt)),
  },
  {
    name: 'gannet_last_landed_timestamp_seconds', type: 'gauge', labels: [],
    help: 'When a swap last landed. Absent before the first one of this run.',
    read: ({ events }) => single(seconds(events.lastLandedAt)),
  },
  {
    name: 'gannet_decisions_total', type: 'counter', labels: ['verdict'],
    help: 'The proposals of strategies by verdict: approved or denied.',
    read: ({ state }) => {
      if (state === undefined) return [];
      const denied = Object.values(state.denials).reduce((total, count) => total + count, 0);
      return [
        { labels: { verdict: 'approved' }, value: Math.max(0, state.decisions - denied) },
        { labels: { verdict: 'denied' }, value: denied },
      ];
    },
  },
  {
    name: 'gannet_denials_total', type: 'counter', labels: ['code'],
    help: 'The denied proposals by the code of the limit or protection.',
    read: ({ state }) => Object.entries(state?.denials ?? {}).map(([code, value]) => ({ labels: { code }, value })),
  },
  {
    name: 'gannet_intents_open', type: 'gauge', labels: ['state'],
    help: 'The open swaps by state.',
    read: ({ figures }) => (figures === undefined ? [] : OPEN_STATES.map((state) =>
      ({ labels: { state }, value: figures.openIntents.filter((open) => open.state === state).length }))),
  },
  {
    name: 'gannet_oldest_open_intent_age_seconds', type: 'gauge', labels: [],
    help: 'The age of the oldest open swap; 0 where none is open.',
    read: ({ figures }) => (figures === undefined ? [] : single(
      figures.openIntents.reduce((oldest, { createdAt }) => Math.max(oldest, figures.now - createdAt), 0) / 1_000,
    )),
  },
  {
    name: 'gannet_intents_ended_total', type: 'counter', labels: ['state'],
    help: 'The swaps that have ended in this run, by their last state.',
    read: ({ state }) => (state === undefined ? [] : TERMINAL_STATES.map((ended) =>
      ({ labels: { state: ended }, value: state.intents.counts[ended] ?? 0 }))),
  },
  {
    name: 'gannet_landing_seconds', type: 'histogram', labels: [],
    help: 'The time from the approval of a swap until it landed.',
    read: ({ events }) => events.landing,
  },
  {
    name: 'gannet_landing_after_submission_seconds', type: 'histogram', labels: [],
    help: 'The time from the first submission of a swap until it landed.',
    read: ({ events }) => events.landingAfterSubmission,
  },
  {
    name: 'gannet_realised_slippage_bps', type: 'histogram', labels: [],
    help: 'How much less landed swaps brought than the quote of their order, in basis points; negative for more.',
    read: ({ events }) => events.slippage,
  },
  {
    name: 'gannet_fill_error_bps', type: 'histogram', labels: [],
    help: 'The difference between the quoted and the filled output of landed swaps in basis points, without sign.',
    read: ({ events }) => events.fillError,
  },
  {
    name: 'gannet_equity', type: 'gauge', labels: ['token'],
    help: 'The equity of all strategies with a budget, in the token of the first budget. Absent before everything '
      + 'has a price.',
    read: ({ figures }) => total(figures, ({ equity }) => equity.value),
  },
  {
    name: 'gannet_equity_usd', type: 'gauge', labels: [],
    help: 'The same equity in dollars. Absent where the token has no price in dollars.',
    read: ({ figures }) => single(figures?.total?.usd),
  },
  {
    name: 'gannet_profit', type: 'gauge', labels: ['token'],
    help: 'The change of equity since the start of this run.',
    read: ({ figures }) => total(figures, ({ profit }) => profit),
  },
  {
    name: 'gannet_profit_today', type: 'gauge', labels: ['token'],
    help: 'The change of equity since midnight UTC, or since the start of this run where that is later.',
    read: ({ figures }) => total(figures, ({ today }) => today),
  },
  {
    name: 'gannet_drawdown_ratio', type: 'gauge', labels: [],
    help: 'How far equity is under its highest value, as a share of that: 0.05 is 5 %.',
    read: ({ figures }) => single(figures?.total?.drawdown),
  },
  {
    name: 'gannet_strategy_equity', type: 'gauge', labels: ['strategy', 'token'],
    help: 'The equity of a strategy in the token of its budget. Absent while a price is missing.',
    read: (reading) => ofStrategies(reading, ({ equity }) => equity.value, true),
  },
  {
    name: 'gannet_strategy_equity_usd', type: 'gauge', labels: ['strategy'],
    help: 'The equity of a strategy in dollars. Absent where a price is missing.',
    read: (reading) => ofStrategies(reading, ({ usd }) => usd, false),
  },
  {
    name: 'gannet_strategy_profit', type: 'gauge', labels: ['strategy', 'token'],
    help: 'The equity of a strategy less its budget.',
    read: (reading) => ofStrategies(reading, ({ profit }) => profit, true),
  },
  {
    name: 'gannet_strategy_drawdown_ratio', type: 'gauge', labels: ['strategy'],
    help: 'How far the equity of a strategy is under its highest value. Without a protection that keeps that value, '
      + 'it is the highest one of all scrapes of this run.',
    read: (reading) => ofStrategies(reading, ({ drawdown }) => drawdown, false),
  },
  {
    name: 'gannet_cap_use_ratio', type: 'gauge', labels: ['token', 'span'],
    help: 'The used share of the signer’s cap on a token in the last hour or day, as far as this daemon knows.',
    read: ({ figures }) =>
      (figures?.caps ?? []).map(({ token, span, ratio }) => ({ labels: { token, span }, value: ratio })),
  },
  {
    name: 'gannet_wallet_sol', type: 'gauge', labels: [],
    help: 'The SOL in the wallet, native and wrapped together.',
    read: ({ figures }) => single(figures?.wallet.sol),
  },
  {
    name: 'gannet_wallet_reserve_sol', type: 'gauge', labels: [],
    help: 'The SOL that no strategy can spend, because fees need it.',
    read: ({ figures }) => single(figures?.wallet.reserveSol),
  },
  {
    name: 'gannet_fees_sol_total', type: 'counter', labels: [],
    help: 'The network fees and tips of all swaps of this run, in SOL.',
    read: ({ figures }) => single(figures?.wallet.feesSol),
  },
];

type Figures = NonNullable<Reading['figures']>;

function seconds(span: number | null | undefined): number | undefined {
  return span === undefined || span === null ? undefined : span / 1_000;
}

function newest(instants: readonly (number | null)[]): number | undefined {
  const known = instants.filter((at) => at !== null);
  return known.length === 0 ? undefined : known.reduce((last, at) => Math.max(last, at));
}

function ofFeeds(
  { figures }: Reading, read: (feed: Figures['feeds'][number]) => number | undefined,
): Sample[] {
  return (figures?.feeds ?? []).flatMap((own) =>
    single(read(own)).map(({ value }) => ({ labels: { feed: own.feed }, value })));
}

function total(figures: Reading['figures'], read: (total: NonNullable<Figures['total']>) => number): Sample[] {
  const own = figures?.total;
  return own === undefined ? [] : [{ labels: { token: own.equity.token }, value: read(own) }];
}

function ofStrategies(
  { figures }: Reading, read: (own: Figures['strategies'][number]) => number | undefined, withToken: boolean,
): Sample[] {
  return (figures?.strategies ?? []).flatMap((own) => single(read(own)).map(({ value }) => ({
    labels: { strategy: own.strategy, ...(withToken ? { token: own.equity.token } : {}) }, value,
  })));
}
