import type { Amount } from '../../src/core/amount.ts';
import { parseJson, stringifyJson } from '../../src/core/json.ts';
import type { Millis } from '../../src/core/time.ts';
import type { Command } from '../../src/trading/engine-command.ts';
import type { Outcome } from '../../src/trading/intent.ts';
import type {
  Protection, ProtectionAction, ProtectionRelease, ProtectionScope, ProtectionTrigger,
} from '../../src/trading/limits.ts';
import type { EngineState, StateSnapshot } from '../../src/trading/engine-state.ts';
import { snapshotState } from '../../src/trading/engine-state.ts';
import { sellingSol } from '../market/events.ts';
import { SOL, USDC } from '../market/tokens.ts';
import { apply, approve, buy, fillOf, outcome, stateWith, strategySetup } from './states.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
/** A midnight, UTC. */
export const START = 20_000 * DAY;
export const SELL = buy({ inputMint: SOL.mint, outputMint: USDC.mint, amount: 'all' });
export const ELAPSED: ProtectionRelease = { kind: 'elapsed', afterMs: HOUR };
export const usdc = (value: number): { mint: typeof USDC.mint; amount: Amount } =>
  ({ mint: USDC.mint, amount: BigInt(value * 1e6) as Amount });

/** Returns a protection that denies its strategy until an operator resumes by default. */
export function protection(
  trigger: ProtectionTrigger,
  { scope = 'strategy', action = 'deny', release = { kind: 'operator' } }: {
    scope?: ProtectionScope; action?: ProtectionAction; release?: ProtectionRelease;
  } = {},
): Protection {
  return { trigger, scope, action, release };
}

/** Returns a state with the strategies "diver" and "other" under protections. */
export function stateUnder(
  protections: readonly Protection[], options: Parameters<typeof stateWith>[0] = {},
): EngineState {
  return stateWith({
    strategies: [strategySetup('diver'), strategySetup('other')], ...options,
    limits: { ...options.limits, protections },
  });
}

/** Sets the price of SOL in US dollars. */
export function price(state: EngineState, usd: number, at: Millis): void {
  apply(state, sellingSol(Math.round(usd * 1_000), at), at);
}

/** Carries a swap through to an outcome. */
export function carry(
  state: EngineState, proposal: typeof SELL, at: Millis, end: Outcome['state'],
  rest: Partial<Outcome> & { out?: bigint; fee?: bigint; strategy?: string } = {},
): void {
  const { out, fee = 0n, strategy = 'diver', ...outcomeRest } = rest;
  const intent = approve(state, proposal, { at, strategy });
  for (const reached of ['building', 'signed', 'submitted'] as const)
    if (end !== 'abandoned') apply(state, outcome(intent, reached), at);
  apply(
    state, outcome(intent, end, { ...outcomeRest, ...(out === undefined ? {} : { fill: fillOf(intent, out, fee) }) }),
    at,
  );
}

/** Buys SOL for 25 USDC and sells it for the given US dollars. */
export function roundTrip(state: EngineState, at: Millis, backUsd: number, strategy = 'diver'): void {
  carry(state, buy(), at, 'confirmed', { out: 100_000_000n, strategy });
  carry(state, SELL, at, 'confirmed', { out: BigInt(Math.round(backUsd * 1e6)), strategy });
}

/** Hands a command to `step`. */
export function command(
  state: EngineState, at: Millis, rest: { readonly name: Command['name'] } & Record<string, unknown>,
): void {
  apply(state, { kind: 'command', reason: 'a test', ...rest } as Command, at);
}

/** Lets an operator resume everything, or a strategy. */
export function resume(state: EngineState, at: Millis, strategy?: string): void {
  command(state, at, { name: 'set-trading-state', state: 'active', strategy });
}

/** Returns the state that a later process makes of what this one wrote down. */
export function restarted(
  state: EngineState, protections: readonly Protection[] = state.limits.protections ?? [],
): EngineState {
  const snapshot = parseJson(stringifyJson(snapshotState(state))) as unknown as StateSnapshot;
  return stateUnder(protections, { snapshot });
}
