import type { Observable } from 'rxjs';
import { Subscription } from 'rxjs';
import type { Clock, Millis } from '../core/time.ts';
import { Engine } from '../engine/engine.ts';
import type { StrategyInstance } from '../engine/host.ts';
import type { FeedSpec } from '../market/feed.ts';
import type { ServiceAccess } from '../service/access.ts';
import type { PollingFeed } from '../service/feeds/feeds.ts';
import type { Command } from '../trading/command.ts';
import type { Executor, OpenIntent } from '../trading/executor.ts';
import type { EngineState, StateSnapshot } from '../trading/state.ts';
import { snapshotState } from '../trading/state.ts';
import type { Effect, Input } from '../trading/step.ts';
import { intentJson } from './json-reporter.ts';
import type { Log } from './log.ts';
import { accessAlert } from './access-text.ts';
import { createLoop } from './loop.ts';
import { holdings } from './market-text.ts';
import type { Reporter, RunSummary, Stamp } from './reporter.ts';
import type { RunManifest, RunMoment } from './manifest.ts';
import type { RunFiles } from './run-files.ts';
import type { AccessState, FeedState, SessionState } from './session-state.ts';
import { feedStates } from './session-state.ts';
import { Tally } from './tally.ts';
import { wait } from '../execution/wait.ts';

/** Where every stamped input goes. */
export interface Recorder {
  append(seq: number, at: Millis, input: Input): void;
}

export interface SessionOptions {
  readonly runId: string;
  readonly mode: 'live' | 'paper';
  readonly clock: Clock;
  readonly state: EngineState;
  readonly strategies: readonly StrategyInstance[];
  readonly seed: number;
  readonly startAt: Millis;
  readonly open: readonly OpenIntent[];
  readonly executor: Executor;
  readonly createFeed: (specs: readonly FeedSpec[]) => PollingFeed;
  /** Whether the service lets this run in: each change. */
  readonly access$: Observable<ServiceAccess>;
  readonly recorder: Recorder | undefined;
  /** Keeps the state for the next start; called when it changed in a way that must outlive the process. */
  readonly saveSnapshot: (snapshot: StateSnapshot, settledIntentIds: readonly string[]) => void;
  readonly reporter: Reporter;
  readonly log: Log;
  readonly files: RunFiles;
  readonly manifest: RunManifest;
  readonly recording: string | undefined;
  /** Ends the run after this many finished intents. */
  readonly maxIntents: number | undefined;
}

const DRAIN_MAX_MS = 30_000;
const DRAIN_POLL_MS = 100;

