import type { ResultLine } from '../campaign/results.ts';
import { nameOf, writeDoom, type CrashPoint, type Doom } from './preload/points.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';

/** A scenario's own points, or those of the recovery from a death in it. */
export interface Course {
  readonly scenario: Scenario;
  readonly inRecovery: boolean;
}

/** The points of a course, as a run without a kill came to them. */
export interface CoursePoints extends Course {
  readonly points: readonly CrashPoint[];
}

/** One kill. */
export interface Task extends Course {
  readonly doom: Doom;
}

/** Swaps in whose recovery the daemon is killed again: what was signed may have landed, or not. */
const TWICE_KILLED = ['order: answer dropped after landing', 'maker: success', 'build: lands late'];

/** Returns all courses, those of the scenarios whose names hold a text. */
export function courses(text: string): Course[] {
  const wanted = SCENARIOS.filter(({ name }) => name.includes(text));
  return [
    ...wanted.map((scenario) => ({ scenario, inRecovery: false })),
    ...wanted.filter(({ name }) => TWICE_KILLED.includes(name)).map((scenario) => ({ scenario, inRecovery: true })),
  ];
}

/** Returns a course's name in the results. */
export function courseName({ scenario, inRecovery }: Course): string {
  return inRecovery ? `${scenario.name}, in recovery` : scenario.name;
}

/** Returns the first death of a course in recovery: when the signed bytes are in the journal, and nowhere else. */
export function firstDeath(points: readonly CrashPoint[]): Doom {
  const signed = points.find(({ kind, what }) => kind === 'commit' && what.includes('INSERT attempts'));
  if (signed === undefined) throw new Error('nothing was signed');
  return { when: 'after', point: nameOf(signed) };
}

/** Returns the points of a course that stand in the results of a code; undefined where it was not recorded. */
export function recordedPoints(results: readonly ResultLine[], digest: string, course: Course): readonly CrashPoint[] | undefined {
  const line = results.findLast((each) => each.type === 'points' && each['digest'] === digest && each['course'] === courseName(course));
  return line?.['points'] as readonly CrashPoint[] | undefined;
}

/** Returns the kills that were not yet made: before and after every point. */
export function tasksLeft(results: readonly ResultLine[], digest: string, all: readonly CoursePoints[]): Task[] {
  const done = new Set(results.filter((each) => each.type === 'kill' && each['digest'] === digest).map((each) => `${String(each['course'])} ${String(each['at'])}`));
  return all.flatMap((course) => course.points.flatMap((point) => (['before', 'after'] as const)
    .map((when) => ({ scenario: course.scenario, inRecovery: course.inRecovery, doom: { when, point: nameOf(point) } }))))
    .filter((task) => !done.has(`${courseName(task)} ${writeDoom(task.doom)}`));
}
