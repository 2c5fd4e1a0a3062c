import { mkdirSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';

/** Microseconds between two samples: fine enough to see what happens once in a hundred events. */
const SAMPLING_US = 200;

/**
 * Does some work and writes where this thread's time went into `<dir>/<name>.cpuprofile`, which browsers' developer tools
 * open. Other processes and threads are not in it.
 */
export async function profiled<T>(work: () => Promise<T>, { dir, name }: { readonly dir: string; readonly name: string }): Promise<T> {
  mkdirSync(dir, { recursive: true });
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: SAMPLING_US });
    await session.post('Profiler.start');
    try {
      return await work();
    } finally {
      const { profile } = await session.post('Profiler.stop');
      writeFileSync(join(dir, `${name}.cpuprofile`), JSON.stringify(profile));
    }
  } finally {
    session.disconnect();
  }
}
