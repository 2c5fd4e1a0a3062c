import type { ChainNodes } from '../../chain/chain.ts';
import { formatDecimal } from '../../core/amount.ts';
import { GannetError, isGannetError } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import type { Resolution as ResolveWord } from '../../execution/operator-resolution.ts';
import { formatBalances, showAmount, symbolOf, withTokenNames } from '../../market/market-text.ts';
import type { ProfitStatement } from '../../profit/statement.ts';
import type { SwapV2 } from '../../service/endpoints/swap-v2.ts';
import type { JournalStore } from '../../store/journal.ts';
import type { IntentListing, IntentStory } from '../../store/journal-listing.ts';
import type { IntentState, Outcome } from '../../trading/intent.ts';
import type { AlertProposal } from '../../trading/proposal.ts';
import type { CapSpan } from '../../trading/usage-counters.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import { isManualBook } from '../../trading/manual/manual-book.ts';
import type { DecisionRecord } from '../files/decision-record.ts';
import { intentJson } from '../reporting/json-reporter.ts';
import type { Reloader } from '../reload/reloader.ts';
import type { ReloadReport } from '../reload/reload-text.ts';
import { reloadText } from '../reload/reload-text.ts';
import type { Log } from '../reporting/log.ts';
import type { Stamp } from '../reporting/reporter.ts';
import type { EngineLoop } from '../run/engine-loop.ts';
import type { ManualOrders } from '../manual/manual-orders.ts';
import type { RunHealth } from '../metrics/health.ts';
import { healthOf } from '../metrics/health.ts';
import type { RunFigures } from '../metrics/run-figures.ts';
import { figuresOf } from '../metrics/run-figures.ts';
import { createManualOrders } from '../manual/manual-orders.ts';
import type { PauseRequest } from '../manual/order-requests.ts';
import { readPause, wideningOfPause } from '../manual/order-requests.ts';
import type { ModeParts } from '../run/run-options.ts';
import type { RunRecorder } from '../run/run-recorder.ts';
import type { PagePort, PageViewOptions } from '../page/page-view.ts';
import { createPagePort } from '../page/page-view.ts';
import type { StopFile } from '../watch/stop-file.ts';
import type { OperatorRequest, Refusal } from './operator-commands.ts';
import { deadManSwitch, operatorCommands, wideningOf, wideningOfPresence } from './operator-commands.ts';
import type { OrderAudit, WideningOrder } from './order-audit.ts';
import { createOrderKeeper, resolveOrder } from './order-audit.ts';
import type { OrderOrigin } from './order-origin.ts';
import { ProfitKeeper } from './profit-keeper.ts';
import { runStatusOf, statusReasons, strategyStatuses } from './run-status.ts';
import type {
  CapUse, EquityState, FeedState, PortfolioState, SessionState, StrategyState,
} from './session-state.ts';
import { amounts, feedStates, portfolioState, rpcNodeStates } from './session-state.ts';
import type { TradingView } from './trading-view.ts';

