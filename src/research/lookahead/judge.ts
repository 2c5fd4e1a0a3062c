import { GannetError } from '../../core/errors.ts';
import { seededRandom } from '../../core/random.ts';
import type { Millis } from '../../core/time.ts';
import { sampleTimes } from './instants.ts';
import type { Leak, PassDifference } from './leak.ts';
import { comparePasses, leakOf } from './leak.ts';
import type { MachineFactor, MachineVariant, PassAnswer, PassTask, PassThread } from './pass.ts';
import { MACHINE_FACTORS, MACHINE_VARIANTS } from './pass.ts';
import type { Perturbation } from './perturbation.ts';
import { PERTURBATIONS } from './perturbation.ts';

/** How thorough a look-ahead check is. */
export interface LookaheadOptions {
  readonly startAt: Millis;
  readonly endAt: Millis;
  /** Number of instants at which the future is perturbed, in three ways each. */
  readonly times: number;
  readonly seed: number;
}

/** The threads and callbacks with which one strategy is judged. */
interface WorkerPair extends LookaheadOptions {
  readonly strategy: string;
  /** The thread that runs over the recorded future first. */
  readonly used: PassThread;
  /** A second thread, in which this strategy has not yet seen the recorded future. */
  readonly fresh: PassThread;
  /** Does work with a third thread. */
  readonly withAnother: <T>(work: (thread: PassThread) => Promise<T>) => Promise<T>;
  /** Does work with a thread that has run nothing. */
  readonly withNew: <T>(work: (thread: PassThread) => Promise<T>) => Promise<T>;
  /** Returns a module generation that no other pass has. */
  readonly nextGeneration: () => number;
  /** Receives the remaining work, in lengths of the recording, whenever the estimate changes. */
  readonly onPlan: (lengths: number) => void;
  /** Receives the share of the recording that a finished pass covered. */
  readonly onPass: (length: number) => void;
}

/** The judgement of a strategy that ran alone, and the run that later passes are compared with. */
export interface Verdict {
  readonly leak: Leak | undefined;
  readonly reference: PassAnswer;
  /** Number of instants at which the future was perturbed. */
  readonly instants: number;
  /** Number of decisions compared with those of the first run, over all passes. */
  readonly compared: number;
}

/** A pass that differs from the first one, and how it was run. */
interface Found {
  readonly difference: PassDifference;
  readonly perturbation: Perturbation | OtherMachine | 'plain';
}

/** The recorded future on another machine. */
interface OtherMachine {
  readonly machineVariant: MachineVariant;
}

/**
 * Searches for a decision that depends on events after it. The strategy first runs over the recording as it is. Then
 * two threads work at once. The fresh thread runs perturbed futures with newly loaded modules, then the recorded
 * future, then the same on each of the other machines: with another clock, randomness and environment, and without disk
 * and network. The used thread runs perturbed futures and the recorded one with the same modules, which shows any state
 * kept from the first run. A pass ends soon after its perturbation begins, because earlier decisions are settled by
 * then. Throws STRATEGY_INVALID when the strategy cannot run at all.
 */
