import { assertNever } from '../../core/assert.ts';
import { showAmount } from '../../market/market-text.ts';
import type { Millis } from '../../core/time.ts';
import { withTokenNames } from '../../market/market-text.ts';
import type { UnsoldHolding } from '../../engine/unsold-holdings.ts';
import type { Command, CommandSource, TradingState } from '../../trading/engine-command.ts';
import { effectiveTrading, firedProtections, pauseText } from '../../trading/risk/trading-state-rules.ts';
import type { Watch } from '../../trading/protections/memory.ts';
import type { ProtectionAction, ProtectionRelease } from '../../trading/limits.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import { pausesAt } from '../../trading/manual/pauses.ts';

/** A change of what may be traded, and its source. */
export interface TradingChange {
  /** Absent where it concerns all strategies. */
  readonly strategy?: string | undefined;
  readonly state: TradingState | 'flattening';
  readonly by: CommandSource;
  readonly reason: string;
}

/** The source, time and reason of the last change of a trading state in this run. */
export interface LastTradingChange {
  readonly by: CommandSource;
  readonly since: Millis;
  readonly reason: string;
}

/** What may be traded: a part of `/api/state`, and the answer to every command of an operator. */
export interface TradingView {
  readonly trading: TradingState;
  readonly trading_word: LastTradingChange | null;
  /** Includes the protections triggered for all strategies. */
  readonly effective: TradingState;
  readonly protections: readonly ProtectionState[];
  /** The first line of the file STOP; null without the file. */
  readonly stop_file: string | null;
  /** The pairs and strategies whose entries an operator refuses for a time. */
  readonly pauses: readonly PauseState[];
  readonly strategies: readonly StrategyTrading[];
  /** Holdings that flattening strategies have not sold yet. */
  readonly unsold: readonly UnsoldState[];
}

/** A pause of a pair or of a strategy. */
export interface PauseState {
  /** What it pauses, for people and for the command that ends it. */
  readonly what: string;
  readonly strategy: string | null;
  readonly pair: readonly [string, string] | null;
  readonly since: Millis;
  /** Null where only an operator ends it. */
  readonly until: Millis | null;
  readonly reason: string;
}

/** A holding of a flattening strategy that is not sold yet, and the reason. */
export interface UnsoldState {
  readonly strategy: string;
  readonly mint: string;
  /** Smallest units. */
  readonly amount: string;
  /** For people. */
  readonly holds: string;
  readonly code: string;
  readonly reason: string;
  /** When the next attempt follows; null where it does not depend on time alone. */
  readonly until: Millis | null;
  /** Whether an open swap sells it. */
  readonly moving: boolean;
}

export interface StrategyTrading {
  readonly name: string;
  /** The strategy's own; the state of all strategies applies besides. */
  readonly trading: TradingState;
  readonly trading_word: LastTradingChange | null;
  /** Includes the state of all strategies and the triggered protections. */
  readonly effective: TradingState;
  readonly flattening: boolean;
}

/** A triggered protection. */
export interface ProtectionState {
  readonly kind: string;
  readonly code: string;
  readonly scope: string;
  /** The strategy's name or the token's mint; empty where it concerns everything. */
  readonly subject: string;
  readonly action: ProtectionAction;
  /** How it ends: `elapsed`, `cleared`, `next-day` or `operator`. */
  readonly release: ProtectionRelease['kind'];
  /** When it ends; null where time alone does not end it. */
  readonly until: Millis | null;
  readonly since: Millis;
  readonly reason: string;
}

const DAY_MS = 86_400_000;

function protectionState(
  { rule: { protection: { trigger, scope, action, release }, code }, subject, fired }: Watch,
): ProtectionState {
  const since = fired?.since ?? 0;
  return {
    kind: trigger.kind, code, scope, subject, action, release: release.kind, until: releasedAt(release, since), since,
    reason: fired?.reason ?? '',
  };
}

function releasedAt(release: ProtectionRelease, since: Millis): Millis | null {
  switch (release.kind) {
    case 'elapsed': return since + release.afterMs;
    case 'next-day': return (Math.floor(since / DAY_MS) + 1) * DAY_MS;
    case 'cleared':
    case 'operator': return null;
    default: return assertNever(release, 'release');
  }
}

/** Returns whether a change took effect. Only an operator can undo a restriction from another source. */
export function isInEffect(state: EngineState, { strategy, state: asked }: TradingChange): boolean {
  if (asked === 'flattening') {
    return [...(strategy === undefined ? state.strategies.keys() : [strategy])]
      .every((name) => state.flattening.has(name));
  }
  return asked === (strategy === undefined ? state.trading : state.strategyTrading.get(strategy) ?? 'active');
}

/** Returns the change that a command makes to what may be traded; undefined for other commands. */
export function tradingChangeOf(command: Command): TradingChange | undefined {
  if (command.name !== 'set-trading-state' && command.name !== 'flatten') return undefined;
  const { strategy, by = 'operator', reason } = command;
  return { strategy, state: command.name === 'flatten' ? 'flattening' : command.state, by, reason };
}

/** Keeps the last change of each trading state. The states themselves belong to the engine. */
export class TradingChanges {
  readonly #last = new Map<string | undefined, LastTradingChange>();

  /** Adds a change that has taken effect. */
  add(at: Millis, { strategy, state, by, reason }: TradingChange, strategies: Iterable<string>): void {
    const change = { by, since: at, reason };
    if (state !== 'flattening') this.#last.set(strategy, change);
    else for (const name of strategy === undefined ? strategies : [strategy]) this.#last.set(name, change);
  }

  /** Returns the last change for all strategies, or for one. */
  last(strategy?: string): LastTradingChange | undefined {
    return this.#last.get(strategy);
  }

  /** Returns what may be traded now. */
  view(state: EngineState, stopFile: string | undefined, { unsold = [], at }: {
    readonly unsold?: readonly UnsoldHolding[]; readonly at: Millis;
  }): TradingView {
    return {
      trading: state.trading,
      trading_word: this.last() ?? null,
      effective: effectiveTrading(state),
      protections: firedProtections(state).map(protectionState)
        .map((one) => ({ ...one, reason: withTokenNames(state.tokens, one.reason) })),
      stop_file: stopFile ?? null,
      pauses: pausesAt(state.pauses, at).map((pause) => ({
        what: pauseText(state.tokens, pause), strategy: pause.strategy ?? null, pair: pause.pair ?? null,
        since: pause.since, until: pause.until, reason: pause.reason,
      })),
      strategies: [...state.strategies.keys()].map((name) => ({
        name,
        trading: state.strategyTrading.get(name) ?? 'active',
        trading_word: this.last(name) ?? null,
        effective: effectiveTrading(state, name),
        flattening: state.flattening.has(name),
      })),
      unsold: unsold.map(({ strategy, mint, amount, code, reason, until, isMoving }) => ({
        strategy, mint, amount: amount.toString(), holds: showAmount(state.tokens, mint, amount), code, reason,
        until: until ?? null, moving: isMoving,
      })),
    };
  }
}