/** All that the control API needs of a run: its state, and the operator's commands. */
export interface ControlPort {
  state(): SessionState;
  feeds(): readonly FeedState[];
  strategies(): readonly StrategyState[];
  portfolio(): PortfolioState;
  /** Newest first, at most `limit`. */
  decisions(limit: number): readonly DecisionRecord[];
  /** Newest first, at most `limit`. Includes intents of earlier runs, because the journal answers. */
  intents(options: { readonly state?: IntentState | undefined; readonly limit: number }): readonly IntentListing[];
  intent(intentId: string): IntentStory | undefined;
  /** The profit of all runs with the journal, at the present prices. */
  profit(): Promise<ProfitStatement>;
  /** What supervisors ask. */
  readonly health: RunHealth;
  /** Returns what the metrics show beside the state. */
  figures(): RunFigures;
  /** Carries out a request and returns what may be traded afterwards. One that allows more is written first. */
  request(request: OperatorRequest, origin: OrderOrigin): TradingView | Refusal;
  /** The swaps and sales that a person orders. */
  readonly manual: ManualOrders;
  /** Begins or ends a pause, and returns what may be traded afterwards. Throws ORDER_REFUSED and AUDIT_FAILED. */
  pause(request: PauseRequest, isPaused: boolean, origin: OrderOrigin): TradingView;
  /**
   * Closes a swap with an unknown outcome as the operator says, and returns its last outcome. Throws RESOLVE_REFUSED
   * without such a swap or where the chain contradicts, AUDIT_FAILED, and the errors of the chain.
   */
  resolve(intentId: string, word: ResolveWord, origin: OrderOrigin): Promise<Outcome>;
  /** Reloads a strategy, or all that have changed. Throws RELOAD_REFUSED, and then each goes on as it was. */
  reload(strategy: string | undefined, origin: OrderOrigin): Promise<ReloadReport>;
  /** Notes that an operator is present; only a dead man's switch needs it. */
  reportPresence(origin: () => OrderOrigin): void;
  /** Alerts on an order that allows more than before; for one that was carried out elsewhere. */
  reportWidening(order: WideningOrder): void;
  alert(alert: AlertProposal): void;
  readonly page: PagePort;
}

/** What the control API serves. */
export interface ControlledRun {
  readonly runId: string;
  /** Undefined while the run starts. */
  readonly controlPort: () => ControlPort | undefined;
  /** Keeps every order with its origin. */
  readonly audit: OrderAudit;
  /** Ends the run as an interrupt does: it drains first. */
  readonly end: () => void;
}

const RECENT_SHOWN = 20;
/** Each report of presence is an input of the run. A page that asks every second must not fill the recording. */
const PRESENCE_EVERY_MAX_MS = 60_000;
const PRESENCE_PER_SWITCH = 10;

/** The parts of a session that the control port reads and commands. */
interface ControlPortOptions extends Omit<PageViewOptions, 'trading' | 'journal'> {
  readonly loop: Pick<EngineLoop, 'accept'>;
  readonly executor: ModeParts['executor'];
  readonly journal: Pick<JournalStore,
    'listIntents' | 'showIntent' | 'intentsOfKey' | 'settledSwaps' | 'ledgerStarts' | 'listAdjustments'>;
  readonly stopFile: StopFile;
  /** The nodes of the chain; undefined without one. */
  readonly chainNodes?: Pick<ChainNodes, 'stats'> | undefined;
  readonly audit: OrderAudit;
  readonly log: Log;
  /** Prices manual orders; undefined without a service. */
  readonly quotes?: Pick<SwapV2, 'order'> | undefined;
  /** The service, for people. */
  readonly serviceText?: string | undefined;
  /** The wallet that signs; undefined on paper. */
  readonly wallet?: string | undefined;
  /** Undefined where nothing is reloaded. */
  readonly reloader: Pick<Reloader, 'reload'> | undefined;
}

