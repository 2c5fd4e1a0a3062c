import { interval, Subscription } from 'rxjs';
import { counted } from '../core/counted.ts';
import type { Millis } from '../core/time.ts';
import { formatDuration } from '../core/time.ts';
import { Engine } from '../engine/engine.ts';
import type { RetryDenial } from '../execution/journey.ts';
import { wait } from '../execution/wait.ts';
import type { PollingFeed } from '../service/feeds/feeds.ts';
import type { Intent } from '../trading/intent.ts';
import { retryDenial } from '../trading/retry.ts';
import { showMint } from '../trading/risk/amount-text.ts';
import { snapshotState } from '../trading/state.ts';
import type { Effect } from '../trading/step.ts';
import { Chronicle } from './chronicle.ts';
import { setBackAlert } from './clock-watch.ts';
import type { Desk } from './desk.ts';
import { heedMachine } from './heed-machine.ts';
import { createStateKeeper, keepStates } from './keep-states.ts';
import { createLoop } from './loop.ts';
import type { RunManifest, RunMoment } from './manifest.ts';
import type { OutsideWords } from './outside-words.ts';
import { heedOutside } from './outside-words.ts';
import type { RunSummary, Stamp } from './reporter.ts';
import { EquitySampler } from './run-equity.ts';
import { summaryOf } from './run-summary.ts';
import { safeModeAlert, safeModeCommand, safeModeText } from './safe-mode.ts';
import { createDesk } from './session-desk.ts';
import type { SessionOptions } from './session-options.ts';
import { feedStates } from './session-state.ts';
import { tradingLeft } from './trading-text.ts';
import type { KeptLedger } from './wallet-keeper.ts';
import type { WarmupRecord } from './warm-up.ts';

const DRAIN_MAX_MS = 30_000;
const DRAIN_POLL_MS = 100;
const KEEP_STATES_MS = 60_000;
/** So long strategies wait for what the last run left open. What is not known by then keeps its input locked. */
const RECOVERY_MAX_MS = 30_000;
const EQUITY_SAMPLE_MS = 10_000;

