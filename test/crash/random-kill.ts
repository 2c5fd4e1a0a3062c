import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../src/core/random.ts';
import { isRunning } from '../e2e/gannet.ts';
import { pick } from '../signer/random-transaction.ts';
import { startDaemon, type CrashDaemon } from './daemon.ts';
import { readJournal, violationsOf } from './invariants.ts';
import { openPlace, runArgs } from './place.ts';
import { recovered } from './recovery.ts';
import type { WireRule } from './wire.ts';
import { nodeOptions, type CrashFixture } from './crash-fixture.ts';

/** A wallet whose daemons traded without a pause and were killed at some time, one after the other. */
export interface RandomLife {
  readonly kills: readonly RandomKill[];
  /** How many intents ended in each state. */
  readonly states: Readonly<Record<string, number>>;
  readonly violations: readonly string[];
}

export interface RandomKill {
  /** Of the machine's own time, from its start. */
  readonly afterMs: number;
  /** Which of its processes: the first one has the key, its child trades. */
  readonly victim: Victim;
  /** How many processes of strategies were killed before the victim. */
  readonly hosts: number;
}

type Victim = 'the trading process' | 'the first process' | 'all' | 'the strategy host, then the trading process';
const VICTIMS: readonly Victim[] = [
  'the trading process', 'the trading process', 'the first process', 'all',
  'the strategy host, then the trading process',
];
/** A daemon needs up to half of it to start on a busy machine. */
const LONGEST_MS = 6_000;
/** The longest wait for a process of strategies that is to be killed. */
const HOST_MS = 10_000;
const POLL_MS = 10;
/** A starting process sees that the other has died when it comes to it: on a busy machine that takes a while. */
const GONE_MS = 30_000;

/** Purchases small and large, by both routes, and sales: without a pause in the time of the fixture. */
export const BUSY_STRATEGIES =
  `  - { use: dca, name: small, budget: "20000 USDC", params: { buy: SOL, spend: "25 USDC", every: 1s, watch: 1s } }
  - { use: dca, name: firm, budget: "20000 USDC", params: { buy: SOL, spend: "200 USDC", every: 4s, watch: 1s } }
  - { use: dca, name: composed, budget: "20000 USDC", params: { buy: SOL, spend: "30 USDC", every: 2s, watch: 1s,
      route: build } }
  - { use: dca, name: sold, budget: "20 SOL", params: { buy: USDC, spend: "0.1 SOL", every: 3s, watch: 1s } }
`;
/** Of the wallet that trades with them. */
export const BUSY_FUNDS = { usdc: 80_000, lamports: 50_000_000_000n };

/** Now and then an answer is lost, or a request. */
const RULES: readonly (readonly WireRule[])[] = [
  [],
  [
    { request: '/swap/v2/execute', fault: { kind: 'drop_after' }, times: 3 },
    { request: 'sendTransaction', fault: { kind: 'drop_after' }, times: 3 },
  ],
  [
    { request: '/swap/v2/execute', fault: { kind: 'drop_before' }, times: 2 },
    { request: 'sendTransaction', fault: { kind: 'late', ms: 300 }, times: 2 },
  ],
  [{ request: '/swap/v2/execute', fault: { kind: 'status', status: 502 }, times: 2 }],
];

/**
 * Kills daemons at times that the seed says, each but the first while or after it recovers from the kill before; lets
 * the last recover, and checks the result.
 */
