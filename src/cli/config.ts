import { redactedConfig } from '../config/config-record.ts';
import { formatIssue } from '../config/issue.ts';
import type { ConfigFailure, LoadedConfig } from '../config/load.ts';
import { movesRealMoney } from '../config/live-gate.ts';
import { BUILT_IN_FILE, loadConfig } from '../config/load.ts';
import { configJsonSchema } from '../config/json-schema.ts';
import type { ExitTime } from '../config/exit-times.ts';
import type { RunConfig } from '../config/run-config.ts';
import type { RequestRate } from '../config/request-rate.ts';
import { lateFeeds } from '../config/request-rate.ts';
import type { Connections } from '../config/resolve.ts';
import { formatDecimal } from '../core/amount.ts';
import { isGannetError } from '../core/errors.ts';
import { stringifyJson } from '../core/json.ts';
import { printable } from '../core/text.ts';
import { roughDuration } from '../core/time.ts';
import { describeSizes, describeTokenSafety } from '../daemon/limits-text.ts';
import { describeFeedKey, showAmount } from '../market/market-text.ts';
import { describeProtection } from '../daemon/protection-text.ts';
import { describeSigner } from '../daemon/signer-text.ts';
import { openWorld } from '../daemon/world.ts';
import { feedKey } from '../market/feed.ts';
import type { Mint, TokenTable } from '../market/token.ts';
import { GENESIS_TOKENS } from '../sandbox/genesis.ts';
import type { CommandContext, CommandModule } from './command.ts';
import { worldOptions } from './configured.ts';
import { EXIT } from './exit-codes.ts';
import { untilInterrupted } from './interrupt.ts';
import type { Fact } from './table.ts';
import { facts, table } from './table.ts';

export const configCommand: CommandModule = (program, run) => {
  const config = program.command('config').description('looks at a configuration without running it');
  config.command('check [file]')
    .description('every fault at once, the limits it sets, and the request rate it needs')
    .action(run(async (context: CommandContext, file: string | undefined) => {
      const result = await check(context, file ?? context.options.config);
      context.terminal.result(asJson(result), () => asText(result));
      return result.ok ? EXIT.done : EXIT.usage;
    }));
  config.command('schema')
    .description('the JSON schema of a configuration, for editors')
    .action(run(async ({ terminal }) => {
      const schema = configJsonSchema();
      terminal.result(schema, () => `${stringifyJson(schema, 2)}\n`);
      return EXIT.done;
    }));
};

function check(context: CommandContext, file: string | undefined): Promise<LoadedConfig | ConfigFailure> {
  const { options, environment, withheld } = context;
  return loadConfig({
    file,
    purpose: 'check',
    workingDir: process.cwd(),
    environment,
    withheld,
    stateDir: options.stateDir,
    overrides: { baseUrl: options.baseUrl, rpcUrl: options.rpcUrl, apiKeyEnv: options.apiKeyEnv },
    decimalsOf: (mints, connections) => knownDecimals(mints, connections, context),
    pricesOf: (mints, connections) => knownPrices(mints, connections, context),
  });
}

/** The embedded service's tokens are known without starting it; any other service is asked. */
async function knownDecimals(
  mints: readonly Mint[], connections: Connections, context: CommandContext,
): Promise<ReadonlyMap<Mint, number>> {
  const { service, chain } = connections;
  if (service.baseUrl === 'embedded') {
    const wanted = new Set<string>(mints);
    return new Map(GENESIS_TOKENS.filter(({ mint }) => wanted.has(mint)).map(({ mint, decimals }) => [mint as Mint, decimals]));
  }
  // The embedded chain has nothing to say of a real service's tokens: it need not be started to be asked.
  const world = await openWorld({ ...worldOptions(connections, context), rpcUrl: chain.rpcUrl === 'embedded' ? undefined : chain.rpcUrl });
  return untilInterrupted(context.interrupt, world, () => world.decimalsOf(mints));
}

/** Of the embedded service's market the prices with which it begins. */
async function knownPrices(mints: readonly Mint[], connections: Connections, context: CommandContext): Promise<ReadonlyMap<Mint, number>> {
  const { service, chain } = connections;
  if (service.baseUrl === 'embedded') return new Map(GENESIS_TOKENS.map(({ mint, usdPrice }) => [mint as Mint, usdPrice]));
  const world = await openWorld({ ...worldOptions(connections, context), rpcUrl: chain.rpcUrl === 'embedded' ? undefined : chain.rpcUrl });
  return untilInterrupted(context.interrupt, world, async () => {
    try {
      const { records } = await world.service.tokens.search(mints);
      return new Map(records.flatMap(({ id, values: { usdPrice } }) => (usdPrice === undefined ? [] : [[id, usdPrice] as const])));
    } catch (error) {
      if (!isGannetError(error)) throw error;
      context.terminal.err(`prices could not be read, so how long a full exit takes is not known: ${error.message}\n`);
      return new Map();
    }
  });
}

