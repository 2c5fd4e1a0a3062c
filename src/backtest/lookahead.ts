import type { Bench, LookaheadOptions, Verdict } from './lookahead/judge.ts';
import { compared, judge } from './lookahead/judge.ts';
import type { Leak } from './lookahead/leak.ts';
import { leakOf } from './lookahead/leak.ts';
import type { PassThread } from './lookahead/pass.ts';

export interface StrategyVerdict {
  readonly name: string;
  readonly clean: boolean;
  readonly firstLeak: Leak | undefined;
  /** How often it decided over the true recording: what never decides is clean and proves nothing. */
  readonly decisions: number;
}

export interface LookaheadResult {
  readonly clean: boolean;
  readonly strategies: readonly StrategyVerdict[];
}

/** Makes threads, and takes them back when a strategy is done with them. */
export interface ThreadPool {
  lend(): Promise<PassThread>;
  /** A thread in which a strategy left something changed is not lent again. */
  takeBack(thread: PassThread): Promise<void>;
  close(): Promise<void>;
}

/** What is heard while strategies are looked at. */
export interface LookaheadProgress {
  readonly strategy: string;
  /** Passes of all strategies so far. */
  readonly passes: number;
}

/**
 * Judges strategies, each by itself: alone in its engine, with a wallet and limits of its own, so that nothing one of them
 * does can move another one's decisions. Those that are clean alone are then run beside one another, the neighbours muted,
 * so that what still moves a decision is no limit, but something that strategies share behind the engine's back; those
 * that are not stay away, for what they spoil is not their neighbours' fault.
 */
export async function lookahead(names: readonly string[], pool: ThreadPool, options: LookaheadOptions & {
  readonly onProgress?: ((progress: LookaheadProgress) => void) | undefined;
}): Promise<LookaheadResult> {
  let generation = 0;
  let passes = 0;
  const nextGeneration = (): number => ++generation;
  const told = (strategy: string) => (): void => { options.onProgress?.({ strategy, passes: ++passes }); };
  const verdicts = new Map<string, Verdict>();
  try {
    await inTwos(names, async (name) => {
      const [used, fresh] = [await pool.lend(), await pool.lend()];
      const bench: Bench = { ...options, used, fresh, nextGeneration, onPass: told(name) };
      const verdict = await judge(name, bench);
      verdicts.set(name, verdict);
      await Promise.all([used, fresh].map((thread) => pool.takeBack(thread)));
    });
    const cleanOnes = names.filter((name) => verdicts.get(name)!.leak === undefined);
    if (cleanOnes.length > 1) {
      await inTwos(cleanOnes, async (name) => {
        const thread = await pool.lend();
        const { reference } = verdicts.get(name)!;
        const answer = await thread.run({ strategy: name, generation: nextGeneration(), neighbours: cleanOnes.filter((other) => other !== name) });
        told(name)();
        const moved = compared(reference, answer);
        if (moved !== undefined) {
          verdicts.set(name, { reference, leak: leakOf(moved.difference, { poison: 'neighbours', from: null, process: 'fresh', detail: `it decides otherwise beside ${cleanOnes.length - 1} strategies whose proposals are dropped: it shares something with them${moved.fault}` }) });
        }
        await pool.takeBack(thread);
      });
    }
  } finally {
    await pool.close();
  }
  const strategies = names.map((name): StrategyVerdict => {
    const { leak, reference } = verdicts.get(name)!;
    return { name, clean: leak === undefined, firstLeak: leak, decisions: reference.decisions.length };
  });
  return { clean: strategies.every(({ clean }) => clean), strategies };
}

/** Two at a time: each mostly waits for one thread. */
async function inTwos<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all([worker(), worker()]);
}
