import type { Millis } from '../core/time.ts';
import type { FeedSpec } from '../market/feed.ts';
import type { ProtectionChange } from '../trading/protections/memory.ts';
import type { Effect, Input, Ruling } from '../trading/step.ts';
import type { LoggedDecision } from './decision-log.ts';
import type { StoppedStrategy } from './strategy-host.ts';

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
  readonly onLog?: (strategy: string, message: string) => void;
  /** A strategy that was stopped; its alert is among the next proposals. */
  readonly onStopped?: (stopped: StoppedStrategy) => void;
}
