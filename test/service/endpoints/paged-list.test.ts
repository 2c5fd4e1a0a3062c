import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Batch } from '../../../src/service/endpoints/paged-list.ts';
import { collect, readList } from '../../../src/service/endpoints/paged-list.ts';

interface Item {
  readonly id: number;
}

/** A list like the service's: newest first, cut at 20 a page; `shift` changes it before every answer but the first. */
function listOf(ids: readonly number[], shift: (list: ShiftingList, request: number) => void = () => {}) {
  const list = new ShiftingList(ids);
  const starts: number[] = [];
  return {
    list,
    starts,
    what: 'items',
    idOf: ({ id }: Item) => String(id),
    async read({ start, end }: { readonly start: number; readonly end: number }) {
      if (starts.length > 0) shift(list, starts.length);
      starts.push(start);
      if (start === 0) list.readFront();
      const data = list.ids.slice(start, Math.min(end, start + 20));
      return {
        records: data.filter((id) => id % 13 !== 12).map((id) => ({ id })),
        rejected: data.filter((id) => id % 13 === 12).map((id) => ({ id: String(id), message: 'unreadable' })),
        ids: data.map(String),
        pagination: {
          start, end: start + data.length, total: list.ids.length, hasNext: start + data.length < list.ids.length,
        },
      };
    },
  };
}

class ShiftingList {
  ids: number[];
  /** In the list during the whole reading. */
  readonly lasting: Set<number>;
  /** In the list when its front was last read, and ever since. */
  atFront = new Set<number>();
  #next: number;

  constructor(ids: readonly number[]) {
    this.ids = [...ids];
    this.lasting = new Set(ids);
    this.#next = Math.max(0, ...ids) + 1;
  }

