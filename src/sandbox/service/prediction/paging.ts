import type { Parameters } from '../parameters.ts';
import { badRequest } from '../request-error.ts';

/** The part of a list that is wanted, `end` exclusive. */
export interface PageRange {
  readonly start: number;
  readonly end: number | undefined;
}

/** The most elements of a page; a longer one is cut without a word. */
export const MOST_ON_PAGE = 20;
const LARGEST_PLACE = Number.MAX_SAFE_INTEGER - MOST_ON_PAGE;

/** Returns the `start` and `end` of a query. Throws a RequestError (400) that names them. */
export function pageRange(query: Parameters): PageRange {
  const start = place(query, 'start') ?? 0;
  const end = place(query, 'end');
  if (end !== undefined && end < start) throw badRequest(`end: expected at least start, ${start}, got ${end}`);
  return { start, end };
}

/** The description lets a place be null, which in a query is the word. */
function place(query: Parameters, name: 'start' | 'end'): number | undefined {
  return query.optionalText(name) === 'null' ? undefined : query.optionalInteger(name, { min: 0, max: LARGEST_PLACE });
}

/** Returns one page of a list with its `pagination`; without an `end` it has `size` elements. */
export function page<Item>(
  items: readonly Item[], options: { range: PageRange; size: number; record: (item: Item) => object },
): object {
  const { start } = options.range;
  const wanted = (options.range.end ?? start + options.size) - start;
  const shown = items.slice(start, start + Math.min(wanted, MOST_ON_PAGE));
  const end = start + shown.length;
  return {
    data: shown.map(options.record), pagination: { start, end, total: items.length, hasNext: end < items.length },
  };
}
