import { formatDecimal } from '../core/amount.ts';
import { GannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { Engine } from '../engine/engine.ts';
import type { StrategyInstance } from '../engine/host.ts';
import type { JournalStore } from '../store/journal.ts';
import type { CapSpan } from '../trading/spend-tally.ts';
import type { EngineState } from '../trading/state.ts';
import type { Chronicle } from './chronicle.ts';
import type { Desk } from './desk.ts';
import { intentJson } from './json-reporter.ts';
import type { Log } from './log.ts';
import type { Loop } from './loop.ts';
import { holdings } from './market-text.ts';
import { showAmount, symbolOf } from '../market/market-text.ts';
import type { ModeParts } from './mode-parts.ts';
import { deadManSwitch, operatorCommands } from './operator.ts';
import { amounts, portfolioState } from './portfolio-state.ts';
import type { EquitySampler } from './run-equity.ts';
import type { CapUse, EquityState, FeedState, SessionState, StrategyState } from './session-state.ts';
import { standingOf, standingReasons, strategyStandings } from './standing.ts';
import type { StopFile } from './stop-file.ts';
import type { TradingView } from './trading-board.ts';

const RECENT_SHOWN = 20;
/** Each sign of an operator is an input of the run: a page that asks every second must not fill the recording. */
const PRESENCE_EVERY_MAX_MS = 60_000;
const PRESENCE_PER_SWITCH = 10;

/** What a desk looks at. */
export interface DeskView {
  readonly runId: string;
  readonly mode: 'live' | 'paper';
  readonly clock: Clock;
  readonly state: EngineState;
  readonly strategies: readonly StrategyInstance[];
  readonly engine: Engine;
  readonly loop: Pick<Loop, 'accept'>;
  readonly executor: ModeParts['executor'];
  readonly chronicle: Chronicle;
  readonly journal: Pick<JournalStore, 'listIntents' | 'showIntent'>;
  readonly stopFile: StopFile;
  readonly log: Log;
  readonly phase: () => string;
  /** What a recovery still waits for. */
  readonly recovering: () => readonly string[];
  readonly feeds: () => readonly FeedState[];
  readonly startAt: Millis;
  readonly isRealMoney: boolean;
  readonly equity: EquitySampler;
}

/** Returns the desk of a session: what it says is read from the state at that moment, what it is told goes through the inbox. */
export function createDesk(view: DeskView): Desk {
  const { state, loop, chronicle, journal, stopFile } = view;
  const trading = (): ReturnType<Chronicle['board']['view']> => chronicle.board.view(state, stopFile.read(), view.engine.unsold);
  const strategies = (): StrategyState[] => {
    const own = strategyStates(view, trading());
    const standings = strategyStandings({ ...trading(), phase: view.phase(), service_access: chronicle.access, feeds: view.feeds(), strategies: own });
    return own.map((each, index) => ({ ...each, standing: standings[index]! }));
  };
  const present = (): void => {
    const dead = deadManSwitch(state, view.clock.now());
    if (dead === undefined || dead.afterMs - dead.leftMs < Math.min(PRESENCE_EVERY_MAX_MS, dead.afterMs / PRESENCE_PER_SWITCH)) return;
    loop.accept({ kind: 'command', name: 'report-presence', reason: 'an operator spoke' });
  };
  return {
    state: () => {
      const told = { ...sessionState(view), ...trading(), strategies: strategies() };
      return { ...told, standing: standingOf(told), standing_reasons: standingReasons(told) };
    },
    feeds: view.feeds,
    strategies,
    portfolio: () => portfolioState(state),
    decisions: (limit) => chronicle.decisions.slice(0, limit),
    intents: (options) => journal.listIntents(options),
    intent: (intentId) => journal.showIntent(intentId),
    waitsFor: () => [
      ...(view.phase() === 'trading' ? [] : [`the run is ${view.phase()}`, ...view.recovering()]),
      ...view.feeds().filter(({ status, answers }) => status !== 'healthy' || answers === 0)
        .map(({ watches, status }) => `${watches} ${status === 'healthy' ? 'was not read yet' : `is ${status}`}`),
      ...(chronicle.access.state === 'granted' ? [] : [chronicle.access.state === 'silent' ? 'the service does not answer' : 'the service refuses the API key']),
    ],
    request: (request) => {
      const commands = operatorCommands(state, request, { path: stopFile.path, content: stopFile.read() });
      if ('code' in commands) return commands;
      present();
      for (const command of commands) loop.accept(command);
      return trading();
    },
    resolve: async (intentId, word) => {
      present();
      if (view.executor.resolve === undefined) throw new GannetError('RESOLVE_REFUSED', 'on paper nothing was sent: what became of every swap is known');
      view.log('warn', 'an operator says what became of a swap', { intent_id: intentId, ...word });
      return view.executor.resolve(intentId, word);
    },
    present,
  };
}

function sessionState(
  { runId, mode, clock, state, engine, chronicle, phase, recovering, feeds, startAt, isRealMoney, equity }: DeskView,
): Omit<SessionState, keyof TradingView | 'standing' | 'standing_reasons'> {
  const { tally } = chronicle;
  const now = clock.now();
  const dead = deadManSwitch(state, now);
  return {
    run_id: runId,
    mode,
    phase: phase(),
    waits_for: recovering(),
    service_access: chronicle.access,
    real_money: isRealMoney,
    started_at: startAt,
    uptime_ms: now - startAt,
    equity: equity.read(now),
    caps: capUses(state, now),
    last_swap: chronicle.lastSwap ?? null,
    last_error: chronicle.lastError ?? null,
    dead_man: dead === undefined ? null : { after_ms: dead.afterMs, left_ms: dead.leftMs },
    at: now,
    seq: engine.seq,
    decisions: engine.decisions,
    decision_hash: engine.decisionHash,
    feeds: feeds(),
    wallet: amounts(state.portfolio.wallet),
    sol_reserve: state.limits.solReserve.toString(),
    deposits_lamports: tally.rentLamports.toString(),
    intents: {
      open: tally.open.map((record) => ({ ...intentJson(record), intent_id: record.intent.id, state: record.state, created_at: record.intent.createdAt })),
      recent: tally.recent.slice(0, RECENT_SHOWN).map(intentJson),
      counts: tally.byState,
    },
    denials: tally.denials,
    presence_wanted: dead !== undefined,
  };
}

function strategyStates({ state, strategies, engine }: DeskView, view: TradingView): Omit<StrategyState, 'standing'>[] {
  const running = new Set(engine.running);
  const trading = new Map(view.strategies.map((own) => [own.name, own]));
  return strategies.map(({ name, strategy }) => {
    const { swaps, balances } = state.portfolio.book(name);
    const own = { ...trading.get(name)!, running: running.has(name) };
    return {
      ...own, use: strategy.name, swaps, balances: amounts(balances),
      holds: holdings(state.tokens, balances), equity: equityState(state, name),
    };
  });
}

/** Returns how much of the signer's caps is used; the spans slide. */
function capUses({ limits, spends, tokens }: EngineState, now: Millis): CapUse[] {
  return [...limits.caps ?? []].map(([mint, { perHour, perDay }]) => {
    const use = (span: CapSpan, limit: bigint | undefined): CapUse['hour'] => ({ used: spends.used(mint, span, now).toString(), limit: limit?.toString() ?? null });
    const hour = use('hour', perHour);
    const day = use('day', perDay);
    const decimals = tokens.byMint(mint)?.decimals ?? 0;
    const told = ({ used, limit }: CapUse['hour'], span: string): string[] =>
      (limit === null ? [] : [`${formatDecimal(BigInt(used), decimals)} of ${formatDecimal(BigInt(limit), decimals)} ${span}`]);
    const spans = [...told(hour, 'in the last hour'), ...told(day, 'in the last day')].join(', ');
    return { mint, hour, day, text: `${symbolOf(tokens, mint)}: ${spans === '' ? 'only each swap is capped' : spans}` };
  });
}

function equityState({ protections, portfolio, tokens }: EngineState, name: string): EquityState | null {
  const record = protections.equity.get(name);
  const mint = portfolio.book(name).budget?.mint;
  if (record === undefined || mint === undefined) return null;
  const change = record.value - record.dayStart;
  const size = showAmount(tokens, mint, change < 0n ? -change : change);
  return {
    mint, value: record.value.toString(), day_change: change.toString(), peak: record.peak.toString(), is_known: record.isKnown,
    today: `${change < 0n ? '-' : change > 0n ? '+' : ''}${size}${record.isKnown ? '' : ' (prices missing)'}`,
  };
}
