import { parseArgs } from 'node:util';
import { addResult, codeVersion, readResults, resultsFile, type ResultLine } from '../campaign/results.ts';
import { killAtRandom } from './random-kill.ts';
import { courseName, courses, firstDeath, recordedPoints, tasksLeft, type Course, type CoursePoints, type Task } from './tasks.ts';
import { writeDoom } from './preload/points.ts';
import { playTrial } from './trial.ts';
import { openCrashWorld, type CrashWorld } from './world.ts';

export interface CrashCampaignOptions {
  /** "all", "none", or that many of those that are left, spread over all courses. */
  readonly points: 'all' | 'none' | number;
  /** Random kills in all, those that stand in the results included. */
  readonly kills: number;
  /** Scenarios whose names hold this text. */
  readonly scenarios: string;
  readonly seed: number;
  /** How many daemons at once. */
  readonly lanes: number;
  /** Where results are added, and where it is seen what was done before. */
  readonly out: string;
  readonly onProgress?: (progress: { readonly done: number; readonly of: number; readonly violations: number }) => void;
}

const TRIES = 3;
/** After so many trials a lane begins with a fresh sandbox: what a chain remembers makes it slow. */
const TRIALS_PER_WORLD = 150;

/** Kills the daemon before and after every point and at random times, and adds each result to the file. Returns the lines with violations. */
export async function crashCampaign(options: CrashCampaignOptions): Promise<readonly ResultLine[]> {
  const { out, lanes, seed } = options;
  const version = codeVersion();
  const bad: ResultLine[] = [];
  const add = (line: ResultLine): void => {
    const full = { ...line, at_time: new Date().toISOString(), ...version };
    addResult(out, full);
    if ((line['violations'] as readonly string[]).length > 0) bad.push(full);
  };

  const wanted = options.points === 'none' ? [] : courses(options.scenarios);
  const known: CoursePoints[] = [];
  await inLanes(lanes, seed, wanted.filter(({ inRecovery }) => !inRecovery), async (world, course, name) => { known.push(await record(world, course, { name, out, digest: version.digest, add })); });
  // Those in recovery need to know where the first death is.
  await inLanes(lanes, seed, wanted.filter(({ inRecovery }) => inRecovery), async (world, course, name) => {
    const own = known.find(({ scenario, inRecovery }) => scenario === course.scenario && !inRecovery)!;
    known.push(await record(world, course, { name, out, digest: version.digest, add, first: own }));
  });
  const results = readResults(out);
  const left = tasksLeft(results, version.digest, known);
  const tasks: (Task | { readonly kill: number })[] = [
    ...(typeof options.points === 'number' ? spread(left, options.points) : left),
    ...killsLeft(results, version.digest, options),
  ];
  let done = 0;
  await inLanes(lanes, seed, tasks, async (world, task, name) => {
    if ('kill' in task) {
      const { victim, afterMs, states, violations } = await killAtRandom(world, { name, seed: `${seed}:${task.kill}` });
      add({ type: 'random', seed, number: task.kill, victim, after_ms: afterMs, states, violations });
    } else {
      const first = task.inRecovery ? firstDeath(known.find(({ scenario, inRecovery }) => scenario === task.scenario && !inRecovery)!.points) : undefined;
      const plan = { name, doom: task.doom, recoveryFrom: first };
      // What was polled twice when the points were recorded may be polled once now: a point that is never reached is tried again.
      let trial = await playTrial(world, task.scenario, plan);
      for (let tries = 1; trial.killedAt === undefined && trial.violations.length === 0 && tries < TRIES; tries++) trial = await playTrial(world, task.scenario, plan);
      const { killedAt, states, sent, violations } = trial;
      add({ type: 'kill', course: courseName(task), at: writeDoom(task.doom), reached: killedAt !== undefined, states, sent, violations });
    }
    done += 1;
    options.onProgress?.({ done, of: tasks.length, violations: bad.length });
  });
  return bad;
}

/** Returns the points of a course: from the results, or by a run without a kill. */
async function record(world: CrashWorld, course: Course, { name, out, digest, add, first }: { readonly name: string; readonly out: string; readonly digest: string; readonly add: (line: ResultLine) => void; readonly first?: CoursePoints }): Promise<CoursePoints> {
  const before = recordedPoints(readResults(out), digest, course);
  if (before !== undefined) return { ...course, points: before };
  const { points, states, sent, violations } = await playTrial(world, course.scenario, { name, recoveryFrom: first === undefined ? undefined : firstDeath(first.points) });
  add({ type: 'points', course: courseName(course), points, states, sent, violations });
  return { ...course, points };
}

function killsLeft(results: readonly ResultLine[], digest: string, { kills, seed }: CrashCampaignOptions): { readonly kill: number }[] {
  const done = new Set(results.filter((each) => each.type === 'random' && each['digest'] === digest && each['seed'] === seed).map((each) => each['number']));
  return Array.from({ length: kills }, (_, kill) => ({ kill })).filter(({ kill }) => !done.has(kill));
}

/** Returns so many of the items, at equal distances. */
function spread<Item>(items: readonly Item[], count: number): Item[] {
  return items.length <= count ? [...items] : Array.from({ length: count }, (_, index) => items[Math.floor((index * items.length) / count)]!);
}

/** Has several worlds at once work through the items. */
async function inLanes<Item>(lanes: number, seed: number, items: readonly Item[], work: (world: CrashWorld, item: Item, name: string) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < items.length) {
      const world = await openCrashWorld({ seed });
      try {
        for (let trials = 0; trials < TRIALS_PER_WORLD && next < items.length; trials++) {
          const number = next++;
          await work(world, items[number]!, `trial-${number}`);
        }
      } finally {
        await world.close();
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, items.length) }, lane));
}

/** `node test/crash/campaign.ts --points all --kills 500 [--scenarios TEXT] [--seed N] [--lanes N] [--out FILE]` */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      points: { type: 'string', default: 'all' }, kills: { type: 'string', default: '500' }, scenarios: { type: 'string', default: '' },
      seed: { type: 'string', default: '1' }, lanes: { type: 'string', default: '2' }, out: { type: 'string', default: resultsFile('crash') },
    },
  });
  const startedMs = performance.now();
  const bad = await crashCampaign({
    points: values.points === 'all' || values.points === 'none' ? values.points : Number(values.points),
    kills: Number(values.kills), scenarios: values.scenarios, seed: Number(values.seed), lanes: Number(values.lanes), out: values.out,
    onProgress({ done, of, violations }) {
      if (!process.stderr.isTTY && done % 50 !== 0) return;
      const seconds = (performance.now() - startedMs) / 1_000;
      process.stderr.write(`${process.stderr.isTTY ? '\r' : ''}${done} of ${of} kills · ${violations} with violations · ${Math.round(((of - done) / done) * seconds / 60)} min left   ${process.stderr.isTTY ? '' : '\n'}`);
    },
  });
  for (const line of bad) process.stdout.write(`${JSON.stringify(line)}\n`);
  process.stdout.write(`${bad.length} violations; the results are in ${values.out}\n`);
  return bad.length === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = await main();
