import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { ReplayResult } from '../../src/backtest/replay.ts';
import { replayRun } from '../../src/backtest/replay.ts';
import { seededRandom } from '../../src/core/random.ts';
import { stringifyJson } from '../../src/core/json.ts';
import { procFile } from '../../src/core/watched-process.ts';
import type { ReplayInput } from '../../src/daemon/files/replay-input.ts';
import { openReplayInput } from '../../src/daemon/files/replay-input.ts';
import type { LoggedDecision } from '../../src/engine/decision-log.ts';
import type { SandboxAddresses } from '../../src/sandbox/sandbox.ts';
import { createChainReader } from '../crash/chain-reader.ts';
import { readJournal, violationsOf } from '../crash/invariants.ts';
import { COUNTER, TRADER } from '../e2e/reloaded-strategies.ts';
import type { Playground, Running } from '../e2e/gannet.ts';
import { childrenOf, createPlayground, daemonOf, document, startSandbox } from '../e2e/gannet.ts';
import { addResult, packResults, resultsFile } from './results.ts';
import { codeVersion } from './tested-code.ts';

/** What a daemon and its processes of strategies take at one time of a run. */
interface Footprint {
  readonly reloads: number;
  /** Of the daemon. */
  readonly residentMb: number;
  /** Descriptors without network connections. */
  readonly openFiles: number;
  /** The processes of strategies, and what they take together. */
  readonly hosts: number;
  readonly hostsMb: number;
}

export interface ReloadsReport {
  readonly mode: 'live' | 'paper';
  readonly seconds: number;
  /** The reloads that were ordered, by what they reloaded. */
  readonly ordered: Readonly<Record<ReloadKind, number>>;
  /** The strategies that they put into their places. */
  readonly switches: number;
  /** The switches while a swap was under way. */
  readonly inFlight: number;
  readonly events: number;
  readonly decisions: number;
  /** The decisions that an unreloaded run over the same inputs repeats. */
  readonly compared: number;
  /** The intents of the run, by how they ended. */
  readonly intents: Readonly<Record<string, number>>;
  readonly footprints: readonly Footprint[];
  readonly violations: readonly string[];
}

/** same: into the same version. code: into other text. params: other parameters. changed: all that has changed. */
const KINDS = ['same', 'code', 'params', 'changed'] as const;
type ReloadKind = (typeof KINDS)[number];

/** The strategies, with their files: a process holds those of one file. */
const FILES = { quick: 'trader', slow: 'trader', mean: 'trader', other: 'trader', tuned: 'counter' } as const;
const NAMES = Object.keys(FILES) as (keyof typeof FILES)[];
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const SOL = 'So11111111111111111111111111111111111111112';
/** Its parameter changes what it says, so a run without reloads says otherwise. */
const OUTSPOKEN = 'tuned';
const FOOTPRINTS = 20;

/**
 * Runs the daemon on a sandbox with five strategies that trade without a pause, and reloads them one after the other.
 * Then it replays the run, repeats its inputs without the reloads, and compares the journal with the chain.
 */
