import { describe, expect, it } from 'vitest';
import { groupThousands, pluralize } from '../../src/core/text.ts';

describe('a count in a sentence', () => {
  it('has the word that goes with the number', () => {
    expect([
      pluralize(0, 'fill'), pluralize(1, 'fill'), pluralize(2, 'fill'), pluralize(1, 'fill is', 'fills are'),
      pluralize(4_412, 'fill is', 'fills are'),
    ])
      .toEqual(['0 fills', '1 fill', '2 fills', '1 fill is', '4,412 fills are']);
  });

  it('has its thousands apart, and no decimals touched', () => {
    expect([groupThousands('999'), groupThousands('-1234567.1234567'), groupThousands('1000')])
      .toEqual(['999', '-1,234,567.1234567', '1,000']);
  });
});
