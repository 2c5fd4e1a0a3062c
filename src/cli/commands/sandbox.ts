import { readFileSync } from 'node:fs';
import { InvalidArgumentError, Option } from 'commander';
import { parseDocument } from 'yaml';
import type { CommandModule } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { wholeNumber } from '../input/flags.ts';
import { table } from '../output/table.ts';
import { GannetError, isGannetError, messageOf } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import { interrupted } from '../../recording/interrupt.ts';
import type { RateLimit, SandboxAddresses, ScenarioStep } from '../../sandbox/sandbox.ts';
import { PROFILES, type Profile } from '../../sandbox/service/context.ts';
import { PLAN_NAMES, requestsPerSecond, type PlanName } from '../../service/rate/rate-plan.ts';
import { dialectNames } from '../../service/wire/dialect.ts';
import { readHostProfileFile, type HostProfile } from '../../service/wire/host-profile.ts';

interface SandboxFlags {
  readonly port: number;
  readonly rpcPort: number;
  readonly seed: number;
  readonly scenario?: string;
  readonly speed: number;
  readonly dialect?: string;
  readonly profile: string;
  readonly plan?: PlanName;
}

export const sandboxCommand: CommandModule = (program, run) => {
  program.command('sandbox')
    .description('starts the embedded service and chain alone; prints their addresses and a funded wallet, then runs '
      + 'until interrupted')
    .option('--port <port>', 'port of the service; 0: a free one', wholeNumber(0, 65_535), 0)
    .option('--rpc-port <port>', 'port of the JSON-RPC; 0: a free one', wholeNumber(0, 65_535), 0)
    .option('--seed <number>', 'seed of the market and the wallet', wholeNumber(0, 4_294_967_295), 7)
    .option('--scenario <file>', 'a file of timed faults and prices')
    .option('--speed <factor>', 'speed of the market; 0 freezes it', factor, 1)
    .option('--dialect <name>', 'the wire vocabulary: a file of config/dialects (default: neutral, or the one of the '
      + 'host’s profile)')
    .option(
      '--profile <name|file>', 'answers as the service’s reference describes (reference), as the live service was '
        + 'observed (live), or as the host of a file that "gannet rehearse" wrote', 'reference',
    )
    .addOption(new Option('--plan <name>', 'limits each key by this plan, in real time (default: no limit)')
      .choices(PLAN_NAMES))
    .action(run(async ({ terminal, interrupt }, flags: SandboxFlags) => {
      const chosen = readProfile(flags.profile);
      const dialect = flags.dialect ?? dialectOf(chosen.host);
      const { startSandbox } = await import('../../sandbox/sandbox.ts');
      const scenario = flags.scenario === undefined ? undefined : readScenario(flags.scenario);
      const sandbox = await startSandbox({
        port: flags.port, rpcPort: flags.rpcPort, seed: flags.seed, speed: flags.speed, dialect, ...chosen,
        ...(scenario === undefined ? {} : { scenario }),
        ...(flags.plan === undefined ? {} : { rateLimit: limitOf(flags.plan, chosen.profile) }),
      });
      terminal.result(sandbox.addresses, () =>
        describe(sandbox.addresses, { dialect, plan: flags.plan, file: flags.profile, ...chosen }));
      await interrupted(interrupt);
      await sandbox.close();
      return EXIT.done;
    }));
};

// The windows of the reference's plans, and those observed at the live service.
const WINDOWS =
  { reference: { kind: 'sliding', windowMs: 60_000 }, live: { kind: 'fixed', windowMs: 10_000 } } as const;

/** Returns the rate limit of a key of a plan. */
function limitOf(plan: PlanName, profile: Profile): RateLimit {
  const { kind, windowMs } = WINDOWS[profile];
  const perWindow = (bucket: 'main' | 'execute'): number => (requestsPerSecond(plan, bucket) * windowMs) / 1_000;
  return { kind, windowMs, requests: perWindow('main'), executeRequests: perWindow('execute'), headers: true };
}

/** A profile by its name, or a host's with what differs from `live`. */
interface ChosenProfile {
  readonly profile: Profile;
  readonly host?: HostProfile;
}

/**
 * Returns the profile of a name, or of a file. Throws CONFIG_NOT_FOUND where there is no such file, CONFIG_INVALID
 * where it is no profile of a host.
 */
function readProfile(name: string): ChosenProfile {
  const profile = PROFILES.find((known) => known === name);
  if (profile !== undefined) return { profile };
  try {
    return { profile: 'live', host: readHostProfileFile(name) };
  } catch (cause) {
    if (isGannetError(cause)) throw cause;
    throw new GannetError(
      'CONFIG_NOT_FOUND', `--profile: expected ${PROFILES.join(', ')}, or the file of a host profile, got `
        + `"${printable(name, 60)}": ${messageOf(cause)}`, { cause },
    );
  }
}