export async function reloadUnderLoad({ place, mode, reloads, seed, minutes = Infinity, onProgress }: {
  readonly place: Playground; readonly mode: 'live' | 'paper'; readonly reloads: number; readonly seed: number;
  /** After this time, no further reload is ordered. */
  readonly minutes?: number;
  readonly onProgress?: (done: number) => void;
}): Promise<ReloadsReport> {
  const startedMs = Date.now();
  const sandbox = await startSandbox(place, seed);
  await prepare(sandbox);
  const author = new Author(place, { mode, sandbox });
  const stateDir = place.path(`reloads-${mode}`);
  const daemon = place.start([
    'run', ...(mode === 'live' ? ['--live'] : []), '--json', '--config', place.path(author.config),
    '--state-dir', stateDir,
  ], { environment: { GANNET_API_KEY: 'a-key-of-my-own', GANNET_WALLET_KEY: sandbox.wallet.private_key } });
  const settled = '"state":"confirmed"';
  await daemon.until((stdout) => stdout.includes(settled));
  const trading = mode === 'live' ? await daemonOf(daemon) : daemon.pid;
  const random = seededRandom(`reloads ${seed}`);
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const ordered: Record<ReloadKind, number> = { same: 0, code: 0, params: 0, changed: 0 };
  const footprints: Footprint[] = [];
  const violations: string[] = [];
  let switches = 0;
  for (let done = 0; done < reloads && Date.now() - startedMs < minutes * 60_000; done++) {
    const [kind, name] = [one(KINDS), one(NAMES)];
    if (kind === 'code') author.rewrite(FILES[name]);
    else if (kind === 'params') author.retune(name);
    else if (kind === 'changed') for (const some of [name, one(NAMES)]) author.retune(some);
    const ended = await place.ask(['reload', ...(kind === 'changed' ? [] : [name]), '--json', '--state-dir', stateDir]);
    const answer = document(ended) as { readonly reloaded?: readonly object[]; readonly error?: unknown };
    ordered[kind] += 1;
    if (ended.code === 0 && answer.reloaded !== undefined) switches += answer.reloaded.length;
    else violations.push(`reload ${done + 1} (${kind} ${name}) was refused: ${ended.stdout}`);
    if ((done + 1) % Math.max(1, Math.floor(reloads / FOOTPRINTS)) === 0)
      footprints.push(await footprintOf(trading, done + 1));
    onProgress?.(done + 1);
  }
  // What the last reload began is seen to the end.
  const before = countOf(daemon, settled);
  await daemon.until(() => countOf(daemon, settled) > before + 1);
  daemon.signal('SIGTERM');
  const { code, stderr } = await daemon.ended;
  if (code !== 0) violations.push(`the run ended with ${code}: ${stderr.slice(-1_000)}`);
  const comparison = await compareWithUnreloaded(runDirOf(stateDir));
  const onChain = mode === 'paper' ? []
    : await violationsOf({ stateDir, wallet: sandbox.wallet.address, chain: createChainReader(sandbox.rpc_url) });
  sandbox.running.signal('SIGTERM');
  await sandbox.running.ended;
  return {
    mode, seconds: Math.round((Date.now() - startedMs) / 1_000), ordered, switches,
    inFlight: comparison.inFlight, events: comparison.events, decisions: comparison.decisions,
    compared: comparison.compared,
    intents: intentsOf(stateDir), footprints, violations: [...violations, ...comparison.violations, ...onChain],
  };
}

/** Writes strategies and their configuration, again and again. */
class Author {
  readonly config: string;
  readonly #place: Playground;
  readonly #where: { readonly mode: 'live' | 'paper'; readonly sandbox: SandboxAddresses };
  readonly #labels = new Map<string, number>();
  #revision = 0;

  constructor(place: Playground, where: { readonly mode: 'live' | 'paper'; readonly sandbox: SandboxAddresses }) {
    this.#place = place;
    this.#where = where;
    this.config = `reloads-${where.mode}.yaml`;
    for (const file of ['trader', 'counter'] as const) this.rewrite(file);
    place.write('word.ts', "export const WORD = 'count';\n");
    this.#configure();
  }

  /** Changes the text of strategies, and nothing that they do. */
  rewrite(file: 'trader' | 'counter'): void {
    this.#revision += 1;
    this.#place.write(`${file}.ts`, `${file === 'counter' ? COUNTER : TRADER}// ${this.#revision}\n`);
  }

  /** Changes the parameters of a strategy, to and fro. */
  retune(name: string): void {
    this.#labels.set(name, 1 - (this.#labels.get(name) ?? 0));
    this.#configure();
  }

