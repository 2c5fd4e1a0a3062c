import { isObservable, Observable } from 'rxjs';
import { refusalMessage, refusalOf } from '../../core/refusals.ts';
import type { Strategy } from '../../strategy/define.ts';

/** Returns a strategy whose errors say plainly what a box refused, and where; otherwise it decides the same. */
export function withPlainRefusals(strategy: Strategy): Strategy {
  return {
    ...strategy,
    run: (...given) => {
      try {
        const proposals$ = strategy.run(...given);
        return isObservable(proposals$) ? plainly(proposals$) : proposals$;
      } catch (error) {
        throw plain(error);
      }
    },
  };
}

function plainly<T>(source: Observable<T>): Observable<T> {
  return new Observable((subscriber) => source.subscribe({
    next: (value) => { subscriber.next(value); },
    error: (error: unknown) => { subscriber.error(plain(error)); },
    complete: () => { subscriber.complete(); },
  }));
}

/** The stack stays: it says where the strategy threw. */
function plain(error: unknown): unknown {
  if (refusalOf(error) === undefined) return error;
  const refused = new Error(refusalMessage(error), { cause: error });
  refused.stack = (error as Error).stack ?? '';
  return refused;
}
