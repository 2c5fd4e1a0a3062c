import { basename, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isObservable, Observable } from 'rxjs';
import { printable } from '../core/text.ts';
import type { StrategyInstance } from '../engine/host.ts';

/** All of what is no strategy's own. */
const OWN_CODE = join(import.meta.dirname, '..') + sep;
const PACKAGES = `${sep}node_modules${sep}`;
/** A module by its address, or by its path where a loader names it so. */
const FRAME = /(?:\(|at )(?:async )?((?:file:\/\/)?\/.+):(\d+):(\d+)\)?$/;

/**
 * Strategies that are looked at for what they throw: where in their files it was, which the engine, who keeps to what
 * they said, does not tell.
 */
export interface WatchedStrategies<S extends StrategyInstance> {
  readonly strategies: readonly S[];
  /** Returns where the strategy of a name threw, "dip.ts:12:5"; undefined where it did not, or nobody knows. */
  readonly thrownAt: (name: string) => string | undefined;
}

/** Returns the same strategies, to be run instead of those: they decide the same, and throw the same. */
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
    next: (value) => { subscriber.next(value); },
    error: (error: unknown) => { note(error); subscriber.error(error); },
    complete: () => { subscriber.complete(); },
  }));
}

/** The first place on the way to the fault that is neither Gannet's nor a package's. */
function placeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || typeof error.stack !== 'string') return undefined;
  for (const frame of error.stack.split('\n')) {
    const [, from, line, column] = FRAME.exec(frame) ?? [];
    if (from === undefined) continue;
    // A fresh copy of a module has an address with a query.
    const path = (from.startsWith('file:') && URL.canParse(from) ? fileURLToPath(from) : from).replace(/\?.*$/, '');
    if (!path.startsWith(OWN_CODE) && !path.includes(PACKAGES))
      return `${printable(basename(path), 100)}:${line!}:${column!}`;
  }
  return undefined;
}
