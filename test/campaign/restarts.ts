import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { seededRandom } from '../../src/core/random.ts';
import { procFile } from '../../src/core/watched-process.ts';
import { openCrashFixture, type CrashFixture } from '../crash/crash-fixture.ts';
import { readJournal, violationsOf } from '../crash/invariants.ts';
import { openPlace, runArgs, type Place } from '../crash/place.ts';
import { BUSY_FUNDS, BUSY_STRATEGIES, hostsUnder, killOne } from '../crash/random-kill.ts';
import { openIn } from '../crash/recovery.ts';
import { childrenOf, COMPILE_CACHE } from '../e2e/gannet.ts';
import { pick } from '../signer/random-transaction.ts';
import { addResult, endAtSignals, endCampaign, readResults, resultsFile } from './results.ts';
import { codeVersion } from './tested-code.ts';
import { readUnitFile, SupervisedUnit } from './unit-supervisor.ts';

/** units: the two of deploy/systemd. single: a daemon that starts its signer itself, as in a container. */
export type Topology = 'units' | 'single';

type Victim = 'daemon' | 'signer' | 'everything' | 'strategies';

/** One kill, and what came after it. */
interface Kill {
  readonly victim: Victim;
  /** Since the run traded before. */
  readonly afterMs: number;
  /** From the kill until the run was back. */
  readonly backMs: number;
  /** The part of it in which the machine gave the new processes no processor, because others had it. */
  readonly starvedMs: number;
  readonly back: 'trading' | 'safe mode';
}

export interface RestartLife {
  readonly topology: Topology;
  readonly kills: readonly Kill[];
  /** How long ordered stops took. */
  readonly stopMs: readonly number[];
  /** How many intents ended in each state. */
  readonly states: Readonly<Record<string, number>>;
  readonly violations: readonly string[];
}

const VICTIMS: Readonly<Record<Topology, readonly Victim[]>> = {
  units: ['daemon', 'daemon', 'daemon', 'everything', 'signer', 'strategies'],
  // Here the first process is the signer, and its child trades.
  single: ['daemon', 'daemon', 'everything', 'signer', 'strategies'],
};
/** What a kill may cost, apart from the time in which the processes waited for a processor. */
const BACK_MAX_MS = 10_000;
/** So long it is waited for a run that is not back in time. */
const GIVE_UP_MS = 60_000;
/** The bound of an ordered stop. */
const STOP_MAX_MS = 45_000;
const LIVE_MAX_MS = 4_000;
const RESUMED = 0.6;
const STOPPED = 0.3;
const SETTLED_MS = 240_000;
const HURRIED_SLOTS = 5;
const HURRY_MS = 250;
const POLL_MS = 25;

interface State {
  readonly run_id: string;
  readonly phase: string;
  readonly trading?: string;
  readonly strategies?: readonly { readonly running: boolean }[];
}

/**
 * Runs a daemon as its units do on a chain that outlives it, kills processes of it at random, and measures how long it
 * takes until it trades again, or is in its safe mode with an alert. At the end, journal and chain must agree.
 */
export async function surviveKills(fixture: CrashFixture, { name, seed, kills, topology, onKill }: {
  readonly name: string; readonly seed: string; readonly kills: number; readonly topology: Topology;
  readonly onKill?: ((kill: Kill) => void) | undefined;
}): Promise<RestartLife> {
  const random = seededRandom(seed);
  const place = await openPlace(fixture, { name, funds: BUSY_FUNDS, strategies: BUSY_STRATEGIES });
  await fixture.priceSol(1);
  const service = openService(place, topology);
  const made: Kill[] = [];
  const stopMs: number[] = [];
  const violations: string[] = [];
  try {
    service.start();
    let run = await service.back(undefined);
    for (let number = 0; number < kills; number++) {
      // An operator ends the safe mode or leaves it for a while, or restarts the units: crashes then count from none.
      if (run.back === 'safe mode' && random() < RESUMED) await service.order('resume');
      if (random() < STOPPED) {
        const { ms, fault } = await service.stop();
        stopMs.push(ms);
        if (fault !== undefined) violations.push(fault);
        service.start();
        run = await service.back(run.runId);
      }
      const victim = pick(random, VICTIMS[topology]);
      const afterMs = Math.floor(random() * LIVE_MAX_MS);
      await sleep(afterMs);
      const pauses = watchPauses();
      const killedAt = performance.now();
      const hit = service.kill(victim);
      const back = hit === 'strategies' ? await service.strategiesRun(run.runId) : await service.back(run.runId);
      const backMs = Math.round(performance.now() - killedAt);
      run = back;
      const starvedMs = Math.min(backMs, Math.max(pauses.end(), hit === 'strategies' ? 0 : service.starvedMs(hit)));
      const kill: Kill = { victim: hit, afterMs, backMs, starvedMs, back: back.back };
      made.push(kill);
      if (backMs - starvedMs > BACK_MAX_MS)
        violations.push(`kill ${number + 1} (${hit}): back after ${backMs} ms, ${starvedMs} ms without a processor`);
      onKill?.(kill);
    }
    await service.order('halt');
    const giveUpAt = performance.now() + SETTLED_MS;
    while (openIn(place.stateDir).length > 0 && performance.now() < giveUpAt) {
      // A swap that was never sent expires by slots.
      await fixture.lever('POST', 'time', { advance_slots: HURRIED_SLOTS });
      await sleep(HURRY_MS);
    }
    const left = openIn(place.stateDir);
    if (left.length > 0) violations.push(`${left.join(', ')} not settled after ${SETTLED_MS} ms`);
    const { ms, fault } = await service.stop();
    stopMs.push(ms);
    if (fault !== undefined) violations.push(fault);
    violations.push(...await violationsOf({
      stateDir: place.stateDir, wallet: place.wallet.address, chain: fixture.chain,
    }));
  } catch (error) {
    violations.push(error instanceof Error ? error.message : String(error));
    await service.stop();
  }
  const states: Record<string, number> = {};
  for (const { state } of readJournal(place.stateDir)?.intents ?? []) states[state] = (states[state] ?? 0) + 1;
  rmSync(place.dir, { recursive: true, force: true });
  return { topology, kills: made, stopMs, states, violations };
}