  insert(count: number): void {
    for (let i = 0; i < count; i++) this.ids.unshift(this.#next++);
  }

  remove(place: number): void {
    const [id] = this.ids.splice(place % Math.max(1, this.ids.length), 1);
    this.lasting.delete(id!);
    this.atFront.delete(id!);
  }

  readFront(): void {
    this.atFront = new Set(this.ids);
  }
}

const descending = (count: number): number[] => Array.from({ length: count }, (_, i) => count - i);

async function idsOf(batches: AsyncIterable<Batch<Item>>): Promise<number[]> {
  const { records, rejected } = await collect(batches);
  return [...records.map(({ id }) => id), ...rejected.map(({ id }) => Number(id))];
}

describe('a list that is read whole', () => {
  test.each([0, 1, 19, 20])('of %d elements takes one request', async (count) => {
    const list = listOf(descending(count));
    expect((await idsOf(readList(list))).sort((a, b) => b - a)).toEqual(descending(count));
    expect(list.starts).toEqual([0]);
  });

  test('is read in pages that overlap, newest first, and its front once more at the end', async () => {
    const list = listOf(descending(50));
    const { records } = await collect(readList(list));
    expect(records.map(({ id }) => id)).toEqual(descending(50).filter((id) => id % 13 !== 12));
    expect(list.starts).toEqual([0, 18, 36, 0]);
  });

  test('comes in batches with its length, and reports unreadable elements once', async () => {
    const batches = [];
    for await (const batch of readList(listOf(descending(30)))) batches.push(batch);
    expect(batches.map(({ records, rejected, total }) => [records.length, rejected.length, total]))
      .toEqual([[18, 2, 30], [10, 0, 30]]);
  });

  test('has the elements that were added meanwhile at its end', async () => {
    const list = listOf(descending(30), (items, request) => request === 1 && items.insert(3));
    expect((await idsOf(readList(list))).slice(-5)).toEqual(expect.arrayContaining([31, 32, 33]));
  });

  test('steps back where elements before the page were removed', async () => {
    const list = listOf(descending(60), (items, request) => {
      if (request === 1) for (let i = 0; i < 6; i++) items.remove(3);
    });
    const read = await idsOf(readList(list));
    expect([...list.list.lasting].filter((id) => !read.includes(id))).toEqual([]);
    expect(list.starts.slice(0, 3)).toEqual([0, 18, 9]);
  });

  test('is complete where its end was removed before the page was read', async () => {
    const list = listOf(descending(38), (items, request) => {
      if (request === 1) for (let i = 0; i < 30; i++) items.remove(0);
    });
    expect(await idsOf(readList(list))).toEqual(expect.arrayContaining([1, 2, 3, 4, 5, 6, 7, 8]));
  });

  const shifts = fc.array(fc.array(fc.oneof(
    { weight: 3, arbitrary: fc.record({ insert: fc.integer({ min: 1, max: 6 }) }) },
    { weight: 1, arbitrary: fc.record({ insert: fc.integer({ min: 15, max: 70 }) }) },
    { weight: 4, arbitrary: fc.record({ remove: fc.nat({ max: 400 }) }) },
    { weight: 1, arbitrary: fc.record({ removeFirst: fc.integer({ min: 1, max: 50 }) }) },
  ), { maxLength: 8 }), { maxLength: 30 });

  test('has every lasting element exactly once, whatever is added in front or removed anywhere', async () => {
    await fc.assert(fc.asyncProperty(fc.nat({ max: 300 }), shifts, async (count, turns) => {
      const source = listOf(descending(count), (items, request) => {
        for (const turn of turns[request - 1] ?? []) {
          if ('insert' in turn) items.insert(turn.insert);
          else if ('remove' in turn) items.remove(turn.remove);
          else for (let i = 0; i < turn.removeFirst; i++) items.remove(0);
        }
      });
      const read = await idsOf(readList(source));
      const distinct = new Set(read);
      expect(distinct.size).toBe(read.length);
      expect([...source.list.lasting].filter((id) => !distinct.has(id))).toEqual([]);
      expect([...source.list.atFront].filter((id) => !distinct.has(id))).toEqual([]);
      expect(source.starts.length).toBeLessThan(20 + turns.length * 5 + (count + 30 * 70 * 8) / 10);
    }), { numRuns: 1_000 });
  });

  test('has no element twice even where its order changes', async () => {
    await fc.assert(fc.asyncProperty(fc.array(fc.nat({ max: 99 }), { maxLength: 40 }), async (turns) => {
      const source = listOf(descending(100), (items, request) => {
        const place = turns[request - 1] ?? 0;
        items.ids = [...items.ids.slice(place), ...items.ids.slice(0, place)];
      });
      const read: number[] = [];
      try {
        for await (const { records } of readList(source)) read.push(...records.map(({ id }) => id));
      } catch (thrown) {
        expect(thrown).toMatchObject({ code: 'SERVICE_LIST_MOVING' });
      }
      expect(new Set(read).size).toBe(read.length);
    }), { numRuns: 100 });
  });

  test.each([18, 19, 20, 21, 100])('that grows by %d elements with every request is given up', async (growth) => {
    const source = listOf(descending(100), (items) => items.insert(growth));
    await expect(idsOf(readList(source))).rejects.toMatchObject({ code: 'SERVICE_LIST_MOVING' });
    expect(source.starts.length).toBeLessThan(100);
  });

  test('that repeatedly grows by a whole page is given up', async () => {
    const source = listOf(descending(100), (items, request) => request % 3 === 0 && items.insert(80));
    await expect(idsOf(readList(source))).rejects.toMatchObject({ code: 'SERVICE_LIST_MOVING' });
    expect(source.starts.length).toBeLessThan(100);
  });

  test('that grows almost as fast as it is read is still read to its end', async () => {
    const source = listOf(descending(60), (items) => items.insert(15));
    const read = new Set(await idsOf(readList(source)));
    expect(descending(60).filter((id) => !read.has(id))).toEqual([]);
  });

  test('that is given up keeps the elements that were read', async () => {
    const source = listOf(descending(100), (items) => items.insert(30));
    const batches: Batch<Item>[] = [];
    await expect(async () => {
      for await (const batch of readList(source)) batches.push(batch);
    }).rejects.toThrow(/changes faster than it can be read/);
    expect(batches[0]!.records[0]).toEqual({ id: 100 });
  });

  test('ends at the limit, without another request', async () => {
    const list = listOf(descending(300));
    const { records } = await collect(readList(list, { limit: 25 }));
    expect(records.map(({ id }) => id)).toEqual(descending(300).filter((id) => id % 13 !== 12).slice(0, 25));
    expect(list.starts).toEqual([0, 18]);
  });

  test.each([0, -1, 1.5, Number.NaN])('is not read with a limit of %d', async (limit) => {
    const list = listOf(descending(3));
    await expect(collect(readList(list, { limit }))).rejects.toMatchObject({ code: 'SERVICE_BAD_REQUEST' });
    expect(list.starts).toEqual([]);
  });

  test('ends when the signal aborts', async () => {
    const stop = new AbortController();
    const list = listOf(descending(300), (_items, request) => request === 2 && stop.abort(new Error('enough')));
    await expect(collect(readList(list, { signal: stop.signal }))).rejects.toThrow('enough');
    expect(list.starts).toHaveLength(3);
  });

  test('whose elements have no ids cannot be read', async () => {
    const page = {
      records: [], rejected: [{ id: undefined, message: 'no' }], ids: [undefined],
      pagination: { start: 0, end: 1, total: 40, hasNext: true },
    };
    await expect(collect(readList({ what: 'items', idOf: String, read: async () => page })))
      .rejects.toMatchObject({ code: 'SERVICE_MALFORMED' });
  });

  test('that announces further pages without elements is given up', async () => {
    const page = { records: [], rejected: [], ids: [], pagination: { start: 0, end: 0, total: 40, hasNext: true } };
    await expect(collect(readList({ what: 'items', idOf: String, read: async () => page })))
      .rejects.toMatchObject({ code: 'SERVICE_LIST_MOVING' });
  });
});
