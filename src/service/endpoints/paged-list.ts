import { z } from 'zod';
import { GannetError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import type { CallOptions } from '../rate/rate-plan.ts';
import { wireInteger } from '../wire/fields.ts';
import type { RecordKind, Records, ReportUnread } from '../wire/read.ts';
import { idOf, joined, malformed, membersOf, readRecords, readWire } from '../wire/read.ts';
import { checkRequest, optionalRule } from './request-rules.ts';

/** Where a page lies in its list, as the service states it. */
export interface Pagination {
  /** From 0. */
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  readonly total: number;
  readonly hasNext: boolean;
}

/** One page of a list. The service cuts it at 20 elements without saying so. */
export interface Page<T> extends Records<T> {
  readonly pagination: Pagination;
  /**
   * The ids of all elements in the answer's order, read or rejected, undefined where one has none: by them pages are
   * joined.
   */
  readonly ids: readonly (string | undefined)[];
}

/** How much of a list is read, and how. */
export interface PagingOptions extends CallOptions {
  /** The most records that are read, the newest first. */
  readonly limit?: number | undefined;
}

/**
 * The new elements of one page; `total` is the length of the list at that moment, as the service states it.
 */
export interface Batch<T> extends Records<T> {
  readonly total: number;
}

/** A list that is read page by page. */
interface PagedList<T> {
  /** For messages. */
  readonly what: string;
  /** Returns the id of a record, as in the page's `ids`. */
  idOf(record: T): string;
  read(range: { readonly start: number; readonly end: number }, call: CallOptions): Promise<Page<T>>;
}

/** The service cuts longer pages without saying so. */
const PAGE_SIZE = 20;
/**
 * Elements that are read twice, so that two pages can be seen to join. One element fewer than this may be removed
 * between two requests without a step back.
 */
const OVERLAP = 2;
const STEP = PAGE_SIZE - OVERLAP;
/** Requests in a row that may bring nothing further, beyond those that pass over elements that were read already. */
const MAX_FRUITLESS = 20;
/** How often a reading may restart because a whole page of new elements came between two requests. */
const MAX_RESTARTS = 10;

const PAGING = {
  endpoint: 'reading a whole list',
  parameters: { limit: optionalRule('an integer of at least 1', (value) =>
    Number.isSafeInteger(value) && (value as number) >= 1) },
  joint: [],
} as const;

/**
 * Reads a whole list while it changes, in batches. The newest elements come first, and elements that were added
 * meanwhile come last.
 *
 * It assumes that new elements are added at the front alone, that elements may be removed anywhere, that the others
 * keep their order, and that an id is never used twice. Then
 * - an element that is in the list during the whole reading is returned exactly once;
 * - an element that was in the list when its front was last read, and is still there at the end, is returned once;
 * - no element is returned twice, whatever the list does.
 *
 * Where the order changes too (a list sorted by volume), only the last of these holds. A list that fits in one page is
 * read in one request. Elements that cannot be read are reported once, like those of a page.
 *
 * Throws SERVICE_LIST_MOVING where the list changes faster than it can be read, the signal's reason once it is aborted,
 * and what a request throws; batches returned before that stay valid.
 */
export async function* readList<T>(list: PagedList<T>, options: PagingOptions = {}): AsyncGenerator<Batch<T>, void> {
  checkRequest(PAGING, { limit: options.limit });
  yield* new ListReading(list, options).batches();
}

/** One reading of a whole list. */
class ListReading<T> {
  readonly #list: PagedList<T>;
  readonly #call: CallOptions;
  readonly #seen = new Set<string>();
  #left: number;
  #requests = 0;
  #restarts = 0;
  #fruitless = 0;
  #maxFruitless = MAX_FRUITLESS;

  constructor(list: PagedList<T>, { limit, ...call }: PagingOptions) {
    this.#list = list;
    this.#call = call;
    this.#left = limit ?? Number.POSITIVE_INFINITY;
  }

  async* batches(): AsyncGenerator<Batch<T>, void> {
    const whole = yield* this.#walk(({ pagination }) => !pagination.hasNext);
    if (this.#requests === 1 || this.#left === 0) return;
    yield* this.#walk(({ pagination, ids }) =>
      !pagination.hasNext || ids.some((id) => id !== undefined && whole.has(id)));
  }

  /**
   * Reads from the front downwards until `isLast`, and returns the ids of an unbroken stretch from the top. A page
   * joins where it has an element of the stretch. Where it has none, elements in front of it were removed, or many
   * were added: the reading steps back.
   */
  async* #walk(isLast: (page: Page<T>) => boolean): AsyncGenerator<Batch<T>, ReadonlySet<string>> {
    let stretch = new Set<string>();
    let start = 0;
    let back = STEP / 2;
    for (;;) {
      const page = await this.#read(start);
      const ids = page.ids.filter((id) => id !== undefined);
      if (!ids.some((id) => stretch.has(id))) {
        if (start > 0) {
          start = Math.max(0, start - back);
          back *= 2;
          continue;
        }
        if (stretch.size > 0) this.#restarts += 1;
        stretch = new Set();
      }
      back = STEP / 2;
      for (const id of ids) stretch.add(id);
      const last = isLast(page);
      const batch = this.#take(page);
      if (batch.records.length > 0 || batch.rejected.length > 0) yield batch;
      if (last || this.#left === 0) return stretch;
      start += Math.max(1, page.ids.length - OVERLAP);
    }
  }

  async #read(start: number): Promise<Page<T>> {
    const { what } = this.#list;
    this.#call.signal?.throwIfAborted();
    if (this.#fruitless > this.#maxFruitless || this.#restarts > MAX_RESTARTS) {
      const [requests, elements] = [this.#requests, this.#seen.size];
      throw new GannetError('SERVICE_LIST_MOVING',
        `${what}: the list changes faster than it can be read, given up after ${requests} requests with `
          + `${elements} elements; read less of it (limit), or when it is quieter`,
        { details: { requests, elements } });
    }
    this.#requests += 1;
    this.#fruitless += 1;
    const page = await this.#list.read({ start, end: start + PAGE_SIZE }, this.#call);
    if (page.ids.length > 0 && page.ids.every((id) => id === undefined))
      throw malformed(`${what}: expected elements with ids`, undefined);
    return page;
  }

  /** Returns the new elements of a page. New elements behind a known one are progress. */
  #take(page: Page<T>): Batch<T> {
    const seen = this.#seen;
    const known = page.ids.findIndex((id) => id !== undefined && seen.has(id));
    const isFurther = known >= 0 && page.ids.slice(known).some((id) => id !== undefined && !seen.has(id));
    const records = page.records.filter((record) => this.#isNew(this.#list.idOf(record))).slice(0, this.#left);
    // An unreadable element without an id is known by its fault.
    const rejected = page.rejected.filter(({ id, message }) => this.#isNew(id ?? `\n${message}`));
    this.#left -= records.length;
    if (isFurther) {
      this.#fruitless = 0;
      this.#maxFruitless = MAX_FRUITLESS + Math.ceil((2 * seen.size) / STEP);
    }
    return { records, rejected, total: page.pagination.total };
  }

  #isNew(id: string): boolean {
    if (this.#seen.has(id)) return false;
    this.#seen.add(id);
    return true;
  }
}

/** Returns all batches of a reading as one. */
export async function collect<T>(batches: AsyncIterable<Records<T>>): Promise<Records<T>> {
  const answers: Records<T>[] = [];
  for await (const batch of batches) answers.push(batch);
  return joined(answers);
}

const index = wireInteger.refine((value) => value >= 0, { error: 'expected an integer of at least 0' });
const WirePagination =
  z.object({ pagination: z.object({ start: index, end: index, total: index, hasNext: z.boolean() }) });

/** Returns one page. Throws SERVICE_MALFORMED where there is no list or no pagination. */
export function readPage<T>(kind: RecordKind<T>, answer: Json, unread?: ReportUnread): Page<T> {
  const list = membersOf(answer)['data'];
  const records = readRecords(kind, list, unread);
  const { pagination } = readWire(WirePagination, answer, kind.what);
  return { ...records, pagination, ids: (list as readonly Json[]).map((element) => idOf(kind.idMember, element)) };
}

/**
 * Returns a kind that rejects records of another value than the filter asked for. The names of filters are not stated,
 * and a host that does not know one gives the records of all owners. A filter may be several values with commas.
 */
export function filtered<T extends object>(
  kind: RecordKind<T>, filter: { readonly [Name in keyof T & string]?: T[Name] | undefined },
): RecordKind<T> {
  const asked = Object.entries(filter).filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name as keyof T & string, String(value)] as const);
  return {
    ...kind,
    read(element, report) {
      const record = kind.read(element, report);
      for (const [name, value] of asked) {
        const found = record[name];
        if (found !== undefined && !value.split(',').includes(String(found)))
          throw malformed(`${kind.what}, ${name}: expected ${value}, which was asked for`, found);
      }
      return record;
    },
  };
}
