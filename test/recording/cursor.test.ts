import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Block } from '../../src/recording/columns/block.ts';
import { RecordingCursor } from '../../src/recording/cursor.ts';
import { buyingSol } from '../market/events.ts';

/** Quotes in memory, each with its number as its time. */
function blockOf(seqs: readonly number[]): Block<'quote'> {
  return {
    kind: 'quote', length: seqs.length,
    seqAt: (index) => seqs[index]!,
    timeAt: (index) => 10 * seqs[index]!,
    inputAt: (index) => buyingSol(100_000 + seqs[index]!, 10 * seqs[index]!),
    endAt: () => undefined,
  };
}

function walk(cursor: RecordingCursor): number[] {
  const seqs: number[] = [];
  while (cursor.next()) seqs.push(cursor.seq);
  return seqs;
}

/** Which kind each of the numbers from 1 is of, and after which of them a block ends. */
const recordings = fc.record({
  kinds: fc.array(fc.nat({ max: 2 }), { maxLength: 60 }),
  blockRows: fc.integer({ min: 1, max: 7 }),
  emptyBlocks: fc.boolean(),
});

describe('a cursor over several kinds', () => {
  it('iterates them in the order of their numbers, independent of blocks', () => {
    fc.assert(fc.property(recordings, ({ kinds, blockRows, emptyBlocks }) => {
      const sources = [0, 1, 2].map((kind) => {
        const seqs = kinds.flatMap((other, index) => (other === kind ? [index + 1] : []));
        const blocks = Array.from({ length: Math.ceil(seqs.length / blockRows) }, (_, i) =>
          blockOf(seqs.slice(i * blockRows, (i + 1) * blockRows)));
        return emptyBlocks ? blocks.flatMap((block) => [blockOf([]), block, blockOf([])]) : blocks;
      });
      expect(walk(new RecordingCursor(sources))).toEqual(kinds.map((_, index) => index + 1));
    }));
  });

  it('gives number, time and input of its row, and a new input at each call', () => {
    const cursor = new RecordingCursor([[blockOf([2])], [blockOf([1, 3])]]);
    for (const seq of [1, 2, 3]) {
      expect(cursor.next()).toBe(true);
      expect([cursor.seq, cursor.at]).toEqual([seq, 10 * seq]);
      expect(cursor.input).toEqual(buyingSol(100_000 + seq, 10 * seq));
      expect(cursor.input).not.toBe(cursor.input);
    }
  });

  it('has no row before the first one, and stays at the last one', () => {
    const cursor = new RecordingCursor([[blockOf([4, 5])]]);
    expect([cursor.seq, cursor.at, cursor.input.kind]).toEqual([0, 0, 'command']);
    expect(walk(cursor)).toEqual([4, 5]);
    for (const more of [cursor.next(), cursor.next()]) expect(more).toBe(false);
    expect([cursor.seq, cursor.at, cursor.input.kind]).toEqual([5, 50, 'quote']);
  });

  it('reads a block only when it reaches it', () => {
    let read = 0;
    const cursor = new RecordingCursor([
      { *[Symbol.iterator]() { for (const seqs of [[1, 2], [3]]) { read += 1; yield blockOf(seqs); } } },
    ]);
    cursor.next();
    cursor.next();
    expect(read).toBe(1);
    cursor.next();
    expect([read, cursor.seq]).toEqual([2, 3]);
  });
});