export async function killAtRandom(
  fixture: CrashFixture,
  { name, seed, kills }: { readonly name: string; readonly seed: string; readonly kills: number },
): Promise<RandomLife> {
  const random = seededRandom(seed);
  const planned = Array.from({ length: kills }, () =>
    ({ afterMs: Math.floor(random() * LONGEST_MS), victim: pick(random, VICTIMS), rules: pick(random, RULES) }));
  const place = await openPlace(fixture, { name, funds: BUSY_FUNDS, strategies: BUSY_STRATEGIES });
  try {
    await fixture.priceSol(1);
    const violations: string[] = [];
    const made: RandomKill[] = [];
    for (const { afterMs, victim, rules } of planned) {
      fixture.service.rule(rules.filter(({ request }) => request.startsWith('/')));
      fixture.rpc.rule(rules.filter(({ request }) => !request.startsWith('/')));
      const daemon = startDaemon(runArgs(place), {
        cwd: place.dir, environment: { ...place.environment, NODE_OPTIONS: nodeOptions({ points: false }) },
      });
      const isUpAfter = (ms: number): Promise<boolean> =>
        Promise.race([sleep(ms, true), daemon.ended.then(() => false)]);
      const isHostFirst = victim === 'the strategy host, then the trading process';
      // The daemon goes on without its strategies, and starts their process again.
      const killed = isHostFirst && await isUpAfter(afterMs / 2) ? await killHosts(daemon) : 0;
      const wasUp = await isUpAfter(isHostFirst ? afterMs / 2 : afterMs);
      const hosts = hostsOf(daemon.pid);
      kill(daemon.pid, victim);
      await daemon.ended;
      if (!wasUp) violations.push(`ended by itself: ${daemon.stdout().slice(-1_000)} ${daemon.stderr().slice(-1_000)}`);
      if (!await daemon.gone(GONE_MS)) violations.push(`a process outlived ${victim}`);
      // They are in groups of their own.
      if (!await areGone(hosts, GONE_MS)) violations.push(`a process of strategies outlived ${victim}`);
      made.push({ afterMs, victim, hosts: killed });
    }
    violations.push(...await recovered(place), ...await violationsOf({
      stateDir: place.stateDir, wallet: place.wallet.address, chain: fixture.chain,
    }));
    const states: Record<string, number> = {};
    for (const { state } of readJournal(place.stateDir)?.intents ?? []) states[state] = (states[state] ?? 0) + 1;
    return { kills: made, states, violations };
  } finally {
    fixture.service.rule([]);
    fixture.rpc.rule([]);
    rmSync(place.dir, { recursive: true, force: true });
  }
}

function kill(first: number, victim: Victim): void {
  const trading = childOf(first);
  for (const pid of victim === 'all' ? [trading, first] : [victim === 'the first process' ? first : trading ?? first]) {
    if (pid !== undefined) killOne(pid);
  }
}

/** Kills the processes of strategies as soon as there is one. Returns how many. */
async function killHosts({ pid, ended }: CrashDaemon): Promise<number> {
  const giveUpAt = performance.now() + HOST_MS;
  const over = new AbortController();
  void ended.then(() => { over.abort(); });
  while (!over.signal.aborted && performance.now() < giveUpAt) {
    const hosts = hostsOf(pid);
    for (const host of hosts) killOne(host);
    if (hosts.length > 0) return hosts.length;
    await sleep(POLL_MS);
  }
  return 0;
}

/** Returns the processes of strategies: the children of the trading process that run the entry of a host. */
function hostsOf(first: number): number[] {
  const trading = childOf(first);
  return trading === undefined ? [] : hostsUnder(trading);
}

/** Returns the processes of strategies of a trading process. */
export function hostsUnder(trading: number): number[] {
  return childrenOf(trading).filter((pid) => commandOf(pid).includes('host-main'));
}

/** Returns whether all processes have ended within a time. */
async function areGone(pids: readonly number[], withinMs: number): Promise<boolean> {
  const giveUpAt = performance.now() + withinMs;
  while (pids.some(isRunning)) {
    if (performance.now() > giveUpAt) return false;
    await sleep(POLL_MS);
  }
  return true;
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // Processes come and go during the scan.
    return '';
  }
}

/** Kills a process, which may have ended before. */
export function killOne(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended together with another one.
  }
}

/** Returns the last of the children; undefined where there is none, be it that one process does it all. */
function childOf(pid: number): number | undefined {
  return childrenOf(pid).at(-1);
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number)
    .filter((candidate) => parentOf(candidate) === pid);
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1]);
  } catch {
    // Processes come and go during the scan.
    return undefined;
  }
}
