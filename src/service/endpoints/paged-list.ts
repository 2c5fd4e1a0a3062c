import { GannetError } from '../../core/errors.ts';
import type { CallOptions } from '../rate/priority.ts';
import { checkRequest, optionalRule } from './request-rules.ts';
import type { Page } from '../wire/prediction-page.ts';
import { malformed } from '../wire/read.ts';
import type { Records } from '../wire/records.ts';
import { joined } from '../wire/records.ts';

/** How much of a list is read, and how. */
export interface PagingOptions extends CallOptions {
  /** The most records that are read, the newest first. */
  readonly limit?: number | undefined;
}

/**
 * What one page added to what was read before; `total` is the length of the list by the service's word at that moment.
 */
export interface Batch<T> extends Records<T> {
  readonly total: number;
}

/** A list that is read page by page. */
export interface PagedList<T> {
  /** For messages. */
  readonly what: string;
  /** Returns what tells records apart, as in the page's `ids`. */
  idOf(record: T): string;
  read(range: { readonly start: number; readonly end: number }, call: CallOptions): Promise<Page<T>>;
}

/** The service cuts longer pages without a word. */
const PAGE_SIZE = 20;
/**
 * Elements that are read twice, so that two pages can be seen to join; as many less one may go between two requests
 * without a step back.
 */
const OVERLAP = 2;
const STEP = PAGE_SIZE - OVERLAP;
/** Requests in a row that may bring nothing further, beyond those that pass over what was read already. */
const PATIENCE = 20;
/** How often a reading may begin anew because a whole page of new elements came between two requests. */
const MAX_RESTARTS = 10;

const PAGING = {
  endpoint: 'reading a whole list',
  parameters: { limit: optionalRule('an integer of at least 1', (value) =>
    Number.isSafeInteger(value) && (value as number) >= 1) },
  joint: [],
} as const;

/**
 * Reads a whole list while it changes, in batches, the newest elements first and last what came in meanwhile.
 *
 * It assumes that new elements come in at the front alone, that elements may go from anywhere, that those that stay
 * keep their order, and that an id is never used twice. Then
 * - an element that is in the list during the whole reading is returned exactly once;
 * - so is one that was in the list when its front was last looked at, and is still there at the end;
 * - nothing is returned twice, whatever the list does.
 *
 * Where the order changes too (a list sorted by volume), only the last of these holds. A list that fits in one page is
 * read in one request. Elements that cannot be read are reported once, like those of a page.
 *
 * Throws SERVICE_LIST_MOVING where the list changes faster than it can be read, the signal's reason once it is aborted,
 * and what a request throws; batches handed out before that stay good.
 */
export async function* readList<T>(
  list: PagedList<T>, { limit, ...call }: PagingOptions = {},
): AsyncGenerator<Batch<T>, void> {
  checkRequest(PAGING, { limit });
  const seen = new Set<string>();
  let left = limit ?? Number.POSITIVE_INFINITY;
  let requests = 0;
  let restarts = 0;
  let fruitless = 0;
  let patience = PATIENCE;

  async function read(start: number): Promise<Page<T>> {
    call.signal?.throwIfAborted();
    if (fruitless > patience || restarts > MAX_RESTARTS) {
      throw new GannetError('SERVICE_LIST_MOVING',
        `${list.what}: the list changes faster than it can be read, given up after ${requests} requests with `
          + `${seen.size} elements; read less of it (limit), or when it is quieter`,
        { details: { requests, elements: seen.size } });
    }
    requests += 1;
    fruitless += 1;
    const page = await list.read({ start, end: start + PAGE_SIZE }, call);
    if (page.ids.length > 0 && page.ids.every((id) => id === undefined))
      throw malformed(`${list.what}: expected elements with ids`, undefined);
    return page;
  }

  function isNew(id: string): boolean {
    if (seen.has(id)) return false;
    seen.add(id);
    return true;
  }

  /** What of a page is new; further ones behind something known are progress. */
  function take(page: Page<T>): Batch<T> {
    const known = page.ids.findIndex((id) => id !== undefined && seen.has(id));
    const isFurther = known >= 0 && page.ids.slice(known).some((id) => id !== undefined && !seen.has(id));
    const records = page.records.filter((record) => isNew(list.idOf(record))).slice(0, left);
    // Without an id, what cannot be read is told apart by what is wrong with it.
    const rejected = page.rejected.filter(({ id, message }) => isNew(id ?? `\n${message}`));
    left -= records.length;
    if (isFurther) {
      fruitless = 0;
      patience = PATIENCE + Math.ceil((2 * seen.size) / STEP);
    }
    return { records, rejected, total: page.pagination.total };
  }

  /**
   * Reads from the front downwards until `isLast`, and returns the ids of an unbroken stretch from the top. A page
   * joins where it has an element of the stretch; where it has none, elements in front of it went, or many came: it
   * steps back.
   */
  async function* walk(isLast: (page: Page<T>) => boolean): AsyncGenerator<Batch<T>, ReadonlySet<string>> {
    let stretch = new Set<string>();
    let start = 0;
    let back = STEP / 2;
    for (;;) {
      const page = await read(start);
      const ids = page.ids.filter((id) => id !== undefined);
      if (!ids.some((id) => stretch.has(id))) {
        if (start > 0) {
          start = Math.max(0, start - back);
          back *= 2;
          continue;
        }
        if (stretch.size > 0) restarts += 1;
        stretch = new Set();
      }
      back = STEP / 2;
      for (const id of ids) stretch.add(id);
      const last = isLast(page);
      const batch = take(page);
      if (batch.records.length > 0 || batch.rejected.length > 0) yield batch;
      if (last || left === 0) return stretch;
      start += Math.max(1, page.ids.length - OVERLAP);
    }
  }

  const whole = yield* walk(({ pagination }) => !pagination.hasNext);
  if (requests === 1 || left === 0) return;
  yield* walk(({ pagination, ids }) => !pagination.hasNext || ids.some((id) => id !== undefined && whole.has(id)));
}

/** Returns all batches of a reading as one. */
export async function collect<T>(batches: AsyncIterable<Records<T>>): Promise<Records<T>> {
  const answers: Records<T>[] = [];
  for await (const batch of batches) answers.push(batch);
  return joined(answers);
}
