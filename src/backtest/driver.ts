import type { Millis } from '../core/time.ts';
import type { Engine } from '../engine/engine.ts';
import type { VirtualClock } from '../engine/virtual-clock.ts';
import type { RecordedRows } from '../engine/warm-up.ts';

/** A place in a recording. `next` moves on; the members then speak of the row arrived at. */
export type InputCursor = RecordedRows;

/**
 * Drives an engine through a recording: time moves to each record, then the record is handed in. Two clocks stand side
 * by side, the engine's and the world's (what the simulated executor waits on), and whichever is due first goes first.
 * `stands` says that the cursor has arrived at a record already. Returns the number of records: `most` where there may be more,
 * with the cursor at the last of them.
 */
export function drive(engine: Engine, world: VirtualClock, cursor: InputCursor, { stands = false, most = Infinity }: { readonly stands?: boolean; readonly most?: number } = {}): number {
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
