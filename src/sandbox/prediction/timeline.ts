/** The sandbox's time as the prediction world counts it: in the clock's slots, 0 at the start, negative before. */
export interface Timeline {
  now(): number;
  /** Returns the Unix time of a slot, in whole seconds. */
  unixSeconds(slot: number): number;
  /** Returns how many slots of the sandbox's clock make up a span of real time, at least one. */
  slotsIn(ms: number): number;
  /** Returns the number that the chain gives to a slot. */
  chainSlot(slot: number): number;
  /** Returns the step of the market at a slot: a market of speed 0 stands still, but had a past. */
  step(slot: number): number;
  /** Whether the market moves at all. */
  readonly moves: boolean;
}

/** Returns the timeline of a sandbox. */
export function createTimeline(options: {
  readonly now: () => number; readonly startedAtMs: number; readonly slotMs: number; readonly speed: number; readonly firstChainSlot: number;
}): Timeline {
  return {
    now: options.now,
    unixSeconds: (slot) => Math.floor((options.startedAtMs + slot * options.slotMs) / 1_000),
    slotsIn: (ms) => Math.max(1, Math.round(ms / options.slotMs)),
    chainSlot: (slot) => options.firstChainSlot + slot,
    moves: options.speed > 0,
    step: (slot) => (slot < 0 ? slot : Math.floor(slot * options.speed)),
  };
}

/** Slots of the chain in a minute and in a day, at their usual length: what happens in the prediction world is counted in these. */
export const SLOTS_PER_MINUTE = 150;
export const SLOTS_PER_DAY = 216_000;