/** One run of the pipeline in real time: from recovery through trading to the summary. */
export class Session {
  readonly #options: SessionOptions;
  readonly #engine: Engine;
  readonly #loop: ReturnType<typeof createLoop>;
  readonly #tally = new Tally();
  readonly #feed: PollingFeed;
  #access: AccessState = { state: 'granted', reason: null, since: null };
  #phase = 'starting';
  #events = 0;
  #finished = 0;
  readonly #accessSubscription = new Subscription();
  #feedSubscription: Subscription | undefined;
  #started: RunMoment | null = null;
  #stopped: RunMoment | null = null;
  #runningAtStop: ReadonlySet<string> = new Set();
  #limitReached: (() => void) | undefined;
  #failed: ((error: unknown) => void) | undefined;
  #failure: Error | undefined;
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
    this.#engine = new Engine({
      state: options.state,
      strategies: options.strategies,
      startAt: options.startAt,
      seed: options.seed,
      listener: {
        onInput: (seq, at, input) => { this.#onInput(seq, at, input); },
        onRuling: (ruling, logged) => {
          options.files.decision(logged);
          this.#tally.decisions += 1;
          if (ruling.denial !== undefined) {
            this.#tally.denied(ruling.denial.code);
            options.reporter.denied(logged, ruling.denial);
          } else {
            options.reporter.decided(logged, ruling.effect?.kind === 'execute' ? ruling.effect.intent : undefined);
          }
        },
        onEffect: (effect) => { this.#perform(effect); },
        onLog: (strategy, message) => { options.log('info', message, { strategy }); },
      },
    });
    this.#loop = createLoop(this.#engine, options.clock);
    this.#feed = options.createFeed(Engine.feedsOf(options.strategies));
  }

  get stamp(): Stamp {
    return { seq: this.#engine.seq, at: this.#engine.clock.now() };
  }

  /** Resolves every intent that an earlier process left open; no strategy runs before. */
  async recover(): Promise<void> {
    const { open, executor, reporter } = this.#options;
    this.#writeManifest();
    this.#heedAccess();
    if (open.length === 0) return;
    this.#phase = 'recovering';
    reporter.state(this.stamp, 'recovering', `${open.length} swaps were under way when the last run ended; no strategy runs until each is known`);
    for (const { intent, state } of open) this.#tally.opened(intent, state);
    await new Promise<void>((resolve, reject) => {
      executor.reconcile(open).subscribe({ next: (outcome) => { if (this.#phase !== 'ended') this.#loop.accept(outcome); }, error: reject, complete: resolve });
    });
  }

  /** Starts strategies and feeds. */
  start(): void {
    this.#phase = 'trading';
    const at = this.#loop.stamp();
    this.#engine.advanceTo(at);
    this.#started = { after_seq: this.#engine.seq, at };
    this.#writeManifest();
    this.#engine.start();
    this.#loop.start();
    this.#feedSubscription = this.#feed.events$.subscribe({
      next: (event) => { this.#loop.accept(event); },
      error: (error: unknown) => { this.#failed?.(error); },
    });
  }

  /** Stops deciding, at once and for good; idempotent. */
  halt(): void {
    this.#feedSubscription?.unsubscribe();
    this.#loop.stop();
    if (this.#stopped === null) this.#stopStrategies();
  }

  /** Ends it: what still comes in has nowhere to go, the journal has it. */
  close(): void {
    this.halt();
    this.#accessSubscription.unsubscribe();
    this.#phase = 'ended';
  }

  /** Stops strategies and feeds, waits for what is under way, and closes the books. Rejects where a bug shows on the way. */
  async drain(reason: string): Promise<RunSummary> {
    const { clock, reporter, files } = this.#options;
    this.#phase = 'draining';
    this.halt();
    const { open } = this.#tally;
    const waiting = open.length === 0 ? '' : `; waiting for ${open.map(({ intent }) => intent.id).join(', ')}`;
    reporter.state(this.stamp, 'draining', `${reason}${waiting}`);
    const giveUpAt = clock.now() + DRAIN_MAX_MS;
    while (this.#tally.open.length > 0 && clock.now() < giveUpAt && this.#failure === undefined) await wait(clock, DRAIN_POLL_MS);
    this.#phase = 'ended';
    this.#options.saveSnapshot(snapshotState(this.#options.state), []);
    const { seq, at } = this.stamp;
    this.#writeManifest({ after_seq: seq, at, decisions: this.#engine.decisions, decision_hash: this.#engine.decisionHash });
    files.close();
    const summary = this.#summary();
    reporter.summary(this.stamp, summary);
    if (this.#failure !== undefined) throw this.#failure;
    return summary;
  }

  /** Returns the present state for the control API. */
  state(): SessionState {
    const { runId, mode, state, strategies, clock } = this.#options;
    const running = new Set(this.#engine.running);
    return {
      run_id: runId,
      mode,
      phase: this.#phase,
      trading: state.trading,
      service_access: this.#access,
      at: clock.now(),
      seq: this.#engine.seq,
      decisions: this.#engine.decisions,
      decision_hash: this.#engine.decisionHash,
      strategies: strategies.map(({ name, strategy }) => ({
        name, use: strategy.name, running: running.has(name), swaps: state.portfolio.book(name).swaps,
        balances: Object.fromEntries(state.portfolio.book(name).balances),
      })),
      feeds: this.feedStates(),
      wallet: Object.fromEntries([...state.portfolio.wallet].map(([mint, amount]) => [mint, amount.toString()])),
      intents: { open: this.#tally.open.map(intentJson), recent: this.#tally.recent.slice(0, 20).map(intentJson), counts: this.#tally.byState },
      denials: this.#tally.denials,
    };
  }

  /** Returns the feeds with their counters and ages. */
  feedStates(): FeedState[] {
    return feedStates(this.#feed.stats(), this.#options.state.tokens);
  }

  /** From the first request on: recovery already speaks to the service. */
  #heedAccess(): void {
    this.#accessSubscription.add(this.#options.access$.subscribe({
      next: (access) => {
        if (this.#phase === 'ended' || access.state === this.#options.state.serviceAccess) return;
        const reason = access.state === 'refused' ? access.message : 'the service takes the API key again';
        this.#loop.accept({ kind: 'command', name: 'set-service-access', access: access.state, reason });
      },
      error: (error: unknown) => { this.#failed?.(error); },
    }));
  }

  #onInput(seq: number, at: Millis, input: Input): void {
    const { recorder, reporter, state, saveSnapshot, maxIntents } = this.#options;
    this.#events += 1;
    recorder?.append(seq, at, input);
    if (input.kind === 'outcome') {
      const record = this.#tally.moved(input);
      if (record === undefined) return;
      reporter.intent({ seq, at }, record);
      if (state.intents.has(input.intentId)) return;
      saveSnapshot(snapshotState(state), [input.intentId]);
      this.#finished += 1;
      if (maxIntents !== undefined && this.#finished >= maxIntents) this.#limitReached?.();
    } else if (input.kind === 'feed-health') {
      reporter.feed({ seq, at }, input);
    } else if (input.kind === 'command' && input.name === 'set-service-access') {
      this.#accessChanged({ seq, at }, input);
    }
  }

  #accessChanged(stamp: Stamp, { access, reason }: Extract<Command, { name: 'set-service-access' }>): void {
    this.#access = { state: access, reason, since: stamp.at };
    this.#tally.alerts += 1;
    this.#options.reporter.alert(stamp, undefined, accessAlert(access, reason));
  }

  #perform(effect: Effect): void {
    const { executor, reporter } = this.#options;
    if (effect.kind === 'alert') {
      this.#tally.alerts += 1;
      reporter.alert(this.stamp, effect.strategy, effect.alert);
      return;
    }
    this.#tally.opened(effect.intent);
    executor.execute(effect.intent).subscribe({
      next: (outcome) => { if (this.#phase !== 'ended') this.#loop.accept(outcome); },
      error: (error: unknown) => { this.#failed?.(error); },
    });
  }

  #stopStrategies(): void {
    const at = this.#loop.stamp();
    this.#engine.advanceTo(at);
    this.#stopped = { after_seq: this.#engine.seq, at };
    this.#runningAtStop = new Set(this.#engine.running);
    this.#engine.stop();
    // At once: a run that is killed while it drains must not replay as if its strategies had gone on.
    this.#writeManifest();
  }

  #writeManifest(ended: RunManifest['ended'] = null): void {
    const { files, manifest } = this.#options;
    files.manifest({ ...manifest, strategies_started: this.#started, strategies_stopped: this.#stopped, ended });
  }

  #summary(): RunSummary {
    const { runId, files, state, strategies, startAt, recording } = this.#options;
    return {
      runId,
      runDir: files.dir,
      durationMs: this.stamp.at - startAt,
      events: this.#events,
      decisions: this.#engine.decisions,
      decisionHash: this.#engine.decisionHash,
      denials: this.#tally.denials,
      intents: this.#tally.byState,
      open: this.#tally.open.map(({ intent }) => intent.id),
      alerts: this.#tally.alerts,
      feesLamports: this.#tally.feesLamports,
      rentLamports: this.#tally.rentLamports,
      strategies: strategies.map(({ name }) => {
        const book = state.portfolio.book(name);
        return { name, swaps: book.swaps, holds: holdings(state.tokens, book.balances), running: this.#runningAtStop.has(name) };
      }),
      recording,
    };
  }
}
