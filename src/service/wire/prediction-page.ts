import { z } from 'zod';
import type { Json } from '../../core/json.ts';
import { wireInteger } from './fields.ts';
import { malformed, readWire } from './read.ts';
import type { RecordKind, Records } from './records.ts';
import { idOf, membersOf, readRecords } from './records.ts';

/** Where a page lies in its list, by the service's word. */
export interface Pagination {
  /** From 0. */
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  readonly total: number;
  readonly hasNext: boolean;
}

/** One page of a list. The service cuts it at 20 elements without a word, whatever was asked for. */
export interface Page<T> extends Records<T> {
  readonly pagination: Pagination;
  /**
   * The ids of all elements in the answer's order, read or rejected, undefined where one has none: by them pages are
   * joined.
   */
  readonly ids: readonly (string | undefined)[];
}

const index = wireInteger.refine((value) => value >= 0, { error: 'expected an integer of at least 0' });
const WirePagination =
  z.object({ pagination: z.object({ start: index, end: index, total: index, hasNext: z.boolean() }) });

/**
 * Returns a kind whose records have what was asked for, wherever they say it: how filters are called is not stated, and
 * a host that does not know one gives everybody's records. A filter may be several values with commas between them.
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

/** Returns one page. Throws SERVICE_MALFORMED where there is no list or no word on what comes after it. */
export function readPage<T>(kind: RecordKind<T>, answer: Json): Page<T> {
  const list = membersOf(answer)['data'];
  const records = readRecords(kind, list);
  const { pagination } = readWire(WirePagination, answer, kind.what);
  return { ...records, pagination, ids: (list as readonly Json[]).map((element) => idOf(kind.idMember, element)) };
}