/** Returns the words that the host of a profile spoke, as far as they are known here. */
function dialectOf(host: HostProfile | undefined): string {
  return host !== undefined && dialectNames().includes(host.dialect) ? host.dialect : 'neutral';
}

function ms(value: number | null): string {
  return value === null ? 'not measured' : `${Math.round(value)} ms`;
}

/** Returns the lines that say how a sandbox answers. */
function describeProfile({ profile, host, file }: ChosenProfile & { readonly file: string }): string[] {
  if (host === undefined)
    return [profile === 'live' ? 'answers as the live service was observed' : 'answers as the reference describes'];
  const { rounding, tip, percent, members, limits, latency_ms: latency, node } = host;
  const websocket = node.websocket === false ? 'no websocket' : 'with a websocket';
  return [
    `answers as ${printable(host.host, 50)} did`,
    `at ${host.recorded_at} (${printable(file, 36)})`,
    `least output: order ${rounding.order}, build ${rounding.build}; tips: up to ${tip.lamports} lamports`,
    `shares: ${percent}; impact: ${host.price_impact}; members left out: `
      + `order ${members.order.absent.length}, build ${members.build.absent.length}`,
    `limit: ${limits.requests === null || limits.window_ms === null ? 'not stated'
      : `${limits.requests} requests in ${limits.window_ms} ms`}`,
    `delays: order ${ms(latency.order)}, build ${ms(latency.build)}, node ${ms(latency.node)}`,
    `node: transactions up to version ${node.transaction_version ?? 1}, ${websocket}`,
  ];
}

interface Described extends ChosenProfile {
  readonly dialect: string;
  readonly plan: PlanName | undefined;
  /** What was given as the profile. */
  readonly file: string;
}

function describe(addresses: SandboxAddresses, described: Described): string {
  const { dialect, plan } = described;
  const rows = addresses.tokens.map(({ symbol, mint, decimals }) => [symbol, mint, String(decimals)]);
  return [
    `  service   ${addresses.base_url}\n`,
    ...describeProfile(described).map((line) => `            ${line}\n`),
    `            in the dialect "${printable(dialect, 20)}"; accepts any API key\n`,
    ...(plan === undefined ? [] : [`            limited by the plan "${plan}"\n`]),
    `  rpc       ${addresses.rpc_url}\n`,
    `  websocket ${addresses.ws_url}\n`,
    `  wallet    ${addresses.wallet.address}\n`,
    `  key       ${addresses.wallet.private_key}  (worthless outside this sandbox)\n\n`,
    table([['token', 'mint', 'decimals'], ...rows], { right: [2] }),
    '\n  To use it, write in a configuration\n\n',
    // One key a line: a line that is wrapped at 80 columns would be no YAML any more.
    ...['service:', `  base_url: "${addresses.base_url}"`, `  dialect: ${dialect}`, ...planLines(plan)]
      .map((line) => `    ${line}\n`),
    `    chain: { rpc_url: "${addresses.rpc_url}" }\n`,
    `    wallet: { address: ${addresses.wallet.address} }\n\n`,
    '  Ctrl-C ends it.\n',
  ].join('');
}

/** Returns the plan for a configuration: an unlimited service has no plan, and the keyless plan has no key. */
function planLines(plan: PlanName | undefined): readonly string[] {
  if (plan === 'keyless') return [`  plan: ${plan}`];
  return ['  api_key: sandbox', plan === undefined ? '  requests_per_second: 100' : `  plan: ${plan}`];
}

/** Reads a scenario, a list of steps in YAML or JSON. Throws CONFIG_NOT_FOUND, and CONFIG_INVALID with the place. */
function readScenario(path: string): ScenarioStep[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new GannetError('CONFIG_NOT_FOUND', `the scenario ${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error !== undefined) throw new GannetError('CONFIG_INVALID', `${path}: ${error.message}`);
  const steps: unknown = document.toJS({ maxAliasCount: 0 });
  if (!Array.isArray(steps)) throw new GannetError('CONFIG_INVALID', `${path}: expected a list of steps`);
  const odd = steps.findIndex((step) => typeof step !== 'object' || step === null || Array.isArray(step));
  if (odd !== -1) throw new GannetError('CONFIG_INVALID', `${path}, step ${odd + 1}: expected keys and values such as `
    + `"at: 5s", got ${printable(JSON.stringify(steps[odd]) ?? 'nothing', 60)}`);
  return steps as ScenarioStep[];
}

function factor(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0 || value > 1_000)
    throw new InvalidArgumentError('expected a number from 0 to 1000.');
  return value;
}
