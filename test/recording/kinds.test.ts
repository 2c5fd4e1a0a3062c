import { expect, it } from 'vitest';
import { feedKindOf } from '../../src/market/feeds/registry.ts';
import { MARKET_KINDS } from '../../src/recording/format.ts';
import { recordedKind } from '../../src/recording/kinds/recorded-kinds.ts';

it('a kind of feed has columns of its own where its definition says so, and is one JSON text elsewhere', () => {
  for (const kind of MARKET_KINDS) {
    const names = recordedKind(kind).createRows().columns.map(({ field }) => field.name);
    expect(names.includes('json'), kind).toBe(feedKindOf(kind).hasColumns !== true);
  }
});
