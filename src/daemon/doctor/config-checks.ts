import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigIssue } from '../../config/config-issue.ts';
import { movesRealMoney } from '../../config/live-gate.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { BUILT_IN_FILE, loadConfig } from '../../config/load-config.ts';
import { lateFeeds } from '../../config/request-rate.ts';
import { creditUse, retiredHost } from '../../config/operations/service-facts.ts';
import type { ConnectionSettings } from '../../config/resolve-config.ts';
import { GUESSED_DECIMALS } from '../../config/resolve-tokens.ts';
import type { RunConfig } from '../../config/run-config.ts';
import { pluralize } from '../../core/text.ts';
import { roughDuration } from '../../core/time.ts';
import { showAmount } from '../../market/market-text.ts';
import type { Mint } from '../../market/token.ts';
import { GENESIS_TOKENS } from '../../sandbox/genesis.ts';
import { dotenvFolders } from '../../signer/environment.ts';
import type { Check, DoctorScope } from './check.ts';
import { checksOf } from './check.ts';
import type { ServiceProbe } from './service-probe.ts';
import { probeService } from './service-probe.ts';

/** A configuration as far as it could be read, and what the service said while it was. */
export interface ExaminedConfig {
  readonly checks: readonly Check[];
  /** Undefined for one with faults. */
  readonly config: RunConfig | undefined;
  /** Undefined where reading did not get as far as the connections. */
  readonly settings: ConnectionSettings | undefined;
  /** Undefined where the service was not asked. */
  readonly probe: ServiceProbe | undefined;
}

const { ok, warning, fault } = checksOf('configuration');

/** Loads the configuration as "config check" does. The service is asked once; where it fails, decimals are guessed. */
export async function examineConfig(scope: DoctorScope): Promise<ExaminedConfig> {
  let settings: ConnectionSettings | undefined;
  let probing: Promise<ServiceProbe> | undefined;
  const probeOf = (mints: readonly Mint[], found: ConnectionSettings): Promise<ServiceProbe> | undefined => {
    settings = found;
    if (found.service.baseUrl !== 'embedded' && !scope.offline) probing ??= probeService(found, mints, scope.clock);
    return probing;
  };
  const result = await loadConfig({
    file: scope.config, purpose: 'check', workingDir: scope.workingDir, environment: scope.environment,
    withheld: scope.withheld, stateDir: scope.stateDir, overrides: scope.overrides,
    strategyReader: scope.strategyReader,
    decimalsOf: async (mints, found) => {
      const records = (await probeOf(mints, found))?.records;
      if (found.service.baseUrl === 'embedded')
        return new Map(GENESIS_TOKENS.map(({ mint, decimals }) => [mint as Mint, decimals]));
      return records === undefined ? new Map(mints.map((mint) => [mint, GUESSED_DECIMALS]))
        : new Map(records.map(({ id, decimals }) => [id, decimals]));
    },
    pricesOf: async (mints, found) => {
      if (found.service.baseUrl === 'embedded')
        return new Map(GENESIS_TOKENS.map(({ mint, usdPrice }) => [mint as Mint, usdPrice]));
      const records = (await probeOf(mints, found))?.records ?? [];
      return new Map(records.flatMap(({ id, values: { usdPrice } }) =>
        (usdPrice === undefined ? [] : [[id, usdPrice]])));
    },
    absence: () => 'the service knows no such token: check the mint, for example with "gannet tokens MINT"',
  });
  const checks = result.ok ? soundChecks(result) : result.issues.map(issueCheck);
  return {
    checks: [...checks, ...dotenvChecks(scope)], config: result.ok ? result.config : undefined, settings,
    probe: await probing,
  };
}

/** Which check the fault of a section belongs to; all others belong to "config". */
const SECTIONS: readonly (readonly [section: RegExp, name: string])[] = [
  [/^service\.api_key/, 'api-key'], [/^strategies/, 'strategies'], [/^tokens/, 'tokens'], [/^signer\.caps/, 'caps'],
  [/^wallet\.key_from/, 'key'], [/^notifications/, 'notifications'],
];

function issueCheck({ file, line, column, path, message }: ConfigIssue): Check {
  const name = SECTIONS.find(([section]) => section.test(path))?.[1] ?? 'config';
  const place = file.startsWith('--') || file === BUILT_IN_FILE ? file : `${file}:${line}:${column}`;
  return fault(name, `${place} ${path === '' ? '' : `${path}: `}${message}`,
    `correct it, and see "gannet config check${file.startsWith('--') || file === BUILT_IN_FILE ? '' : ` ${file}`}"`);
}

