import type { Timeline } from '../../../src/sandbox/prediction/catalogue.ts';
import { createTimeline } from '../../../src/sandbox/prediction/catalogue.ts';
import { createPredictionWorld, type PredictionWorld } from '../../../src/sandbox/prediction/exchange.ts';

export const WALLET = 'Gu11Ke8cLnWj8gkvT1PzL1nGdCGZ1E2uGTxUykcRTZ9r';
export const STARTED_AT_MS = 1_790_000_000_000;

/** A prediction world whose time goes where a test puts it. */
export interface TimedWorld extends PredictionWorld {
  at(slot: number): void;
  /** Counts how often somebody asked where a market is: what catching up is made of. */
  readonly looks: number;
}

export function timedWorld(
  options: { seed?: number; speed?: number; contracts?: 'whole' | 'hundredth'; slotMs?: number } = {},
): TimedWorld {
  const { seed = 7, speed = 1, contracts = 'whole', slotMs = 400 } = options;
  let now = 0;
  let looks = 0;
  const timeline =
    createTimeline({ now: () => now, startedAtMs: STARTED_AT_MS, slotMs, speed, firstChainSlot: 1_000_000 });
  const counting: Timeline = { ...timeline, step: (slot) => (looks++, timeline.step(slot)) };
  return {
    ...createPredictionWorld({ seed, wallet: WALLET, timeline: counting, contracts }),
    get looks() {
      return looks;
    },
    at(slot) {
      now = slot;
    },
  };
}
