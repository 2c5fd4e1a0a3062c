import { availableParallelism, loadavg, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import {
  addResult, endAtSignals, endCampaign, readResults, resultsFile, type ResultLine,
} from '../campaign/results.ts';
import type { Profile } from '../../src/sandbox/sandbox.ts';
import { PROFILE_FLAG, campaignName, profileOf } from '../campaign/profile-flag.ts';
import { codeVersion } from '../campaign/tested-code.ts';
import { killAtRandom } from './random-kill.ts';
import { UNANSWERED } from './recovery.ts';
import {
  courseName, courses, firstCrash, planOf, pointsOf, recordedPoints, tasksLeft, type Course, type CoursePoints,
  type Task,
} from './tasks.ts';
import { nameOf, writeDoom, type Doom } from './preload/points.ts';
import type { Scenario } from './scenarios.ts';
import { playLife, playTrial, type Trial } from './trial.ts';
import { openCrashFixture, type CrashFixture } from './crash-fixture.ts';

export interface CrashCampaignOptions {
  /** "all", "none", or that many lives of those that are left, spread over all courses. */
  readonly points: 'all' | 'none' | number;
  /** Random kills in all, those that stand in the results included. */
  readonly kills: number;
  /** Scenarios whose names hold this text. */
  readonly scenarios: string;
  readonly seed: number;
  /** How many daemons that work at once, besides twice as many that wait. */
  readonly lanes: number;
  /** Of the sandbox; the service's description by default. */
  readonly profile?: Profile | undefined;
  /** Where results are added, and where it is seen what was done before. */
  readonly out: string;
  readonly onProgress?: (progress: { readonly done: number; readonly of: number; readonly violations: number }) => void;
}

const TRIES = 3;
const RECORDINGS = 5;
const KILLS_PER_RANDOM_LIFE = 3;
/** After so many lives a lane begins with a fresh sandbox: what a chain remembers makes it slow. */
const LIVES_PER_FIXTURE = 60;
/**
 * Where it must be proven that nothing lands any more, daemons mostly wait: so many more of them at once, in faster
 * time.
 */
const WAITING_LANES = 2;
const WAITING_TIME_FACTOR = 16;
const GIBIBYTE = 2 ** 30;

/** Of a life that is ended at random, its number; it belongs to no scenario. */
interface RandomTask {
  readonly life: number;
  readonly scenario?: undefined;
}

/** One kill of a life, as it stands in the results. */
interface KillRecord {
  readonly at: string;
  readonly reached: boolean;
}

/**
 * Kills the daemon before and after every point and at random times, and adds each life's result to the file. Returns
 * the lines with violations.
 */
export async function crashCampaign(options: CrashCampaignOptions): Promise<readonly ResultLine[]> {
  const { out, lanes, seed, profile } = options;
  const { digest, commit } = codeVersion('daemon');
  const bad: ResultLine[] = [];
  const add = (line: ResultLine): void => {
    const full = { ...line, digest };
    addResult(out, full);
    if ((line['violations'] as readonly string[]).length > 0) bad.push(full);
  };
  const startedMs = performance.now();
  const wanted = options.points === 'none' ? [] : courses(options.scenarios);
  const known: CoursePoints[] = [];
  const recordAll = (some: readonly Course[]): Promise<void> =>
    inAllLanes({ lanes, seed, profile }, some, async (fixture, course, name) => {
      known.push(await record(fixture, course, { name, out, digest, add, first: course.part === 'recovery'
        ? firstCrash(swapOf(known, course).points) : undefined }));
    });
  await recordAll(wanted.filter(({ part }) => part !== 'recovery'));
  // Those in recovery need to know where the first crash is.
  await recordAll(wanted.filter(({ part }) => part === 'recovery'));
  const results = readResults(out);
  const left = tasksLeft(results, digest, known);
  const tasks: (Task | RandomTask)[] = [
    ...(typeof options.points === 'number' ? spread(left, options.points) : left),
    ...randomLeft(results, digest, options),
  ];
  const of = tasks.reduce((sum, task) => sum + killsIn(task), 0);
  let done = 0;
  await inAllLanes({ lanes, seed, profile }, tasks, async (fixture, task, name) => {
    if (task.life !== undefined) add({
      type: 'random', seed, number: task.life,
      ...await killAtRandom(fixture, { name, seed: `${seed}:${task.life}`, kills: KILLS_PER_RANDOM_LIFE }),
    });
    else await playTask(fixture, task, {
      name, seed, first: task.part === 'recovery' ? firstCrash(swapOf(known, task).points) : undefined, add,
    });
    done += killsIn(task);
    options.onProgress?.({ done, of, violations: bad.length });
  });
  if (done > 0) {
    add({
      type: 'session', commit, node: process.version, seed, lanes, kills: done,
      minutes: Math.round((performance.now() - startedMs) / 6_000) / 10, cores: availableParallelism(),
      gibibytes: Math.round(totalmem() / GIBIBYTE), load: Math.round(loadavg()[2]! * 10) / 10, violations: [],
    });
  }
  return bad;
}

function killsIn(task: Task | RandomTask): number {
  return task.life !== undefined ? KILLS_PER_RANDOM_LIFE : task.dooms.length;
}

interface TaskContext {
  readonly name: string;
  readonly seed: number;
  /** The crash that is recovered from. */
  readonly first: Doom | undefined;
  readonly add: (line: ResultLine) => void;
}

/**
 * Plays a life, and what it left open: a point it did not come to is tried again alone, and so is each of its kills
 * when something is wrong.
 */
async function playTask(fixture: CrashFixture, task: Task, { name, seed, first, add }: TaskContext): Promise<void> {
  const course = courseName(task);
  const startedMs = performance.now();
  const { crashes, states, sent, violations } =
    await playLife(fixture, task.scenario, { name, dooms: task.dooms, ...planOf(task, first) });
  const kills: KillRecord[] = [];
  const alone: ResultLine[] = [];
  for (const [index, doom] of task.dooms.entries()) {
    let reached = crashes[index]?.killedAt !== undefined;
    // What was polled twice when the points were recorded may be polled once now; and whose life went wrong shows by
    // itself what is wrong.
    const tries = violations.length > 0 && task.dooms.length > 1 ? 1 : reached ? 0 : TRIES - 1;
    for (let tried = 0; tried < tries && (tried === 0 || !reached); tried++) {
      const trial =
        await playTrial(fixture, task.scenario, { name: `${name}-${index}-${tried}`, doom, ...planOf(task, first) });
      reached ||= trial.killedAt !== undefined;
      alone.push({
        type: 'alone', course, at: writeDoom(doom), reached: trial.killedAt !== undefined, states: trial.states,
        violations: trial.violations,
      });
    }
    kills.push({ at: writeDoom(doom), reached });
  }
  for (const line of alone) add(line);
  add({ type: 'life', course, kills, states, sent, seed, ms: Math.round(performance.now() - startedMs), violations });
}

/** Returns the course of the swap itself, which belongs to the recovery from it. */
function swapOf(known: readonly CoursePoints[], course: Course): CoursePoints {
  return known.find(({ scenario, part }) => scenario === course.scenario && part === 'swap')!;
}

/** Returns the points of a course: from the results, or by a run without a kill. */
async function record(fixture: CrashFixture, course: Course, {
  name, out, digest, add, first,
}: Omit<TaskContext, 'seed'> & { readonly out: string; readonly digest: string }): Promise<CoursePoints> {
  const before = recordedPoints(readResults(out), digest, course);
  if (before !== undefined) return { ...course, points: before };
  // On a machine that is too busy a quote grows old before it is signed, and the swap is abandoned: that is another
  // scenario.
  let trial = await playTrial(fixture, course.scenario, { name, ...planOf(course, first) });
  for (let tries = 1; tries < RECORDINGS && !isTrueTo(course, trial); tries++)
    trial = await playTrial(fixture, course.scenario, { name: `${name}-${tries}`, ...planOf(course, first) });
  if (!isTrueTo(course, trial))
    throw new Error(`${courseName(course)}: expected the intent to end as ${course.scenario.ends.join(' or ')}, and `
      + `${RECORDINGS} times it was otherwise, at last ${trial.states.join(', ') || 'nothing'}; run the campaign again `
      + 'when the machine is less busy, it goes on where it stopped');
  const { points: all, states, sent, violations } = trial;
  if (violations.length > 0)
    throw new Error(`${courseName(course)}: a run without a kill has violations: ${violations.join('; ')}`);
  const points = pointsOf(course, all);
  add({ type: 'points', course: courseName(course), points: points.map(nameOf), states, sent, violations });
  return { ...course, points };
}

/** Returns whether a run shows what its scenario is about, or a violation that is no matter of a busy machine. */
function isTrueTo({ scenario, part }: Course, { states, sent, violations }: Trial): boolean {
  if (violations.length > 0) return !violations.every((violation) => UNANSWERED.test(violation));
  // Only the daemon has a witness of what is sent.
  const hasLeft = part === 'signer' || sent > 0;
  return hasLeft && states.length === 1 && scenario.ends.includes(states[0]!);
}

function randomLeft(
  results: readonly ResultLine[], digest: string, { kills, seed }: CrashCampaignOptions,
): RandomTask[] {
  const done = new Set(results.filter((each) =>
    each.type === 'random' && each['digest'] === digest && each['seed'] === seed).map((each) => each['number']));
  return Array.from({ length: Math.ceil(kills / KILLS_PER_RANDOM_LIFE) }, (_, life) => ({ life }))
    .filter(({ life }) => !done.has(life));
}

/** Returns so many of the items, at equal distances. */
function spread<Item>(items: readonly Item[], count: number): Item[] {
  return items.length <= count ? [...items]
    : Array.from({ length: count }, (_, index) => items[Math.floor((index * items.length) / count)]!);
}

interface Lanes {
  readonly lanes: number;
  readonly seed: number;
  readonly timeFactor?: number;
  readonly profile?: Profile | undefined;
}

/** Has several fixtures at once work through the items, those in which daemons wait beside the others. */
async function inAllLanes<Item extends { readonly scenario?: Scenario | undefined }>(
  { lanes, seed, profile }: Lanes, items: readonly Item[],
  work: (fixture: CrashFixture, item: Item, name: string) => Promise<void>,
): Promise<void> {
  await Promise.all([
    inLanes({ lanes, seed, profile }, items.filter(({ scenario }) => scenario?.expires !== true), work),
    inLanes(
      { lanes: WAITING_LANES * lanes, seed, profile, timeFactor: WAITING_TIME_FACTOR },
      items.filter(({ scenario }) => scenario?.expires === true), work,
    ),
  ]);
}

async function inLanes<Item>({ lanes, ...fixture }: Lanes, items: readonly Item[], work: (
  fixture: CrashFixture, item: Item, name: string,
) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < items.length) {
      const opened = await openCrashFixture(fixture);
      try {
        for (let lives = 0; lives < LIVES_PER_FIXTURE && next < items.length; lives++) {
          const number = next++;
          await work(opened, items[number]!, `life-${number}`);
        }
      } finally {
        await opened.close();
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, items.length) }, lane));
}

