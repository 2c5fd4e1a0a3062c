import type { Observable } from 'rxjs';
import { messageOf } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';

type Streams = Readonly<Record<string, Observable<unknown>>>;

/**
 * Returns what `run` returns for the streams of the declared inputs. Where it throws after it took an input that is not
 * declared, which is undefined as a member of any object, the error names that input, and keeps the author's line.
 */
export function runOnStreams<T>(declared: Streams, run: (streams: Streams) => T): T {
  let unknown: string | undefined;
  const streams = new Proxy(declared, {
    get: (target, name, receiver) => {
      if (typeof name === 'string' && !Object.hasOwn(target, name)) unknown ??= name;
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
  try {
    return run(streams);
  } catch (error) {
    if (unknown === undefined || !(error instanceof Error)) throw error;
    const names = Object.keys(declared).map((name) => `"${printable(name, 60)}"`).join(', ') || 'none';
    const told = new Error(`run takes the input "${printable(unknown, 60)}", which inputs does not declare (declared: `
      + `${names}): ${messageOf(error)}`, { cause: error });
    if (error.stack !== undefined) told.stack = error.stack;
    throw told;
  }
}
