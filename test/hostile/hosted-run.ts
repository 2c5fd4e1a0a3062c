import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxAddresses } from '../../src/sandbox/sandbox.ts';
import type { Ended, JsonLine, Playground, Running } from '../e2e/gannet.ts';
import { childrenOf, createPlayground, isRunning, jsonLines, PROJECT } from '../e2e/gannet.ts';
import type { Targets } from './targets.ts';
import { createTargets } from './targets.ts';

/** A strategy of a run: a file of the hostile ones with the attacks that it makes. */
export interface HostileInstance {
  readonly name: string;
  /** In `strategies/`, without its ending. */
  readonly file: string;
  readonly attacks: readonly string[];
}

/** What a run with hostile strategies left. */
export interface HostileRun {
  readonly mode: 'live' | 'paper';
  readonly stateDir: string;
  readonly configFile: string;
  readonly ended: Ended;
  readonly lines: readonly JsonLine[];
  /** What `gannet replay` says of it. */
  readonly replay: Ended;
  /** Each strategy as `gannet status` last showed it, the stopped state of each where it was ever shown. */
  readonly stopped: ReadonlyMap<string, StoppedView>;
  /** What `gannet status` printed for people. */
  readonly statusText: string;
  /** The control token of the run. */
  readonly tokens: readonly string[];
  /** Processes that outlived the run. */
  readonly leftOver: readonly number[];
}

/** Why a strategy was stopped, as `status --json` shows it. */
export interface StoppedView {
  readonly code: string;
  readonly reason: string;
  readonly place: string | null;
}

/** Two strategies of the project that trade beside the hostile ones. */
export const NEIGHBOURS = ['neighbour-order', 'neighbour-build'] as const;
const STRATEGIES = join(import.meta.dirname, 'strategies');
const PACKAGE = 'hostile-strategies';
const PACKAGED = 'input-strategies';
const TRIES_MS = 20_000;
const POLL_MS = 100;
const SILENT_MS = 5_000;
const LONGEST_REFUSAL = 100_000;

interface RunOptions {
  readonly playground: Playground;
  readonly sandbox: SandboxAddresses;
  readonly targets: Targets;
  readonly mode: 'live' | 'paper';
  readonly stateDir: string;
  readonly instances: readonly HostileInstance[];
}

/** Returns the YAML of a run with two honest neighbours, and hostile strategies each in a process of its own. */
function hostileConfig(
  { sandbox, targets, mode, instances }: Omit<RunOptions, 'playground' | 'stateDir'>,
): string {
  const { canaries, keyFile, aim } = targets;
  const hostile = instances.map(({ name, file, attacks }) => `  - ${JSON.stringify({
    use: `./${PACKAGED}/${file}.ts`, name, budget: '100 USDC',
    params: { pair: 'SOL/USDC', size: '25 USDC', every: '500ms', attacks, aim },
  })}`);
  return `mode: ${mode}
isolation: per_strategy
service: { base_url: "${sandbox.base_url}", api_key: "\${GANNET_API_KEY}", requests_per_second: 200 }
chain: { rpc_url: "${sandbox.rpc_url}" }
wallet: { key_from: "file:${keyFile}", address: ${canaries.wallet.address}, sol_reserve: "0.05 SOL" }
tokens: { SOL: So11111111111111111111111111111111111111112, USDC: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v }
signer: { caps: { USDC: { per_trade: "50", per_hour: "1000", per_day: "1000" }, SOL: { per_trade: "1",
    per_hour: "10", per_day: "10" } } }
risk: { max_trade: "50 USDC", max_price_impact_bps: 400, max_fee_bps: 100, max_open_intents: 4,
    max_swaps: { per_minute: 200, per_hour: 600, per_day: 600 }, protections: [{ kind: max_drawdown, limit_pct: 99 }] }
control: { port: 0 }
strategies:
  - { use: dca, name: ${NEIGHBOURS[0]}, budget: "200 USDC", params: { buy: SOL, spend: "1 USDC", every: 2s,
      watch: 1s } }
  - { use: dca, name: ${NEIGHBOURS[1]}, budget: "1 SOL", params: { buy: USDC, spend: "0.01 SOL", every: 2s,
      offset: 1s, watch: 1s, route: build } }
${hostile.join('\n')}
`;
}

/**
 * Puts the strategies into a package that harmless files import: the check of a strategy's text does not read packages,
 * so that only the box is in the way of the attacks. A file that passes the check is used as it is.
 */
