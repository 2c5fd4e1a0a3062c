import type { Observable } from 'rxjs';
import { NEVER } from 'rxjs';
import { z } from 'zod';
import { placeOf } from '../../src/core/throw-place.ts';
import type { Millis } from '../../src/core/time.ts';
import type { LoggedDecision } from '../../src/engine/decision-log.ts';
import { Engine } from '../../src/engine/engine.ts';
import type { StrategyVersion } from '../../src/engine/prepared-version.ts';
import { createRealm } from '../../src/engine/host/realm.ts';
import type { StrategyInstance } from '../../src/engine/strategy-host.ts';
import type { Input as StrategyInput, Proposal, StrategyContext } from '../../src/strategy/index.ts';
import { defineStrategy, quotes } from '../../src/strategy/index.ts';
import type { ReloadStrategy, StopStrategy } from '../../src/trading/engine-command.ts';
import type { RiskLimits } from '../../src/trading/limits.ts';
import type { ExitRules } from '../../src/trading/positions/exit-plan.ts';
import type { OpenIntent } from '../../src/trading/executor.ts';
import type { ProtectionChange } from '../../src/trading/protections/memory.ts';
import type { EngineState, StateSnapshot } from '../../src/trading/engine-state.ts';
import type { RestoredStates } from '../../src/trading/strategy-state.ts';
import type { Effect, Input, Ruling } from '../../src/trading/step.ts';
import { PURCHASE } from '../market/events.ts';
import { SOL_USDC, USDC } from '../market/tokens.ts';
import { stateWith, strategySetup } from '../trading/states.ts';

/** An engine with all events of its listener. */
export interface Run {
  readonly engine: Engine;
  readonly state: EngineState;
  readonly inputs: { readonly seq: number; readonly at: Millis; readonly input: Input }[];
  readonly logged: LoggedDecision[];
  readonly effects: Effect[];
  readonly logs: string[];
  /** What happened in which order: "in" for inputs, "out" for decisions, each with its number. */
  readonly order: string[];
}

/** Returns an engine, not yet started, whose strategies have 500 USDC each. */
export function prepare(strategies: readonly StrategyInstance[], options: {
  readonly startAt?: Millis;
  readonly seed?: number;
  readonly limits?: Partial<RiskLimits>;
  readonly snapshot?: StateSnapshot;
  readonly open?: readonly OpenIntent[];
  readonly restored?: RestoredStates;
  /** Of every strategy. */
  readonly maxAgeMs?: Millis | undefined;
  /** Of every strategy. */
  readonly exits?: ExitRules | undefined;
  /** The orders by which a run that is repeated stopped strategies. */
  readonly stops?: readonly StopStrategy[];
  /** Returns the version that a reload starts, with what it is warmed up with. */
  readonly versionOf?: (order: ReloadStrategy, seq: number) => StrategyVersion;
  readonly onEffect?: (effect: Effect, engine: Engine) => void;
  readonly onProtection?: (change: ProtectionChange) => void;
} = {}): Run {
  const state = stateWith({
    strategies: strategies.map(({ name }) => strategySetup(name, { limits: {
      maxAgeMs: options.maxAgeMs,
      ...(options.exits === undefined ? {} : { exits: { rules: options.exits, feeds: [] } }),
    } })),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    ...(options.snapshot === undefined ? {} : { snapshot: options.snapshot }),
    ...(options.open === undefined ? {} : { open: options.open }),
  });
  const told = {
    inputs: [] as Run['inputs'], logged: [] as LoggedDecision[], effects: [] as Effect[], logs: [] as string[],
    order: [] as string[],
  };
  const seed = options.seed ?? 7;
  // The project "engine-apart" of the tests runs the same files with every strategy apart.
  const isApart = process.env['GANNET_TEST_APART'] !== undefined;
  const engine: Engine = new Engine({
    state, stops: options.stops,
    versionOf: (order, seq) => {
      const version = options.versionOf!(order, seq);
      return isApart ? { ...version, instance: apart(version.instance, seed) } : version;
    },
    strategies: isApart ? strategies.map((instance) => apart(instance, seed)) : strategies,
    startAt: options.startAt ?? 0, seed, restored: options.restored,
    listener: {
      onInput: (seq, at, input) => {
        told.inputs.push({ seq, at, input });
        told.order.push(`in ${seq}`);
      },
      onRuling: (_ruling: Ruling, logged) => {
        told.logged.push(logged);
        told.order.push(`out ${logged.seq}`);
      },
      onProtection: (_seq, _at, change) => { options.onProtection?.(change); },
      onEffect: (effect) => {
        told.effects.push(effect);
        options.onEffect?.(effect, engine);
      },
      onLog: (strategy, message) => { told.logs.push(`${strategy}: ${message}`); },
    },
  });
  return { engine, state, ...told };
}

/**
 * Returns the instance with its code apart from the engine, as in a process of its own: calls and effects are copied.
 */
export function apart(instance: StrategyInstance, seed = 7): StrategyInstance {
  if (instance.apart !== undefined) return instance;
  const realm = createRealm({ ...instance, seed, locate: placeOf });
  return {
    ...instance,
    apart: {
      call: (call, portfolio) => ({ effects: structuredClone(realm.handle(structuredClone(call), portfolio)) }),
    },
  };
}

/** Returns an engine that has been started. */
export function start(...[strategies, options]: Parameters<typeof prepare>): Run {
  const run = prepare(strategies, options);
  run.engine.start();
  return run;
}

export type Body = (streams: Readonly<Record<string, Observable<unknown>>>, context: StrategyContext) =>
  Observable<Proposal>;

/** Returns an instance of a strategy that exists for one test. */
export function strategy(
  name: string, run: Body = () => NEVER, inputs: () => Readonly<Record<string, StrategyInput<unknown>>> = priceInput,
): StrategyInstance {
  const definition = defineStrategy({
    name, summary: 'A strategy of the tests.', params: z.strictObject({}), inputs: () => inputs(),
    run: (streams, _params, context) => run(streams, context),
  });
  return { name, strategy: definition, params: {} };
}

/** The price of buying SOL with 25 USDC, as `buyingSol` quotes it. */
export function priceInput(): { readonly price: StrategyInput<unknown> } {
  return { price: quotes(SOL_USDC, { amount: { token: USDC, amount: PURCHASE }, every: '5s' }) };
}

/** Returns what was decided without its numbers, which differ where a neighbour said more or less. */
export function decided(run: Run, name: string): unknown[] {
  return run.logged.filter((decision) => decision.strategy === name)
    .map(({ at, proposal, verdict, code }) => ({ at, proposal, verdict, code }));
}

/** Returns the texts of the alerts of a strategy, each with the time of its decision. */
export function alerts(run: Run, name?: string): string[] {
  return run.logged.flatMap(({ at, strategy: from, proposal }) =>
    (proposal.kind === 'alert' && (name === undefined || from === name) ? [`${at} ${proposal.message}`] : []));
}
