/** The sandbox's time as the prediction world counts it: in the clock's slots, 0 at the start, negative before. */
export interface Timeline {
  now(): number;
  /** Returns the Unix time of a slot, in whole seconds. */
  unixSeconds(slot: number): number;
  /** Returns the same time in ISO 8601, in UTC. */
  isoTime(slot: number): string;
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
  readonly now: () => number; readonly startedAtMs: number; readonly slotMs: number; readonly speed: number;
  readonly firstChainSlot: number;
}): Timeline {
  const unixSeconds = (slot: number): number => Math.floor((options.startedAtMs + slot * options.slotMs) / 1_000);
  return {
    now: options.now,
    unixSeconds,
    isoTime: (slot) => new Date(unixSeconds(slot) * 1_000).toISOString(),
    slotsIn: (ms) => Math.max(1, Math.round(ms / options.slotMs)),
    chainSlot: (slot) => options.firstChainSlot + slot,
    moves: options.speed > 0,
    step: (slot) => (slot < 0 ? slot : Math.floor(slot * options.speed)),
  };
}
