import type { CommandContext, CommandModule } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { connectionOptions } from '../input/service-request.ts';
import { bytesText } from '../output/figures.ts';
import type { Fact } from '../output/table.ts';
import { facts, table } from '../output/table.ts';
import { formatIssue } from '../../config/config-issue.ts';
import { redactedConfig } from '../../config/config-record.ts';
import { configJsonSchema } from '../../config/config-schema.ts';
import type { ExitTime } from '../../config/exit-times.ts';
import { movesRealMoney } from '../../config/live-gate.ts';
import type { ConfigFailure, LoadedConfig } from '../../config/load-config.ts';
import { BUILT_IN_FILE, loadConfig } from '../../config/load-config.ts';
import { channelTarget, channelWarnings, describeChannel } from '../../config/notifications/channel-config.ts';
import type { RequestRate } from '../../config/request-rate.ts';
import { describeAlerts, recordAlerts } from '../../config/operations/alerts-config.ts';
import { lateFeeds } from '../../config/request-rate.ts';
import type { CreditUse } from '../../config/operations/service-facts.ts';
import { creditUse, retiredHost } from '../../config/operations/service-facts.ts';
import type { ConnectionSettings } from '../../config/resolve-config.ts';
import type { RunConfig } from '../../config/run-config.ts';
import { describeExits } from '../../config/strategies/exit-config.ts';
import { formatDecimal } from '../../core/amount.ts';
import { isGannetError } from '../../core/errors.ts';
import { stringifyJson } from '../../core/json.ts';
import { pluralize, printable } from '../../core/text.ts';
import { formatDuration, roughDuration } from '../../core/time.ts';
import {
  describeIsolation, describeSigner, describeSizes, describeTokenSafety, isolationWarning,
} from '../../daemon/reporting/limits-text.ts';
import { describeSimulated, describeSwaps } from '../../daemon/reporting/swap-text.ts';
import { openHosts } from '../../daemon/hosts/strategy-hosts.ts';
import { openConnections } from '../../daemon/run/connections.ts';
import { systemClock } from '../../daemon/watch/system-clock.ts';
import { feedKey } from '../../market/feed.ts';
import { describeFeedKey, showAmount } from '../../market/market-text.ts';
import type { Mint, TokenTable } from '../../market/token.ts';
import { untilInterrupted } from '../../recording/interrupt.ts';
import { GENESIS_TOKENS } from '../../sandbox/genesis.ts';
import { describeProtection } from '../../trading/protections/protection-text.ts';

export const configCommand: CommandModule = (program, run) => {
  const config = program.command('config').description('checks a configuration without running it');
  config.command('check [file]')
    .description('reports every fault, the limits and the request rate of a configuration')
    .action(run(async (context: CommandContext, file: string | undefined) => {
      const result = await check(context, file ?? context.options.config);
      context.terminal.result(asJson(result), () => asText(result));
      return result.ok ? EXIT.done : EXIT.usage;
    }));
  config.command('schema')
    .description('prints the JSON schema of a configuration, for editors')
    .action(run(async ({ terminal }) => {
      const schema = configJsonSchema();
      if (terminal.json) terminal.result(schema, () => '');
      else terminal.out(`${stringifyJson(schema, 2)}\n`, 'data');
      return EXIT.done;
    }));
};

async function check(context: CommandContext, file: string | undefined): Promise<LoadedConfig | ConfigFailure> {
  const { options, environment, withheld } = context;
  const hosts = openHosts({ clock: systemClock });
  try {
    return await loadConfig({
      file,
      purpose: 'check',
      workingDir: process.cwd(),
      environment,
      withheld,
      stateDir: options.stateDir,
      overrides: { baseUrl: options.baseUrl, rpcUrl: options.rpcUrl, apiKeyEnv: options.apiKeyEnv },
      strategyReader: hosts,
      decimalsOf: (mints, settings) => knownDecimals(mints, settings, context),
      pricesOf: (mints, settings) => knownPrices(mints, settings, context),
    });
  } finally {
    await hosts.close();
  }
}

/**
 * Returns the decimals of tokens. Those of the embedded service are known without starting it; another service is
 * asked.
 */
async function knownDecimals(
  mints: readonly Mint[], settings: ConnectionSettings, context: CommandContext,
): Promise<ReadonlyMap<Mint, number>> {
  const { service, chain } = settings;
  if (service.baseUrl === 'embedded') {
    const wanted = new Set<string>(mints);
    return new Map(GENESIS_TOKENS.filter(({ mint }) => wanted.has(mint)).map(({ mint, decimals }) =>
      [mint as Mint, decimals]));
  }
  // The embedded chain does not know the tokens of a real service, so it is not started.
  const connections = await openConnections({
    ...connectionOptions(settings, context), rpcUrl: chain.rpcUrl === 'embedded' ? undefined : chain.rpcUrl,
  });
  return untilInterrupted(context.interrupt, connections, () => connections.decimalsOf(mints));
}

