import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startDaemon, type CrashDaemon } from './daemon.ts';
import { isOpen, lookAtJournal, violationsOf } from './invariants.ts';
import { writeDoom, type CrashPoint, type Doom } from './preload/points.ts';
import type { Testimony } from './preload/witness.ts';
import type { Scenario } from './scenarios.ts';
import { preloads, type CrashWallet, type CrashWorld } from './world.ts';

/** A daemon that was killed, and what it left behind. */
export interface Trial {
  readonly killedAt: CrashPoint | undefined;
  /** The points it came to; all there are where it was not killed. */
  readonly points: readonly CrashPoint[];
  /** How the intents ended, after recovery. */
  readonly states: readonly string[];
  /** How often signed bytes left, as seen from inside the process. */
  readonly sent: number;
  readonly violations: readonly string[];
}

const USDC_UNITS = 1_000_000n;
const UNANSWERED = /"code":"(?:CHAIN_UNREACHABLE|SERVICE_UNREACHABLE|SERVICE_TIMEOUT)"/;
/** Of the machine's own time. */
const RUN_MS = 40_000;
const RECOVERY_MS = 40_000;
const RECOVERIES = 3;
/** Slots that pass besides those that pass by themselves, so often. */
const HURRIED_SLOTS = 20;
const HURRY_MS = 250;
const GONE_MS = 5_000;

/** The place of one trial. */
export interface TrialPlace {
  readonly dir: string;
  readonly stateDir: string;
  readonly config: string;
  readonly wallet: CrashWallet;
  /** For every process of it. */
  readonly environment: Readonly<Record<string, string>>;
}

/** When the daemon dies: in the swap itself, or in the recovery after a first death. */
export interface TrialPlan {
  /** Of the folder. */
  readonly name: string;
  readonly doom?: Doom | undefined;
  /** The points are those of the recovery from this first death, and `doom` is among them. */
  readonly recoveryFrom?: Doom | undefined;
}

/** Plays a scenario until the daemon dies at a point, lets it recover, and looks at what came of it. */
export async function playTrial(world: CrashWorld, scenario: Scenario, { name, doom, recoveryFrom }: TrialPlan): Promise<Trial> {
  const place = await openPlace(world, { name, funds: scenario, strategies: swapOf(scenario) });
  const hurry = scenario.expires === true ? setInterval(() => { void world.lever('POST', 'time', { advance_slots: HURRIED_SLOTS }).catch(() => undefined); }, HURRY_MS) : undefined;
  try {
    await world.priceSol(1);
    await setStage(world, scenario);
    const log = join(place.dir, 'points.ndjson');
    const witness = join(place.dir, 'witness.ndjson');
    const watched = { ...place.environment, ...preloads({ points: true }), GANNET_CRASH_LOG: log, GANNET_CRASH_WITNESS: witness };
    const violations: string[] = [];
    if (recoveryFrom !== undefined) {
      const first = startDaemon(runArgs(place, ['--max-intents', '1']), { cwd: place.dir, environment: { ...watched, ...doomOf(recoveryFrom) } });
      violations.push(...await ending(first, { expected: 'a kill' }));
      rmSync(log, { force: true });
    }
    const daemon = startDaemon(runArgs(place, ['--max-intents', '1']), {
      cwd: place.dir, environment: { ...watched, ...doomOf(doom), ...(recoveryFrom === undefined ? {} : { GANNET_CRASH_FROM: 'start' }) },
    });
    violations.push(...await ending(daemon, { expected: doom === undefined ? 'an end' : 'a kill' }));
    violations.push(...await recovered(place), ...await violationsOf({ stateDir: place.stateDir, wallet: place.wallet.address, chain: world.chain }));
    const told = linesOf(log) as readonly (CrashPoint & { readonly killed?: string })[];
    const seen = linesOf(witness) as readonly Testimony[];
    violations.push(...seen.filter(({ journalled }) => !journalled).map(({ what }) => `signed bytes left (${what}) before they were in the journal`));
    return {
      killedAt: told.find(({ killed }) => killed !== undefined),
      points: told.filter(({ killed }) => killed === undefined),
      states: lookAtJournal(place.stateDir)?.intents.map(({ state }) => state) ?? [],
      sent: seen.length,
      violations,
    };
  } finally {
    clearInterval(hurry);
    world.service.rule([]);
    world.rpc.rule([]);
    await world.lever('DELETE', 'faults');
    rmSync(place.dir, { recursive: true, force: true });
  }
}

