import { assertNever } from '../core/assert.ts';
import { showAmount } from '../market/market-text.ts';
import type { Millis } from '../core/time.ts';
import { spoken } from '../market/market-text.ts';
import type { UnsoldHolding } from '../engine/flatten.ts';
import type { Command, CommandSource, TradingState } from '../trading/command.ts';
import { effectiveTrading, firedProtections } from '../trading/protections/effective-trading.ts';
import type { Watch } from '../trading/protections/memory.ts';
import type { ProtectionAction, ProtectionRelease } from '../trading/protection.ts';
import type { EngineState } from '../trading/state.ts';

/** A change of what may be traded, by whoever had the say. */
export interface TradingChange {
  /** Absent where it is of everything. */
  readonly strategy?: string | undefined;
  readonly state: TradingState | 'flattening';
  readonly by: CommandSource;
  readonly reason: string;
}

/** Who last changed a trading state, when and why; null where it was so from the start, or since an earlier run. */
export interface TradingWord {
  readonly by: CommandSource;
  readonly since: Millis;
  readonly reason: string;
}

/** What may be traded, as `/api/state` shows it and every operator's request answers. */
export interface TradingView {
  readonly trading: TradingState;
  readonly trading_word: TradingWord | null;
  /** With the protections that are on for everything. */
  readonly effective: TradingState;
  readonly protections: readonly ProtectionState[];
  /** What the file STOP says, null without one. */
  readonly stop_file: string | null;
  readonly strategies: readonly StrategyTrading[];
  /** What flattening strategies still hold. */
  readonly unsold: readonly UnsoldState[];
}

/** A holding of a flattening strategy that is not sold, and what keeps it from being sold. */
export interface UnsoldState {
  readonly strategy: string;
  readonly mint: string;
  /** Smallest units. */
  readonly amount: string;
  /** For people. */
  readonly holds: string;
  readonly code: string;
  readonly reason: string;
  /** When it is tried again; null where something else than time decides that. */
  readonly until: Millis | null;
  /** Whether a swap of it is under way. */
  readonly moving: boolean;
}

export interface StrategyTrading {
  readonly name: string;
  /** Its own; what holds for everything holds for it besides. */
  readonly trading: TradingState;
  readonly trading_word: TradingWord | null;
  /** With what holds for everything, and the protections that are on. */
  readonly effective: TradingState;
  readonly flattening: boolean;
}

/** A protection that is on. */
export interface ProtectionState {
  readonly kind: string;
  readonly code: string;
  readonly scope: string;
  /** The strategy's name or the token's mint; empty where it is of everything. */
  readonly subject: string;
  readonly action: ProtectionAction;
  /** When it lets go: `elapsed`, `cleared`, `next-day` or `operator`. */
  readonly release: ProtectionRelease['kind'];
  /** When time alone lets it go; null where something else does. */
  readonly until: Millis | null;
  readonly since: Millis;
  readonly reason: string;
}

const DAY_MS = 86_400_000;

function protectionState({ rule: { protection: { trigger, scope, action, release }, code }, subject, fired }: Watch): ProtectionState {
  const since = fired?.since ?? 0;
  return { kind: trigger.kind, code, scope, subject, action, release: release.kind, until: releasedAt(release, since), since, reason: fired?.reason ?? '' };
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

/** Returns whether the state holds what a change asked for: only an operator loosens what somebody else made strict. */
export function isHeld(state: EngineState, { strategy, state: asked }: TradingChange): boolean {
  if (asked === 'flattening') return [...(strategy === undefined ? state.strategies.keys() : [strategy])].every((name) => state.flattening.has(name));
  return asked === (strategy === undefined ? state.trading : state.strategyTrading.get(strategy) ?? 'active');
}

/** Returns the change that a command is, undefined for one that is none. */
export function tradingChange(command: Command): TradingChange | undefined {
  if (command.name !== 'set-trading-state' && command.name !== 'flatten') return undefined;
  const { strategy, by = 'operator', reason } = command;
  return { strategy, state: command.name === 'flatten' ? 'flattening' : command.state, by, reason };
}

/** Remembers who said last what may be traded. The states themselves are the engine's. */
export class TradingBoard {
  readonly #words = new Map<string | undefined, TradingWord>();

  /** Takes a change that the state holds by now. */
  changed(at: Millis, { strategy, state, by, reason }: TradingChange, strategies: Iterable<string>): void {
    const word = { by, since: at, reason };
    if (state !== 'flattening') this.#words.set(strategy, word);
    else for (const name of strategy === undefined ? strategies : [strategy]) this.#words.set(name, word);
  }

  /** Returns what was said last of everything, or of one strategy. */
  word(strategy?: string): TradingWord | undefined {
    return this.#words.get(strategy);
  }

  /** Returns what may be traded now. */
  view(state: EngineState, stopFile: string | undefined, unsold: readonly UnsoldHolding[] = []): TradingView {
    return {
      trading: state.trading,
      trading_word: this.word() ?? null,
      effective: effectiveTrading(state),
      protections: firedProtections(state).map(protectionState).map((one) => ({ ...one, reason: spoken(state.tokens, one.reason) })),
      stop_file: stopFile ?? null,
      strategies: [...state.strategies.keys()].map((name) => ({
        name,
        trading: state.strategyTrading.get(name) ?? 'active',
        trading_word: this.word(name) ?? null,
        effective: effectiveTrading(state, name),
        flattening: state.flattening.has(name),
      })),
      unsold: unsold.map(({ strategy, mint, amount, code, reason, until, isMoving }) => ({
        strategy, mint, amount: amount.toString(), holds: showAmount(state.tokens, mint, amount), code, reason, until: until ?? null, moving: isMoving,
      })),
    };
  }
}
