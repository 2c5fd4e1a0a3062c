import { interval, Subscription, timer } from 'rxjs';
import type { Millis } from '../../core/time.ts';
import { mintsOf } from '../../market/feeds/registry.ts';
import { Engine } from '../../engine/engine.ts';
import type { StoppedStrategy } from '../../engine/host/host-port.ts';
import type { RetryDenial } from '../../execution/ports.ts';
import { wait } from '../../execution/monotonic-time.ts';
import type { PollingFeed } from '../../service/feeds/feeds.ts';
import type { Intent } from '../../trading/intent.ts';
import { retryDenial } from '../../trading/risk/rules.ts';
import { snapshotState } from '../../trading/engine-state.ts';
import type { ControlPort } from '../control/control-port.ts';
import { createControlPort } from '../control/control-port.ts';
import { isResume } from '../control/operator-commands.ts';
import { EquitySampler } from '../control/run-equity.ts';
import { WatchedFeeds } from '../manual/watched-feeds.ts';
import { Reloader } from '../reload/reloader.ts';
import type { ReloadedStrategy } from '../reload/reload-text.ts';
import { reloadText } from '../reload/reload-text.ts';
import type { Warmup } from './recorded-warm-up.ts';
import type { RunManifest, RunMoment, WarmupRecord } from '../files/run-manifest.ts';
import { stoppedAlert } from '../reporting/alert-text.ts';
import type { RunSummary } from '../reporting/counters.ts';
import { summaryOf } from '../reporting/counters.ts';
import type { Stamp } from '../reporting/reporter.ts';
import { restoredRestrictions } from '../reporting/trading-text.ts';
import type { ExternalCommands } from '../watch/automatic-commands.ts';
import { watchExternalCommands, watchMachine } from '../watch/automatic-commands.ts';
import { setBackAlert } from '../watch/system-clock.ts';
import type { KeptLedger } from '../watch/ledger-reconciliation.ts';
import { createEngineLoop } from './engine-loop.ts';
import { HistoryRecorder } from './history-recorder.ts';
import type { SessionOptions } from './run-options.ts';
import { carryOut, followOpen } from './open-swaps.ts';
import { RunRecorder } from './run-recorder.ts';
import { safeModeAlert, safeModeCommand, safeModeText } from './safe-mode.ts';
import { createStateKeeper, saveStrategyStates } from './state-saving.ts';

const DRAIN_MAX_MS = 30_000;
const DRAIN_POLL_MS = 100;
const KEEP_STATES_MS = 60_000;
const EQUITY_SAMPLE_MS = 10_000;
// The first decisions do not wait for the history.
const HISTORY_FIRST_MS = 1_000;
const HISTORY_SAMPLE_MS = 60_000;

