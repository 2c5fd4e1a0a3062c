import type { Observable } from 'rxjs';
import type { z } from 'zod';
import { GannetError } from '../core/errors.ts';
import type { Proposal } from '../trading/proposal.ts';
import type { StrategyContext } from './context.ts';
import type { Input } from './input.ts';

type Inputs = Readonly<Record<string, Input<unknown>>>;

/** The streams a strategy gets: one per declared input, under the same name. */
export type Streams<I extends Inputs> = { readonly [K in keyof I]: Observable<I[K] extends Input<infer T>
  ? T : never> };

/** A strategy as its author writes it. */
export interface StrategyDefinition<S extends z.ZodType, I extends Inputs> {
  /** Lower case, digits and dashes. */
  readonly name: string;
  /** One sentence for people. */
  readonly summary: string;
  /** One or two sentences for people: the markets and settings in which the strategy loses. */
  readonly losesMoneyWhen?: string;
  readonly params: S;
  readonly inputs: (params: z.output<S>) => I;
  /** Returns the proposals as they arise. Called once; plain RxJS. */
  readonly run: (inputs: Streams<I>, params: z.output<S>, context: StrategyContext) => Observable<Proposal>;
}

/** A strategy with any parameters and inputs, as the engine uses it. */
export interface Strategy {
  readonly name: string;
  readonly summary: string;
  readonly losesMoneyWhen?: string;
  readonly params: z.ZodType;
  readonly inputs: (params: unknown) => Inputs;
  readonly run: (inputs: Readonly<Record<string, Observable<unknown>>>, params: unknown, context: StrategyContext) =>
    Observable<Proposal>;
}

/** The version of the SDK: it changes when a strategy that was written for an earlier one may no longer work. */
export const API_VERSION = 1;

const strategies = new WeakSet<object>();

/** Returns a strategy; the default export of a strategy's file. Throws STRATEGY_INVALID on a bad name. */
export function defineStrategy<S extends z.ZodType, I extends Inputs>(definition: StrategyDefinition<S, I>): Strategy {
  if (!/^[a-z][a-z0-9-]{0,62}$/.test(definition.name)) {
    throw new GannetError(
      'STRATEGY_INVALID', `expected a name of lower case letters, digits and dashes, got "${definition.name}"`,
    );
  }
  // The engine only ever passes back what `params` and `inputs` of the same definition returned.
  const strategy = { ...definition } as unknown as Strategy;
  strategies.add(strategy);
  return strategy;
}

/** Returns whether a module's default export was made by `defineStrategy`. */
export function isStrategy(value: unknown): value is Strategy {
  return typeof value === 'object' && value !== null && strategies.has(value);
}