/** One run of the pipeline in real time: from recovery through trading to the summary. */
export class Session {
  readonly #options: SessionOptions;
  readonly #engine: Engine;
  readonly #loop: ReturnType<typeof createLoop>;
  readonly #chronicle: Chronicle;
  readonly #feed: PollingFeed;
  readonly #equity: EquitySampler;
  readonly #subscriptions = new Subscription();
  #phase = 'starting';
  #finished = 0;
  #outside: OutsideWords | undefined;
  #feedSubscription: Subscription | undefined;
  #started: RunMoment | null = null;
  #warmup: WarmupRecord | null = null;
  /** Why the ledger could not be held against the chain yet. */
  #walletWait: string | undefined;
  #stopped: RunMoment | null = null;
  #runningAtStop: ReadonlySet<string> = new Set();
  #limitReached: (() => void) | undefined;
  #failed: ((error: unknown) => void) | undefined;
  #failure: Error | undefined;
  /** Where it is looked at and told what to do. */
  readonly desk: Desk;
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
    const { state, strategies, clock, log, journal, legacy } = options;
    const chronicle = new Chronicle({
      ...options,
      saveSnapshot: (snapshot, settled) => {
        keepStates(this.#engine, (states) => { journal.saveSnapshot(snapshot, settled, states); });
      },
      keepAdjustment: (adjustment, snapshot) => { journal.walletAdjusted(adjustment, snapshot); },
      onFinished: () => { this.#finishedOne(); },
    });
    this.#chronicle = chronicle;
    this.#engine = new Engine({
      state, strategies,
      startAt: options.startAt,
      seed: options.seed,
      legacy,
      intervals: Engine.intervalsOf(strategies),
      listener: {
        onInput: (seq, at, input) => { chronicle.input(seq, at, input); },
        onRuling: (ruling, logged) => { chronicle.ruling(ruling, logged); },
        onProtection: (seq, at, change) => { chronicle.protection({ seq, at }, change); },
        onExits: (seq, at) => { chronicle.exits({ seq, at }); },
        onEffect: (effect) => { this.#perform(effect); },
        onLog: (strategy, message) => { log('info', message, { strategy }); },
      },
    });
    this.#loop = createLoop(this.#engine, clock);
    this.#feed = options.createFeed(Engine.feedsOf(strategies));
    this.#equity = new EquitySampler(state);
    this.desk = createDesk({
      ...options, chronicle, equity: this.#equity, engine: this.#engine, loop: this.#loop,
      phase: () => this.#phase,
      recovering: () => (this.#phase === 'recovering' ? this.#waitsFor() : []),
      feeds: () => feedStates(this.#feed.stats(), state.tokens),
    });
  }

  get stamp(): Stamp {
    return { seq: this.#engine.seq, at: this.#engine.clock.now() };
  }

  /** Resolves every intent that an earlier process left open, then holds the ledger against the chain; no strategy runs before. */
  async recover(): Promise<void> {
    const { open, executor, reporter, state, crashes, walletKeeper, clock } = this.#options;
    this.#phase = 'recovering';
    this.#writeManifest();
    // From the first request on: recovery already speaks to the service.
    this.#heedOutside();
    const setBack = setBackAlert(this.#engine.clockSetBackMs);
    if (setBack !== undefined) this.#chronicle.alert(this.stamp, undefined, setBack);
    for (const { state: left, message } of tradingLeft(state)) reporter.state(this.stamp, left, message);
    if (crashes !== undefined) this.#enterSafeMode(crashes);
    if (open.length > 0) {
      const most = formatDuration(RECOVERY_MAX_MS);
      reporter.state(this.stamp, 'recovering', `${counted(open.length, 'swap was', 'swaps were')} under way when the last run ended; no strategy runs until each is known, or for ${most}`);
      for (const { intent, state: reached } of open) this.#chronicle.tally.opened(intent, reached);
      const known = new AbortController();
      await new Promise<void>((resolve, reject) => {
        this.#subscriptions.add(executor.reconcile(open).subscribe({
          next: (outcome) => { if (this.#phase !== 'ended') this.#loop.accept(outcome); },
          // Once strategies run, a bug in what is still followed ends the run as any other does.
          error: (error: unknown) => {
            reject(error);
            this.#failed?.(error);
          },
          complete: () => { known.abort(); },
        }));
        void wait(clock, RECOVERY_MAX_MS, known.signal).then(resolve);
      });
      this.#tellUnproven();
    }
    await walletKeeper?.settle(this.#ledger, (why) => {
      if (this.#walletWait === undefined) reporter.state(this.stamp, 'recovering', `the ledger is held against the chain before any strategy runs, and does not agree with it yet: ${why}`);
      this.#walletWait = why;
    });
    this.#walletWait = undefined;
  }

  /** Starts strategies and feeds. */
  start(): void {
    this.#outside?.lookAtStopFile();
    this.#phase = 'trading';
    const at = this.#loop.stamp();
    this.#engine.advanceTo(at);
    this.#started = { after_seq: this.#engine.seq, at };
    this.#warmUp(at);
    this.#engine.start();
    const keep = createStateKeeper({ ...this.#options, engine: this.#engine, alert: (alert) => { this.#chronicle.alert(this.stamp, undefined, alert); } });
    keep();
    this.#subscriptions.add(interval(KEEP_STATES_MS, this.#options.clock).subscribe(keep));
    this.#equity.sample(at);
    this.#subscriptions.add(interval(EQUITY_SAMPLE_MS, this.#options.clock).subscribe(() => { this.#equity.sample(this.#options.clock.now()); }));
    const { walletKeeper } = this.#options;
    if (walletKeeper !== undefined) this.#subscriptions.add(walletKeeper.watch(this.#ledger, (error) => { this.#failed?.(error); }));
    this.#loop.start();
    this.#feedSubscription = this.#feed.events$.subscribe({
      next: (event) => { this.#loop.accept(event); },
      error: (error: unknown) => { this.#failed?.(error); },
    });
  }

  /** Returns why an intent whose attempt came to nothing may not be tried again now, undefined where it may. */
  retryDenial(intent: Intent): RetryDenial | undefined {
    if (this.#phase !== 'trading') return { code: 'RUN_ENDING', reason: 'this run decides nothing any more' };
    return retryDenial(this.#options.state, intent, this.#options.clock.now());
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
    this.#subscriptions.unsubscribe();
    this.#phase = 'ended';
  }

  /** Stops strategies and feeds, waits for what is under way, and closes the books. Rejects where a bug shows on the way. */
  async drain(reason: string): Promise<RunSummary> {
    const { clock, reporter, files } = this.#options;
    // What a node did not say until now, it need not say any more: the next start asks again.
    const patienceMs = this.#phase === 'recovering' ? 0 : DRAIN_MAX_MS;
    this.#phase = 'draining';
    this.halt();
    const { tally } = this.#chronicle;
    const { open } = tally;
    const waiting = open.length === 0 ? '' : `; waiting for ${open.map(({ intent }) => intent.id).join(', ')}`;
    reporter.state(this.stamp, 'draining', `${reason}${waiting}`);
    const giveUpAt = clock.now() + patienceMs;
    // What an earlier run left open and is not known by now, the next start asks for again.
    const isAwaited = ({ intent }: { readonly intent: Intent }): boolean => !this.#options.open.some(({ intent: { id } }) => id === intent.id);
    while (tally.open.some(isAwaited) && clock.now() < giveUpAt && this.#failure === undefined) await wait(clock, DRAIN_POLL_MS);
    this.#phase = 'ended';
    keepStates(this.#engine, (states) => { this.#options.journal.saveSnapshot(snapshotState(this.#options.state), [], states); });
    const { seq, at } = this.stamp;
    this.#writeManifest({ after_seq: seq, at, decisions: this.#engine.decisions, decision_hash: this.#engine.decisionHash });
    files.close();
    const summary = summaryOf({ ...this.#options, engine: this.#engine, chronicle: this.#chronicle, running: this.#runningAtStop });
    reporter.summary(this.stamp, summary);
    if (this.#failure !== undefined) throw this.#failure;
    return summary;
  }

  #heedOutside(): void {
    const { state, reporter } = this.#options;
    this.#outside = heedOutside({
      ...this.#options,
      accept: (command) => { this.#loop.accept(command); },
      hasEnded: () => this.#phase === 'ended',
      onStopFileGone: () => { reporter.state(this.stamp, state.trading, 'the file STOP is gone; trading stays as it is until "gannet resume"'); },
      onError: (error) => { this.#failed?.(error); },
    });
    this.#subscriptions.add(this.#outside.subscription);
    this.#subscriptions.add(heedMachine(this.#options, {
      accept: (command) => { if (this.#phase !== 'ended') this.#loop.accept(command); },
      alert: (alert) => { this.#chronicle.alert(this.stamp, undefined, alert); },
      onError: (error) => { this.#failed?.(error); },
    }));
  }

  /** Tells of what the last run left open and nobody could prove in time: its input stays locked, everything else trades. */
  #tellUnproven(): void {
    const { open } = this.#chronicle.tally;
    if (open.length === 0) return;
    const inputs = [...new Set(open.map(({ intent: { inputMint } }) => showMint(this.#options.state, inputMint)))];
    this.#chronicle.alert(this.stamp, undefined, {
      kind: 'alert', level: 'warning',
      message: `${open.map(({ intent: { id } }) => id).join(', ')} of the last run could not be proven within ${formatDuration(RECOVERY_MAX_MS)}: trading starts, `
        + `and nothing spends ${inputs.join(', ')} until it is known; "gannet journal list" shows them`,
      data: { intent_ids: open.map(({ intent: { id } }) => id).join(' ') },
    });
  }

  #enterSafeMode(crashes: number): void {
    const { reporter, state } = this.#options;
    if (state.trading !== 'halted') this.#loop.accept(safeModeCommand(crashes));
    reporter.state(this.stamp, 'safe-mode', safeModeText(crashes));
    this.#chronicle.alert(this.stamp, undefined, safeModeAlert(crashes));
  }

  get #ledger(): KeptLedger {
    return {
      state: this.#options.state,
      version: () => this.#chronicle.bookings,
      accept: (command) => { this.#loop.accept(command); },
      hasEnded: () => this.#phase === 'ended' || this.#phase === 'draining',
    };
  }

  #waitsFor(): string[] {
    return [
      ...this.#chronicle.tally.open.map(({ intent: { id }, state }) => `what became of ${id} (${state})`),
      ...(this.#walletWait === undefined ? [] : [`the ledger to agree with the chain: ${this.#walletWait}`]),
    ];
  }

  #finishedOne(): void {
    const { maxIntents } = this.#options;
    this.#finished += 1;
    if (maxIntents !== undefined && this.#finished >= maxIntents) this.#limitReached?.();
  }

  #perform(effect: Effect): void {
    const { executor } = this.#options;
    if (effect.kind === 'alert') {
      this.#chronicle.alert(this.stamp, effect.strategy, effect.alert);
      return;
    }
    this.#chronicle.tally.opened(effect.intent);
    const { intent, strategyState } = effect;
    // Closed with the run: who follows a swap beyond it would write into a journal that is closed.
    this.#subscriptions.add(executor.execute(intent, strategyState).subscribe({
      next: (outcome) => {
        // What was to be written down with the swap is not: it is handed out again.
        if (outcome.code === 'JOURNAL_FAILED' && strategyState !== undefined) this.#engine.returnStrategyStates([strategyState]);
        if (this.#phase !== 'ended') this.#loop.accept(outcome);
      },
      error: (error: unknown) => {
        if (strategyState !== undefined) this.#engine.returnStrategyStates([strategyState]);
        this.#failed?.(error);
      },
    }));
  }

  /** Shows strategies what they want to see again of what was recorded, and tells what of it is missing. */
  #warmUp(until: Millis): void {
    const warmup = this.#options.prepareWarmup(until);
    this.#warmup = warmup?.record ?? null;
    this.#writeManifest();
    if (warmup === undefined) return;
    this.#engine.warmUp(warmup.rows);
    this.#options.log('info', warmup.shown());
    for (const { strategy, message } of warmup.missing()) this.#chronicle.alert(this.stamp, strategy, { kind: 'alert', level: 'warning', message });
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
    files.manifest({ ...manifest, warmup: this.#warmup, strategies_started: this.#started, strategies_stopped: this.#stopped, ended });
  }
}