export async function judge(pair: WorkerPair): Promise<Verdict> {
  const { strategy, used } = pair;
  const generation = pair.nextGeneration();
  const reference = await runPass(used, pair, { generation, countsInputs: true });
  if (reference.fault !== undefined) {
    throw new GannetError('STRATEGY_INVALID', `strategy ${strategy} cannot be run: ${reference.fault}`);
  }
  let comparedDecisions = 0;
  const against = (answer: PassAnswer, until = Infinity): PassDifference | undefined => {
    comparedDecisions += reference.decisions.filter(({ at }) => at < until).length;
    return comparePasses(reference, answer, until);
  };
  const instants = instantsFor(reference, pair);
  const verdict = (leak: Leak | undefined): Verdict => (
    { leak, reference, instants: instants.length, compared: comparedDecisions });
  if (reference.globalChanges.length > 0) {
    const detail = `it changed what all code shares: ${reference.globalChanges.join(', ')}`;
    return verdict(leakOf(undefined, { cause: 'shared-state', from: null, process: 'fresh', detail }));
  }
  const perturbations = instants.flatMap((from) => (
    PERTURBATIONS.map((kind): Perturbation => ({ kind, from, seed: pair.seed }))));
  // A strategy that reads files may read the recording. Then the files are perturbed too, and the threads take turns,
  // because each could read what the other one writes.
  const onDisk = reference.accesses.length > 0;
  // A strategy may keep what it reads first in a process. Each kind of perturbation must therefore come first in one.
  const alone = onDisk
    ? PERTURBATIONS.slice(1).map((kind) => perturbations.findLast((each) => each.kind === kind)!) : [];
  const all = [...alone, ...perturbations, ...perturbations];
  const lengths = all.map((perturbation) => passLength(pair, { perturbation }));
  pair.onPlan(3 + MACHINE_VARIANTS.length + lengths.reduce((sum, length) => sum + length, 0));

  const comparisons: Comparisons = {
    pair, against, perturbations, alone, onDisk, generation, isFound: { inFresh: false, inUsed: false },
  };
  const [ofFresh, ofUsed] = onDisk
    ? [await compareInFresh(comparisons), await compareInUsed(comparisons)]
    : await Promise.all([compareInFresh(comparisons), compareInUsed(comparisons)]);

  const search: CauseSearch = { reference, pair, accesses: accessText(reference) };
  if (ofFresh?.perturbation === 'plain') return verdict(await causeOfIrreproducibility(ofFresh.difference, search));
  if (ofFresh !== undefined && isOfFuture(ofFresh.perturbation)) {
    return verdict(await causeOfPerturbation(ofFresh.difference, ofFresh.perturbation, search));
  }
  if (ofUsed !== undefined) {
    const perturbation = isOfFuture(ofUsed.perturbation) ? ofUsed.perturbation : undefined;
    return verdict(await causeOfRepetition(ofUsed.difference, { perturbation, generation }, search));
  }
  return verdict(ofFresh === undefined ? undefined
    : await causeOnMachine(ofFresh.difference, ofFresh.perturbation as OtherMachine, search));
}

function isOfFuture(perturbation: Found['perturbation']): perturbation is Perturbation {
  return typeof perturbation === 'object' && 'kind' in perturbation;
}

/** The passes to compare with the reference. */
interface Comparisons {
  readonly pair: WorkerPair;
  /** Compares a pass with the reference. */
  readonly against: (answer: PassAnswer, until?: Millis) => PassDifference | undefined;
  readonly perturbations: readonly Perturbation[];
  /** Perturbations that run in a new process each. */
  readonly alone: readonly Perturbation[];
  readonly onDisk: boolean;
  /** The module generation of the reference. */
  readonly generation: number;
  /** A difference in either thread ends the comparisons early. */
  readonly isFound: { inFresh: boolean; inUsed: boolean };
}

/** Compares in a thread that has not seen the recorded future. Its differences take precedence. */
async function compareInFresh(
  { pair, against, perturbations, alone, onDisk, isFound }: Comparisons,
): Promise<Found | undefined> {
  const { fresh } = pair;
  // Before the recorded future: a strategy that keeps what a process reads first would use the recorded one for good.
  let first: Found | undefined;
  for (const perturbation of perturbations) {
    first ??= found(against(await runPass(fresh, pair, { perturbation, onDisk }), perturbation.from), perturbation);
  }
  for (const perturbation of alone) {
    const run = (thread: PassThread): Promise<PassAnswer> => runPass(thread, pair, { perturbation, onDisk });
    first ??= found(against(await pair.withNew(run), perturbation.from), perturbation);
  }
  first ??= found(against(await runPass(fresh, pair)), 'plain');
  isFound.inFresh = first !== undefined;
  if (isFound.inFresh || isFound.inUsed) return first;
  for (const machineVariant of MACHINE_VARIANTS) {
    const task = { machineFactors: MACHINE_FACTORS, machineVariant };
    first ??= found(against(await runPass(fresh, pair, task)), { machineVariant });
  }
  return first;
}

