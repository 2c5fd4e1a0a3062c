import { ignoreElements } from 'rxjs';
import type { Millis } from '../../core/time.ts';
import type { StrategyInstance } from '../../engine/host.ts';

/** Returns a strategy that sees everything and proposes nothing; it is warmed up for `warmupMs` at the most. */
export function muted(instance: StrategyInstance, warmupMs: Millis | undefined): StrategyInstance {
  const { strategy } = instance;
  return {
    ...instance,
    warmupMs: Math.min(instance.warmupMs ?? 0, warmupMs ?? 0),
    strategy: { ...strategy, run: (inputs, params, context) => strategy.run(inputs, params, context).pipe(ignoreElements()) },
  };
}