/** Returns prices in US dollars. Those of the embedded service are its start prices. */
async function knownPrices(
  mints: readonly Mint[], settings: ConnectionSettings, context: CommandContext,
): Promise<ReadonlyMap<Mint, number>> {
  const { service, chain } = settings;
  if (service.baseUrl === 'embedded')
    return new Map(GENESIS_TOKENS.map(({ mint, usdPrice }) => [mint as Mint, usdPrice]));
  const connections = await openConnections({
    ...connectionOptions(settings, context), rpcUrl: chain.rpcUrl === 'embedded' ? undefined : chain.rpcUrl,
  });
  return untilInterrupted(context.interrupt, connections, async () => {
    try {
      const { records } = await connections.service.tokens.search(mints);
      return new Map(records.flatMap(({ id, values: { usdPrice } }) =>
        (usdPrice === undefined ? [] : [[id, usdPrice] as const])));
    } catch (error) {
      if (!isGannetError(error)) throw error;
      context.terminal.err(`prices could not be read, so the time of a full exit is not known: ${error.message}\n`);
      return new Map();
    }
  });
}

function asJson(result: LoadedConfig | ConfigFailure): unknown {
  const recorded = result.ok ? redactedConfig(result.config) : undefined;
  const credits = result.ok ? creditUse(result.config.service, result.rate) : undefined;
  return {
    valid: result.ok,
    issues: result.ok ? [] : result.issues,
    requests_per_second: result.rate?.requestsPerSecond ?? null,
    node_requests_per_second: result.rate?.nodeRequestsPerSecond ?? null,
    allowed_per_second: result.rate?.allowedPerSecond ?? null,
    watch_per_second: result.rate?.watchPerSecond ?? null,
    credits_per_month: credits?.perMonth ?? null,
    credits_included: credits?.included ?? null,
    feeds: result.rate?.feeds.length ?? null,
    limits: recorded?.limits ?? null,
    protections: result.ok ? (result.config.limits.protections ?? [])
      .map((protection) => describeProtection(protection, result.config.tokens)) : null,
    signer: recorded?.signer ?? null,
    swaps: recorded === undefined ? null
      : Object.fromEntries(recorded.strategies.map(({ name, swap }) => [name, swap ?? null])),
    full_exits: result.ok ? (result.exits ?? []).map(({ token, position, takesMs }) => ({
      token: token.symbol, mint: token.mint, position: position?.toString() ?? null, takes_ms: takesMs ?? null,
    })) : null,
    isolation: result.ok ? result.config.isolation.kind : null,
    strategy_bounds: result.ok
      ? { call_ms: result.config.isolation.callMs, memory_mb: result.config.isolation.memoryMb } : null,
    on_stop: result.ok ? Object.fromEntries(result.config.strategies.map(({ name, onStop }) => [name, onStop])) : null,
    notifications: result.ok ? (result.config.notifications ?? []).map((channel) => ({
      name: channel.name, kind: channel.kind, target: channelTarget(channel), level: channel.level,
      events: channel.events,
    })) : null,
    alerts: result.ok ? recordAlerts(result.config.alerts) : null,
    warnings: result.ok ? warningsOf(result.config, credits) : [],
    needs_live_flag: result.ok ? movesRealMoney(result.config) : null,
    feed_intervals: result.rate === undefined ? [] : lateFeeds(result.rate).map(({ spec, expectedMs }) => ({
      feed: feedKey(spec), every_ms: spec.everyMs, expected_ms: expectedMs,
    })),
  };
}

function asText(result: LoadedConfig | ConfigFailure): string {
  if (!result.ok) return `${result.issues.map(formatIssue).join('\n')}\n`;
  const { config, rate } = result;
  const name = config.file === BUILT_IN_FILE ? 'the built-in configuration' : config.file;
  const strategies = pluralize(config.strategies.length, 'strategy', 'strategies');
  const counts = `${strategies}, ${pluralize(rate.feeds.length, 'feed')}`;
  const credits = creditUse(config.service, rate);
  return `${name} is valid: ${config.mode}, ${counts}\n`
    + facts([
      ...limitFacts(config, credits), ...exitFacts(result.exits ?? []), ...rateFacts(rate), ...creditFacts(credits),
    ])
    + lateText(rate, config.tokens);
}

function describeRetention({ enabled, budgetBytes, recordings, runs, logs, journal }: RunConfig['retention']): string {
  if (!enabled) return 'everything, until "gannet prune" is given';
  const ages = Object.entries({ recordings, decisions: runs, logs }).map(([what, { maxAgeMs }]) =>
    `${what} ${formatDuration(maxAgeMs)}`);
  return `${ages.join(', ')}, within ${bytesText(budgetBytes)} in all; swaps for ever, packed after `
    + formatDuration(journal.maxAgeMs);
}

