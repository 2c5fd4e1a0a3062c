import type { Millis } from '../../core/time.ts';
import type { Strategy } from '../../strategy/define.ts';
import type { ExitPlan } from '../../trading/positions/exit-plan.ts';
import type { FeedKey } from '../../market/event.ts';
import type { Proposal } from '../../trading/proposal.ts';
import type { StopStrategy } from '../../trading/engine-command.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import type { VirtualClock } from '../virtual-clock.ts';
import type { CallNumber } from './apart-run.ts';
import type { ApartStrategy, Ending } from './strategy-call.ts';
import type { HostedInput } from './watched-feeds.ts';

/** A strategy as the configuration uses it. */
export interface StrategyInstance {
  /** Unique within the run: two instances of one strategy have two names. */
  readonly name: string;
  readonly strategy: Strategy;
  /** Already read by the strategy's own schema. */
  readonly params: unknown;
  /** The span of recorded events that it sees before its start. */
  readonly warmupMs?: Millis | undefined;
  /** Its exit rules, whose sales are quoted beside what it watches. */
  readonly exits?: ExitPlan | undefined;
  readonly limits?: { readonly exits?: ExitPlan | undefined } | undefined;
  /** Where its code runs apart from the engine; `strategy` then only declares what it watches. */
  readonly apart?: ApartStrategy | undefined;
}

/** A strategy that no longer runs, and why. */
export interface StoppedStrategy {
  readonly name: string;
  /** `STRATEGY_FAILED` where it threw or passed a bound of the engine, else why its process was ended. */
  readonly code: StopStrategy['code'] | 'STRATEGY_FAILED';
  readonly reason: string;
  /** The author's line, "dip.ts:12:5", where it is known. */
  readonly place: string | undefined;
  readonly at: Millis;
}

/** The part of the engine that a host uses. */
export interface HostPort {
  readonly state: EngineState;
  readonly clock: VirtualClock;
  readonly seed: number | string;
  propose(strategy: string, proposal: Proposal): void;
  /** Whether the engine is handling an input: a proposal at another time could not be replayed. */
  inTurn(): boolean;
  log(strategy: string, message: string): void;
  /** A strategy's stream of proposals is complete. */
  completed(strategy: string): void;
  /** A strategy runs no longer. */
  stopped(stopped: StoppedStrategy): void;
  /** The process of a strategy ended during a call; `start` and `call` say which. */
  ended(strategy: string, occasion: CallNumber, ending: Ending): void;
  /** Whether a run that is replayed was ended by this call. */
  endedAt(strategy: string, occasion: CallNumber): boolean;
  /** Begins or ends to hand the events of feeds to watches of a strategy; `inputs` are all that it watches now. */
  watched(strategy: string, changed: readonly HostedInput[], inputs: readonly HostedInput[]): void;
  /** The interval of each feed's events, where inputs are sampled. */
  readonly intervals?: ReadonlyMap<FeedKey, Millis> | undefined;
}

/** What another version of a strategy goes on with. */
export interface Handover {
  /** The state that it keeps; undefined without one. */
  readonly kept: string | undefined;
  /** How often the strategy was started, this run, in any version. */
  readonly starts?: number | undefined;
  /** The outcomes that it has seen, and that are not saved yet. */
  readonly seen?: readonly string[] | undefined;
  /** What it watched. */
  readonly feeds?: readonly Pick<HostedInput, 'feed' | 'spec' | 'windows'>[] | undefined;
}
