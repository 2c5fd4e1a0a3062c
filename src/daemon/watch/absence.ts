import { performance } from 'node:perf_hooks';
import { Subscription } from 'rxjs';
import type { AlertsConfig } from '../../config/operations/alerts-config.ts';
import { pluralize } from '../../core/text.ts';
import type { Clock, Millis } from '../../core/time.ts';
import { roughDuration } from '../../core/time.ts';
import { originOfKey } from '../../market/feed.ts';
import type { AlertLevel } from '../../trading/proposal.ts';
import type { ControlPort } from '../control/control-port.ts';
import type { FeedState, SessionState } from '../control/session-state.ts';
import type { Log } from '../reporting/log.ts';
import type { Reporter } from '../reporting/reporter.ts';
import { IDLE_REPORTER } from '../reporting/reporter.ts';
import { guardedInterval } from './guarded-interval.ts';

/** What the watch reads of a run, and where its alerts go. */
type WatchedRun = Pick<ControlPort, 'state' | 'feeds' | 'alert'>;

interface AbsenceOptions {
  readonly alerts: AlertsConfig;
  readonly clock: Clock;
  readonly log: Log;
  /** How often each feed is really polled, where the plan is too small for its interval. */
  readonly expectedMs?: ReadonlyMap<string, Millis> | undefined;
  /** A counter of milliseconds that stands still while the machine sleeps. */
  readonly running?: (() => Millis) | undefined;
}

const TICK_MS: Millis = 1_000;
const CHECK_MS: Millis = 10_000;
/** Interruptions of the process are over when there was none for this long. */
const UNINTERRUPTED_MS: Millis = 600_000;
/** Fewer approved swaps may fail by chance, however long ago. */
const APPROVED_MIN = 3;
const FEEDS_NAMED = 3;
/** Without NO_TICK, a heartbeat counts feeds as silent after this long. */
const SILENT_MS: Millis = 300_000;

/** Something that is absent: since when, what that means, and what to do. */
interface Absence {
  readonly since: Millis;
  readonly message: string;
}

/** Interruptions of the process that follow each other. */
interface Interruptions {
  count: number;
  longestMs: Millis;
  lastAt: Millis;
}

const INTERRUPTIONS = {
  LOOP_BLOCKED: {
    what: 'this process did not run', cause: 'its event loop was blocked, or the machine gave it no time. Nothing was '
      + 'decided meanwhile. Check the load and the memory of the machine, and what else runs on it',
  },
  MACHINE_SLEPT: {
    what: 'this machine did not run', cause: 'it slept, or its clock was set ahead. Nothing was decided meanwhile. '
      + 'Turn off standby and suspend, and let the clock follow NTP',
  },
} as const;

/**
 * Raises an alert when something that must happen in a run does not: once when it begins to be absent, and once when it
 * is over. It reads the run and is no input of it.
 */
export class AbsenceWatch {
  readonly #options: AbsenceOptions;
  readonly #running: () => Millis;
  readonly #active = new Map<string, Millis>();
  readonly #interrupted = new Map<keyof typeof INTERRUPTIONS, Interruptions>();
  readonly #silentFeeds = new Map<string, Millis>();
  /** When a feed was first listed: one that has never answered is silent since then. */
  #listed = new Map<string, Millis>();
  #run: WatchedRun | undefined;
  readonly #timers = new Subscription();
  #tickAt: { readonly now: Millis; readonly running: Millis } = { now: 0, running: 0 };
  #attachedAt: Millis = 0;
  /** Nothing counts as absent before: the run traded not yet, the machine slept, or all feeds were silent. */
  #countsFrom: Millis = 0;
  #isTrading = false;
  #decidedAt: Millis = 0;
  /** Since when a strategy may trade; undefined while none may. */
  #mayTradeSince: Millis | undefined;
  #approved: { count: number; firstAt: Millis } | undefined;
  #engine: { seq: number; at: Millis; answers: number } = { seq: -1, at: 0, answers: 0 };
  readonly reporter: Reporter;

