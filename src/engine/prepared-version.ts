import type { ChunkedWork } from '../core/chunked-work.ts';
import type { Millis } from '../core/time.ts';
import type { FeedKey } from '../market/event.ts';
import type { ReloadStrategy } from '../trading/engine-command.ts';
import type { HostPort, StrategyInstance } from './host/host-port.ts';
import { Host } from './strategy-host.ts';
import type { RecordedRows } from './warm-up.ts';

/** Another version of a strategy. */
export interface StrategyVersion {
  readonly instance: StrategyInstance;
  /** The recorded events up to the reload, where it has a warm-up. */
  readonly rows?: RecordedRows | undefined;
  /** Where it was warmed up already, at the time of the reload. */
  readonly prepared?: PreparedVersion | undefined;
}

/** Returns the version that a reload with the stamp `seq` puts into its strategy's place. */
export type VersionOf = (order: ReloadStrategy, seq: number) => StrategyVersion;

/** Why a version cannot take over. */
interface VersionFault {
  readonly reason: string;
  /** The author's line where it is known. */
  readonly place?: string | undefined;
}

/**
 * Another version of a strategy, warmed up beside the running one. What it does meanwhile reaches the engine when it
 * takes over, and never where it does not.
 */
export class PreparedVersion {
  readonly host: Host;
  /** What waits until it takes over; undefined after that. */
  #waiting: (() => void)[] | undefined = [];
  #fault: VersionFault | undefined;

  constructor(old: Host, { instance }: StrategyVersion, { port, intervals }: {
    readonly port: HostPort;
    /** The intervals of feeds that hold from its start on. */
    readonly intervals: ReadonlyMap<FeedKey, Millis>;
  }) {
    const whenTaken = (work: () => void): void => {
      if (this.#waiting === undefined) work();
      else this.#waiting.push(work);
    };
    const isTaken = (): boolean => this.#waiting === undefined;
    this.host = new Host(instance, {
      state: port.state, clock: port.clock, seed: port.seed,
      get intervals() { return isTaken() || port.intervals === undefined ? port.intervals : intervals; },
      inTurn: () => !isTaken() || port.inTurn(),
      endedAt: (...given) => port.endedAt(...given),
      propose: (...given) => { whenTaken(() => { port.propose(...given); }); },
      log: (...given) => { whenTaken(() => { port.log(...given); }); },
      watched: (...given) => { whenTaken(() => { port.watched(...given); }); },
      completed: (...given) => { whenTaken(() => { port.completed(...given); }); },
      stopped: (stopped) => {
        this.#fault ??= stopped;
        whenTaken(() => { port.stopped(stopped); });
      },
      ended: (strategy, occasion, ending) => {
        this.#fault ??= ending;
        whenTaken(() => { port.ended(strategy, occasion, ending); });
      },
    }, old.handover);
  }

  /** Why it cannot take over: it failed during its warm-up. */
  get fault(): VersionFault | undefined {
    return this.#fault;
  }

  /** Shows it the recorded events before the reload. */
  *warmUp({ rows }: StrategyVersion): ChunkedWork<void> {
    if (rows !== undefined && this.host.warmupMs > 0) yield* this.host.warmUpBeside(rows);
  }

  /** Starts it in the place of the old version, which has ended. */
  takeOver(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const work of waiting) work();
    this.host.takeOver();
  }

  /** Ends it without having taken over. */
  discard(): void {
    this.host.stop();
  }
}