/** Returns the control port of a session. It reads the current state; every command goes through the inbox. */
export function createControlPort(view: ControlPortOptions): ControlPort {
  const { state, loop, runRecorder, journal, stopFile } = view;
  const profit = new ProfitKeeper(view);
  const trading = (): ReturnType<RunRecorder['tradingChanges']['view']> =>
    runRecorder.tradingChanges.view(state, stopFile.read(), { unsold: view.engine.unsold, at: view.clock.now() });
  const strategies = (): StrategyState[] => {
    const own = strategyStates(view, trading());
    const statuses = strategyStatuses({
      ...trading(), phase: view.phase(), service_access: runRecorder.access, feeds: view.feeds(), strategies: own,
    });
    return own.map((each, index) => ({ ...each, standing: statuses[index]! }));
  };
  const stamp = (): Stamp => ({ seq: view.engine.seq, at: view.engine.clock.now() });
  const orders = createOrderKeeper(view.audit, (order) => { runRecorder.widened(stamp(), order); });
  const reportPresence = (origin: () => OrderOrigin): void => {
    const dead = deadManSwitch(state, view.clock.now());
    if (dead === undefined) return;
    const absentMs = dead.afterMs - dead.leftMs;
    if (absentMs < Math.min(PRESENCE_EVERY_MAX_MS, dead.afterMs / PRESENCE_PER_SWITCH)) return;
    const widens = wideningOfPresence(state);
    const present = { kind: 'command', name: 'report-presence', reason: 'an operator used the control API' } as const;
    if (widens === undefined) {
      loop.accept(present);
      return;
    }
    const fault = orders.carryOut({ action: 'presence', origin: origin(), widens }, () => { loop.accept(present); });
    if (fault !== undefined) view.log('error', 'the presence of an operator does not count', { error: fault });
  };
  return {
    state: () => {
      const all = { ...sessionState(view), ...trading(), strategies: strategies() };
      return { ...all, standing: runStatusOf(all), standing_reasons: statusReasons(all) };
    },
    feeds: () => feedStates(view.feeds(), state.tokens),
    strategies,
    portfolio: () => portfolioState(state),
    decisions: (limit) => runRecorder.decisions.slice(0, limit),
    intents: (options) => journal.listIntents(options),
    intent: (intentId) => journal.showIntent(intentId),
    profit: () => profit.statement(),
    health: healthOf(view),
    figures: figuresOf(view),
    request: (request, origin) => {
      const { action, strategy, reason } = request;
      const order = { action, origin, strategy, reason };
      const commands = operatorCommands(state, request, { path: stopFile.path, content: stopFile.read() });
      if ('code' in commands) {
        view.audit.note({ ...order, refused: commands.code });
        return commands;
      }
      reportPresence(() => origin);
      const fault = orders.carryOut({ ...order, widens: wideningOf(state, commands) }, () => {
        for (const command of commands) loop.accept(command);
      });
      return fault === undefined ? trading() : { code: 'AUDIT_FAILED', message: fault.message };
    },
    manual: createManualOrders({ ...view, orders }),
    pause: (request, isPaused, origin) => {
      const now = Math.max(view.clock.now(), view.engine.clock.now());
      const command = readPause(state, request, isPaused, now);
      const facts = { what: request.what };
      const order = { action: isPaused ? 'pause' : 'unpause', origin, reason: request.reason, facts };
      const fault = orders.carryOut({ ...order, widens: wideningOfPause(state, command, now) }, () => {
        loop.accept(command);
      });
      if (fault !== undefined) throw fault;
      return trading();
    },
    resolve: async (intentId, word, origin) => {
      reportPresence(() => origin);
      const { resolve } = view.executor;
      if (resolve === undefined) {
        throw new GannetError('RESOLVE_REFUSED', 'a paper run sends nothing, so the outcome of every swap is known');
      }
      return orders.carryOutAsync(resolveOrder(intentId, word, origin), async () => {
        view.log('warn', 'an operator resolves a swap with an unknown outcome', { intent_id: intentId, ...word });
        return resolve(intentId, word);
      });
    },
    reload: async (strategy, origin) => {
      reportPresence(() => origin);
      const order = { action: 'reload', origin, strategy };
      try {
        if (view.reloader === undefined) throw new GannetError('RELOAD_REFUSED', 'this run has no strategy of a file');
        const report = await view.reloader.reload(strategy);
        const refused = report.refused.map(({ reason }) => reason).join('; ');
        const reloaded = report.reloaded.map(reloadText).join('; ');
        const facts = { reloaded, ...(refused === '' ? {} : { not_reloaded: refused }) };
        view.audit.note({ ...order, facts });
        return report;
      } catch (error) {
        if (isGannetError(error)) view.audit.note({ ...order, refused: error.code });
        throw error;
      }
    },
    reportPresence,
    reportWidening: (order) => { runRecorder.widened(stamp(), order); },
    alert: (alert) => { runRecorder.alert(stamp(), undefined, alert); },
    page: createPagePort({ ...view, trading }),
  };
}

