import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';

// Loaded before a process's own code: its time runs `GANNET_TIME_FACTOR` times as fast since the instant
// `GANNET_TIME_ANCHOR`. All processes of a campaign are given the same two, so that their clocks agree: a minute of
// waiting takes seconds, and no code under test knows.

const factor = Number(process.env['GANNET_TIME_FACTOR'] ?? 1);
const anchorMs = Number(process.env['GANNET_TIME_ANCHOR'] ?? Date.now());

if (factor !== 1) accelerate();

function accelerate(): void {
  const RealDate = Date;
  const realNow = Date.now.bind(Date);
  const now = (): number => Math.floor(anchorMs + (realNow() - anchorMs) * factor);
  class FastDate extends RealDate {
    constructor(...given: readonly unknown[]) {
      super(...((given.length === 0 ? [now()] : given) as [number]));
    }

    static override now(): number {
      return now();
    }
  }
  Object.defineProperty(globalThis, 'Date', { value: FastDate, writable: true, configurable: true });

  const realPerformance = performance.now.bind(performance);
  Object.defineProperty(performance, 'now', { value: () => realPerformance() * factor, configurable: true });

  for (const name of ['setTimeout', 'setInterval'] as const) {
    const real = globalThis[name] as (work: () => void, ms?: number, ...rest: readonly unknown[]) => unknown;
    const fast = (work: () => void, ms = 0, ...rest: readonly unknown[]): unknown => real(work, ms / factor, ...rest);
    Object.defineProperties(fast, Object.getOwnPropertyDescriptors(real));
    Object.defineProperty(globalThis, name, { value: fast, writable: true, configurable: true });
    Object.defineProperty(timers, name, { value: fast, writable: true, configurable: true });
  }
  const realSleep = timersPromises.setTimeout;
  timersPromises.setTimeout = ((ms = 0, ...rest: readonly unknown[]) =>
    (realSleep as (ms: number, ...rest: readonly unknown[]) => unknown)(ms / factor, ...rest)) as typeof realSleep;
  syncBuiltinESMExports();
}
