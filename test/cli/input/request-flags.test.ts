import { describe, expect, it } from 'vitest';
import { nothingListed } from '../../../src/cli/input/request-flags.ts';

const page = (total: number): Parameters<typeof nothingListed>[0] =>
  ({ data: [], pagination: { start: 100, end: 100, total, hasNext: false } });

describe('an empty part of a list', () => {
  it('differs from an empty list in its text', () => {
    expect(nothingListed(page(0), 'no positions')).toBe('  no positions\n');
    expect(nothingListed(page(24), 'no positions')).toBe('  no records at these positions; the whole list has 24\n');
  });
});