/** Compares in the thread of the reference, with the same modules. */
async function compareInUsed(
  { pair, against, perturbations, generation, isFound }: Comparisons,
): Promise<Found | undefined> {
  // The latest first, because it compares most decisions. The last one, noise, runs to the end of the perturbed future,
  // so that a strategy that keeps any of it shows that afterwards.
  const latestFirst = perturbations.toReversed().toSorted((a, b) => b.from - a.from);
  let first: Found | undefined;
  for (const [i, perturbation] of latestFirst.entries()) {
    if (isFound.inFresh || first !== undefined) break;
    const isWholeFuture = i === latestFirst.length - 1;
    const answer = await runPass(pair.used, pair, { generation, perturbation, isWholeFuture });
    first = found(against(answer, perturbation.from), perturbation);
  }
  if (!isFound.inFresh) first ??= found(against(await runPass(pair.used, pair, { generation })), 'plain');
  isFound.inUsed = first !== undefined;
  return first;
}

function found(difference: PassDifference | undefined, perturbation: Found['perturbation']): Found | undefined {
  return difference === undefined ? undefined : { difference, perturbation };
}

function instantsFor({ decisions }: PassAnswer, { strategy, startAt, endAt, times, seed }: WorkerPair): Millis[] {
  return sampleTimes({
    decidedAt: decisions.map(({ at }) => at), startAt, endAt, count: times, random: seededRandom(`${seed}:${strategy}`),
  });
}

/** Runs a pass of the pair's strategy. Without a generation in the task, its modules are loaded again. */
async function runPass(
  thread: PassThread, pair: WorkerPair, task: Partial<Omit<PassTask, 'strategy'>> = {},
): Promise<PassAnswer> {
  const generation = task.generation ?? pair.nextGeneration();
  const answer = await thread.run({ strategy: pair.strategy, generation, ...task });
  pair.onPass(passLength(pair, task));
  return answer;
}

/** Returns the share of the recording that a pass covers. */
function passLength(
  { startAt, endAt }: LookaheadOptions,
  { perturbation, isWholeFuture }: Pick<PassTask, 'perturbation' | 'isWholeFuture'>,
): number {
  if (perturbation === undefined || isWholeFuture === true) return 1;
  return (perturbation.from - startAt) / Math.max(1, endAt - startAt);
}

/** The context in which a cause is searched for. */
interface CauseSearch {
  readonly reference: PassAnswer;
  readonly pair: WorkerPair;
  /** For people: what the strategy accessed. */
  readonly accesses: string;
}

const FACTOR_NAMES: Readonly<Record<MachineFactor, string>> = {
  disk: 'files or other processes',
  network: 'the network',
  chance: 'unseeded randomness',
  clock: 'the machine’s clock',
  locale: 'the machine’s time zone or language',
  environment: 'the process’s environment, or the machine that it runs on',
};

const CONTROLLED: Readonly<Record<MachineFactor, string>> = {
  disk: 'removed', network: 'removed', chance: 'fixed', clock: 'stopped', locale: 'fixed', environment: 'fixed',
};

/** Returns for people what a strategy accessed; empty for most strategies. */
function accessText({ accesses }: PassAnswer): string {
  return accesses.length === 0 ? '' : `; it accesses ${accesses.slice(0, 3).join(', ')}`;
}

/**
 * Returns why two first runs over the same rows, each in its own process, differ. The difference is certain. The cause
 * is a guess: the factor that makes two runs agree once it is controlled.
 */
async function causeOfIrreproducibility(
  { difference, fault }: PassDifference, { pair, reference, accesses }: CauseSearch,
): Promise<Leak> {
  // One more run in each process: if the strategy keeps something there too, both keep the same.
  const agree = async (machineFactors: readonly MachineFactor[]): Promise<PassAnswer | undefined> => {
    const one = await runPass(pair.used, pair, { machineFactors });
    const other = await runPass(pair.fresh, pair, { machineFactors });
    return comparePasses(one, other) === undefined ? one : undefined;
  };
  const leak = (cause: MachineFactor | 'elsewhere', detail: string): Leak => (
    leakOf(difference, { cause, from: null, process: 'fresh', detail: `${detail}${fault}${accesses}` }));
  const known = 'two runs over the same rows, each in its own process, decide differently';
  const later = await agree([]);
  if (later !== undefined && comparePasses(reference, later) === undefined) {
    return leak('elsewhere', `${known}, though rarely; the cause is unknown`);
  }
  if (later !== undefined) {
    const isKept = reference.accesses.length > 0;
    const why = isKept ? `presumably it keeps something in ${FACTOR_NAMES.disk}` : 'the cause is unknown';
    return leak(
      isKept ? 'disk' : 'elsewhere', `its first run decides differently from later runs, in any process: ${why}`,
    );
  }
  const factors = factorsFor(reference);
  for (const factor of factors) {
    if (await agree([factor]) === undefined) continue;
    return leak(factor, `${known}; with ${FACTOR_NAMES[factor]} ${CONTROLLED[factor]} they agree, `
      + 'so presumably the difference depends on that, which no recording holds');
  }
  const names = factors.map((factor) => FACTOR_NAMES[factor]).join(', ');
  return leak('elsewhere', `${known}; the cause is unknown: none of ${names} is the only cause`);
}

