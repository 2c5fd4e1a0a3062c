import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { GannetError } from '../core/errors.ts';
import type { Batch, PagingOptions } from '../service/pages.ts';
import { collect } from '../service/pages.ts';
import type { PageRange } from '../service/prediction-request.ts';
import type { Page, Pagination } from '../service/wire/prediction-page.ts';
import type { Terminal } from './terminal.ts';
import { tellRejected } from './token-table.ts';

/** Which part of a list is wanted: one page by its places, or the first so many over as many pages as it takes. */
export interface ListFlags extends PageRange {
  readonly all?: boolean;
  readonly limit?: number;
}

/** Adds the flags that say which part of a list is wanted. */
export function addListFlags(command: Command): Command {
  return command
    .option('--start <n>', 'the first place of one page, from 0', wholeNumber)
    .option('--end <n>', 'the place after its last; the service gives 20 at most', wholeNumber)
    .option('--limit <n>', 'the first so many, over as many pages as it takes', wholeNumber)
    .option('--all', 'the whole list, over as many pages as it takes');
}

/** A list as the service gives it, with the pages put together where there were several. */
export interface Listed<T> {
  readonly data: readonly T[];
  readonly pagination: Pagination;
}

/** Returns what there is to say of a part of a list with nothing in it, where the whole may well have something. */
export function nothingListed({ pagination: { total } }: Listed<unknown>, none: string): string {
  return `  ${total === 0 ? none : `nothing at these places: the whole list has ${total}`}\n`;
}

/** Reads the wanted part of a list and says what of it could not be read. Throws USAGE on flags that exclude each other. */
export async function readRange<T>(terminal: Terminal, { all = false, limit, start, end }: ListFlags, list: {
  readonly page: (range: PageRange) => Promise<Page<T>>;
  readonly all: (options: PagingOptions) => AsyncIterable<Batch<T>>;
}): Promise<Listed<T>> {
  if (!all && limit === undefined) {
    const { records, rejected, pagination } = await list.page({ start, end });
    tellRejected(terminal, rejected);
    if (pagination.hasNext && !terminal.json) terminal.err(`${pagination.total} in all; --limit N or --all reads on\n`);
    return { data: records, pagination };
  }
  if (start !== undefined || end !== undefined) throw new GannetError('USAGE', '--start and --end ask for one page, --limit and --all for many: expected one way, got both');
  if (all && limit !== undefined) throw new GannetError('USAGE', '--all and --limit: expected one of them, got both');
  const { records, rejected } = await collect(list.all({ limit, priority: 'watch' }));
  tellRejected(terminal, rejected);
  const hasNext = limit !== undefined && records.length >= limit;
  return { data: records, pagination: { start: 0, end: records.length, total: records.length, hasNext } };
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('expected a whole number from 0 to 999999999.');
  return Number(text);
}
