import { describe, expect, it } from 'vitest';
import { stateText } from '../../src/cli/prediction-text.ts';

describe('how a market stands', () => {
  it.each([
    [{ status: 'open', result: undefined }, 'open'],
    [{ status: 'closed', result: undefined }, 'closed'],
    [{ status: 'closed', result: 'yes' }, 'closed, YES won'],
    // As the live service writes the market of a position that is over.
    [{ status: 'no', result: 'no' }, 'closed, NO won'],
    [{ status: 'yes', result: undefined }, 'closed, YES won'],
    [{ status: 'halted', result: undefined }, 'halted'],
    [{ status: '\u001b[2J', result: undefined }, '\\u001b[2J'],
  ])('%j is told as %s', (market, text) => {
    expect(stateText(market)).toBe(text);
  });
});
