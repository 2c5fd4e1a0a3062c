import type { ErrorCode } from '../core/errors.ts';
import { isGannetError, messageOf } from '../core/errors.ts';
import { stringifyJson } from '../core/json.ts';
import { createBlotter } from '../core/secret-text.ts';
import { printable, printableJson } from '../core/text.ts';
import type { ExitCode } from './exit-codes.ts';
import { EXIT } from './exit-codes.ts';

/** Faults that mean: what was asked for could not even begin. */
const USAGE_CODES: ReadonlySet<ErrorCode> = new Set([
  'AMOUNT_INVALID', 'CHAIN_UNREACHABLE', 'CONFIG_INVALID', 'CONFIG_NOT_FOUND', 'CONTROL_PORT_TAKEN', 'COUNTERS_LOST', 'CSV_INVALID', 'DURATION_INVALID', 'FEATURE_UNAVAILABLE', 'JOURNAL_INVALID', 'JOURNAL_LOST', 'KEY_INVALID', 'LIVE_REFUSED',
  'MINT_INVALID', 'PLATFORM_UNSUPPORTED', 'RECORDING_INCOMPLETE', 'RECORDING_NOT_FOUND', 'RECORDING_VERSION', 'RUN_NOT_FOUND',
  'SERVICE_BAD_REQUEST', 'SERVICE_TIMEOUT', 'SERVICE_UNAUTHORIZED', 'SERVICE_UNREACHABLE', 'STATE_LOCKED', 'STRATEGY_INVALID', 'STRATEGY_NOT_FOUND', 'TOKEN_UNKNOWN', 'TRIALS_INVALID', 'USAGE',
]);

/** Where a command's words go: JSON or text on standard output, everything else on standard error. */
export interface Terminal {
  readonly json: boolean;
  readonly colour: boolean;
  /** Prints the one document of `--json`, or its text for people. */
  result(document: unknown, text: () => string): void;
  out(text: string): void;
  err(text: string): void;
}

/** Puts something else in the place of what a text must not show. */
export type Hide = (text: string) => string;

const AS_IT_IS: Hide = (text) => text;
/** Only what is so long is looked at: most commands start without what it takes. */
const KEY_CHARACTERS_MIN = 63;

/** Returns what hides wallet keys that a command line holds: they were given by mistake, and nothing repeats them. */
export async function hideKeysOf(argv: readonly string[]): Promise<Hide> {
  // A transaction's signature has the form of a key, and is none.
  const words = argv.filter((_, index) => argv[index - 1] !== '--signature');
  const values = words.flatMap((word) => [word, ...word.split('=')]).filter(({ length }) => length >= KEY_CHARACTERS_MIN);
  if (values.length === 0) return AS_IT_IS;
  const { looksLikeWalletKey } = await import('../signer/key-shape.ts');
  const keys = values.filter((value) => looksLikeWalletKey(value));
  return keys.length === 0 ? AS_IT_IS : createBlotter(keys, '[a wallet key]');
}

/** Returns the terminal of this process. */
export function processTerminal(json: boolean, hide: Hide = AS_IT_IS): Terminal {
  const colour = process.stdout.isTTY && process.env['NO_COLOR'] === undefined;
  return {
    json,
    colour,
    result: (document, text) => { process.stdout.write(hide(json ? jsonLine(document) : text())); },
    out: (text) => { process.stdout.write(hide(text)); },
    err: (text) => { process.stderr.write(hide(text)); },
  };
}

/** Strangers' names are in it, and a person may look at it. */
function jsonLine(document: unknown): string {
  return `${printableJson(stringifyJson(document))}\n`;
}

/** Tells an error and returns the exit code it deserves; a bug shows its stack. */
export function reportError(terminal: Terminal, error: unknown): ExitCode {
  if (!isGannetError(error)) {
    terminal.err(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    if (terminal.json) terminal.out(jsonLine({ error: { code: 'INTERNAL', message: messageOf(error), details: {} } }));
    return EXIT.failed;
  }
  const { code, message, details } = error;
  if (terminal.json) terminal.out(jsonLine({ error: { code, message, details } }));
  else terminal.err(`${message.split('\n').map((line) => printable(line, 2_000)).join('\n')}\n`);
  if (code === 'INTERRUPTED') return EXIT.interrupted;
  return USAGE_CODES.has(code) ? EXIT.usage : EXIT.failed;
}