/** One run of the pipeline in real time: from recovery through trading to the summary. */
export class Session {
  readonly #options: SessionOptions;
  readonly #engine: Engine;
  readonly #loop: ReturnType<typeof createEngineLoop>;
  readonly #runRecorder: RunRecorder;
  readonly #feed: PollingFeed;
  readonly #equity: EquitySampler;
  readonly #subscriptions = new Subscription();
  readonly #watches: WatchedFeeds;
  #phase = 'starting';
  #finished = 0;
  #externalCommands: ExternalCommands | undefined;
  #feedSubscription: Subscription | undefined;
  #started: RunMoment | null = null;
  #warmup: WarmupRecord | null = null;
  /** Why ledger and chain do not agree yet. */
  #walletWait: string | undefined;
  #stopped: RunMoment | null = null;
  #runningAtStop: ReadonlySet<string> = new Set();
  #limitReached: (() => void) | undefined;
  #failed: ((error: unknown) => void) | undefined;
  #failure: Error | undefined;
  readonly #detach: (() => void) | undefined;
  /** Undefined where nothing is reloaded. */
  readonly reloader: Reloader | undefined;
  #keepStates: (() => void) | undefined;
  #historyRecorder: HistoryRecorder | undefined;
  readonly controlPort: ControlPort;
  /** Ends the run on a bug. */
  readonly fail = (error: unknown): void => { this.#failed?.(error); };
  /** Resolves when `maxIntents` is reached; rejects on a bug, which ends the process. */
  readonly ended: Promise<void>;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.ended = new Promise((resolve, reject) => {
      this.#limitReached = resolve;
      this.#failed = (error) => {
        this.#failure ??= error instanceof Error ? error : new Error(String(error));
        reject(this.#failure);
      };
    });
    const { state, strategies, clock, log, journal, restored } = options;
    const runRecorder = new RunRecorder({
      ...options,
      saveSnapshot: (snapshot, settled) => {
        saveStrategyStates(this.#engine, (states) => { journal.saveSnapshot(snapshot, settled, states); });
      },
      saveAdjustment: (adjustment, snapshot) => { journal.walletAdjusted(adjustment, snapshot); },
      saveFillValues: (intentId, values) => { journal.fillValued(intentId, values); },
      onFinished: () => { this.#finishedOne(); },
    });
    this.#runRecorder = runRecorder;
    this.#engine = new Engine({
      state, strategies,
      startAt: options.startAt,
      seed: options.seed,
      restored,
      versionOf: (order) => this.reloader!.versionOf(order),
      intervals: Engine.intervalsOf(strategies),
      listener: {
        onInput: (seq, at, input) => {
          runRecorder.input(seq, at, input);
          if (isResume(input)) options.hosts?.release(input.strategy);
          if (input.kind === 'outcome') this.#watches.review();
        },
        onRuling: (ruling, logged) => {
          runRecorder.ruling(ruling, logged);
          this.controlPort.manual.ruled(logged, ruling);
        },
        onProtection: (seq, at, change) => { runRecorder.protection({ seq, at }, change); },
        onExits: (seq, at) => { runRecorder.exits({ seq, at }); },
        onEffect: (effect) => { carryOut(effect, this.#swaps); },
        onWatched: (specs) => {
          this.#watches.watch(specs);
          options.onWatched?.(specs.flatMap(mintsOf));
        },
        onInputs: (specs) => {
          this.#feed.replace(specs);
          options.onInputs?.(specs.flatMap(mintsOf));
        },
        onLog: (strategy, message) => { log('info', message, { strategy }); },
        onCompleted: (strategy) => {
          log('info', `${strategy} has ended: its stream is complete, so it proposes nothing more`, { strategy });
        },
        onStopped: (stopped) => { this.#stopOf(stopped); },
      },
    });
    this.#loop = createEngineLoop(this.#engine, clock);
    this.#feed = options.createFeed(Engine.feedsOf(strategies));
    this.#watches = new WatchedFeeds(state, this.#feed);
    this.#equity = new EquitySampler(state);
    this.#detach = options.hosts?.attach({
      log,
      stopOrder: (strategy, ending) => this.#engine.stopOrder(strategy, ending),
      accept: (command) => { if (this.#phase !== 'ended') this.#loop.accept(command); },
      alert: (alert) => { runRecorder.alert(this.stamp, undefined, alert); },
    });
    const { hosts, reloading } = options;
    this.reloader = hosts === undefined || reloading === undefined ? undefined : new Reloader({
      ...options, ...reloading, hosts, engine: this.#engine, loop: this.#loop, phase: () => this.#phase,
      onReloaded: (reloaded, warmup) => { this.#reloaded(reloaded, warmup); },
    });
    this.controlPort = createControlPort({
      ...options, reloader: this.reloader, runRecorder, equity: this.#equity, engine: this.#engine, loop: this.#loop,
      phase: () => this.#phase,
      recovering: () => (this.#phase === 'recovering' ? this.#waitsFor() : []),
      feeds: () => this.#feed.stats(),
    });
  }

  get stamp(): Stamp {
    return { seq: this.#engine.seq, at: this.#engine.clock.now() };
  }

  /** Resolves the open intents of the last run, then compares the ledger with the chain. No strategy runs before. */
  async recover(): Promise<void> {
    const { open, reporter, state, crashes, walletKeeper } = this.#options;
    this.#phase = 'recovering';
    const { files, reloading } = this.#options;
    for (const copy of Object.values(reloading?.copies ?? {})) files.code(copy);
    this.#writeManifest();
    // Recovery already sends requests to the service.
    this.#watch();
    const setBack = setBackAlert(this.#engine.clockSetBackMs);
    if (setBack !== undefined) this.#runRecorder.alert(this.stamp, undefined, setBack);
    for (const { state: left, message } of restoredRestrictions(state)) reporter.state(this.stamp, left, message);
    if (crashes !== undefined) this.#enterSafeMode(crashes);
    if (open.length > 0) await followOpen(this.#swaps);
    await walletKeeper?.settle(this.#ledger, (why) => {
      if (this.#walletWait === undefined) {
        reporter.state(this.stamp, 'recovering',
          `no strategy runs before the ledger agrees with the chain, and it does not agree yet: ${why}`);
      }
      this.#walletWait = why;
    });
    this.#walletWait = undefined;
  }

  /** Starts strategies and feeds. */
  start(): void {
    this.#externalCommands?.checkStopFile();
    this.#phase = 'trading';
    const at = this.#loop.stamp();
    this.#engine.advanceTo(at);
    this.#started = { after_seq: this.#engine.seq, at };
    this.#warmUp(at);
    this.#engine.start();
    this.#watches.review();
    const keep = createStateKeeper({
      ...this.#options, engine: this.#engine,
      alert: (alert) => { this.#runRecorder.alert(this.stamp, undefined, alert); },
    });
    keep();
    this.#keepStates = keep;
    this.#subscriptions.add(interval(KEEP_STATES_MS, this.#options.clock).subscribe(keep));
    this.#equity.sample(at);
    this.#subscriptions.add(interval(EQUITY_SAMPLE_MS, this.#options.clock)
      .subscribe(() => { this.#equity.sample(this.#options.clock.now()); }));
    const { walletKeeper, clock } = this.#options;
    this.#subscriptions.add(timer(HISTORY_FIRST_MS, HISTORY_SAMPLE_MS, clock)
      .subscribe(() => { this.#sampleHistory(); }));
    if (walletKeeper !== undefined) {
      this.#subscriptions.add(walletKeeper.watch(this.#ledger, (error) => { this.#failed?.(error); }));
    }
    this.#loop.start();
    this.#feedSubscription = this.#feed.events$.subscribe({
      next: (event) => { this.#loop.accept(event); },
      error: (error: unknown) => { this.#failed?.(error); },
    });
  }

  /** Samples equity and prices for people and for commands without a daemon. The first sample opens the file. */
  #sampleHistory(): void {
    const { history, clock } = this.#options;
    if (history === undefined) return;
    const at = clock.now();
    this.#historyRecorder ??= new HistoryRecorder({ ...this.#options, history, at });
    this.#historyRecorder.sample(at);
  }

  /** Returns why an intent may not be tried again after a failed attempt; undefined where it may. */
  retryDenial(intent: Intent): RetryDenial | undefined {
    if (this.#phase !== 'trading') return { code: 'RUN_ENDING', reason: 'this run no longer decides' };
    return retryDenial(this.#options.state, intent, this.#options.clock.now());
  }

  /** Stops deciding, at once and for good; idempotent. */
  halt(): void {
    this.#detach?.();
    this.#feedSubscription?.unsubscribe();
    this.#loop.stop();
    if (this.#stopped === null) this.#stopStrategies();
  }

  /** Ends the session. Later outcomes are ignored here; the journal has them. */
  close(): void {
    this.halt();
    this.#subscriptions.unsubscribe();
    this.#phase = 'ended';
  }

  /** Stops strategies and feeds, waits for open swaps, and closes the run's files. Rejects on a bug. */
  async drain(reason: string, withinMs: Millis = DRAIN_MAX_MS): Promise<RunSummary> {
    const { clock, reporter, files, journal, state } = this.#options;
    // A recovery is not awaited any longer, because the next start repeats it.
    const timeoutMs = this.#phase === 'recovering' ? 0 : withinMs;
    this.#phase = 'draining';
    this.halt();
    const { counters } = this.#runRecorder;
    const { open } = counters;
    const waiting = open.length === 0 ? '' : `; waiting for ${open.map(({ intent }) => intent.id).join(', ')}`;
    reporter.state(this.stamp, 'draining', `${reason}${waiting}`);
    const giveUpAt = clock.now() + timeoutMs;
    // The next start asks again for unknown swaps of earlier runs.
    const isAwaited = ({ intent }: { readonly intent: Intent }): boolean =>
      !this.#options.open.some(({ intent: { id } }) => id === intent.id);
    while (counters.open.some(isAwaited) && clock.now() < giveUpAt && this.#failure === undefined) {
      await wait(clock, DRAIN_POLL_MS);
    }
    this.#phase = 'ended';
    if (this.#started !== null) this.#sampleHistory();
    saveStrategyStates(this.#engine, (states) => { journal.saveSnapshot(snapshotState(state), [], states); });
    const { seq, at } = this.stamp;
    this.#writeManifest({
      after_seq: seq, at, decisions: this.#engine.decisions, decision_hash: this.#engine.decisionHash,
    });
    files.close();
    const summary = summaryOf({
      ...this.#options, engine: this.#engine, counters, events: this.#runRecorder.events,
      running: this.#runningAtStop,
    });
    reporter.summary(this.stamp, summary);
    if (this.#failure !== undefined) throw this.#failure;
    return summary;
  }

  #watch(): void {
    const { state, reporter } = this.#options;
    this.#externalCommands = watchExternalCommands({
      ...this.#options,
      accept: (command) => { this.#loop.accept(command); },
      hasEnded: () => this.#phase === 'ended',
      onStopFileGone: () => {
        const message = 'the file STOP is gone; trading stays as it is until "gannet resume"';
        reporter.state(this.stamp, state.trading, message);
      },
      onError: (error) => { this.#failed?.(error); },
    });
    this.#subscriptions.add(this.#externalCommands.subscription);
    this.#subscriptions.add(watchMachine(this.#options, {
      accept: (command) => { if (this.#phase !== 'ended') this.#loop.accept(command); },
      alert: (alert) => { this.#runRecorder.alert(this.stamp, undefined, alert); },
      onError: (error) => { this.#failed?.(error); },
    }));
  }

  #enterSafeMode(crashes: number): void {
    const { reporter, state } = this.#options;
    if (state.trading !== 'halted') this.#loop.accept(safeModeCommand(crashes));
    reporter.state(this.stamp, 'safe-mode', safeModeText(crashes));
    this.#runRecorder.alert(this.stamp, undefined, safeModeAlert(crashes));
  }

  /** What follows swaps, and where their outcomes lead. */
  get #swaps(): Parameters<typeof followOpen>[0] {
    return {
      ...this.#options, engine: this.#engine, runRecorder: this.#runRecorder, stamp: () => this.stamp,
      onOutcome: (outcome) => { if (this.#phase !== 'ended') this.#loop.accept(outcome); },
      onError: (error) => { this.#failed?.(error); },
      subscriptions: this.#subscriptions,
    };
  }

  get #ledger(): KeptLedger {
    return {
      state: this.#options.state,
      version: () => this.#runRecorder.bookings,
      accept: (command) => { this.#loop.accept(command); },
      hasEnded: () => this.#phase === 'ended' || this.#phase === 'draining',
    };
  }

  #waitsFor(): string[] {
    return [
      ...this.#runRecorder.counters.open.map(({ intent: { id }, state }) => `the outcome of ${id} (${state})`),
      ...(this.#walletWait === undefined ? [] : [`the ledger to agree with the chain: ${this.#walletWait}`]),
    ];
  }

  #finishedOne(): void {
    const { maxIntents } = this.#options;
    this.#finished += 1;
    if (maxIntents !== undefined && this.#finished >= maxIntents) this.#limitReached?.();
  }

  /** Alerts on a stopped strategy, and sells its positions where the configuration says so. */
  #stopOf(stopped: StoppedStrategy): void {
    const { state, strategies, log } = this.#options;
    const { name, code } = stopped;
    const policy = strategies.find((strategy) => strategy.name === name)?.onStop ?? 'hold';
    log('error', 'a strategy was stopped', { ...stopped });
    this.#runRecorder.alert(this.stamp, undefined, stoppedAlert(state, stopped, policy));
    if (policy === 'hold' || code === 'STRATEGY_NEIGHBOUR') return;
    this.#loop.accept({
      kind: 'command', name: 'flatten', strategy: name, by: 'config',
      reason: `it was stopped (${code}; on_strategy_stop: exit)`,
    });
  }

  /** Warms strategies up with recorded events, and alerts on missing ones. */
  #warmUp(until: Millis): void {
    const warmup = this.#options.prepareWarmup(until);
    this.#warmup = warmup?.record ?? null;
    this.#writeManifest();
    if (warmup === undefined) return;
    this.#engine.warmUp(warmup.rows);
    this.#reportWarmup(warmup);
  }

  #reportWarmup(warmup: Warmup): void {
    this.#options.log('info', warmup.shown());
    for (const { strategy, message } of warmup.missing()) {
      this.#runRecorder.alert(this.stamp, strategy, { kind: 'alert', level: 'warning', message });
    }
  }

  /** A crash right after a reload must not lose what the new version has made of its state. */
  #reloaded(reloaded: ReloadedStrategy, warmup: Warmup | undefined): void {
    const { log, reporter } = this.#options;
    this.#keepStates?.();
    log('info', 'a strategy was reloaded', { ...reloaded });
    reporter.state(this.stamp, 'notice', reloadText(reloaded));
    if (warmup !== undefined) this.#reportWarmup(warmup);
  }

  #stopStrategies(): void {
    const at = this.#loop.stamp();
    this.#engine.advanceTo(at);
    this.#stopped = { after_seq: this.#engine.seq, at };
    this.#runningAtStop = new Set(this.#engine.running);
    this.#engine.stop();
    // Written at once, so that a run killed while it drains does not replay with strategies that go on.
    this.#writeManifest();
  }

  #writeManifest(ended: RunManifest['ended'] = null): void {
    const { files, manifest } = this.#options;
    files.manifest({
      ...manifest, warmup: this.#warmup, strategies_started: this.#started, strategies_stopped: this.#stopped, ended,
    });
  }
}
