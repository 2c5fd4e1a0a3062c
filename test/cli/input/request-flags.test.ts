import { describe, expect, it } from 'vitest';
import { nothingListed } from '../../../src/cli/input/request-flags.ts';

const page = (total: number): Parameters<typeof nothingListed>[0] =>
  ({ data: [], pagination: { start: 100, end: 100, total, hasNext: false } });

describe('a part of a list with nothing in it', () => {
  it('is told apart from a list with nothing in it', () => {
    expect(nothingListed(page(0), 'no positions')).toBe('  no positions\n');
    expect(nothingListed(page(24), 'no positions')).toBe('  no records at these positions; the whole list has 24\n');
  });
});
