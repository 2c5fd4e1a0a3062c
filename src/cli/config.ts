import { formatIssue } from '../config/issue.ts';
import type { ConfigFailure, LoadedConfig } from '../config/load.ts';
import { BUILT_IN_FILE, loadConfig } from '../config/load.ts';
import { configJsonSchema } from '../config/json-schema.ts';
import type { Connections } from '../config/resolve.ts';
import { GannetError } from '../core/errors.ts';
import { stringifyJson } from '../core/json.ts';
import { systemClock } from '../daemon/system-clock.ts';
import { openWorld } from '../daemon/world.ts';
import type { Mint } from '../market/token.ts';
import { GENESIS_TOKENS } from '../sandbox/genesis.ts';
import type { CommandContext, CommandModule } from './command.ts';
import { EXIT } from './exit-codes.ts';

export const configCommand: CommandModule = (program, run) => {
  const config = program.command('config').description('looks at a configuration without running it');
  config.command('check [file]')
    .description('every fault at once, and the request rate it needs')
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

function check({ options, environment }: CommandContext, file: string | undefined): Promise<LoadedConfig | ConfigFailure> {
  return loadConfig({
    file,
    workingDir: process.cwd(),
    environment,
    stateDir: options.stateDir,
    overrides: { baseUrl: options.baseUrl, rpcUrl: options.rpcUrl, apiKeyEnv: options.apiKeyEnv },
    decimalsOf: knownDecimals,
  });
}

/** The embedded service's tokens are known without starting it; any other service is asked. */
async function knownDecimals(mints: readonly Mint[], { service, chain }: Connections): Promise<ReadonlyMap<Mint, number>> {
  if (service.baseUrl === 'embedded') {
    const wanted = new Set<string>(mints);
    return new Map(GENESIS_TOKENS.filter(({ mint }) => wanted.has(mint)).map(({ mint, decimals }) => [mint as Mint, decimals]));
  }
  if (chain.rpcUrl === 'embedded') throw new GannetError('CONFIG_INVALID', 'a real service has no tokens on the embedded chain: set chain.rpc_url');
  const world = await openWorld({
    baseUrl: service.baseUrl, rpcUrl: chain.rpcUrl, apiKey: service.apiKey, dialect: service.dialect, plan: service.plan, seed: 0, clock: systemClock,
  });
  try {
    return await world.decimalsOf(mints);
  } finally {
    await world.close();
  }
}

function asJson(result: LoadedConfig | ConfigFailure): unknown {
  if (!result.ok) return { valid: false, issues: result.issues, requests_per_second: result.requestsPerSecond ?? null };
  return {
    valid: true, issues: [],
    requests_per_second: result.rate.requestsPerSecond,
    allowed_per_second: result.rate.allowedPerSecond ?? null,
    feeds: result.rate.feeds.length,
  };
}

function asText(result: LoadedConfig | ConfigFailure): string {
  if (!result.ok) return `${result.issues.map(formatIssue).join('\n')}\n`;
  const { config, rate } = result;
  const allowed = rate.allowedPerSecond === undefined ? 'the embedded service has no limit' : `the plan allows ${rate.allowedPerSecond}`;
  const name = config.file === BUILT_IN_FILE ? 'the built-in configuration' : config.file;
  return `${name} is valid: ${config.mode}, ${config.strategies.length} strategies, ${rate.feeds.length} feeds, `
    + `${rate.requestsPerSecond} requests a second (${allowed})\n`;
}
