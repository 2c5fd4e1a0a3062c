import type { Millis } from '../core/time.ts';
import type { FeedKey } from '../market/event.ts';
import type { FeedSpec } from '../market/feed.ts';
import type { StopStrategy } from '../trading/engine-command.ts';
import type { EngineState } from '../trading/engine-state.ts';
import type { ProtectionChange } from '../trading/protections/memory.ts';
import type { Effect, Input, Ruling } from '../trading/step.ts';
import type { RestoredStates } from '../trading/strategy-state.ts';
import type { LoggedDecision } from './decision-log.ts';
import type { VersionOf } from './prepared-version.ts';
import type { StoppedStrategy } from './host/host-port.ts';
import type { StrategyInstance } from './strategy-host.ts';

/** The receiver of the engine's events. Called synchronously, in order; it must not throw. */
export interface EngineListener {
  /** Every stamped input, after the state holds it; a recording keeps them. */
  readonly onInput?: (seq: number, at: Millis, input: Input) => void;
  /** Every ruling with its place in the hash chain, before its effect. */
  readonly onRuling?: (ruling: Ruling, logged: LoggedDecision) => void;
  /** A protection that was triggered or released with the stamp `seq`; the state holds it already. */
  readonly onProtection?: (seq: number, at: Millis, change: ProtectionChange) => void;
  /**
   * Exits in parts, guarded positions or waiting proposals have changed. They must outlive the process, and are saved
   * before the next effect.
   */
  readonly onExits?: (seq: number, at: Millis) => void;
  /** An effect to carry out. */
  readonly onEffect?: (effect: Effect) => void;
  /** The feeds that strategies watch beside their inputs, after each change. */
  readonly onWatched?: (specs: readonly FeedSpec[]) => void;
  /** The feeds of the inputs of all strategies and of their exit rules, after one was reloaded. */
  readonly onInputs?: (specs: readonly FeedSpec[]) => void;
  readonly onLog?: (strategy: string, message: string) => void;
  /** A strategy whose stream of proposals is complete: it proposes nothing more. */
  readonly onCompleted?: (strategy: string, at: Millis) => void;
  /** A strategy that was stopped; its alert is among the next proposals. */
  readonly onStopped?: (stopped: StoppedStrategy) => void;
}

/** What an engine is made of. */
export interface EngineOptions {
  readonly state: EngineState;
  readonly strategies: readonly StrategyInstance[];
  readonly startAt: Millis;
  readonly seed: number | string;
  readonly listener: EngineListener;
  readonly restored?: RestoredStates | undefined;
  /**
   * The interval of each feed's events. An input with a longer interval sees the first event of each window of that
   * length; windows begin at its multiples since the epoch. Where absent, every input sees every event of its feed.
   */
  readonly intervals?: ReadonlyMap<FeedKey, Millis> | undefined;
  /** Whether these are the intervals of a recording, at present; else a watch changes those of its feeds. */
  readonly isRecorded?: boolean | undefined;
  /** The orders by which the run that is replayed stopped strategies. */
  readonly stops?: readonly StopStrategy[] | undefined;
  /** Needed where strategies are reloaded. */
  readonly versionOf?: VersionOf | undefined;
}
