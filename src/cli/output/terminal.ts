import { stripVTControlCharacters } from 'node:util';
import type { ExitCode } from '../exit-codes.ts';
import { EXIT } from '../exit-codes.ts';
import type { ErrorCode } from '../../core/errors.ts';
import { isGannetError, messageOf } from '../../core/errors.ts';
import { stringifyJson } from '../../core/json.ts';
import { createRedaction } from '../../core/redaction.ts';
import { printable, printableJson } from '../../core/text.ts';

/** Errors that end a command before it starts anything. */
const USAGE_CODES: ReadonlySet<ErrorCode> = new Set([
  'AMOUNT_INVALID', 'BACKUP_INVALID', 'CHAIN_UNREACHABLE', 'CONFIG_INVALID', 'CONFIG_NOT_FOUND', 'CONTROL_PORT_TAKEN',
  'COUNTERS_ALTERED', 'COUNTERS_LOST', 'CSV_INVALID', 'DURATION_INVALID', 'FEATURE_UNAVAILABLE', 'JOURNAL_INVALID',
  'JOURNAL_LOST', 'KEY_INVALID', 'LIVE_REFUSED', 'MINT_INVALID', 'PACKAGES_OUTDATED', 'PLATFORM_UNSUPPORTED',
  'RECORDING_INCOMPLETE', 'RECORDING_NOT_FOUND', 'RECORDING_PRUNED', 'RECORDING_VERSION', 'RESTORE_UNFINISHED',
  'RUN_NOT_FOUND',
  'SERVICE_BAD_REQUEST', 'SERVICE_FORBIDDEN', 'SERVICE_TIMEOUT', 'SERVICE_UNAUTHORIZED', 'SERVICE_UNREACHABLE',
  'STATE_LOCKED', 'STATE_NEWER', 'STATE_OF_OTHER_CHAIN',
  'STRATEGY_ASYNC', 'STRATEGY_ENDED', 'STRATEGY_INVALID', 'STRATEGY_MEMORY', 'STRATEGY_NOT_FOUND',
  'STRATEGY_TIMEOUT', 'TOKEN_UNKNOWN', 'TRIALS_INVALID', 'USAGE',
]);

/** The output of a command: its result on standard output, as JSON or as text, everything else on standard error. */
export interface Terminal {
  readonly json: boolean;
  readonly colour: boolean;
  /** Prints the single document of `--json`, or its text. */
  result(document: unknown, text: () => string): void;
  /** Prints text, wrapped between words to the width of the terminal. Data is not wrapped. */
  out(text: string, kind?: 'data'): void;
  /** Prints text on standard error, wrapped like that of `out`. */
  err(text: string): void;
}

/** Replaces the parts of a text that must not be shown. */
export type Redact = (text: string) => string;

const UNCHANGED: Redact = (text) => text;
/** Only words of at least this length are checked, so that most commands need not load the check. */
const KEY_CHARACTERS_MIN = 63;

/** Returns the function that redacts wallet keys which a command line holds by mistake. */
export async function redactKeysOf(argv: readonly string[]): Promise<Redact> {
  // A transaction's signature has the form of a key.
  const words = argv.filter((_, index) => argv[index - 1] !== '--signature');
  const values = words.flatMap((word) => [word, ...word.split('=')])
    .filter(({ length }) => length >= KEY_CHARACTERS_MIN);
  if (values.length === 0) return UNCHANGED;
  const { hasWalletKeyForm } = await import('../../signer/key-shape.ts');
  const keys = values.filter((value) => hasWalletKeyForm(value));
  return keys.length === 0 ? UNCHANGED : createRedaction(keys, '[a wallet key]');
}

