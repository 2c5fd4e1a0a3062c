import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { wholeNumber } from './flags.ts';
import type { Terminal } from '../output/terminal.ts';
import { reportRejected } from '../output/token-table.ts';
import { U64_MAX } from '../../core/amount.ts';
import { GannetError } from '../../core/errors.ts';
import type { Batch, Page, Pagination, PagingOptions } from '../../service/endpoints/paged-list.ts';
import { collect } from '../../service/endpoints/paged-list.ts';
import type { PageRange } from '../../service/endpoints/prediction.ts';

/** The readers of flags. They check the form of a value only; the client checks its range. */
const READERS = {
  text: (text: string) => text,
  list: readList,
  number: readNumber,
  amount: readAmount,
  flag: readFlag,
} as const;

type Kind = keyof typeof READERS;

/** The kind of a flag, and its text in the help. */
export type Flag = readonly [kind: Kind, help: string];

/**
 * A flag for every parameter of a request except those that the command takes as arguments, so that none is forgotten.
 */
export type RequestFlags<R, Positional extends keyof R = never> =
  { readonly [Name in Exclude<keyof R, Positional>]-?: Flag };

/** Adds the flags of a request to a command, `slippageBps` as `--slippage-bps`. Those in `required` are mandatory. */
export function addFlags<Names extends string>(
  command: Command, flags: Readonly<Record<Names, Flag>>, required: readonly Names[] = [],
): Command {
  for (const [name, [kind, help]] of Object.entries(flags) as [Names, Flag][]) {
    const isRequired = required.includes(name);
    const option = new Option(`${flagOf(name)} <${PLACEHOLDERS[kind]}>`, isRequired ? `${help} (required)` : help)
      .argParser((text: string): unknown => READERS[kind](text));
    command.addOption(option.makeOptionMandatory(isRequired));
  }
  return command;
}

const PLACEHOLDERS: Readonly<Record<Kind, string>> =
  { text: 'value', list: 'a,b', number: 'n', amount: 'n', flag: 'true|false' };

/** Returns the flag of a parameter: `--slippage-bps` for `slippageBps`. */
export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function readList(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim());
  // The service ignores an empty list, so an exclusion would have no effect.
  if (parts.includes('')) throw new InvalidArgumentError('expected words with commas between them.');
  return parts;
}

function readNumber(text: string): number {
  if (!/^-?\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('expected a number.');
  const value = Number(text);
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER)
    throw new InvalidArgumentError(`the number is too large: expected at most ${Number.MAX_SAFE_INTEGER}.`);
  return value;
}

function readAmount(text: string): bigint {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('expected a whole number in smallest units.');
  const value = text.length > 100 ? undefined : BigInt(text);
  if (value === undefined || value > U64_MAX)
    throw new InvalidArgumentError(`the amount is too large: expected at most ${U64_MAX} smallest units.`);
  return value;
}

function readFlag(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('expected true or false.');
  return text === 'true';
}

/** The part of a list to read: one page by its positions, or the first records over several pages. */
export interface ListFlags extends PageRange {
  readonly all?: boolean;
  readonly limit?: number;
}

const RECORD_NUMBER = wholeNumber(0, 999_999_999);

/** Adds the flags that choose the part of a list to read. */
export function addListFlags(command: Command): Command {
  return command
    .option('--start <n>', 'the first position of a page, from 0', RECORD_NUMBER)
    .option('--end <n>', 'the position after its last record; at most 20 records', RECORD_NUMBER)
    .option('--limit <n>', 'the number of records to read, over several pages', RECORD_NUMBER)
    .option('--all', 'reads the whole list, over several pages');
}

/** Records of one page, or of several pages joined. */
interface Listed<T> {
  readonly data: readonly T[];
  readonly pagination: Pagination;
}

/** Returns the text for an empty part of a list; the whole list may have records. */
export function nothingListed({ pagination: { total } }: Listed<unknown>, none: string): string {
  return `  ${total === 0 ? none : `no records at these positions; the whole list has ${total}`}\n`;
}

/**
 * Reads the chosen part of a list, and reports records that could not be read. Throws USAGE for flags that exclude each
 * other.
 */
export async function readRange<T>(terminal: Terminal, { all = false, limit, start, end }: ListFlags, list: {
  readonly page: (range: PageRange) => Promise<Page<T>>;
  readonly all: (options: PagingOptions) => AsyncIterable<Batch<T>>;
}): Promise<Listed<T>> {
  if (!all && limit === undefined) {
    const { records, rejected, pagination } = await list.page({ start, end });
    reportRejected(terminal, rejected);
    if (pagination.hasNext && !terminal.json)
      terminal.err(`${pagination.total} records in all; --limit N or --all reads more\n`);
    return { data: records, pagination };
  }
  if (start !== undefined || end !== undefined) throw new GannetError(
    'USAGE', '--start and --end read one page, --limit and --all several: expected one of these ways, got both',
  );
  if (all && limit !== undefined) throw new GannetError('USAGE', '--all and --limit: expected one of them, got both');
  const { records, rejected } = await collect(list.all({ limit, priority: 'watch' }));
  reportRejected(terminal, rejected);
  const hasNext = limit !== undefined && records.length >= limit;
  return { data: records, pagination: { start: 0, end: records.length, total: records.length, hasNext } };
}
