import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startDaemon } from './daemon.ts';
import { readJournal, violationsOf } from './invariants.ts';
import { openPlace, runArgs, swapOf, type Place } from './place.ts';
import { writeDoom, type CrashPoint, type Doom } from './preload/points.ts';
import type { Testimony } from './preload/witness.ts';
import { ending, openIn, recovered } from './recovery.ts';
import type { Scenario } from './scenarios.ts';
import { setStage } from './stage.ts';
import { nodeOptions, preloads, type CrashFixture } from './crash-fixture.ts';

/** One daemon of a life, and how far it came. */
export interface Crash {
  /** Absent where it never came to its point. */
  readonly killedAt: CrashPoint | undefined;
  /** The points it came to; all there are where it was not killed. */
  readonly points: readonly CrashPoint[];
}

/** A wallet whose daemons were killed one after the other, and what they left behind. */
export interface Life {
  readonly crashes: readonly Crash[];
  /** How the intents ended, after the last recovery. */
  readonly states: readonly string[];
  /** How often signed bytes left, as seen from inside the process. */
  readonly sent: number;
  readonly violations: readonly string[];
}

/** A life of one daemon at most that is killed. */
export interface Trial extends Omit<Life, 'crashes'>, Crash {}

/** Which points a daemon has: from its first intent on, from its start on, or those of the process with the key. */
export type Watched = 'intent' | 'start' | 'signer';

/** When the daemons of a life die. */
export interface LifePlan {
  /** Of the folder. */
  readonly name: string;
  /** Each daemon recovers from the crash before, swaps again, and dies there; empty: one daemon lives. */
  readonly dooms: readonly Doom[];
  readonly watched?: Watched | undefined;
  /** The crashes, one at most, are in the recovery from this first one. */
  readonly recoveryFrom?: Doom | undefined;
  /** Whether the daemon records; as it does unless it is told not to. */
  readonly isRecorded?: boolean | undefined;
}

/** Plays a scenario in which a daemon dies once at most. */
export async function playTrial(fixture: CrashFixture, scenario: Scenario,
  { doom, ...plan }: Omit<LifePlan, 'dooms'> & {
    readonly doom?: Doom | undefined;
  }): Promise<Trial> {
  const { crashes: [crash], ...rest } =
    await playLife(fixture, scenario, { ...plan, dooms: doom === undefined ? [] : [doom] });
  return { ...rest, ...crash! };
}

/**
 * Plays a scenario again and again with one wallet, until each of its daemons has died at its point; lets the last
 * recover, and checks the result.
 */
export async function playLife(
  fixture: CrashFixture, scenario: Scenario, { name, dooms, watched = 'intent', recoveryFrom, isRecorded }: LifePlan,
): Promise<Life> {
  const funds = { lamports: scenario.lamports, usdc: scenario.usdc * (dooms.length + 2) };
  const place = await openPlace(fixture, { name, funds, strategies: swapOf(scenario), isRecorded });
  const leaveStage = await setStage(fixture, place, scenario);
  try {
    const witness = join(place.dir, 'witness.ndjson');
    const violations: string[] = [];
    if (recoveryFrom !== undefined) violations.push(...(
      await die(place, { doom: recoveryFrom, watched: 'intent', log: join(place.dir, 'first.ndjson'), witness })
    ).violations);
    const crashes: Crash[] = [];
    for (const [index, doom] of (dooms.length === 0 ? [undefined] : dooms).entries()) {
      // A strategy that was never seen before has swapped nothing yet.
      if (index > 0) place.configure(swapOf(scenario, `once-${index + 1}`));
      const { violations: found, ...crash } = await die(place, {
        doom, watched: recoveryFrom === undefined ? watched : 'start', log: join(place.dir, `points-${index}.ndjson`),
        witness,
      });
      crashes.push(crash);
      violations.push(...found);
      if (found.length > 0) break;
    }
    violations.push(...await recovered(place), ...await violationsOf({
      stateDir: place.stateDir, wallet: place.wallet.address, chain: fixture.chain,
    }));
    const seen = linesOf(witness) as readonly Testimony[];
    violations.push(...seen.filter(({ journalled }) => !journalled).map(({ what }) =>
      `signed bytes left (${what}) before they were in the journal`));
    return {
      crashes, states: readJournal(place.stateDir)?.intents.map(({ state }) => state) ?? [], sent: seen.length,
      violations,
    };
  } finally {
    await leaveStage();
    rmSync(place.dir, { recursive: true, force: true });
  }
}

/** Starts a daemon that is to die at a point. What it finds open belongs to the intents that it finishes. */
async function die(place: Place, { doom, watched, log, witness }: {
  readonly doom: Doom | undefined; readonly watched: Watched; readonly log: string; readonly witness: string;
}): Promise<Crash & { readonly violations: readonly string[] }> {
  const isSigner = watched === 'signer';
  const points = {
    GANNET_CRASH_LOG: log,
    ...(doom === undefined ? {} : { GANNET_CRASH_AT: writeDoom(doom) }),
    ...(watched === 'intent' ? {} : { GANNET_CRASH_FROM: 'start' }),
  };
  const daemon = startDaemon(runArgs(
    place, ['--max-intents', String(Math.max(1, openIn(place.stateDir).length + (watched === 'start' ? 0 : 1)))],
  ), {
    cwd: place.dir,
    environment: isSigner
      ? { ...place.environment, ...points, GANNET_CRASH_IN: 'signer' }
      : { ...place.environment, ...points, NODE_OPTIONS: nodeOptions({ points: true }), GANNET_CRASH_WITNESS: witness },
    signerPreloads: isSigner ? preloads({ points: true }) : undefined,
  });
  const violations = await ending(daemon, { expected: doom === undefined ? 'an end' : 'a kill' });
  const told = linesOf(log) as readonly (CrashPoint & { readonly killed?: string })[];
  return {
    killedAt: told.find(({ killed }) => killed !== undefined),
    points: told.filter(({ killed }) => killed === undefined), violations,
  };
}

function linesOf(file: string): readonly unknown[] {
  return existsSync(file)
    ? readFileSync(file, 'utf8').split('\n').slice(0, -1).map((line) => JSON.parse(line) as unknown) : [];
}
