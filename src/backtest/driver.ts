import type { Millis } from '../core/time.ts';
import type { Engine } from '../engine/engine.ts';
import type { VirtualClock } from '../engine/virtual-clock.ts';
import type { RecordedRows } from '../engine/warm-up.ts';
import type { MarketCache } from '../trading/market-cache.ts';
import type { Sampler } from './sampling.ts';

/** A place in a recording. `next` moves on; the members then speak of the row arrived at. */
export type InputCursor = RecordedRows;

/**
 * Drives an engine through a recording: time moves to each record, then the record is handed in. Two clocks stand side
 * by side, the engine's and the world's (what the simulated executor waits on), and whichever is due first goes first.
 * `stands` says that the cursor has arrived at a record already. Returns the number of records: `most` where there may
 * be more, with the cursor at the last of them.
 */
export function drive(engine: Engine, world: VirtualClock, cursor: InputCursor, { stands = false, most = Infinity }: {
  readonly stands?: boolean; readonly most?: number;
} = {}): number {
  let events = 0;
  for (let more = stands || cursor.next(); more; more = events < most && cursor.next()) {
    const { at } = cursor;
    if (engine.clock.isDue(at) || world.isDue(at)) advanceBoth(engine, world, at);
    world.advanceTo(at);
    engine.accept(cursor.input, at);
    events += 1;
  }
  return events;
}

/**
 * Drives an engine through a recording that holds more than a live run would have polled. The market that swaps are
 * filled from learns of every row, the engine of those that the sampler takes. Otherwise it does the same as `drive`.
 */
export function driveSampled(engine: Engine, world: VirtualClock, cursor: InputCursor,
  { sampler, market, stands = false, most = Infinity }: {
    readonly sampler: Sampler;
    readonly market: MarketCache;
    readonly stands?: boolean;
    readonly most?: number;
  }): number {
  let events = 0;
  for (let more = stands || cursor.next(); more; more = events < most && cursor.next()) {
    const { at, input } = cursor;
    if (engine.clock.isDue(at) || world.isDue(at)) advanceBoth(engine, world, at);
    world.advanceTo(at);
    if (input.kind !== 'outcome' && input.kind !== 'command') market.observe(input);
    if (sampler.takes(input, at)) engine.accept(input, at);
    events += 1;
  }
  return events;
}

/** Lets what is under way end, with the strategies stopped: a swap begun in the last second still lands. */
export function settle(engine: Engine, world: VirtualClock): void {
  engine.stop();
  advanceBoth(engine, world, Infinity);
}

function advanceBoth(engine: Engine, world: VirtualClock, until: Millis): void {
  for (;;) {
    const due = Math.min(engine.clock.nextAt(), world.nextAt());
    if (due > until || due === Infinity) return;
    world.advanceTo(due);
    // What the world did moved the engine's clock where it had anything to say.
    if (engine.clock.isDue(due)) engine.advanceTo(due);
  }
}
