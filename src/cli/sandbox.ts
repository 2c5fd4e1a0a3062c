import { readFileSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { parseDocument } from 'yaml';
import { GannetError, messageOf } from '../core/errors.ts';
import type { SandboxAddresses, ScenarioStep } from '../sandbox/sandbox.ts';
import type { CommandModule } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { interrupted } from './interrupt.ts';
import { table } from './table.ts';

interface SandboxFlags {
  readonly port: number;
  readonly rpcPort: number;
  readonly seed: number;
  readonly scenario?: string;
  readonly speed: number;
}

export const sandboxCommand: CommandModule = (program, run) => {
  program.command('sandbox')
    .description('the embedded service and chain, alone; prints its addresses and a funded wallet, then stays')
    .option('--port <port>', 'port of the service', wholeNumber, 0)
    .option('--rpc-port <port>', 'port of the JSON-RPC', wholeNumber, 0)
    .option('--seed <number>', 'seed of market and wallet', wholeNumber, 7)
    .option('--scenario <file>', 'faults and prices to play, in time')
    .option('--speed <factor>', 'speed of the market; 0 freezes it', factor, 1)
    .action(run(async ({ terminal, interrupt }, flags: SandboxFlags) => {
      const { startSandbox } = await import('../sandbox/sandbox.ts');
      const scenario = flags.scenario === undefined ? undefined : readScenario(flags.scenario);
      const sandbox = await startSandbox({
        port: flags.port, rpcPort: flags.rpcPort, seed: flags.seed, speed: flags.speed, ...(scenario === undefined ? {} : { scenario }),
      });
      terminal.result(sandbox.addresses, () => describe(sandbox.addresses));
      await interrupted(interrupt);
      await sandbox.close();
      return EXIT.done;
    }));
};

function describe(addresses: SandboxAddresses): string {
  const rows = addresses.tokens.map(({ symbol, mint, decimals }) => [symbol, mint, String(decimals)]);
  return [
    `  service   ${addresses.base_url}\n`,
    `  rpc       ${addresses.rpc_url}\n`,
    `  websocket ${addresses.ws_url}\n`,
    `  wallet    ${addresses.wallet.address}\n`,
    `  its key   ${addresses.wallet.private_key}  (worth nothing outside this sandbox)\n\n`,
    table([['token', 'mint', 'decimals'], ...rows], { right: [2] }),
    '\n  Ctrl-C ends it.\n',
  ].join('');
}

/** Reads a scenario: a list of steps in YAML or JSON. Throws CONFIG_NOT_FOUND and CONFIG_INVALID with the place. */
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
  return steps as ScenarioStep[];
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d{1,10}$/.test(text) || value > 4_294_967_295) throw new InvalidArgumentError('expected a whole number.');
  return value;
}

function factor(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0 || value > 1_000) throw new InvalidArgumentError('expected a number of 0 to 1000.');
  return value;
}