export function packStrategies(playground: Playground, instances: readonly HostileInstance[]): void {
  const folder = join(PACKAGED, 'node_modules', PACKAGE);
  playground.write(join(folder, 'package.json'),
    JSON.stringify({ name: PACKAGE, version: '1.0.0', type: 'module', exports: { './*': './*.js' } }));
  for (const name of readdirSync(STRATEGIES)) {
    const text = readFileSync(join(STRATEGIES, name), 'utf8');
    playground.write(join(folder, name.replace(/\.ts$/, '.js')), addressed(stripTypeScriptTypes(text), '.js'));
    if (name === 'spin.ts') playground.write(join(PACKAGED, name), addressed(text, '.ts'));
  }
  for (const file of new Set(instances.map((instance) => instance.file))) {
    const text = `export { default } from '${PACKAGE}/${file}';\n`;
    if (file !== 'spin') playground.write(join(PACKAGED, `${file}.ts`), text);
  }
}

/** What hostile strategies import, and where it lies in the project. */
const IMPORTED = {
  '../../../src/strategy/index.ts': 'src/strategy/index.ts', 'rxjs': 'node_modules/rxjs/dist/cjs/index.js',
  'zod': 'node_modules/zod/index.js',
};

/** Returns the text of a module with the addresses of what it imports, so that it can lie elsewhere. */
function addressed(text: string, ending: string): string {
  return Object.entries(IMPORTED)
    .reduce((all, [name, path]) => all.replaceAll(`'${name}'`, `'${pathToFileURL(join(PROJECT, path)).href}'`), text)
    .replaceAll(/'(\.\/[\w-]+)\.ts'/g, `'$1${ending}'`);
}

/** Gives the wallet of the targets SOL and USDC on a sandbox. */
async function fundWallet({ base_url: url, tokens }: SandboxAddresses, { canaries }: Targets): Promise<void> {
  for (const [symbol, amount] of [['SOL', '5000000000'], ['USDC', '900000000']] as const) {
    const { mint } = tokens.find((token) => token.symbol === symbol)!;
    const response = await fetch(`${url}/sandbox/fund`, {
      method: 'POST', headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ owner: canaries.wallet.address, mint, amount }),
    });
    if (response.status !== 200) throw new Error(`the wallet was not funded: ${await response.text()}`);
  }
}

/** A run with what its attacks aimed at. */
export interface Stage {
  readonly targets: Targets;
  readonly instances: readonly HostileInstance[];
  readonly run: HostileRun;
  /** Removes all files, and closes the listeners. */
  readonly close: () => Promise<void>;
}

