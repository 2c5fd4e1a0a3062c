import { describe, expect, it } from 'vitest';
import { counted, grouped } from '../../src/core/counted.ts';

describe('a count in a sentence', () => {
  it('has the word that goes with the number', () => {
    expect([
      counted(0, 'fill'), counted(1, 'fill'), counted(2, 'fill'), counted(1, 'fill is', 'fills are'),
      counted(4_412, 'fill is', 'fills are'),
    ])
      .toEqual(['0 fills', '1 fill', '2 fills', '1 fill is', '4,412 fills are']);
  });

  it('has its thousands apart, and no decimals touched', () => {
    expect([grouped('999'), grouped('-1234567.1234567'), grouped('1000')])
      .toEqual(['999', '-1,234,567.1234567', '1,000']);
  });
});
