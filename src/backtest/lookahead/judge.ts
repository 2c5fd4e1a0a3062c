import { GannetError } from '../../core/errors.ts';
import { seededRandom } from '../../core/random.ts';
import type { Millis } from '../../core/time.ts';
import type { Bench } from './bench.ts';
import { passLength, runOn } from './bench.ts';
import { causeOfChaos, causeOfPoison, causeOfRepetition, reachText, worldLeak } from './cause.ts';
import type { Leak } from './leak.ts';
import { leakOf } from './leak.ts';
import type { Moved } from './moved.ts';
import { compared } from './moved.ts';
import type { PassAnswer } from './pass.ts';
import { WORLDS } from './pass.ts';
import type { Poison } from './poison.ts';
import { POISONS } from './poison.ts';
import { sampleTimes } from './sample-times.ts';

/** What one strategy came to alone, and what its neighbours' company is compared with. */
export interface Verdict {
  readonly leak: Leak | undefined;
  readonly reference: PassAnswer;
  /** At how many instants the future was spoiled. */
  readonly instants: number;
  /** How many decisions were held against those of the first run, over all passes. */
  readonly compared: number;
}

/** A pass that went otherwise than the first one. */
interface Found {
  readonly moved: Moved;
  readonly poison: Poison | 'plain' | 'worlds';
}

/**
 * Looks for a decision of a strategy that depends on what comes after it. First the truth. Then two threads at once: in one
 * that was not there spoiled futures, each with modules loaded anew, then the truth, as it is and under another clock,
 * chance, machine, and without disk and network; in the one that saw the truth spoiled futures and the truth again with
 * the same modules, where whatever was kept of the first run shows. A pass ends soon after its future has begun: what
 * was decided before that is settled then. Throws STRATEGY_INVALID where the strategy cannot be run at all.
 */
export async function judge(bench: Bench): Promise<Verdict> {
  const { strategy, used, fresh } = bench;
  const generation = bench.nextGeneration();
  const reference = await runOn(used, bench, { generation });
  if (reference.fault !== undefined) throw new GannetError('STRATEGY_INVALID', `strategy ${strategy} cannot be run: ${reference.fault}`);
  const tally = { compared: 0 };
  const against = (answer: PassAnswer, until?: Millis): Moved | undefined => {
    tally.compared += until === undefined ? reference.decisions.length : reference.decisions.filter(({ at }) => at < until).length;
    return compared(reference, answer, until);
  };
  const instants = instantsFor(reference, bench);
  const verdict = (leak: Leak | undefined): Verdict => ({ leak, reference, instants: instants.length, compared: tally.compared });
  if (reference.traces.length > 0) {
    return verdict(leakOf(undefined, { poison: 'shared-state', from: null, process: 'fresh', detail: `it changed what all code shares: ${reference.traces.join(', ')}` }));
  }
  const poisons = instants.flatMap((from) => POISONS.map((kind): Poison => ({ kind, from, seed: bench.seed })));
  // Whoever reads files may read the recording: then the files must be spoiled as well, and two at once might read what the other writes.
  const onDisk = reference.reaches.length > 0;
  // Whoever keeps for a process what he read there first meets one kind in each: of the others a process sees one each.
  const alone = onDisk ? POISONS.slice(1).map((kind) => poisons.findLast((poison) => poison.kind === kind)!) : [];
  bench.onPlan(4 + [...alone, ...poisons, ...poisons].reduce((sum, poison) => sum + passLength(bench, { poison }), 0));
  // What the fresh process shows comes first, then what the used one shows, then the machine: whichever is quicker.
  const shown = { inFresh: false, inUsed: false };

  const inFresh = async (): Promise<Found | undefined> => {
    // Before the truth: whoever keeps what a process reads first would go by the true future for good.
    let first: Found | undefined;
    for (const poison of poisons) first ??= found(against(await runOn(fresh, bench, { poison, onDisk }), poison.from), poison);
    for (const poison of alone) first ??= found(against(await bench.withNew((thread) => runOn(thread, bench, { poison, onDisk })), poison.from), poison);
    first ??= found(against(await runOn(fresh, bench)), 'plain');
    shown.inFresh = first !== undefined;
    return shown.inFresh || shown.inUsed ? first : found(against(await runOn(fresh, bench, { worlds: WORLDS })), 'worlds');
  };
  const inUsed = async (): Promise<Found | undefined> => {
    // The latest first, which looks at most; the last one, noise, leaves all of a spoiled future behind for what is kept of it to show.
    const latestFirst = poisons.toReversed().toSorted((a, b) => b.from - a.from);
    let first: Found | undefined;
    for (const [i, poison] of latestFirst.entries()) {
      if (shown.inFresh || first !== undefined) break;
      first = found(against(await runOn(used, bench, { generation, poison, whole: i === latestFirst.length - 1 }), poison.from), poison);
    }
    if (!shown.inFresh) first ??= found(against(await runOn(used, bench, { generation })), 'plain');
    shown.inUsed = first !== undefined;
    return first;
  };
  const [ofFresh, ofUsed] = onDisk ? [await inFresh(), await inUsed()] : await Promise.all([inFresh(), inUsed()]);

  const ground = { reference, bench, reach: reachText(reference) };
  if (ofFresh?.poison === 'plain') return verdict(await causeOfChaos(ofFresh.moved, ground));
  if (ofFresh !== undefined && ofFresh.poison !== 'worlds') return verdict(await causeOfPoison({ ...ofFresh, poison: ofFresh.poison }, ground));
  if (ofUsed !== undefined) return verdict(await causeOfRepetition({ ...ofUsed, poison: typeof ofUsed.poison === 'string' ? undefined : ofUsed.poison, generation }, ground));
  return verdict(ofFresh === undefined ? undefined : await worldLeak(ofFresh.moved, ground));
}

function found(moved: Moved | undefined, poison: Found['poison']): Found | undefined {
  return moved === undefined ? undefined : { moved, poison };
}

function instantsFor({ decisions }: PassAnswer, { strategy, startAt, endAt, times, seed }: Bench): Millis[] {
  return sampleTimes({ decidedAt: decisions.map(({ at }) => at), startAt, endAt, count: times, random: seededRandom(`${seed}:${strategy}`) });
}
