import { expect, it } from 'vitest';
import { numbersText } from '../../../src/research/walk-forward/fold-outcome.ts';

it.each<readonly [readonly number[], string]>([
  [[3], '3'],
  [[1, 2], '1 and 2'],
  [[1, 2, 3], '1 to 3'],
  [[2, 3, 4, 5, 6, 7, 8, 9, 11, 14], '2 to 9, 11 and 14'],
  [[1, 2, 4, 5, 6], '1, 2 and 4 to 6'],
])('%j reads as %s', (numbers, text) => {
  expect(numbersText(numbers)).toBe(text);
});
