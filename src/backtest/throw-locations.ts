import { isObservable, Observable } from 'rxjs';
import { placeOf } from '../core/throw-place.ts';
import { faultyCallOf } from '../engine/host/strategy-context.ts';
import type { StrategyInstance } from '../engine/strategy-host.ts';

/** Strategies that note where they throw. The engine reports the message of an error, not its location. */
interface WatchedStrategies<S extends StrategyInstance> {
  readonly strategies: readonly S[];
  /** Returns the location where the strategy of a name threw, "dip.ts:12:5"; undefined where it is not known. */
  readonly thrownAt: (name: string) => string | undefined;
}

/** Returns strategies to run instead of the given ones: they decide the same and throw the same. */
export function watchThrows<S extends StrategyInstance>(instances: readonly S[]): WatchedStrategies<S> {
  const places = new Map<string, string>();
  const strategies = instances.map((instance): S => {
    const { name, strategy } = instance;
    const note = (error: unknown): void => {
      const place = placeOf(error);
      if (place !== undefined && !places.has(name)) places.set(name, place);
    };
    const run: typeof strategy.run = (...given) => {
      try {
        const proposals$ = strategy.run(...given);
        return isObservable(proposals$) ? noting(proposals$, note) : proposals$;
      } catch (error) {
        note(error);
        throw error;
      }
    };
    return { ...instance, strategy: { ...strategy, run } };
  });
  return { strategies, thrownAt: (name) => places.get(name) };
}

function noting<T>(source: Observable<T>, note: (error: unknown) => void): Observable<T> {
  return new Observable((subscriber) => source.subscribe({
    next: (value) => {
      const faulty = faultyCallOf(value);
      if (faulty !== undefined) note(faulty);
      subscriber.next(value);
    },
    error: (error: unknown) => { note(error); subscriber.error(error); },
    complete: () => { subscriber.complete(); },
  }));
}
