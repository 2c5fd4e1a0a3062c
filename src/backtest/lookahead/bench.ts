import type { Millis } from '../../core/time.ts';
import type { PassAnswer, PassTask, PassThread } from './pass.ts';

/** How thoroughly strategies are looked at. */
export interface LookaheadOptions {
  readonly startAt: Millis;
  readonly endAt: Millis;
  /** At how many instants the future is spoiled, in three ways each. */
  readonly times: number;
  readonly seed: number;
}

/** What one strategy is judged with. */
export interface Bench extends LookaheadOptions {
  readonly strategy: string;
  /** The thread that sees the true future first. */
  readonly used: PassThread;
  /** Another one, that must not have seen it under this strategy. */
  readonly fresh: PassThread;
  /** Does work with a third thread. */
  readonly withAnother: <T>(work: (thread: PassThread) => Promise<T>) => Promise<T>;
  /** Does work with a thread that nothing was ever run in. */
  readonly withNew: <T>(work: (thread: PassThread) => Promise<T>) => Promise<T>;
  /** Returns a number that no other pass was given. */
  readonly nextGeneration: () => number;
  /** Hears how much there is to go through, in lengths of the recording, where more or less of it is known than before. */
  readonly onPlan: (lengths: number) => void;
  /** Hears of every pass that is over, and how much of the recording it went through. */
  readonly onPass: (length: number) => void;
}

/** Runs a pass of the bench's strategy; where no generation is given, with its modules loaded anew. */
export async function runOn(thread: PassThread, bench: Bench, task: Partial<Omit<PassTask, 'strategy'>> = {}): Promise<PassAnswer> {
  const answer = await thread.run({ strategy: bench.strategy, generation: task.generation ?? bench.nextGeneration(), ...task });
  bench.onPass(passLength(bench, task));
  return answer;
}

/** Returns how much of the recording a pass goes through. */
export function passLength({ startAt, endAt }: LookaheadOptions, { poison, whole }: Pick<PassTask, 'poison' | 'whole'>): number {
  return poison === undefined || whole === true ? 1 : (poison.from - startAt) / Math.max(1, endAt - startAt);
}