/** Returns the terminal of this process. */
export function processTerminal(json: boolean, redact: Redact = UNCHANGED): Terminal {
  const colour = process.stdout.isTTY && process.env['NO_COLOR'] === undefined;
  const write = process.stdout.write.bind(process.stdout);
  return {
    json,
    colour,
    result: (
      document, text,
    ) => { write(json ? redact(jsonLine(document)) : linesWrapped(redact(text()), outputColumns())); },
    out: (text, kind) => {
      const isData = json || kind === 'data';
      write(isData ? redact(text) : linesWrapped(redact(text), outputColumns()));
    },
    // A progress line, which overwrites itself, is not wrapped.
    err: (
      text,
    ) => { process.stderr.write(text.includes('\r') ? redact(text) : linesWrapped(redact(text), outputColumns())); },
  };
}

/** The document may hold names from outside, and a person may read it on a terminal. */
function jsonLine(document: unknown): string {
  return `${printableJson(stringifyJson(document))}\n`;
}

/** Prints an error and returns its exit code; a bug is printed with its stack. */
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

// Characters that take two cells in a terminal; names of tokens often contain them.
const WIDE_SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Hangul'].map((script) => `\\p{Script=${script}}`).join('');
const WIDE = new RegExp(`[\\p{Emoji_Presentation}${WIDE_SCRIPTS}\\uff01-\\uff60\\uffe0-\\uffe6]`, 'u');
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const FEWEST_COLUMNS = 40;

/** Returns the width of a text in terminal cells. */
export function widthOf(text: string): number {
  // A plain text has one cell per character. Other texts are rare, so the slow way is acceptable.
  // oxlint-disable-next-line no-control-regex
  if (/^[\u0020-\u007e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(stripVTControlCharacters(text))) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

/**
 * Returns the columns of the output: COLUMNS, else the terminal's; undefined for a pipe or a file, whose lines may have
 * any length.
 */
export function outputColumns(): number | undefined {
  const stated = Number(process.env['COLUMNS']);
  const columns = Number.isInteger(stated) && stated > 0 ? stated
    : process.stdout.isTTY ? process.stdout.columns : undefined;
  return columns === undefined || columns <= 0 ? undefined : Math.max(FEWEST_COLUMNS, columns);
}

/** Returns a text in lines of at most `width` cells, broken at blanks only: a longer word gets its own line. */
export function wordsWrapped(text: string, width: number): string[] {
  if (widthOf(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const [, blanks = '', word = ''] of text.matchAll(/( *)([^ ]+)/g)) {
    const cells = widthOf(word);
    if (used > 0 && used + blanks.length + cells > width) {
      lines.push(line);
      [line, used] = [word, cells];
    } else {
      line += blanks + word;
      used += blanks.length + cells;
    }
  }
  return [...lines, line];
}

/**
 * A name at the beginning of a line, with the blanks after it: wrapped text continues below the text that follows it.
 */
const NAMED = /^( *\S.*? {2,})(?=\S)/;
const NAME_WIDEST = 32;

/**
 * Returns text with lines of at most `columns` cells, broken at blanks; wrapped lines keep the indentation of their
 * text.
 */
export function linesWrapped(text: string, columns: number | undefined): string {
  if (columns === undefined) return text;
  return text.split('\n').map((line) => lineWrapped(line, columns)).join('\n');
}

function lineWrapped(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line;
  const plain = stripVTControlCharacters(line);
  const indent = Math.min(hangOf(plain), Math.floor(columns / 2));
  const [first = '', ...rest] = wordsWrapped(line, columns);
  if (rest.length === 0) return first;
  // The following lines have less room. A longer word, such as a hash, starts further left.
  const further = wordsWrapped(line.slice(first.length).trimStart(), columns - indent);
  return [
    first.trimEnd(),
    ...further.map((part) => ' '.repeat(Math.max(0, Math.min(indent, columns - widthOf(part)))) + part),
  ].join('\n');
}

/** Returns the column at which the text of a line begins: after its blanks, or after the last short name before it. */
function hangOf(plain: string): number {
  let hang = /^ */.exec(plain)![0].length;
  for (;;) {
    const named = NAMED.exec(plain.slice(hang));
    if (named === null || hang + widthOf(named[1]!) > NAME_WIDEST) return hang;
    hang += widthOf(named[1]!);
  }
}