/**
 * Returns the cause of a difference in a process that never saw the recorded future: the perturbed future, unless the
 * recorded one makes the same difference.
 */
async function causeOfPerturbation(
  found: PassDifference, perturbation: Perturbation, search: CauseSearch,
): Promise<Leak> {
  const { pair, reference, accesses } = search;
  const { kind, from } = perturbation;
  const recorded = comparePasses(reference, await runPass(pair.fresh, pair));
  if (recorded === undefined) {
    const onDisk = reference.accesses.length > 0;
    const again = comparePasses(reference, await runPass(pair.fresh, pair, { perturbation, onDisk }), from);
    if (again === undefined) return causeOfIrreproducibility(found, search);
    const detail = `a decision changes with the events after it (${kind})${found.fault}${accesses}`;
    return leakOf(found.difference, { cause: kind, from, process: 'fresh', detail });
  }
  const elsewhere = await pair.withAnother((thread) => runPass(thread, pair));
  if (comparePasses(reference, elsewhere) !== undefined) return causeOfIrreproducibility(recorded, search);
  const detail =
    'its first run in a process is always the same, a later one is not, even with its modules loaded again: '
    + `it keeps something outside of them${recorded.fault}${accesses}`;
  return leakOf(recorded.difference, { cause: 'repetition', from: null, process: 'same', detail });
}

/**
 * Returns the cause of a difference in the process that saw the recorded future, when another process decides the same
 * over it: state that the first run left behind, if the difference repeats.
 */
async function causeOfRepetition(
  { difference, fault }: PassDifference,
  { perturbation, generation }: { readonly perturbation: Perturbation | undefined; readonly generation: number },
  { pair, reference, accesses }: CauseSearch,
): Promise<Leak> {
  const repeated = await runPass(pair.used, pair, { generation, perturbation });
  const why = comparePasses(reference, repeated, perturbation?.from) === undefined
    ? 'it did so only once, so either it keeps something or it uses randomness' : 'it keeps something from that run';
  return leakOf(difference, {
    cause: perturbation?.kind ?? 'repetition', from: perturbation?.from ?? null, process: 'same',
    detail:
      `after a run over the recorded future in the same process it decides differently: ${why}${fault}${accesses}`,
  });
}

/** Returns the machine factor that changes a decision, when all factors together do. */
async function causeOnMachine(
  together: PassDifference, { machineVariant }: OtherMachine, { pair, reference, accesses }: CauseSearch,
): Promise<Leak> {
  const leak = (cause: MachineFactor | 'elsewhere', { difference, fault }: PassDifference, on: string): Leak => (
    leakOf(difference, {
      cause, from: null, process: 'fresh',
      detail: `a decision depends on ${on}, which no recording holds${fault}${accesses}`,
    }));
  for (const factor of MACHINE_FACTORS) {
    const task = { machineFactors: [factor], machineVariant };
    const found = comparePasses(reference, await runPass(pair.fresh, pair, task));
    if (found !== undefined) return leak(factor, found, FACTOR_NAMES[factor]);
  }
  return leak('elsewhere', together, 'several properties of the machine at once');
}

/** A strategy that never accessed files or the network cannot depend on them. */
function factorsFor({ accesses }: PassAnswer): readonly MachineFactor[] {
  if (accesses.length > 0) return MACHINE_FACTORS;
  return MACHINE_FACTORS.filter((factor) => factor !== 'disk' && factor !== 'network');
}
