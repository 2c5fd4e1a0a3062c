import { monitorEventLoopDelay } from 'node:perf_hooks';
import { VERSION } from '../../core/code-files.ts';
import { residentBytes } from '../../core/watched-process.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { RecordingWriter } from '../../recording/writer.ts';
import type { JournalStore } from '../../store/journal.ts';
import type { WriteBehindJournal } from '../../store/write-behind-journal.ts';
import type { SignerClient } from '../../signer/channel/client.ts';
import { SIGNER_SOCKET } from '../../signer/command-process.ts';
import type { SessionState } from '../control/session-state.ts';
import { elapsedMs } from '../hosts/host-channel.ts';
import type { StrategyHosts } from '../hosts/host-generations.ts';
import { roomIn } from '../watch/disk-guard.ts';
import { Distribution } from './distribution.ts';
import type { Reading } from './metric-definition.ts';
import type { RunHealth, SickReason } from './health.ts';
import { RunEvents } from './run-events.ts';
import type { RunFigures } from './run-figures.ts';
import type { Exposition } from './exposition.ts';

/** Each sample of the loop's delay includes this interval. */
const LOOP_RESOLUTION_MS = 20;
/** Seconds. */
const WRITE_BOUNDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1, 5];
const NANOSECONDS = 1e9;

/** The methods of a journal that write while a run trades. */
const WRITES = [
  'intentApproved', 'attemptSigned', 'transition', 'saveSnapshot', 'walletAdjusted', 'fillValued',
] as const;

/** The parts of a run that exist before its session. */
interface MetricsOptions {
  readonly runId: string;
  readonly mode: string;
  readonly clock: Clock;
  readonly stateDir: string;
  readonly recordingDir: string;
  /** What went out to the service and what waits, by bucket. */
  readonly requests: () => Reading['requests'];
  readonly nodes: () => Reading['nodes'];
  /** Where notifications go. */
  readonly channels: () => Reading['channels'];
  /** The processes of its strategies; undefined where all run in this one. */
  readonly hosts?: Pick<StrategyHosts, 'pids'> | undefined;
  /** Undefined without a signer process. */
  readonly signer?: Pick<SignerClient, 'closed'> | undefined;
}

/** What metrics and health read of a session. */
export interface WatchedSession {
  state(): SessionState;
  figures(): RunFigures;
  readonly health: RunHealth;
}

/** A text for Prometheus, and its content type. */
interface Scrape {
  readonly contentType: string;
  readonly text: string;
}

/**
 * Collects what a run shows to Prometheus, and what makes its process sick. Nearly everything is read at a scrape;
 * events only count up.
 */
export class RunMetrics {
  readonly #options: MetricsOptions;
  readonly #events = new RunEvents();
  readonly #loopDelay = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  readonly #writes = new Distribution(WRITE_BOUNDS);
  readonly #startedAt: Millis;
  #failedWrites = 0;
  #journal: Pick<WriteBehindJournal, 'isBehind'> | undefined;
  #recorder: Pick<RecordingWriter, 'stats'> | undefined;
  #port: WatchedSession | undefined;
  #exposition: Promise<Exposition> | undefined;
  #underWay: Promise<Scrape> | undefined;
  #lastScrapeMs = 0;
  #isSignerLost = false;

