import type { LookaheadOptions } from './bench.ts';
import { POISONS } from './poison.ts';

/** What is heard while strategies are looked at. Work is counted in lengths of the recording. */
export interface LookaheadProgress {
  readonly done: number;
  /** As far as it is known: whoever is found out early needs less. */
  readonly all: number;
}

/** What there is to do for one strategy. */
export interface StrategyLoad {
  readonly passes: number;
  /** Takes how much is left. */
  readonly plan: (left: number) => void;
  /** Takes a pass that is over. */
  readonly pass: (length: number) => void;
}

/** What there is to do for all of them. */
export interface Workload {
  of(strategy: string): StrategyLoad;
}

/** Returns the work on strategies of which nothing is known yet: instants lie in the middle, on average. */
export function createWorkload(names: readonly string[], { times, onProgress }: Pick<LookaheadOptions, 'times'> & {
  readonly onProgress?: ((progress: LookaheadProgress) => void) | undefined;
}): Workload {
  const loads = new Map(names.map((name) => [name, { passes: 0, done: 0, left: 5 + POISONS.length * times }]));
  const tell = (): void => {
    const all = [...loads.values()];
    const done = all.reduce((sum, load) => sum + load.done, 0);
    onProgress?.({ done, all: done + all.reduce((sum, { left }) => sum + Math.max(0, left), 0) });
  };
  return {
    of: (strategy) => {
      const load = loads.get(strategy)!;
      return {
        get passes() { return load.passes; },
        plan: (left) => {
          load.left = left;
          tell();
        },
        pass: (length) => {
          load.passes += 1;
          load.done += length;
          load.left -= length;
          tell();
        },
      };
    },
  };
}
