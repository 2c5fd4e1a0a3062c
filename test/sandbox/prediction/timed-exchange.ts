import type { Timeline } from '../../../src/sandbox/prediction/catalogue.ts';
import { createTimeline } from '../../../src/sandbox/prediction/catalogue.ts';
import { createPredictionExchange, type PredictionExchange } from '../../../src/sandbox/prediction/exchange.ts';

export const WALLET = 'Gu11Ke8cLnWj8gkvT1PzL1nGdCGZ1E2uGTxUykcRTZ9r';
export const STARTED_AT_MS = 1_790_000_000_000;

/** A prediction exchange whose time a test sets. */
export interface TimedExchange extends PredictionExchange {
  at(slot: number): void;
  /** Counts how often the step of a market was read: the work of catching up. */
  readonly steps: number;
}

export function timedExchange(
  options: { seed?: number; speed?: number; contracts?: 'whole' | 'hundredth'; slotMs?: number } = {},
): TimedExchange {
  const { seed = 7, speed = 1, contracts = 'whole', slotMs = 400 } = options;
  let now = 0;
  let steps = 0;
  const timeline =
    createTimeline({ now: () => now, startedAtMs: STARTED_AT_MS, slotMs, speed, firstChainSlot: 1_000_000 });
  const counting: Timeline = { ...timeline, step: (slot) => (steps++, timeline.step(slot)) };
  return {
    ...createPredictionExchange({ seed, wallet: WALLET, timeline: counting, contracts }),
    get steps() {
      return steps;
    },
    at(slot) {
      now = slot;
    },
  };
}
