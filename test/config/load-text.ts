import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatIssue } from '../../src/config/config-issue.ts';
import type { ConfigFailure, LoadedConfig } from '../../src/config/load-config.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { RunConfig } from '../../src/config/run-config.ts';
import { readHere } from '../../src/config/strategies/read-here.ts';
import type { Mint } from '../../src/market/token.ts';
import { GENESIS_TOKENS } from '../../src/sandbox/genesis.ts';

/** Returns the decimals that the embedded chain has for the mints it knows. */
export async function genesisDecimals(mints: readonly Mint[]): Promise<ReadonlyMap<Mint, number>> {
  const known = new Map(GENESIS_TOKENS.map(({ mint, decimals }) => [mint as Mint, decimals]));
  return new Map(mints.flatMap((mint) => (known.has(mint) ? [[mint, known.get(mint)!] as const] : [])));
}

/** How configurations of the embedded service are read: strategies in this process. */
export const GENESIS = { decimalsOf: genesisDecimals, strategyReader: readHere };

/** The options of `loadConfig`. */
export type LoadOptions = Parameters<typeof loadConfig>[0];

/** Returns what becomes of a text as the file `bot.yaml` of a folder of its own. */
export async function loadText(
  text: string | Uint8Array, options: Partial<LoadOptions> = {},
): Promise<LoadedConfig | ConfigFailure> {
  const folder = await mkdtemp(join(tmpdir(), 'gannet-config-'));
  try {
    await writeFile(join(folder, 'bot.yaml'), text);
    return await loadConfig({
      file: 'bot.yaml', workingDir: folder, environment: {}, ...GENESIS, ...options,
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Returns the issues of a text, one line each. */
export async function issuesOf(text: string | Uint8Array, options?: Partial<LoadOptions>): Promise<string[]> {
  const result = await loadText(text, options);
  return result.ok ? [] : result.issues.map(formatIssue);
}

/** Returns the configuration of a text that has no fault. */
export async function configOf(text: string, options?: Partial<LoadOptions>): Promise<RunConfig> {
  const result = await loadText(text, options);
  if (!result.ok) throw new Error(result.issues.map(formatIssue).join('\n'));
  return result.config;
}