function sessionState(
  {
    runId, mode, clock, state, engine, runRecorder, phase, recovering, feeds, startAt, isRealMoney, equity,
    chainNodes,
  }: ControlPortOptions,
): Omit<SessionState, keyof TradingView | 'standing' | 'standing_reasons'> {
  const { counters } = runRecorder;
  const now = clock.now();
  const dead = deadManSwitch(state, now);
  return {
    run_id: runId,
    mode,
    phase: phase(),
    waits_for: recovering(),
    service_access: runRecorder.access,
    rpc_nodes: rpcNodeStates(chainNodes?.stats() ?? []),
    real_money: isRealMoney,
    manual: manualHoldings(state),
    started_at: startAt,
    uptime_ms: now - startAt,
    equity: equity.read(now),
    caps: capUses(state, now),
    last_swap: runRecorder.lastSwap ?? null,
    last_widening: runRecorder.lastWidening ?? null,
    last_error: runRecorder.lastError === undefined ? null
      : { ...runRecorder.lastError, message: withTokenNames(state.tokens, runRecorder.lastError.message) },
    dead_man: dead === undefined ? null : { after_ms: dead.afterMs, left_ms: dead.leftMs },
    at: now,
    seq: engine.seq,
    decisions: engine.decisions,
    decision_hash: engine.decisionHash,
    feeds: feedStates(feeds(), state.tokens),
    wallet: amounts(state.portfolio.wallet),
    sol_reserve: state.limits.solReserve.toString(),
    deposits_lamports: counters.rentLamports.toString(),
    intents: {
      open: counters.open.map((record) => ({
        ...intentJson(record), intent_id: record.intent.id, state: record.state, created_at: record.intent.createdAt,
      })),
      recent: counters.recent.slice(0, RECENT_SHOWN).map(intentJson),
      counts: counters.byState,
    },
    denials: counters.denials,
    presence_wanted: dead !== undefined,
  };
}

function manualHoldings({ portfolio, tokens }: EngineState): SessionState['manual'] {
  return [...portfolio.books].filter(([name, { balances }]) => isManualBook(name) && balances.size > 0)
    .map(([name, { balances }]) => ({ name, holds: formatBalances(tokens, balances) }));
}

function strategyStates(
  { state, strategies, engine }: ControlPortOptions, view: TradingView,
): Omit<StrategyState, 'standing'>[] {
  const running = new Set(engine.running);
  const stopped = new Map(engine.stopped.map(({ name, code, reason, place = null, at }) =>
    [name, { code, reason, place, at }]));
  const trading = new Map(view.strategies.map((own) => [own.name, own]));
  return strategies.map(({ name, strategy }) => {
    const { swaps, balances } = state.portfolio.book(name);
    const own = { ...trading.get(name)!, running: running.has(name), stopped: stopped.get(name) ?? null };
    return {
      ...own, use: strategy.name, swaps, balances: amounts(balances),
      holds: formatBalances(state.tokens, balances), equity: equityState(state, name),
    };
  });
}

/** Returns how much of the signer's caps is used in the sliding hour and day. */
function capUses({ limits, spends, tokens }: EngineState, now: Millis): CapUse[] {
  return [...limits.caps ?? []].map(([mint, { perHour, perDay }]) => {
    const use = (span: CapSpan, limit: bigint | undefined): CapUse['hour'] =>
      ({ used: spends.used(mint, span, now).toString(), limit: limit?.toString() ?? null });
    const hour = use('hour', perHour);
    const day = use('day', perDay);
    const decimals = tokens.byMint(mint)?.decimals ?? 0;
    const text = ({ used, limit }: CapUse['hour'], span: string): string[] =>
      (limit === null ? []
        : [`${formatDecimal(BigInt(used), decimals)} of ${formatDecimal(BigInt(limit), decimals)} ${span}`]);
    const spans = [...text(hour, 'in the last hour'), ...text(day, 'in the last day')].join(', ');
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
    mint, value: record.value.toString(), day_change: change.toString(), peak: record.peak.toString(),
    is_known: record.isKnown,
    today: `${change < 0n ? '-' : change > 0n ? '+' : ''}${size}${record.isKnown ? '' : ' (prices missing)'}`,
  };
}
