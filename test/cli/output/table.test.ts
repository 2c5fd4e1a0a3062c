import { describe, expect, it } from 'vitest';
import { facts, table } from '../../../src/cli/output/table.ts';
import { widthOf } from '../../../src/cli/output/terminal.ts';

describe('a table', () => {
  it('aligns its columns, numbers to the right', () => {
    expect(table([['token', 'price'], ['SOL', '182.40'], ['PEARL', '2.4']], { right: [1] }))
      .toBe('  token   price\n  SOL    182.40\n  PEARL     2.4\n');
  });

  it('counts terminal cells: wide characters take two', () => {
    expect(widthOf('東京')).toBe(4);
    expect(widthOf('🦀 crab')).toBe(7);
    expect(widthOf('é')).toBe(1);
    const [, first, second] = table([['name', 'n'], ['東京', '1'], ['abcd', '2']]).split('\n');
    expect(widthOf(first!)).toBe(widthOf(second!));
  });
});

describe('the text of a cell', () => {
  it('cannot repaint the terminal or start a new line, and is not cut', () => {
    expect(table([['name'], ['\u001b[2Ja\nb']])).toBe('  name\n  \\u001b[2Ja\\u000ab\n');
    expect(facts([['router', '\u009b31m\u202ex']])).toBe('  router  \\u009b31m\\u202ex\n');
    expect(facts([['summary', 'x'.repeat(500)]])).toBe(`  summary  ${'x'.repeat(500)}\n`);
  });
});

describe('facts', () => {
  it('are printed one a line, without unknown ones', () => {
    expect(facts([['pay', '1 SOL'], ['impact', undefined], ['tokens', ['SOL', 'USDC']], ['notes', []]]))
      .toBe('  pay     1 SOL\n  tokens  SOL\n          USDC\n');
  });
});
