import type { ResultLine } from '../campaign/results.ts';
import { nameOf, writeDoom, type CrashPoint, type Doom } from './preload/points.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';
import type { LifePlan } from './trial.ts';

/**
 * Points that belong together. "swap": of a scenario, from its intent's first row in the journal to the snapshot with
 * its outcome. "whole": from the process's start to its end, recording too. "recovery": of the recovery from a crash in
 * it. "signer": of the process with the key.
 */
export interface Course {
  readonly scenario: Scenario;
  readonly part: 'swap' | 'whole' | 'recovery' | 'signer';
}

/** The points of a course, as a run without a kill came to them. */
export interface CoursePoints extends Course {
  readonly points: readonly CrashPoint[];
}

/** Kills one after the other with one wallet. */
export interface Task extends Course {
  readonly dooms: readonly Doom[];
  readonly life?: undefined;
}

/** Swaps whose start and end are checked: nothing in those knows what becomes of the bytes. */
const WHOLE = ['order: success', 'build: success'];
/** Swaps in whose recovery the daemon is killed again: what was signed may have landed, or not. */
const TWICE_KILLED = ['order: answer dropped after landing', 'maker: success', 'build: lands late'];
/**
 * As many crashes as a daemon trades after: the start after the third is in safe mode, and is the last one of a life.
 */
const CRASHES_PER_LIFE = 3;

/** Returns all courses, those of the scenarios whose names hold a text. */
export function courses(text: string): Course[] {
  const wanted = SCENARIOS.filter(({ name }) => name.includes(text));
  return [
    ...wanted.map((scenario) => ({ scenario, part: 'swap' as const })),
    ...wanted.filter(({ name }) => WHOLE.includes(name)).map((scenario) => ({ scenario, part: 'whole' as const })),
    ...wanted.filter(({ name }) => TWICE_KILLED.includes(name))
      .map((scenario) => ({ scenario, part: 'recovery' as const })),
    // What becomes of the bytes later is nothing that the signer sees.
    ...wanted.filter(({ name }) => name.endsWith(': success'))
      .map((scenario) => ({ scenario, part: 'signer' as const })),
  ];
}

/** Returns a course's name in the results. */
export function courseName({ scenario, part }: Course): string {
  return {
    swap: scenario.name, whole: `${scenario.name}, start to end`, recovery: `${scenario.name}, in recovery`,
    signer: `${scenario.name}, in the signer`,
  }[part];
}

/** Returns how a life in a course is played. */
export function planOf(
  { part }: Course, first: Doom | undefined,
): Pick<LifePlan, 'watched' | 'recoveryFrom' | 'isRecorded'> {
  return {
    watched: part === 'whole' ? 'start' : part === 'signer' ? 'signer' : 'intent',
    recoveryFrom: part === 'recovery' ? first : undefined, isRecorded: part === 'whole',
  };
}

/**
 * What goes by a timer of its own, whatever becomes of a swap: the feeds' polls, and what is remembered of the
 * service's rate. How often it comes between two steps of a swap is not known before; it is killed at from start to
 * end.
 */
const BESIDE_THE_SWAP = /service-rate\.json| to look at #/;

/**
 * Returns the points of a course out of those of a daemon that lived: what comes after the outcome's snapshot is the
 * end, which is the same everywhere.
 */
export function pointsOf({ part }: Course, points: readonly CrashPoint[]): readonly CrashPoint[] {
  if (part === 'whole' || part === 'signer') return points;
  const settled = points.findLastIndex(({ kind, what }) =>
    kind === 'commit' && what.includes('INSERT snapshot') && what.includes('UPDATE intents'));
  if (settled < 0) throw new Error('the outcome of no intent was taken into a snapshot');
  return points.slice(0, settled + 1).filter(({ what }) => !BESIDE_THE_SWAP.test(what));
}

/** Returns the first crash of a course in recovery: when the signed bytes are in the journal, and nowhere else. */
export function firstCrash(points: readonly CrashPoint[]): Doom {
  const signed = points.find(({ kind, what }) => kind === 'commit' && what.includes('INSERT attempts'));
  if (signed === undefined) throw new Error('nothing was signed');
  return { when: 'after', point: nameOf(signed) };
}

/** Returns the points of a course that stand in the results of a code; undefined where it was not recorded. */
export function recordedPoints(
  results: readonly ResultLine[], digest: string, course: Course,
): readonly CrashPoint[] | undefined {
  const line = results.findLast((each) =>
    each.type === 'points' && each['digest'] === digest && each['course'] === courseName(course));
  return (line?.['points'] as readonly string[] | undefined)?.map((text, index) =>
    ({ number: index + 1, kind: text.split(' ', 1)[0]!, what: text.slice(text.indexOf(' ') + 1) }));
}

/** Returns the kills that were not yet made, before and after every point, as many to a life as go into one. */
export function tasksLeft(results: readonly ResultLine[], digest: string, all: readonly CoursePoints[]): Task[] {
  const done = new Set(results.filter((each) => each.type === 'life' && each['digest'] === digest)
    .flatMap((life) =>
      (life['kills'] as readonly { readonly at: string }[]).map(({ at }) => `${String(life['course'])} ${at}`)));
  return all.flatMap(({ points, ...course }) => {
    const dooms = points.flatMap((point) =>
      (['before', 'after'] as const).map((when) => ({ when, point: nameOf(point) })))
      .filter((doom) => !done.has(`${courseName(course)} ${writeDoom(doom)}`));
    return inLives(course, dooms).map((some) => ({ ...course, dooms: some }));
  });
}

/**
 * Returns crashes that one wallet after the other goes through: a course's start happens once only, and who has bought
 * SOL can pay fees.
 */
function inLives({ part, scenario }: Course, dooms: readonly Doom[]): readonly (readonly Doom[])[] {
  const signed = dooms.findIndex(({ point }) => point.startsWith('commit') && point.includes('INSERT attempts'));
  const chained = part !== 'swap' ? 0
    : scenario.isGasless === true && scenario.expires !== true ? Math.max(0, signed) : dooms.length;
  return [...inGroups(dooms.slice(0, chained), CRASHES_PER_LIFE), ...inGroups(dooms.slice(chained), 1)];
}

function inGroups<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size));
}