function limitFacts(config: RunConfig, credits: CreditUse | undefined): Fact[] {
  const { limits, tokens, signer } = config;
  return [
    ['money', movesRealMoney(config) ? 'real: run and swap need --live' : 'none: nothing is signed on a real chain'],
    ['limits', [...describeSizes(limits, tokens), ...config.strategies.flatMap(({ name, maxExposure }) =>
      (maxExposure === undefined ? []
        : [`${name}: positions up to ${showAmount(tokens, maxExposure.mint, maxExposure.amount)}`]))]],
    ['exits', config.strategies.flatMap(({ name, exits }) =>
      (exits === undefined ? [] : [`${name}: ${describeExits(exits)}`]))],
    ['protections', limits.protections?.length
      ? limits.protections.map((protection) => describeProtection(protection, tokens))
      : 'none: no loss stops trading'],
    ['tokens', describeTokenSafety(limits.tokenSafety, tokens)],
    ['signer', describeSigner(signer, tokens)],
    ['swaps', [...describeSwaps(config), ...describeSimulated(config)]],
    ['strategies', describeIsolation(config)],
    ['messages', config.notifications?.length ? config.notifications.map(describeChannel)
      : 'none: alerts stay in the log'],
    ['alerts', describeAlerts(config.alerts)],
    ['kept', describeRetention(config.retention)],
    ['warnings', warningsOf(config, credits)],
  ];
}

/** Returns the time that selling the largest allowed positions takes. */
function exitFacts(exits: readonly ExitTime[]): Fact[] {
  const lines = exits.map(({ token: { symbol, decimals }, position, takesMs }) => {
    if (position === undefined) return `${symbol}: not known without a price`;
    const size = `${Number(Number(formatDecimal(position, decimals)).toPrecision(5))} ${symbol}`;
    return takesMs === 0 ? `${size}: in one swap` : `${size}: in parts, within ${roughDuration(takesMs ?? 0)}`;
  });
  return lines.length === 0 ? [] : [['full exit', lines]];
}

/** Returns warnings about settings that are valid but risky. */
function warningsOf(config: RunConfig, credits: CreditUse | undefined): string[] {
  const { limits, alerts, notifications = [] } = config;
  const hasDeadMan = limits.protections?.some(({ trigger }) => trigger.kind === 'dead-man') ?? false;
  const deadMan =
    'dead_man is set without notifications: trading stops without a message when no operator sends a request in time';
  const isolation = isolationWarning(config);
  return [...(hasDeadMan && notifications.length === 0 ? [deadMan] : []), ...channelWarnings(notifications),
    ...(alerts.dailyReport !== undefined && notifications.every(({ events }) => !events.includes('reports'))
      ? ['alerts.daily_report is set, but no channel of notifications has reports among its events'] : []),
    ...(isolation === undefined ? [] : [isolation]), ...serviceWarnings(config, credits)];
}

function serviceWarnings({ service }: RunConfig, credits: CreditUse | undefined): string[] {
  const retired = retiredHost(service);
  const { perMonth = 0, included = Infinity } = credits ?? {};
  return [
    ...(retired === undefined ? [] : [`service.base_url: ${retired}`]),
    ...(perMonth <= included ? [] : [`watching takes ${perMonth} credits a month, and the plan includes ${included}: `
      + 'raise "every" of the feeds, or expect a bill']),
  ];
}

function creditFacts(credits: CreditUse | undefined): Fact[] {
  if (credits === undefined) return [];
  const { perMonth, included } = credits;
  const plan = included === undefined ? '' : `, of ${included} in the plan`;
  return [['credits', `${perMonth} a month for watching${plan}; swaps take a few each`]];
}

function rateFacts(rate: RequestRate): Fact[] {
  const { requestsPerSecond, nodeRequestsPerSecond, allowedPerSecond, watchPerSecond } = rate;
  const needed = `${figure(requestsPerSecond)} requests a second`;
  const node: Fact[] = nodeRequestsPerSecond === 0 ? [] : [['at the node',
    `${figure(nodeRequestsPerSecond)} requests a second, and one for each transaction; they are not part of the plan`]];
  if (allowedPerSecond === undefined || watchPerSecond === undefined)
    return [['needed', `${needed}; the embedded service has no limit`], ...node];
  return [
    ['needed', needed],
    ...node,
    ['allowed', `${figure(allowedPerSecond)} a second`],
    [
      'for watching',
      `${figure(watchPerSecond)} a second; the rest is kept for swaps, and for a distance from the limit`,
    ],
  ];
}

/** Returns a rate with two decimals, a small one with two significant digits. */
function figure(rate: number): string {
  return String(rate >= 0.1 ? Math.round(rate * 100) / 100 : Number(rate.toPrecision(2)));
}

function lateText(rate: RequestRate, tokens: TokenTable): string {
  const late = lateFeeds(rate);
  if (late.length === 0) return '';
  const rows = late.map(({ spec, expectedMs }) =>
    [printable(describeFeedKey(tokens, feedKey(spec))), roughDuration(spec.everyMs), roughDuration(expectedMs)]);
  return `\n  The feeds need more requests than allowed. Every max_age is still met, so the polls are spread by `
    + `weight:\n\n`
    + table([['watched', 'wanted every', 'polled every'], ...rows], { right: [1, 2] });
}
