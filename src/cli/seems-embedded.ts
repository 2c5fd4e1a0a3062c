import { readFileSync, statSync } from 'node:fs';
import { DEFAULT_CONFIG, DEFAULT_FILE } from '../config/default-config.ts';

/** A line of YAML that connects to the embedded service or chain, outside comments. */
const EMBEDDED = /^[^#\n]*\b(?:base_url|rpc_url)["']?\s*:\s*["']?embedded\b/m;

/**
 * Returns whether a command line seems to run on the embedded service or chain. It is a guess from the text of the
 * configuration, before the program that reads it is loaded.
 */
export function seemsEmbedded(args: readonly string[]): boolean {
  if (!args.includes('run') || args.some((arg) => ELSEWHERE.test(arg))) return false;
  try {
    return EMBEDDED.test(configText(args));
  } catch {
    // What is wrong with the file is said where the configuration is loaded.
    return false;
  }
}

const MOST_BYTES = 1_048_576;
/** Options with which no run follows, or one that may connect to something else. */
const ELSEWHERE = /^(?:--help|-h|--base-url|--rpc-url)(?:=|$)/;

function configText(args: readonly string[]): string {
  const at = args.findIndex((arg) => arg === '--config' || arg.startsWith('--config='));
  const named = at < 0 ? undefined : args[at] === '--config' ? args[at + 1] : args[at]!.slice('--config='.length);
  const file = named ?? DEFAULT_FILE;
  const facts = statSync(file, { throwIfNoEntry: named !== undefined });
  if (facts === undefined) return DEFAULT_CONFIG;
  // What comes through a pipe is there once only, and this reader is not the one that needs it.
  return facts.isFile() && facts.size <= MOST_BYTES ? readFileSync(file, 'utf8') : '';
}