function asJson(result: LoadedConfig | ConfigFailure): unknown {
  const recorded = result.ok ? redactedConfig(result.config) : undefined;
  return {
    valid: result.ok,
    issues: result.ok ? [] : result.issues,
    requests_per_second: result.rate?.requestsPerSecond ?? null,
    allowed_per_second: result.rate?.allowedPerSecond ?? null,
    watch_per_second: result.rate?.watchPerSecond ?? null,
    feeds: result.rate?.feeds.length ?? null,
    limits: recorded?.limits ?? null,
    protections: result.ok ? (result.config.limits.protections ?? []).map((protection) => describeProtection(protection, result.config.tokens)) : null,
    signer: recorded?.signer ?? null,
    full_exits: result.ok ? (result.exits ?? []).map(({ token, position, takesMs }) => ({
      token: token.symbol, mint: token.mint, position: position?.toString() ?? null, takes_ms: takesMs ?? null,
    })) : null,
    warnings: result.ok ? warningsOf(result.config) : [],
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
  return `${name} is valid: ${config.mode}, ${counted(config.strategies.length, 'strategy', 'strategies')}, ${counted(rate.feeds.length, 'feed', 'feeds')}\n${facts([...limitFacts(config), ...exitFacts(result.exits ?? []), ...rateFacts(rate)])}${lateText(rate, config.tokens)}`;
}

function limitFacts(config: RunConfig): Fact[] {
  const { limits, tokens, signer } = config;
  return [
    ['money', movesRealMoney(config) ? 'real: run and swap need --live' : 'none of yours: nothing real is signed'],
    ['limits', [...describeSizes(limits, tokens), ...config.strategies.flatMap(({ name, maxExposure }) =>
      (maxExposure === undefined ? [] : [`${name}: positions up to ${showAmount(tokens, maxExposure.mint, maxExposure.amount)}`]))]],
    ['protections', limits.protections?.length ? limits.protections.map((protection) => describeProtection(protection, tokens)) : 'none: nothing stops trading by itself'],
    ['tokens', describeTokenSafety(limits.tokenSafety, tokens)],
    ['signer', describeSigner(signer, tokens)],
    ['warnings', warningsOf(config)],
  ];
}

/** How long it takes to sell what may be held at most. */
function exitFacts(exits: readonly ExitTime[]): Fact[] {
  const lines = exits.map(({ token: { symbol, decimals }, position, takesMs }) => {
    if (position === undefined) return `${symbol}: not known without a price`;
    const size = `${Number(Number(formatDecimal(position, decimals)).toPrecision(5))} ${symbol}`;
    return takesMs === 0 ? `${size}: in one swap` : `${size}: in parts, within ${roughDuration(takesMs ?? 0)}`;
  });
  return lines.length === 0 ? [] : [['full exit', lines]];
}

/** Returns what is allowed and still wants a second thought, for people. */
function warningsOf({ limits }: RunConfig): string[] {
  const hasDeadMan = limits.protections?.some(({ trigger }) => trigger.kind === 'dead-man') ?? false;
  // This version sends no notifications, so that every dead man’s switch is set without them.
  return hasDeadMan ? ['dead_man is set without notifications: trading stops without a message when no operator asks for anything in time'] : [];
}

function rateFacts({ requestsPerSecond, allowedPerSecond, watchPerSecond }: RequestRate): Fact[] {
  const needed = `${figure(requestsPerSecond)} requests a second`;
  if (allowedPerSecond === undefined || watchPerSecond === undefined) return [['needed', `${needed}; the embedded service has no limit`]];
  return [
    ['needed', needed],
    ['allowed', `${figure(allowedPerSecond)} a second`],
    ['for watching', `${figure(watchPerSecond)} a second; the rest is kept for swaps, and for a distance from the limit`],
  ];
}

function counted(number: number, one: string, more: string): string {
  return `${number} ${number === 1 ? one : more}`;
}

/** To two digits after the point, of something small to two that say something. */
function figure(rate: number): string {
  return String(rate >= 0.1 ? Math.round(rate * 100) / 100 : Number(rate.toPrecision(2)));
}

function lateText(rate: RequestRate, tokens: TokenTable): string {
  const late = lateFeeds(rate);
  if (late.length === 0) return '';
  const rows = late.map(({ spec, expectedMs }) => [printable(describeFeedKey(tokens, feedKey(spec))), roughDuration(spec.everyMs), roughDuration(expectedMs)]);
  return `\n  More is asked for than that. Every max_age can still be kept, so the polls are spread by weight:\n\n`
    + table([['watched', 'wanted every', 'polled every'], ...rows], { right: [1, 2] });
}