  constructor(options: AbsenceOptions) {
    this.#options = options;
    this.#running = options.running ?? (() => performance.now());
    this.reporter = {
      ...IDLE_REPORTER,
      decided: (_decision, intent) => {
        if (intent === undefined) return;
        const at = options.clock.now();
        this.#decidedAt = at;
        this.#approved = { count: (this.#approved?.count ?? 0) + 1, firstAt: this.#approved?.firstAt ?? at };
      },
      denied: () => { this.#decidedAt = options.clock.now(); },
      intent: (_stamp, { state }) => { if (state === 'confirmed') this.#approved = undefined; },
    };
  }

  /** Begins to watch a run, before its recovery. */
  attach(run: WatchedRun): void {
    const now = this.#options.clock.now();
    this.#run = run;
    this.#attachedAt = now;
    this.#countsFrom = now;
    this.#tickAt = { now, running: this.#running() };
    const timer = { ...this.#options, name: 'the watch over absent events' };
    this.#timers.add(guardedInterval({ ...timer, everyMs: TICK_MS }, () => { this.#tick(); }));
    this.#timers.add(guardedInterval({ ...timer, everyMs: CHECK_MS }, () => { this.#check(); }));
  }

  close(): void {
    this.#timers.unsubscribe();
    this.#run = undefined;
  }

  /** Returns why the run does not trade as it should, for people; undefined while it is well. */
  fault(): string | undefined {
    const run = this.#run;
    if (run === undefined) return 'the run has not begun';
    const { phase } = run.state();
    if (phase !== 'trading') return `the run is ${phase}`;
    const { noTickMs = SILENT_MS } = this.#options.alerts;
    if (this.#noTick(polledFeeds(run), noTickMs) !== undefined) return 'no feed answers';
    return this.#active.has('ENGINE_SILENT') ? 'the engine takes no input' : undefined;
  }

  #tick(): void {
    const now = this.#options.clock.now();
    const running = this.#running();
    const lateMs = now - this.#tickAt.now - TICK_MS;
    const ranMs = running - this.#tickAt.running;
    this.#tickAt = { now, running };
    const { blockedMs } = this.#options.alerts;
    if (lateMs >= (blockedMs ?? SILENT_MS)) {
      // Silence is counted from now on: nothing could be heard.
      this.#countsFrom = now;
      if (blockedMs !== undefined)
        this.#interruption(ranMs < lateMs / 2 ? 'MACHINE_SLEPT' : 'LOOP_BLOCKED', lateMs, now);
    }
  }

  #interruption(code: keyof typeof INTERRUPTIONS, lateMs: Millis, now: Millis): void {
    const known = this.#interrupted.get(code);
    if (known !== undefined) {
      Object.assign(known, {
        count: known.count + 1, longestMs: Math.max(known.longestMs, lateMs), lastAt: now,
      });
      return;
    }
    this.#interrupted.set(code, { count: 1, longestMs: lateMs, lastAt: now });
    const { what, cause } = INTERRUPTIONS[code];
    this.#alert(code, 'warning', now - lateMs,
      `${what} for ${roughDuration(lateMs)}, from ${clockText(now - lateMs)} to ${clockText(now)}: ${cause}`);
  }

  #check(): void {
    const run = this.#run;
    const now = this.#options.clock.now();
    if (run === undefined) return;
    const state = run.state();
    const feeds = polledFeeds(run);
    this.#noteState(state, now);
    this.#endInterruptions(now);
    const isStarting = state.phase === 'starting' || state.phase === 'recovering';
    this.#tell('RECOVERY_SLOW', 'critical', isStarting ? this.#slowRecovery(state, now) : undefined,
      state.phase === 'trading' ? 'the run trades' : `the run is ${state.phase}`);
    if (state.phase !== 'trading') return;
    const { noTickMs, silentFeedMs, noDecisionMs, engineSilentMs } = this.#options.alerts;
    const noTick = noTickMs === undefined ? undefined : this.#noTick(feeds, noTickMs);
    if (this.#tell('NO_TICK', 'critical', noTick, 'feeds answer again') === 'over') this.#countsFrom = now;
    if (silentFeedMs !== undefined) this.#checkFeeds(feeds, silentFeedMs, { now, areAllSilent: noTick !== undefined });
    this.#tell('ENGINE_SILENT', 'critical',
      engineSilentMs === undefined ? undefined : this.#engineSilent(state, feeds, { now, engineSilentMs }),
      'the engine takes inputs again');
    this.#tell('NO_DECISION', 'warning', noDecisionMs === undefined ? undefined : this.#noDecision(now, noDecisionMs),
      this.#mayTradeSince === undefined ? 'no strategy may trade now' : 'a strategy has decided');
    this.#tell('NOTHING_LANDED', 'critical', this.#nothingLanded(now), 'a swap has landed');
  }

  #noteState({ phase, strategies, pauses, seq }: SessionState, now: Millis): void {
    if (phase === 'trading' && !this.#isTrading) this.#countsFrom = now;
    this.#isTrading = phase === 'trading';
    const mayTrade = strategies.some(({ name, standing }) =>
      standing === 'trading' && !pauses.some(({ strategy }) => strategy === name));
    this.#mayTradeSince = mayTrade ? this.#mayTradeSince ?? now : undefined;
    if (seq !== this.#engine.seq) this.#engine = { seq, at: now, answers: -1 };
  }

  #slowRecovery({ phase, waits_for: waits }: SessionState, now: Millis): Absence | undefined {
    const { slowRecoveryMs } = this.#options.alerts;
    if (slowRecoveryMs === undefined || now - Math.max(this.#attachedAt, this.#countsFrom) < slowRecoveryMs) return;
    const why = waits.length === 0 ? '' : `; it waits for ${waits.join(', ')}`;
    return {
      since: this.#attachedAt,
      message: `the run started at ${clockText(this.#attachedAt)} and is still ${phase}${why}. No strategy decides and `
        + 'no position is guarded until that ends. Check the RPC node; "gannet status" shows what it waits for, and '
        + '"gannet resolve" closes a swap whose outcome stays unknown',
    };
  }

  #noTick(feeds: readonly FeedState[], noTickMs: Millis): Absence | undefined {
    if (feeds.length === 0) return undefined;
    const now = this.#options.clock.now();
    const answeredAt = Math.max(...feeds.map(({ last_answer_at: at }) => at ?? 0));
    const since = Math.max(answeredAt, this.#countsFrom);
    const shortest = Math.min(...feeds.map((feed) => this.#intervalOf(feed)));
    if (now - since < noTickMs + shortest) return undefined;
    return {
      since,
      message: `no feed has answered since ${clockText(since)}: strategies see no prices, and exit rules cannot act. `
        + 'Check the network of this machine, the service and its API key; "gannet status" shows each feed',
    };
  }

  /** Where all are silent, there is one alert for all of them. */
  #checkFeeds(feeds: readonly FeedState[], silentFeedMs: Millis, { now, areAllSilent }: {
    readonly now: Millis; readonly areAllSilent: boolean;
  }): void {
    this.#listed = new Map(feeds.map(({ feed }) => [feed, this.#listed.get(feed) ?? now]));
    for (const feed of this.#silentFeeds.keys()) if (!this.#listed.has(feed)) this.#silentFeeds.delete(feed);
    if (areAllSilent) return;
    const fallenSilent: string[] = [];
    const heardAgain: string[] = [];
    let oldest = now;
    for (const state of feeds) {
      const { feed, watches, last_answer_at: at } = state;
      const since = Math.max(at ?? this.#listed.get(feed)!, this.#countsFrom);
      const isSilent = now - since >= silentFeedMs + this.#intervalOf(state);
      if (isSilent && !this.#silentFeeds.has(feed)) {
        this.#silentFeeds.set(feed, since);
        fallenSilent.push(watches);
        oldest = Math.min(oldest, since);
      } else if (!isSilent && at !== null && at > (this.#silentFeeds.get(feed) ?? Infinity)) {
        this.#silentFeeds.delete(feed);
        heardAgain.push(watches);
      }
    }
    if (fallenSilent.length > 0) {
      this.#alert('FEED_SILENT', 'warning', oldest, `${pluralize(fallenSilent.length, 'feed')} without an answer since `
        + `${clockText(oldest)}: ${named(fallenSilent)}. Strategies decide without it, or wait. "gannet status" shows `
        + 'the last fault of each feed; where the token or the market is gone, remove it from the strategy');
    }
    if (heardAgain.length > 0) {
      this.#over('FEED_SILENT', 'warning',
        `${heardAgain.length === 1 ? 'a feed answers' : `${heardAgain.length} feeds answer`} again: `
        + named(heardAgain));
    }
  }

  #engineSilent({ seq }: SessionState, feeds: readonly FeedState[], { now, engineSilentMs }: {
    readonly now: Millis; readonly engineSilentMs: Millis;
  }): Absence | undefined {
    const answers = feeds.reduce((sum, { answers: own }) => sum + own, 0);
    const known = this.#engine;
    // A reload may have replaced feeds, whose counters begin again.
    if (known.answers < 0 || answers < known.answers) this.#engine = { ...known, answers };
    const since = Math.max(known.at, this.#countsFrom);
    if (answers <= this.#engine.answers || now - since < engineSilentMs) return undefined;
    return {
      since,
      message: `feeds answer, but the engine has taken no input since ${clockText(since)} (the last is number ${seq}): `
        + 'nothing is decided. This is a fault of Gannet: keep the log of the run, then stop the daemon and start it '
        + 'again',
    };
  }

  #noDecision(now: Millis, noDecisionMs: Millis): Absence | undefined {
    if (this.#mayTradeSince === undefined) return undefined;
    const since = Math.max(this.#decidedAt, this.#mayTradeSince, this.#countsFrom);
    if (now - since < noDecisionMs) return undefined;
    return {
      since,
      message: `no strategy has proposed a swap since ${clockText(since)}, although one may trade. Check whether the `
        + 'market gives it a reason: "gannet status" shows feeds and strategies. Where that is usual for it, raise '
        + 'alerts.no_decision',
    };
  }

  #nothingLanded(now: Millis): Absence | undefined {
    const { nothingLanded: limits } = this.#options.alerts;
    if (limits === undefined || this.#approved === undefined) return undefined;
    const { count, firstAt } = this.#approved;
    const isLate = count >= APPROVED_MIN && limits.afterMs !== undefined && now - firstAt >= limits.afterMs;
    if (count < limits.intents && !isLate) return undefined;
    return {
      since: firstAt,
      message: `${count} swaps were approved since ${clockText(firstAt)} and none has landed: entries and exits fail `
        + 'alike. "gannet journal list" shows why each ended. Check the SOL for fees, the RPC node, the slippage limit '
        + 'and the caps of the signer',
    };
  }

  #endInterruptions(now: Millis): void {
    for (const [code, { count, longestMs, lastAt }] of this.#interrupted) {
      if (now - lastAt < UNINTERRUPTED_MS) continue;
      this.#interrupted.delete(code);
      const often = count === 1 ? '' : ` It was interrupted ${count} times, for up to ${roughDuration(longestMs)}`;
      this.#over(code, 'warning', `the process runs without interruption since ${clockText(lastAt)}.${often}`);
    }
  }

  /** Raises the alert of an absence once, and its end once. */
  #tell(code: string, level: AlertLevel, absence: Absence | undefined, over: string): 'over' | undefined {
    const since = this.#active.get(code);
    if (absence !== undefined) {
      if (since !== undefined) return undefined;
      this.#active.set(code, absence.since);
      this.#alert(code, level, absence.since, absence.message);
      return undefined;
    }
    if (since === undefined) return undefined;
    this.#active.delete(code);
    this.#over(code, level, `${over}, after ${roughDuration(this.#options.clock.now() - since)}`);
    return 'over';
  }

  #alert(code: string, level: AlertLevel, since: Millis, message: string): void {
    this.#run?.alert({ kind: 'alert', level, message, data: { code, since } });
  }

  /** `was` is the level of the alert that is over. The channels that got the alert also get its end. */
  #over(code: string, was: AlertLevel, message: string): void {
    this.#run?.alert({ kind: 'alert', level: 'info', message, data: { code, over: true, was } });
  }

  #intervalOf({ feed, every_ms: every }: FeedState): Millis {
    return Math.max(every, this.#options.expectedMs?.get(feed) ?? 0);
  }
}

/** Signals come unasked, so their silence means nothing. */
function polledFeeds(run: WatchedRun): FeedState[] {
  return run.feeds().filter(({ feed }) => originOfKey(feed) === 'service' || originOfKey(feed) === 'node');
}

function named(watched: readonly string[]): string {
  const rest = watched.length - FEEDS_NAMED;
  return watched.slice(0, FEEDS_NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/** A day old absence needs its day. */
function clockText(at: Millis): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