function soundChecks(loaded: LoadedConfig): Check[] {
  const { config, rate } = loaded;
  const file = config.file === BUILT_IN_FILE ? 'the built-in configuration' : config.file;
  const late = lateFeeds(rate);
  return [
    ok('config', `${file} is valid`),
    modeCheck(config),
    ok('strategies', `${pluralize(config.strategies.length, 'strategy', 'strategies')} can be loaded`),
    late.length === 0 ? ok('request-rate', 'the plan has room for every feed')
      : warning('request-rate', `${pluralize(late.length, 'feed')} will be polled more rarely than wanted: the plan `
        + `allows ${rate.allowedPerSecond} requests a second, and ${rate.requestsPerSecond} are needed for watching`,
        'raise "every" of the feeds, or set service.plan to a larger plan; see "gannet config check"'),
    ...serviceChecks(loaded),
    ...notificationChecks(config),
    ...capChecks(loaded),
  ];
}

/** What is known of the host, and of the plan, without asking. */
function serviceChecks({ config: { service }, rate }: LoadedConfig): Check[] {
  const retired = retiredHost(service);
  const { perMonth = 0, included = Infinity } = creditUse(service, rate) ?? {};
  return [
    ...(retired === undefined ? [] : [warning('service', retired, 'set service.base_url to a host that stays')]),
    ...(perMonth <= included ? [] : [warning('credits', `watching takes ${perMonth} credits a month, and the plan `
      + `includes ${included}`, 'raise "every" of the feeds, or set service.plan to a larger plan')]),
  ];
}

function modeCheck(config: RunConfig): Check {
  if (config.mode === 'paper') return ok('mode', 'paper: nothing is signed');
  return ok('mode', movesRealMoney(config)
    ? 'live with real money: run and swap need --live; "gannet rehearse" first tries all but sending'
    : 'live on the embedded chain: no real money');
}

const SLOW_EXIT_MS = 3_600_000;

/** Valid caps may still keep budgets from being spent, or positions from being sold soon. */
function capChecks({ config, exits = [] }: LoadedConfig): Check[] {
  const { signer: { caps }, limits: { maxTrade }, strategies, tokens } = config;
  const found = strategies.flatMap(({ name, budget }) => {
    const cap = budget === undefined ? undefined : caps.get(budget.mint);
    if (budget === undefined || cap?.perDay === undefined || cap.perDay >= budget.amount) return [];
    return [warning('caps', `the budget of ${name} is ${showAmount(tokens, budget.mint, budget.amount)}, and the `
      + `signer spends at most ${showAmount(tokens, budget.mint, cap.perDay)} a day`,
      `raise signer.caps.${tokens.byMint(budget.mint)?.symbol ?? budget.mint}.per_day, or lower the budget`)];
  });
  const own = maxTrade === undefined ? undefined : caps.get(maxTrade.mint)?.perTrade;
  if (maxTrade !== undefined && own !== undefined && own < maxTrade.amount) {
    found.push(warning('caps', `risk.max_trade allows ${showAmount(tokens, maxTrade.mint, maxTrade.amount)}, and the `
      + `signer spends at most ${showAmount(tokens, maxTrade.mint, own)} in one swap: larger purchases are refused`,
      'make risk.max_trade and per_trade of signer.caps the same'));
  }
  for (const { token: { mint, symbol }, position, takesMs = 0 } of exits) {
    const perTrade = caps.get(mint)?.perTrade;
    if (position === undefined || takesMs < SLOW_EXIT_MS) continue;
    const sales = perTrade === undefined ? '' : `${(position + perTrade - 1n) / perTrade} sales over `;
    found.push(warning('exits', `the largest position in ${symbol}, ${showAmount(tokens, mint, position)}, takes `
      + `${sales}${roughDuration(takesMs)} to sell`, `raise signer.caps.${symbol}, or lower risk.max_position`));
  }
  return found.length > 0 ? found : [ok('caps', 'the caps of the signer leave room for budgets and exits')];
}

/** The files may hold an API key, tokens and a wallet's key. */
function dotenvChecks({ workingDir, config }: DoctorScope): Check[] {
  const files = dotenvFolders({ workingDir, config }).map((folder) => join(folder, '.env'));
  return files.flatMap((file) => {
    const facts = statSync(file, { throwIfNoEntry: false });
    if (facts === undefined) return [];
    const mode = (facts.mode & 0o777).toString(8).padStart(4, '0');
    return [(facts.mode & 0o077) === 0 ? ok('env-file', `only its owner can read ${file}`)
      : fault('env-file', `other users can read ${file}, which holds secrets (mode ${mode})`,
        `run "chmod 600 ${file}"`)];
  });
}

/** A daemon that trades real money must be able to call for help. */
function notificationChecks(config: RunConfig): Check[] {
  const channels = config.notifications?.length ?? 0;
  if (channels > 0) return [ok('notifications', `${pluralize(channels, 'channel')} configured`)];
  return movesRealMoney(config) ? [warning('notifications', 'alerts reach no person: no channel is configured',
    'add "notifications" to the configuration, and run "gannet notify test"')] : [];
}
