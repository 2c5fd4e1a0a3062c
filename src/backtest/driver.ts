import type { Millis } from '../core/time.ts';
import type { Engine } from '../engine/engine.ts';
import type { VirtualClock } from '../engine/virtual-clock.ts';
import type { RecordedRows } from '../engine/warm-up.ts';
import type { MarketCache } from '../trading/market-cache.ts';
import type { Sampler } from './sampling.ts';

/** A place in a recording. `next` moves to the next row; the members describe the current row. */
export type InputCursor = RecordedRows;

/**
 * Drives an engine through a recording: time advances to each row, then the engine accepts the row. `clock` is the
 * clock of the simulation, on which the simulated executor waits. Of both clocks the one that is due first advances
 * first. `stands` says that the cursor is already at a row. Returns the number of rows; where it is `most`, the cursor
 * is at the last of them and there may be more.
 */
export function drive(engine: Engine, clock: VirtualClock, cursor: InputCursor,
  { stands = false, most = Infinity, goesOn }: {
    readonly stands?: boolean;
    readonly most?: number;
    /** Called before every row or run of passed rows, and whenever a timer moves the time on. */
    readonly goesOn?: (() => void) | undefined;
  } = {}): number {
  let events = 0;
  for (let more = stands || cursor.next(); more; more = events < most && cursor.next()) {
    goesOn?.();
    const { at } = cursor;
    if (engine.clock.isDue(at) || clock.isDue(at)) advanceBoth(engine, clock, at, goesOn);
    const run = cursor.quotes?.(most - events);
    const passed = run === undefined ? 0 : engine.pass(run, clock);
    if (passed > 0) {
      events += passed;
      cursor.skip?.(passed - 1);
      continue;
    }
    clock.advanceTo(at);
    engine.accept(cursor.input, at);
    events += 1;
  }
  return events;
}

/**
 * Drives an engine through a recording that holds more rows than a live run would have polled. The market that fills
 * swaps receives every row, and the engine receives the rows that the sampler takes. Otherwise it works as `drive`
 * does.
 */
export function driveSampled(engine: Engine, clock: VirtualClock, cursor: InputCursor,
  { sampler, market, stands = false, most = Infinity, goesOn }: {
    readonly sampler: Sampler;
    readonly market: MarketCache;
    readonly stands?: boolean;
    readonly most?: number;
    readonly goesOn?: (() => void) | undefined;
  }): number {
  let events = 0;
  for (let more = stands || cursor.next(); more; more = events < most && cursor.next()) {
    const { at, input } = cursor;
    goesOn?.();
    if (engine.clock.isDue(at) || clock.isDue(at)) advanceBoth(engine, clock, at, goesOn);
    clock.advanceTo(at);
    if (input.kind !== 'outcome' && input.kind !== 'command') market.observe(input);
    if (sampler.takes(input, at)) engine.accept(input, at);
    events += 1;
  }
  return events;
}

/** Returns the same rows, each of which is announced by a call. */
export function announced(cursor: InputCursor, goesOn?: () => void): InputCursor {
  return goesOn === undefined ? cursor : {
    next: () => {
      goesOn();
      return cursor.next();
    },
    get at() { return cursor.at; },
    get input() { return cursor.input; },
  };
}

/** Stops the strategies and completes the swaps under way: a swap of the last second still lands. */
export function settle(engine: Engine, clock: VirtualClock, goesOn?: () => void): void {
  engine.stop();
  advanceBoth(engine, clock, Infinity, goesOn);
}

/** Fires the timers of both clocks until a time at their own instants, those that are due first first. */
export function advanceBoth(
  engine: Engine, clock: VirtualClock, until: Millis, goesOn: (() => void) | undefined,
): void {
  for (let last = -Infinity; ;) {
    const due = Math.min(engine.clock.nextAt(), clock.nextAt());
    if (due > until || due === Infinity) return;
    if (due > last) goesOn?.();
    last = due;
    clock.advanceTo(due);
    // An outcome of the simulation advanced the engine's clock already.
    if (engine.clock.isDue(due)) engine.advanceTo(due);
  }
}