  constructor(options: MetricsOptions) {
    this.#options = options;
    this.#startedAt = options.clock.now();
    this.#loopDelay.enable();
    void options.signer?.closed.then(() => { this.#isSignerLost = true; });
  }

  readonly reporter = this.#events.reporter;

  /** From now on, the state of the session is part of the metrics. */
  attach(port: WatchedSession): void {
    this.#port = port;
  }

  close(): void {
    this.#loopDelay.disable();
  }

  /** Shows what the recording takes. */
  recordsTo(recorder: Pick<RecordingWriter, 'stats'>): void {
    this.#recorder = recorder;
  }

  /** Shows whether writes wait. */
  journalsTo(journal: Pick<WriteBehindJournal, 'isBehind'>): void {
    this.#journal = journal;
  }

  /** Returns a journal whose writes are timed. */
  timed<Timed extends Pick<JournalStore, (typeof WRITES)[number]>>(journal: Timed): Timed {
    const timed = WRITES.map((name) => [name, (...args: unknown[]): void => {
      const startedAt = elapsedMs();
      try {
        (journal[name] as (...given: unknown[]) => void)(...args);
      } catch (error) {
        this.#failedWrites += 1;
        throw error;
      } finally {
        this.#writes.observe((elapsedMs() - startedAt) / 1_000);
      }
    }]);
    return { ...journal, ...Object.fromEntries(timed) as Partial<Timed> };
  }

  /** Returns why this process must be started again; empty where it works or ends in order. */
  sickReasons(): SickReason[] {
    return [
      ...(this.#port?.health.isStalled() === true ? ['INBOX_STALLED' as const] : []),
      ...(this.#isSignerLost ? ['SIGNER_LOST' as const] : []),
      ...(this.#events.isStateLost ? ['STATE_LOST' as const] : []),
    ];
  }

  /** Returns all metrics. Scrapes at the same time share one answer. */
  scrape(): Promise<Scrape> {
    this.#underWay ??= this.#scrape().finally(() => { this.#underWay = undefined; });
    return this.#underWay;
  }

  async #scrape(): Promise<Scrape> {
    // Loading the library takes tens of milliseconds, so a start does not wait for it.
    this.#exposition ??= import('./exposition.ts').then(({ createExposition }) => createExposition());
    const exposition = await this.#exposition;
    const disks = await this.#disks();
    const startedAt = elapsedMs();
    const text = await exposition.write(this.#read(disks));
    this.#lastScrapeMs = elapsedMs() - startedAt;
    return { contentType: exposition.contentType, text };
  }

  #read(disks: Reading['disks']): Reading {
    const { clock, requests, nodes, channels, mode, runId } = this.#options;
    const { userCPUTime, systemCPUTime } = process.resourceUsage();
    return {
      now: clock.now(),
      version: VERSION, mode, runId,
      startedAt: this.#startedAt,
      state: this.#port?.state(), figures: this.#port?.figures(),
      waits: this.#port?.health.waits().map(({ reason }) => reason) ?? ['STARTING'],
      sick: this.sickReasons(),
      events: this.#events,
      requests: requests(), nodes: nodes(), channels: channels(),
      loopDelay: this.#readLoopDelay(),
      cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
      memory: this.#memory(),
      journal: { seconds: this.#writes, failures: this.#failedWrites, isBehind: this.#journal?.isBehind() ?? false },
      recording: this.#recorder?.stats(),
      disks,
      lastScrapeSeconds: this.#lastScrapeMs / 1_000,
    };
  }

  #readLoopDelay(): Reading['loopDelay'] {
    const seconds = (percentile: number): number =>
      Math.max(0, this.#loopDelay.percentile(percentile) / NANOSECONDS - LOOP_RESOLUTION_MS / 1_000);
    const delay = { p50: seconds(50), p99: seconds(99) };
    this.#loopDelay.reset();
    return delay;
  }

  /** A signer of another user is no process of this one, and is left out. */
  #memory(): Reading['memory'] {
    const { hosts, signer } = this.#options;
    const isParent = signer !== undefined && (process.env[SIGNER_SOCKET] ?? '') === '';
    const strategies = (hosts?.pids() ?? []).map((pid) => residentBytes(pid) ?? 0);
    const readings = {
      daemon: process.memoryUsage.rss(),
      strategies: strategies.length === 0 ? undefined : strategies.reduce((total, bytes) => total + bytes, 0),
      signer: isParent ? residentBytes(process.ppid) : undefined,
    };
    return Object.entries(readings).flatMap(([name, bytes]) => (bytes === undefined ? [] : [{ process: name, bytes }]));
  }

  async #disks(): Promise<Reading['disks']> {
    const { stateDir, recordingDir } = this.#options;
    const places = [['state', stateDir], ['recordings', recordingDir]] as const;
    const rooms = await Promise.all(places.map(async ([disk, dir]) => {
      try {
        return [{ disk, bytes: await roomIn(dir) }];
      } catch {
        // The disk guard logs it; the metric is absent then, which an alert rule can see.
        return [];
      }
    }));
    return rooms.flat();
  }
}