  #configure(): void {
    const { mode, sandbox } = this.#where;
    const label = (name: string): number => this.#labels.get(name) ?? 0;
    const trader = (name: string, every: string, turn: number, rest = ''): string => `  - use: ./trader.ts
    name: ${name}
    budget: "4000 USDC"
${rest}    params: { pair: SOL/USDC, size: "0.5 USDC", every: ${every}, turn: ${turn}, label: "${label(name)}" }
`;
    this.#place.write(this.config, `mode: ${mode}
seed: 5
reload: by_command
# The first prune opens files 20 s after the start. Without it, each further open file is the work of a reload.
retention: { enabled: false }
service: { base_url: "${sandbox.base_url}", api_key: "\${GANNET_API_KEY}", requests_per_second: 200 }
chain: { rpc_url: "${sandbox.rpc_url}" }
wallet: { key_from: env:GANNET_WALLET_KEY, address: ${sandbox.wallet.address}, sol_reserve: "0.05 SOL" }
tokens: { SOL: ${SOL}, USDC: ${USDC} }
signer: { caps: { USDC: { per_trade: "10", per_hour: "100000", per_day: "100000" }, SOL: { per_trade: "1",
    per_hour: "100", per_day: "100" } } }
risk:
  # On a busy machine an order waits for a processor, and would be abandoned as stale.
  max_quote_age: 20s
  max_trade: "10 USDC"
  max_open_intents: 3
  max_swaps: { per_minute: 1000, per_hour: 100000, per_day: 100000 }
  protections: [{ kind: daily_loss, limit: "5000 USDC", action: halt }]
control: { port: 0 }
strategies:
${trader('quick', '200ms', 1)}${trader('slow', '500ms', 3)}${trader('mean', '300ms', 0, '    warmup: 10s\n')}${
      trader('other', '400ms', 7, '    warmup: 20s\n')}  - use: ./counter.ts
    name: ${OUTSPOKEN}
    warmup: 5s
    params: { pair: SOL/USDC, size: "0.5 USDC", every: 1s, step: ${label(OUTSPOKEN) + 1} }
`);
  }
}

/** Funds the wallet, and lets each swap take longer, so that reloads find swaps under way. */
async function prepare({ base_url: url, wallet }: SandboxAddresses): Promise<void> {
  const orders = {
    fund: { owner: wallet.address, mint: USDC, amount: '20000000000' },
    faults: { match: { path: '/swap/v2/execute' }, fault: { kind: 'delay', ms: 300 } },
  };
  for (const [path, order] of Object.entries(orders)) {
    const response = await fetch(`${url}/sandbox/${path}`, {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(order),
    });
    if (response.status !== 200) throw new Error(`the sandbox refused ${path}: ${await response.text()}`);
  }
}

function intentsOf(stateDir: string): Record<string, number> {
  const intents = readJournal(stateDir)?.intents ?? [];
  return Object.fromEntries(Map.groupBy(intents, ({ state }) => state).entries()
    .map(([state, all]) => [state, all.length] as const));
}

function countOf({ stdout }: Running, text: string): number {
  return stdout().split(text).length;
}

function runDirOf(stateDir: string): string {
  const runs = join(stateDir, 'runs');
  return join(runs, readdirSync(runs)[0]!);
}

async function footprintOf(daemon: number, reloads: number): Promise<Footprint> {
  // Processes that were replaced take a moment to end.
  for (let tries = 0; tries < 50 && childrenOf(daemon).length > NAMES.length; tries++) await sleep(20);
  const hosts = childrenOf(daemon);
  return {
    reloads, residentMb: residentMb(daemon), openFiles: openFilesOf(daemon),
    hosts: hosts.length, hostsMb: hosts.reduce((sum, pid) => sum + residentMb(pid), 0),
  };
}

/** Counts the descriptors of a process without its network connections: the load decides how many of those it keeps. */
function openFilesOf(pid: number): number {
  const connections = new Set(['tcp', 'tcp6'].flatMap((table) =>
    (procFile(pid, `net/${table}`) ?? '').split('\n').slice(1).map((line) => line.trim().split(/\s+/)[9])));
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    const [, inode] = /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`)) ?? [];
    return inode === undefined || !connections.has(inode);
  }).length;
}

/** Returns where a descriptor leads; empty where it was closed meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

function residentMb(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(procFile(pid, 'status') ?? '') ?? [];
  return Math.round(Number(kilobytes ?? 0) / 1_024);
}

/**
 * Replays a run, and repeats its inputs without its reloads in the code of its start. Both must decide the same, apart
 * from the stamps: a reload takes one, and so changes those after it.
 */