interface Back {
  readonly runId: string;
  readonly back: Kill['back'];
}

/** The units of a place, and what an operator does with them. */
interface Service {
  start(): void;
  stop(): Promise<{ readonly ms: number; readonly fault: string | undefined }>;
  /** Kills the victim, or where there is none yet, the daemon. Returns which. */
  kill(victim: Victim): Victim;
  /** Resolves once another run than the given one has recovered. */
  back(before: string | undefined): Promise<Back>;
  /** Resolves once the strategies of a run, or of the run after it, run again. */
  strategiesRun(before: string): Promise<Back>;
  order(word: 'halt' | 'resume'): Promise<void>;
  /** How long the processes that replaced a victim have waited for a processor since their starts. */
  starvedMs(victim: Victim): number;
}

function openService(place: Place, topology: Topology): Service {
  const { GANNET_WALLET_KEY: key, ...environment } = place.environment;
  const common = { ...environment, NODE_COMPILE_CACHE: COMPILE_CACHE };
  const withKey = { ...common, GANNET_WALLET_KEY: key! };
  const socket = { GANNET_SIGNER_SOCKET: join(place.dir, 'signer.sock') };
  const own = join(place.dir, 'signer-own');
  mkdirSync(own, { recursive: true });
  const signer = topology === 'single' ? undefined : new SupervisedUnit({
    name: 'signer', file: readUnitFile('gannet-signer.service'), dir: place.dir,
    args: ['signer', '--config', place.config], environment: { ...withKey, ...socket, GANNET_SIGNER_DIR: own },
  });
  const daemon = new SupervisedUnit({
    name: 'daemon', file: readUnitFile('gannet.service'), dir: place.dir, args: runArgs(place),
    environment: signer === undefined ? withKey : { ...common, ...socket }, after: signer === undefined ? [] : [signer],
  });
  const tradingPid = (): number | undefined => {
    const { pid } = daemon;
    return pid === undefined || signer !== undefined ? pid : childrenOf(pid).findLast((child) => isTrading(child));
  };

  const ask = async (path: string, body?: object): Promise<unknown> => {
    const { url, token } = controlOf(place);
    const answer = await fetch(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST', signal: AbortSignal.timeout(5_000),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const state = async (): Promise<State | undefined> => {
    if (!existsSync(join(place.stateDir, 'control.json'))) return undefined;
    try {
      return await ask('/api/state') as State;
    } catch {
      // The run that wrote the file was killed, or the next one is not there yet.
      return undefined;
    }
  };
  const until = async (isThere: (state: State) => boolean): Promise<Back> => {
    const giveUpAt = performance.now() + GIVE_UP_MS;
    for (; performance.now() < giveUpAt; await sleep(POLL_MS)) {
      for (const unit of [signer, daemon]) if (unit?.givenUp !== undefined) throw new Error(unit.givenUp);
      const now = await state();
      if (now === undefined || !isThere(now)) continue;
      if (now.trading !== 'halted') return { runId: now.run_id, back: 'trading' };
      // A restart by an operator keeps the halt of a safe mode, and says whose it is.
      if (!/safe mode|safe-mode|crashed/.test(daemon.output))
        throw new Error('trading is halted, and no alert says why');
      return { runId: now.run_id, back: 'safe mode' };
    }
    throw new Error(`not back after ${GIVE_UP_MS} ms: ${JSON.stringify(await state())?.slice(0, 1_000)} `
      + daemon.output.slice(-1_500));
  };
  return {
    start: () => {
      signer?.start();
      daemon.start();
    },
    stop: async () => {
      const { ms, end } = await daemon.stop();
      await signer?.stop();
      // 3: trading was halted when it ended.
      return { ms, fault: ms <= STOP_MAX_MS && (end?.code === 0 || end?.code === 3) ? undefined
        : `an ordered stop took ${ms} ms and ended with ${end?.code}: ${end?.output.slice(-1_500)}` };
    },
    kill: (victim) => {
      const [trading, first] = [tradingPid(), daemon.pid];
      const hosts = trading === undefined ? [] : hostsUnder(trading);
      const hit = victim === 'strategies' && hosts.length === 0 ? 'daemon' : victim;
      const pids: Readonly<Record<Victim, readonly (number | undefined)[]>> = {
        daemon: [trading ?? first], strategies: hosts, signer: [signer === undefined ? first : signer.pid],
        everything: [...hosts, trading, first, signer?.pid],
      };
      for (const pid of new Set(pids[hit])) if (pid !== undefined) killOne(pid);
      return hit;
    },
    back: (before) => until(({ run_id: id, phase }) => id !== before && phase === 'trading'),
    strategiesRun: async (before) => {
      // The daemon sees within a moment that the process has ended.
      await sleep(POLL_MS);
      return until(({ run_id: id, phase, strategies = [] }) =>
        (id === before || phase === 'trading') && strategies.every(({ running }) => running));
    },
    // A signer that was killed too starts first. Of a daemon that starts its own signer, the child is the longer wait.
    starvedMs: (victim) => Math.round(runDelayMs(tradingPid())
      + (victim === 'daemon' || signer === undefined ? 0 : runDelayMs(signer.pid))),
    order: async (word) => { await ask(`/api/${word}`, { reason: 'the campaign' }); },
  };
}

/** Returns how long the main thread of a process was ready to run while others ran. */
function runDelayMs(pid: number | undefined): number {
  return Number(procFile(pid, 'schedstat')?.split(' ')[1] ?? 0) / 1e6;
}

const TICK_MS = 100;
const PAUSE_MS = 1_000;

/** Adds up the spans in which this process did not run, which has little to do: the machine was halted, or too busy. */
function watchPauses(): { readonly end: () => number } {
  let last = performance.now();
  let paused = 0;
  const tick = (): void => {
    const now = performance.now();
    if (now - last > PAUSE_MS) paused += now - last - TICK_MS;
    last = now;
  };
  const ticking = setInterval(tick, TICK_MS);
  return { end: () => {
    clearInterval(ticking);
    tick();
    return Math.round(paused);
  } };
}

function isTrading(pid: number): boolean {
  return procFile(pid, 'cmdline')?.includes('\0run\0') === true;
}

function controlOf({ stateDir }: Place): Readonly<Record<'url' | 'token', string>> {
  return JSON.parse(readFileSync(join(stateDir, 'control.json'), 'utf8')) as Readonly<Record<'url' | 'token', string>>;
}

const KILLS_PER_LIFE = 10;

/** `node test/campaign/restarts.ts [--kills 200] [--seed 1] [--out FILE]` */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: {
    kills: { type: 'string', default: '200' }, seed: { type: 'string', default: '1' },
    out: { type: 'string', default: resultsFile('restarts') },
  } });
  const version = codeVersion('daemon');
  const seed = Number(values.seed);
  const done = new Set(readResults(values.out)
    .filter((line) => line['digest'] === version.digest && line['seed'] === seed).map((line) => line['number']));
  let violations = 0;
  const fixture = await openCrashFixture({ seed, timeFactor: 1 });
  try {
    for (let number = 0, left = Number(values.kills); left > 0; number++, left -= KILLS_PER_LIFE) {
      if (done.has(number)) continue;
      const life = await surviveKills(fixture, {
        name: `life-${number}`, seed: `restarts ${seed}:${number}`, kills: Math.min(left, KILLS_PER_LIFE),
        topology: number % 3 === 2 ? 'single' : 'units',
        onKill: ({ victim, back, backMs, starvedMs }) => {
          process.stderr.write(`${number}: ${victim}, ${back}, ${backMs} ms (${starvedMs} without a processor)\n`);
        },
      });
      violations += life.violations.length;
      for (const violation of life.violations) process.stderr.write(`${number}: ${violation}\n`);
      addResult(values.out, { type: 'restarts', at: new Date().toISOString(), ...version, seed, number, ...life });
    }
  } finally {
    await fixture.close();
  }
  return endCampaign(values.out, violations);
}

if (import.meta.main) {
  endAtSignals();
  process.exitCode = await main();
}
