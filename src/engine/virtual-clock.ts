import type { SchedulerAction } from 'rxjs';
import { Subscription } from 'rxjs';
import { AssertionError, assert } from '../core/assert.ts';
import type { Clock, Millis } from '../core/time.ts';

/** A timer that keeps rescheduling itself at the same instant would never let time go on. */
const FIRINGS_PER_INSTANT_MAX = 100_000;

/**
 * A clock that moves only by its methods. Timers fire in order of their instants, those of one instant in order of
 * scheduling; each sees its own instant as the present. It is a full RxJS scheduler.
 */
export class VirtualClock implements Clock {
  #now: Millis;
  #order = 0;
  /** A binary heap: RxJS's own virtual scheduler sorts its whole queue at every insertion. */
  readonly #heap: Timer[] = [];

  constructor(startAt: Millis) {
    this.#now = startAt;
  }

  now(): Millis {
    return this.#now;
  }

  /** Returns the instant of the next timer, Infinity without one. */
  nextAt(): Millis {
    while (this.#heap.length > 0 && this.#heap[0]!.closed) this.#pop();
    return this.#heap[0]?.due ?? Infinity;
  }

  /**
   * Moves time to `at`, firing what is due until then, `at` included; `afterEach` runs after each timer.
   * Time never goes back: an earlier `at` leaves it where it is.
   */
  advanceTo(at: Millis, afterEach?: () => void): void {
    if (this.isDue(at)) this.#fireUntil(at, afterEach);
    if (at > this.#now) this.#now = at;
  }

  /** Sets the time to `at`, which may be earlier; only while no timer waits. */
  restartAt(at: Millis): void {
    assert(this.nextAt() === Infinity, 'the clock cannot restart while a timer waits');
    this.#now = at;
  }

  /** Jumps to `at`: overdue timers fire there, once each, with `at` as the present. */
  jumpTo(at: Millis, afterEach?: () => void): void {
    if (at > this.#now) this.#now = at;
    this.#fireUntil(at, afterEach);
  }

  /** Returns whether a timer may be due by `at`; fast enough for every event of a recording. */
  isDue(at: Millis): boolean {
    const heap = this.#heap;
    return heap.length > 0 && heap[0]!.due <= at;
  }

  #fireUntil(at: Millis, afterEach?: () => void): void {
    let firings = 0;
    while (this.nextAt() <= at) {
      const timer = this.#pop();
      firings = timer.due === this.#now ? firings + 1 : 0;
      if (firings > FIRINGS_PER_INSTANT_MAX)
        throw new AssertionError(`timers keep firing at the one instant ${this.#now}`);
      if (timer.due > this.#now) this.#now = timer.due;
      timer.fire();
      afterEach?.();
    }
  }

  schedule<T>(work: (this: SchedulerAction<T>, state?: T) => void, delay = 0, state?: T): Subscription {
    const timer = new Timer(this, work as (this: SchedulerAction<unknown>, state?: unknown) => void);
    return timer.schedule(state, delay);
  }

  /** Adds a timer to the queue. */
  enqueue(timer: Timer, delay: number): void {
    assert(!Number.isNaN(delay), 'a timer needs a delay that is a number');
    timer.due = this.#now + Math.max(0, delay);
    this.#insert(timer);
  }

  /** Takes over the timers of a clock that shows the same time. They keep their instants and their order. */
  adopt(other: VirtualClock): void {
    const timers = other.#heap.splice(0).filter(({ closed }) => !closed).sort((a, b) => (isBefore(a, b) ? -1 : 1));
    for (const timer of timers) {
      timer.moveTo(this);
      this.#insert(timer);
    }
  }

  #insert(timer: Timer): void {
    timer.order = this.#order++;
    const heap = this.#heap;
    let child = heap.push(timer) - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (isBefore(heap[parent]!, heap[child]!)) break;
      [heap[parent], heap[child]] = [heap[child]!, heap[parent]!];
      child = parent;
    }
  }

  #pop(): Timer {
    const heap = this.#heap;
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length === 0) return first;
    heap[0] = last;
    for (let parent = 0; ;) {
      let least = parent;
      for (const child of [2 * parent + 1, 2 * parent + 2]) {
        if (child < heap.length && isBefore(heap[child]!, heap[least]!)) least = child;
      }
      if (least === parent) return first;
      [heap[parent], heap[least]] = [heap[least]!, heap[parent]!];
      parent = least;
    }
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.due < b.due || (a.due === b.due && a.order < b.order);
}

/** One scheduled action; it can reschedule itself, as RxJS's `interval` does. */
class Timer extends Subscription implements SchedulerAction<unknown> {
  due: Millis = 0;
  order = 0;
  #clock: VirtualClock;
  readonly #work: (this: SchedulerAction<unknown>, state?: unknown) => void;
  #state: unknown;

  constructor(clock: VirtualClock, work: (this: SchedulerAction<unknown>, state?: unknown) => void) {
    super();
    this.#clock = clock;
    this.#work = work;
  }

  schedule(state?: unknown, delay = 0): Subscription {
    if (this.closed) return this;
    this.#state = state;
    this.#clock.enqueue(this, delay);
    return this;
  }

  moveTo(clock: VirtualClock): void {
    this.#clock = clock;
  }

  fire(): void {
    this.#work.call(this, this.#state);
  }
}
