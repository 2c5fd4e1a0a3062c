import type { Millis } from '../core/time.ts';
import { capMemory } from './protections/cap-memory.ts';
import type { EngineState } from './state.ts';

/**
 * Lets a run begin at an instant, before its first input. Where an earlier one ended later, its clock was ahead, or
 * this one is behind: then the present is this run's, and what is noted of later is taken for noted just now. Otherwise
 * time would stand still until the clock has caught up, prices would be too old, and nothing would be looked at.
 * Returns by how much the earlier run was ahead, 0 where it was not.
 */
export function beginRun({ protections, swapRate, spends }: EngineState, startAt: Millis): Millis {
  const aheadMs = Math.max(protections.now, swapRate.times.at(-1) ?? -Infinity) - startAt;
  if (!(aheadMs > 0)) return 0;
  capMemory(protections, startAt);
  swapRate.cap(startAt);
  spends.cap(startAt);
  return aheadMs;
}
