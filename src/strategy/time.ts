import type { MonoTypeOperatorFunction, OperatorFunction } from 'rxjs';
import * as rx from 'rxjs';
import type { Millis } from '../core/time.ts';
import { parseDuration } from '../core/time.ts';
import type { StrategyContext } from './context.ts';

// RxJS's own time operators read the wall clock unless told otherwise, and `retry` and `repeat` cannot be told.
// These are the same operators bound to the engine's clock; strategies use no others.

type Timed = Pick<StrategyContext, 'clock'>;

/**
 * Emits the number of each slot of an absolute grid (slot n begins at n * every + offset since the epoch): the present
 * slot at once, then each one as it begins. A restart within a slot meets the same number again, which makes it a key.
 */
export function slots(
  context: Timed, options: { readonly every: string; readonly offset?: string | undefined },
): rx.Observable<number> {
  const { every, offset } = options;
  return slotsOf(context, parseDuration(every), offset === undefined ? 0 : parseDuration(offset));
}

/** Returns the time at which a slot of a grid begins. */
export function slotStart(
  slot: number, { every, offset }: { readonly every: string; readonly offset?: string | undefined },
): Millis {
  return slot * parseDuration(every) + (offset === undefined ? 0 : parseDuration(offset));
}

/** Returns `slots` of a grid in milliseconds. */
export function slotsOf(context: Timed, every: Millis, offset: Millis): rx.Observable<number> {
  return new rx.Observable((subscriber) => {
    const { clock } = context;
    // One action that reschedules itself: a new one per slot would stay with the subscriber until the end of the run.
    subscriber.add(clock.schedule(function next() {
      const slot = Math.floor((clock.now() - offset) / every);
      subscriber.next(slot);
      this.schedule(undefined, (slot + 1) * every + offset - clock.now());
    }, 0));
  });
}

/** Emits 0, 1, 2 … at every interval of the clock. */
export function interval(context: Timed, every: string): rx.Observable<number> {
  return rx.interval(parseDuration(every), context.clock);
}

/** Emits 0 once after a duration. */
export function timer(context: Timed, due: string): rx.Observable<0> {
  return rx.timer(parseDuration(due), context.clock);
}

/** Delays each value. */
export function delay<T>(context: Timed, by: string): MonoTypeOperatorFunction<T> {
  const delayMs = parseDuration(by);
  const { clock } = context;
  // RxJS's own operator makes an inner stream of each value, which costs several times as much.
  return (source) => new rx.Observable((subscriber) => {
    let waiting = 0;
    let isOver = false;
    return source.subscribe({
      next: (value) => {
        waiting += 1;
        const timer = clock.schedule(() => {
          subscriber.remove(timer);
          timer.unsubscribe();
          waiting -= 1;
          subscriber.next(value);
          if (isOver && waiting === 0) subscriber.complete();
        }, delayMs);
        subscriber.add(timer);
      },
      error: (error: unknown) => { subscriber.error(error); },
      complete: () => {
        isOver = true;
        if (waiting === 0) subscriber.complete();
      },
    });
  });
}

/** Emits a value after a silence of the source. */
export function debounceTime<T>(context: Timed, quiet: string): MonoTypeOperatorFunction<T> {
  return rx.debounceTime(parseDuration(quiet), context.clock);
}

/** Emits a value, then ignores the source for a span. */
export function throttleTime<T>(context: Timed, span: string): MonoTypeOperatorFunction<T> {
  return rx.throttleTime(parseDuration(span), context.clock);
}

/** Emits the latest value a span after the first one. */
export function auditTime<T>(context: Timed, span: string): MonoTypeOperatorFunction<T> {
  return rx.auditTime(parseDuration(span), context.clock);
}

/** Emits the latest value at every interval. */
export function sampleTime<T>(context: Timed, every: string): MonoTypeOperatorFunction<T> {
  return rx.sampleTime(parseDuration(every), context.clock);
}

/** Emits the values of each span as an array. */
export function bufferTime<T>(context: Timed, span: string): OperatorFunction<T, T[]> {
  return rx.bufferTime(parseDuration(span), context.clock);
}

/** Throws TimeoutError where no value arrives within a span. */
export function timeout<T>(context: Timed, within: string): MonoTypeOperatorFunction<T> {
  return rx.timeout({ each: parseDuration(within), scheduler: context.clock });
}

/** Resubscribes after an error, at most `count` times, after a delay on the clock. */
export function retry<T>(
  context: Timed, options: { readonly count: number; readonly delay: string },
): MonoTypeOperatorFunction<T> {
  return rx.retry({ count: options.count, delay: () => timer(context, options.delay) });
}

/** Resubscribes after completion, `count` subscriptions in all, with a delay on the clock. */
export function repeat<T>(
  context: Timed, options: { readonly count: number; readonly delay: string },
): MonoTypeOperatorFunction<T> {
  return rx.repeat({ count: options.count, delay: () => timer(context, options.delay) });
}