/**
 * `node test/crash/campaign.ts --points all --kills 500 [--scenarios TEXT] [--seed N] [--lanes N] [--profile live]
 * [--out FILE]`
 */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      points: { type: 'string', default: 'all' }, kills: { type: 'string', default: '500' },
      scenarios: { type: 'string', default: '' }, seed: { type: 'string', default: '1' },
      lanes: { type: 'string', default: '2' }, out: { type: 'string' }, ...PROFILE_FLAG,
    },
  });
  const profile = profileOf(values);
  const out = values.out ?? resultsFile(campaignName('crash', profile));
  const startedMs = performance.now();
  let lastTold = 0;
  const bad = await crashCampaign({
    points: values.points === 'all' || values.points === 'none' ? values.points : Number(values.points),
    kills: Number(values.kills), scenarios: values.scenarios, seed: Number(values.seed), lanes: Number(values.lanes),
    profile, out,
    onProgress({ done, of, violations }) {
      if (!process.stderr.isTTY && Math.floor(done / 50) === lastTold) return;
      lastTold = Math.floor(done / 50);
      const seconds = (performance.now() - startedMs) / 1_000;
      const minutesLeft = Math.round(((of - done) / done) * seconds / 60);
      const text = `${done} of ${of} kills · ${violations} with violations · ${minutesLeft} min left`;
      process.stderr.write(process.stderr.isTTY ? `\r${text}   ` : `${text}\n`);
    },
  });
  for (const line of bad) process.stdout.write(`${JSON.stringify(line)}\n`);
  return endCampaign(out, bad.length);
}

if (import.meta.main) {
  endAtSignals();
  process.exitCode = await main();
}
