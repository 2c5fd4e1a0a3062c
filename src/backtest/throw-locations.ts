import { basename, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isObservable, Observable } from 'rxjs';
import { printable } from '../core/text.ts';
import type { StrategyInstance } from '../engine/strategy-host.ts';

/** The folder of the project's own modules. */
const OWN_CODE = join(import.meta.dirname, '..') + sep;
const PACKAGES = `${sep}node_modules${sep}`;
/** A module as a URL, or as a path where a loader names it so. */
const FRAME = /(?:\(|at )(?:async )?((?:file:\/\/)?\/.+):(\d+):(\d+)\)?$/;

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
    next: (value) => { subscriber.next(value); },
    error: (error: unknown) => { note(error); subscriber.error(error); },
    complete: () => { subscriber.complete(); },
  }));
}

/** Returns the first location of a stack trace outside the project and its packages. */
function placeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || typeof error.stack !== 'string') return undefined;
  for (const frame of error.stack.split('\n')) {
    const [, from, line, column] = FRAME.exec(frame) ?? [];
    if (from === undefined) continue;
    // A fresh copy of a module has a URL with a query.
    const path = (from.startsWith('file:') && URL.canParse(from) ? fileURLToPath(from) : from).replace(/\?.*$/, '');
    if (!path.startsWith(OWN_CODE) && !path.includes(PACKAGES))
      return `${printable(basename(path), 100)}:${line!}:${column!}`;
  }
  return undefined;
}