/** Makes a funded wallet, a configuration and a folder. */
export async function openPlace(world: CrashWorld, options: { readonly name: string; readonly funds: { readonly lamports: bigint; readonly usdc: number }; readonly strategies: string }): Promise<TrialPlace> {
  const dir = join(world.dir, options.name);
  mkdirSync(dir, { recursive: true });
  const wallet = await world.fund({ lamports: options.funds.lamports, usdc: BigInt(options.funds.usdc) * USDC_UNITS * 2n });
  const config = join(dir, 'gannet.yaml');
  writeFileSync(config, `mode: live
service: { base_url: "${world.service.url}", api_key: "\${GANNET_API_KEY}", requests_per_second: 1000 }
chain: { rpc_url: "${world.rpc.url}" }
wallet: { key_from: env:GANNET_WALLET_KEY, address: ${wallet.address}, sol_reserve: "0.001 SOL" }
signer: { caps: { USDC: { per_trade: "1000", per_hour: "1000000", per_day: "1000000" }, SOL: { per_trade: "10", per_hour: "1000", per_day: "1000" } } }
risk:
  { max_trade: "1000 USDC", max_position: { SOL: "100000 USDC" }, max_price_impact_bps: 400, max_fee_bps: 300, max_slippage_bps: 100, max_swaps: { per_minute: 1000, per_hour: 100000, per_day: 100000 }, protections: [{ kind: max_drawdown, limit_pct: 99 }] }
control: { port: 0 }
strategies:
${options.strategies}`);
  return {
    dir, config, wallet,
    stateDir: join(dir, 'state'),
    environment: { ...world.environment, GANNET_API_KEY: 'crash-campaign-key', GANNET_WALLET_KEY: wallet.secret },
  };
}

/** Returns the arguments of a live run in a place. */
export function runArgs(place: TrialPlace, more: readonly string[] = []): string[] {
  return ['run', '--live', '--json', '--config', place.config, '--state-dir', place.stateDir, ...more];
}

/** Lets a daemon that was killed recover, and ends it in order. Returns what is wrong with that. */
export async function recovered(place: TrialPlace): Promise<string[]> {
  const environment = { ...place.environment, ...preloads({ points: false }) };
  for (let times = 1; ; times++) {
    const before = openIn(place.stateDir);
    const daemon = startDaemon(runArgs(place), { cwd: place.dir, environment });
    const settled = await untilSettled(place, daemon, before);
    daemon.signal('SIGTERM');
    const violations = await ending(daemon, { expected: 'an end' });
    if (settled && violations.length === 0 && openIn(place.stateDir).length === 0) return [];
    // On a busy machine a node may not answer in time: whoever supervises it starts it again.
    const wasRefused = UNANSWERED.test(daemon.stdout() + daemon.stderr());
    if (violations.length > 0 && !wasRefused) return violations;
    if (times === RECOVERIES) return [`not settled after ${times} recoveries: ${daemon.stdout().slice(-2_000)} ${daemon.stderr().slice(-1_000)}`];
  }
}

/** Resolves once a daemon trades and nothing is under way that was when it started, or the patience is at an end. */
async function untilSettled({ stateDir }: TrialPlace, daemon: CrashDaemon, before: readonly string[]): Promise<boolean> {
  const giveUpAt = performance.now() + RECOVERY_MS;
  const over = new AbortController();
  void daemon.ended.then(() => { over.abort(); });
  while (performance.now() < giveUpAt && !over.signal.aborted) {
    if (daemon.stdout().includes('"type":"started"')) {
      const open = openIn(stateDir);
      if (before.every((id) => !open.includes(id))) return true;
    }
    await sleep(25);
  }
  return false;
}

/** Returns the names of the intents that are under way. */
function openIn(stateDir: string): readonly string[] {
  return lookAtJournal(stateDir)?.intents.filter(({ state }) => isOpen(state)).map(({ id }) => id) ?? [];
}

/** Waits for the end of a daemon and all its processes. Returns what is wrong with it. */
async function ending(daemon: CrashDaemon, { expected }: { readonly expected: 'an end' | 'a kill' }): Promise<string[]> {
  const code = await Promise.race([daemon.ended, sleep(RUN_MS, 'never' as const, { ref: false })]);
  const violations: string[] = [];
  if (code === 'never') violations.push(`does not end: ${daemon.stdout().slice(-1_500)} ${daemon.stderr().slice(-500)}`);
  else if (expected === 'an end' && code !== 0) violations.push(`ended with ${code}: ${daemon.stdout().slice(-1_000)} ${daemon.stderr().slice(-1_000)}`);
  const alone = await daemon.gone(code === 'never' ? 0 : GONE_MS);
  if (!alone && code !== 'never') violations.push('a process of it outlived the daemon');
  return violations;
}

async function setStage(world: CrashWorld, { route, fault, sandboxFault, priceAfterSigning }: Scenario): Promise<void> {
  const request = route === 'order' ? '/swap/v2/execute' : 'sendTransaction';
  let moved = false;
  const moveOnce = async (name: string): Promise<void> => {
    if (priceAfterSigning === undefined || moved || name !== request) return;
    moved = true;
    await world.priceSol(priceAfterSigning);
  };
  const rules = fault === undefined ? [] : [{ request, ...fault }];
  world.service.rule(route === 'order' ? rules : [], moveOnce);
  world.rpc.rule(route === 'build' ? rules : [], moveOnce);
  if (sandboxFault !== undefined) await world.lever('POST', 'faults', { match: { path: '/swap/v2/execute' }, ...sandboxFault });
}

/** Returns the one strategy that does what a scenario is about. */
export function swapOf({ usdc, route }: Scenario): string {
  return `  - { use: swap-once, name: once, budget: "${usdc} USDC", params: { spend: "${usdc} USDC", buy: SOL, route: ${route} } }\n`;
}

function doomOf(doom: Doom | undefined): Readonly<Record<string, string>> {
  return doom === undefined ? {} : { GANNET_CRASH_AT: writeDoom(doom) };
}

function linesOf(file: string): readonly unknown[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1).map((line) => JSON.parse(line) as unknown) : [];
}
