import { GannetError } from '../../core/errors.ts';
import { seededRandom } from '../../core/random.ts';
import type { Millis } from '../../core/time.ts';
import type { Difference } from './difference.ts';
import { firstDifference } from './difference.ts';
import type { Leak } from './leak.ts';
import { leakOf } from './leak.ts';
import type { PassAnswer, PassTask, PassThread, World } from './pass.ts';
import { WORLDS } from './pass.ts';
import type { Poison } from './poison.ts';
import { POISONS } from './poison.ts';
import { sampleTimes } from './sample-times.ts';

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
  /** The thread that sees the true future first. */
  readonly used: PassThread;
  /** Another one, that must not have seen it under this strategy. */
  readonly fresh: PassThread;
  /** Returns a number that no other pass was given. */
  readonly nextGeneration: () => number;
  /** Hears of every pass that is over. */
  readonly onPass: () => void;
}

/** How two passes differ; without a difference where one of them did not come about. */
interface Moved {
  readonly difference: Difference | undefined;
  /** For people, mostly empty. */
  readonly fault: string;
}

/** What one strategy came to alone, and what its neighbours' company is compared with. */
export interface Verdict {
  readonly leak: Leak | undefined;
  readonly reference: PassAnswer;
}

/**
 * Looks for a decision of a strategy that depends on what comes after it. First the truth; then spoiled futures and the
 * truth again in the same process and with the same modules, where whatever was kept of the first run shows; then the
 * spoiled futures in a process that was not there, each with modules loaded anew; then the truth under another clock,
 * chance, environment, and without a disk.
 */
export async function judge(strategy: string, bench: Bench): Promise<Verdict> {
  const generation = bench.nextGeneration();
  const pass = async (thread: PassThread, task: Omit<PassTask, 'strategy'>): Promise<PassAnswer> => {
    const answer = await thread.run({ strategy, ...task });
    bench.onPass();
    return answer;
  };
  const reference = await pass(bench.used, { generation });
  if (reference.fault !== undefined) throw new GannetError('STRATEGY_INVALID', `strategy ${strategy} cannot be run: ${reference.fault}`);
  const verdict = (leak: Leak | undefined): Verdict => ({ leak, reference });
  if (reference.traces.length > 0) {
    return verdict(leakOf(undefined, { poison: 'shared-state', from: null, process: 'fresh', detail: `it changed what all code shares: ${reference.traces.join(', ')}` }));
  }
  const poisons = poisonsFor(reference, strategy, bench);
  // Whoever reads files may read the recording: then the files must be spoiled as well.
  const onDisk = reference.reaches.length > 0;
  const runUnder = (worlds: PassTask['worlds']): Promise<PassAnswer> => pass(bench.fresh, { generation: bench.nextGeneration(), worlds });
  const reach = onDisk ? `; it reaches for ${reference.reaches.slice(0, 3).join(', ')}` : '';

  for (const poison of poisons) {
    const answer = await pass(bench.fresh, { generation: bench.nextGeneration(), poison, onDisk });
    const leak = poisonLeak(reference, answer, { poison, process: 'fresh', reach });
    if (leak !== undefined) return verdict(await causeOfChaos(reference, reach, runUnder) ?? leak);
  }
  for (const poison of poisons) {
    const answer = await pass(bench.used, { generation, poison, onDisk });
    const leak = poisonLeak(reference, answer, { poison, process: 'same', reach });
    if (leak !== undefined) return verdict(leak);
  }
  const again = await pass(bench.used, { generation, onDisk });
  const repeated = compared(reference, again);
  if (repeated !== undefined) {
    return verdict(leakOf(repeated.difference, { poison: 'repetition', from: null, process: 'same', detail: `the same run again in the same process decides otherwise: something of an earlier run is kept${repeated.fault}${reach}` }));
  }
  return verdict(await elsewhereLeak(reference, reach, runUnder));
}

function poisonsFor({ decisions }: PassAnswer, strategy: string, { startAt, endAt, times, seed }: LookaheadOptions): Poison[] {
  const random = seededRandom(`${seed}:${strategy}`);
  const instants = sampleTimes({ decidedAt: decisions.map(({ at }) => at), startAt, endAt, count: times, random });
  return instants.flatMap((from) => POISONS.map((kind) => ({ kind, from, seed })));
}

function poisonLeak(reference: PassAnswer, answer: PassAnswer, { poison: { kind, from }, process, reach }: {
  readonly poison: Poison; readonly process: Leak['process']; readonly reach: string;
}): Leak | undefined {
  const moved = compared(reference, answer, from);
  if (moved === undefined) return undefined;
  const how = process === 'same' ? ' after a run over the true future in the same process: something of it is kept' : '';
  return leakOf(moved.difference, { poison: kind, from, process, detail: `a decision changes with what comes after it (${kind})${how}${moved.fault}${reach}` });
}

/**
 * Returns why the truth itself is not decided upon the same in another process; undefined where it is. The cause is what,
 * once it is held fast, lets two runs agree.
 */
async function causeOfChaos(reference: PassAnswer, reach: string, run: (worlds: PassTask['worlds']) => Promise<PassAnswer>): Promise<Leak | undefined> {
  const moved = compared(reference, await run([]));
  if (moved === undefined) return undefined;
  for (const world of reference.reaches.length > 0 ? WORLDS : WORLDS.filter((one) => one !== 'disk')) {
    if (compared(await run([world]), await run([world])) === undefined) return worldLeak(world, moved, reach);
  }
  return worldLeak('elsewhere', moved, reach);
}

/** One look at everything, and where that shows something, one at each. */
async function elsewhereLeak(reference: PassAnswer, reach: string, run: (worlds: PassTask['worlds']) => Promise<PassAnswer>): Promise<Leak | undefined> {
  const together = compared(reference, await run(WORLDS));
  if (together === undefined) return undefined;
  for (const world of WORLDS) {
    const moved = compared(reference, await run([world]));
    if (moved !== undefined) return worldLeak(world, moved, reach);
  }
  return worldLeak('elsewhere', together, reach);
}

function worldLeak(poison: World | 'elsewhere', { difference, fault }: Moved, reach: string): Leak {
  return leakOf(difference, { poison, from: null, process: 'fresh', detail: `a decision follows from ${OF_THE_MACHINE[poison]}, which no recording holds${fault}${reach}` });
}

const OF_THE_MACHINE = {
  clock: 'the machine’s clock', chance: 'unseeded chance', environment: 'the process’s environment', disk: 'files or other processes', elsewhere: 'something of the machine',
} as const;

/** Returns how two passes differ, undefined where they do not. */
export function compared(reference: PassAnswer, answer: PassAnswer, until?: Millis): Moved | undefined {
  if (answer.fault !== undefined && answer.fault !== reference.fault) return { difference: undefined, fault: ` (${answer.fault})` };
  const difference = firstDifference(reference.decisions, answer.decisions, { until });
  return difference === undefined ? undefined : { difference, fault: '' };
}