async function compareWithUnreloaded(runDir: string): Promise<{
  readonly events: number; readonly decisions: number; readonly compared: number; readonly inFlight: number;
  readonly violations: string[];
}> {
  const input = await openReplayInput(runDir);
  let inFlight = 0;
  const options = input.replay();
  const reloaded = replayOf({ ...options, versionOf: (order, seq) => {
    if (options.state.intents.size > 0) inFlight += 1;
    return options.versionOf!(order, seq);
  } });
  const plain = replayOf(withoutReloads(input));
  const violations = [...differencesOf('the replay', reloaded.result), ...firstDifference(reloaded.said, plain.said)];
  return {
    events: reloaded.result.events, decisions: reloaded.result.decisions, compared: plain.said.length, inFlight,
    violations,
  };
}

type ReplayOptions = ReturnType<ReplayInput['replay']>;

function replayOf(options: ReplayOptions): { readonly result: ReplayResult; readonly said: readonly string[] } {
  const said: string[] = [];
  const result = replayRun({ ...options, onRuling: (_ruling, { seq: _seq, h: _h, ...decision }: LoggedDecision) => {
    if (decision.strategy !== OUTSPOKEN) said.push(stringifyJson(decision));
  } });
  return { result, said };
}

/** Returns a replay of the inputs alone: its decisions are compared with nothing, and the stamps close up. */
function withoutReloads(input: ReplayInput): ReplayOptions {
  const { cursor, stopped, ...options } = input.replay();
  const skipped = countReloads(input, Infinity);
  const stoppedAfter = stopped === null ? 0 : countReloads(input, stopped.after_seq);
  let left = 0;
  return {
    ...options, recorded: [], cutOff: true, versionOf: undefined,
    stopped: stopped === null ? null : { ...stopped, after_seq: stopped.after_seq - stoppedAfter },
    cursor: {
      next: () => {
        for (;;) {
          if (!cursor.next()) return false;
          if (!isReload(cursor.input) || left >= skipped) return true;
          left += 1;
        }
      },
      get seq() { return cursor.seq - left; },
      get at() { return cursor.at; },
      get input() { return cursor.input; },
    },
  };
}

function countReloads(input: ReplayInput, until: number): number {
  let count = 0;
  const { cursor } = input.replay();
  while (cursor.next()) if (cursor.seq <= until && isReload(cursor.input)) count += 1;
  return count;
}

function isReload(input: ReplayOptions['cursor']['input']): boolean {
  return input.kind === 'command' && input.name === 'reload-strategy';
}

function differencesOf(what: string, { match, firstDivergence }: ReplayResult): string[] {
  return match ? [] : [`${what} came to something else: ${stringifyJson(firstDivergence ?? null)}`];
}

function firstDifference(reloaded: readonly string[], plain: readonly string[]): string[] {
  const at = reloaded.findIndex((decision, index) => decision !== plain[index]);
  if (at < 0 && reloaded.length === plain.length) return [];
  return [`without reloads, decision ${at + 1} of ${reloaded.length} is ${plain[at] ?? 'missing'} instead of `
    + (reloaded[at] ?? 'nothing')];
}

/** `node test/campaign/reloads.ts [--reloads 1000] [--mode live] [--seed 1] [--minutes 60] [--out FILE]` */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: {
    reloads: { type: 'string', default: '1000' }, mode: { type: 'string', default: 'live' },
    seed: { type: 'string', default: '1' }, minutes: { type: 'string', default: 'Infinity' },
    out: { type: 'string', default: resultsFile('reloads') },
  } });
  const place = createPlayground();
  try {
    const { violations, ...figures } = await reloadUnderLoad({
      place, mode: values.mode === 'paper' ? 'paper' : 'live', reloads: Number(values.reloads),
      seed: Number(values.seed), minutes: Number(values.minutes),
      onProgress(done) {
        if (done % 50 === 0 || process.stderr.isTTY) process.stderr.write(`${done} of ${values.reloads}\n`);
      },
    });
    addResult(values.out, {
      type: 'reloads', at: new Date().toISOString(), ...codeVersion('everything'), seed: Number(values.seed),
      ...figures, violations: violations.length,
    });
    packResults(values.out);
    process.stdout.write(`${JSON.stringify(figures, null, 2)}\n${violations.map((what) => `${what}\n`).join('')}`
      + `${violations.length} violations\n`);
    return violations.length === 0 ? 0 : 1;
  } finally {
    await place.close();
  }
}

if (import.meta.main) process.exitCode = await main();