/** Runs hostile strategies on a sandbox, with a wallet and secrets of their own. */
export async function stageRun(
  sandbox: SandboxAddresses, mode: 'live' | 'paper', instances: readonly HostileInstance[],
): Promise<Stage> {
  const playground = createPlayground();
  const stateDir = playground.path('state');
  const targets = await createTargets(playground, { stateDir, attacks: instances.flatMap(({ attacks }) => attacks) });
  const close = async (): Promise<void> => {
    await targets.close();
    await playground.close();
  };
  try {
    await fundWallet(sandbox, targets);
    const run = await runHostile({ playground, sandbox, targets, mode, stateDir, instances });
    return { targets, instances, run, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Runs a configuration whose strategies must be refused. Returns what is wrong with the refusal: strategies that it
 * does not name, secrets, and effects; empty where all is well.
 */
export async function refusalFaults(
  sandbox: SandboxAddresses, instances: readonly HostileInstance[],
): Promise<string[]> {
  const playground = createPlayground();
  const stateDir = playground.path('state');
  const targets = await createTargets(playground, { stateDir, attacks: instances.flatMap(({ attacks }) => attacks) });
  packStrategies(playground, instances);
  const config = playground.write('input-refused.yaml', hostileConfig({ sandbox, targets, mode: 'paper', instances }));
  const args = ['run', '--json', '--config', config, '--state-dir', stateDir];
  const { code, stdout, stderr } = await playground.run(args, {
    environment: { GANNET_API_KEY: targets.canaries.apiKey },
  });
  const [first] = jsonLines(stdout) as readonly { readonly error?: { readonly message: string } }[];
  const message = first?.error?.message ?? '';
  const faults = [
    ...(code === 2 ? [] : [`the run ended with code ${code}: ${stdout.slice(0, 300)} ${stderr.slice(0, 300)}`]),
    ...instances.filter((_, index) => !message.includes(` strategies[${index + NEIGHBOURS.length}].`))
      .map(({ attacks }) => `${attacks.join(', ')}: no issue names it`),
    ...targets.arrivals(), ...targets.marks(), ...targets.damage(),
    ...targets.leaksIn(Buffer.from(stdout + stderr)).map(({ secret }) => `${secret} in the output`),
    ...(stdout.length > LONGEST_REFUSAL ? [`the refusal has ${stdout.length} characters`] : []),
  ];
  await targets.close();
  await playground.close();
  return faults;
}

/**
 * Runs the daemon with hostile strategies until each of them has tried all of its attacks or was stopped, and the
 * neighbours have swapped after that; then ends it in order.
 */
async function runHostile(options: RunOptions): Promise<HostileRun> {
  const { playground, targets, mode, stateDir, instances } = options;
  packStrategies(playground, instances);
  const configFile = playground.write(`input-${mode}.yaml`, hostileConfig(options));
  const daemon = playground.start([
    'run', '--json', ...(mode === 'live' ? ['--live'] : []), '--config', configFile, '--state-dir', stateDir,
  ], { environment: { GANNET_API_KEY: targets.canaries.apiKey } });
  await daemon.until((stdout) => stdout.includes('\n'));
  const pids = descendantsOf(daemon.pid);
  const stopped = new Map<string, StoppedView>();
  const giveUpAt = Date.now() + TRIES_MS;
  for (let known = 0; Date.now() < giveUpAt; await sleep(POLL_MS)) {
    const lines = daemon.lines();
    const stops = lines.filter(isStop).length;
    // It is shown until the strategy starts again, a second later.
    if (stops > known) await noteStops(options, stopped);
    known = stops;
    const isOver = (instance: HostileInstance): boolean => stopped.has(instance.name) || hasTriedAll(lines, instance);
    const left = instances.filter((instance) => !isOver(instance));
    // One that has silenced its own process says nothing more.
    if (left.every((instance) => isSilent(lines, instance))) break;
  }
  await neighboursSwap(daemon);
  await noteStops(options, stopped);
  const { stdout: statusText } = await playground.ask(['status', '--state-dir', stateDir, '--config', configFile]);
  const tokens = tokensIn(join(stateDir, 'control.json'));
  daemon.signal('SIGTERM');
  const ended = await daemon.ended;
  const lines = daemon.lines();
  const replay = await playground.run(['replay', String(lines[0]!['run_id']), '--json', '--state-dir', stateDir]);
  return {
    mode, stateDir, configFile, ended, lines, replay, stopped, statusText, tokens,
    leftOver: pids.filter(isRunning),
  };
}

/** Returns whether a strategy, which told an attack some seconds ago, has told nothing since. */
function isSilent(lines: readonly JsonLine[], { name }: HostileInstance): boolean {
  const last = lines.findLast(({ type, strategy }) => type === 'alert' && strategy === name);
  const { at: now = 0 } = lines.at(-1) ?? {};
  return last !== undefined && Number(now) - Number(last['at']) > SILENT_MS;
}

function isStop({ type, message }: JsonLine): boolean {
  return type === 'alert' && String(message).includes(' stopped: ');
}

/** Waits until both neighbours have a swap confirmed that was decided from now on. */
async function neighboursSwap(daemon: Running): Promise<void> {
  const before = daemon.lines().length;
  await daemon.until(() => {
    const since = daemon.lines().slice(before);
    return NEIGHBOURS.every((name) => since.some(({ type, strategy, state }) =>
      type === 'intent' && strategy === name && state === 'confirmed'));
  });
}

async function noteStops({ playground, stateDir }: RunOptions, stopped: Map<string, StoppedView>): Promise<void> {
  const { stdout } = await playground.ask(['status', '--json', '--state-dir', stateDir]);
  const { strategies = [] } = JSON.parse(stdout) as {
    readonly strategies?: readonly { readonly name: string; readonly stopped: StoppedView | null }[];
  };
  for (const { name, stopped: why } of strategies) if (why !== null && !stopped.has(name)) stopped.set(name, why);
}

/** Returns whether a strategy says that it has come to the end of each of its attacks. */
export function hasTriedAll(lines: readonly JsonLine[], { name, attacks }: HostileInstance): boolean {
  const said = new Set(saidBy(lines, name));
  return attacks.every((attack) => said.has(`tried ${attack}`));
}

/** Returns the messages of a strategy's alerts. */
export function saidBy(lines: readonly JsonLine[], name: string): string[] {
  return lines.filter(({ type, strategy }) => type === 'alert' && strategy === name)
    .map(({ message }) => String(message));
}

function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

function tokensIn(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/"\w*token\w*":\s*"([^"]+)"/g)].map(([, token]) => token!);
}

interface PaidTransaction {
  readonly transaction: { readonly message: { readonly accountKeys: readonly string[] } };
}

/** Returns the signatures of all transactions on the chain that an address paid for, newest first. */
export async function signaturesOnChain({ rpc_url: url }: SandboxAddresses, address: string): Promise<string[]> {
  const ask = async <Result>(method: string, params: readonly unknown[]): Promise<Result> => {
    const response = await fetch(url, {
      method: 'POST', headers: { 'content-type': 'application/json', 'connection': 'close' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return (await response.json() as { readonly result: Result }).result;
  };
  const known = await ask<readonly { readonly signature: string }[]>('getSignaturesForAddress', [
    address, { limit: 1_000, commitment: 'confirmed' },
  ]);
  const paid: string[] = [];
  for (const { signature } of known) {
    const found = await ask<PaidTransaction | null>('getTransaction', [
      signature, { maxSupportedTransactionVersion: 1, commitment: 'confirmed' },
    ]);
    if (found?.transaction.message.accountKeys[0] === address) paid.push(signature);
  }
  return paid;
}
