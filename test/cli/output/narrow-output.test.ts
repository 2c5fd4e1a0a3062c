import { describe, expect, it, onTestFinished } from 'vitest';
import { facts, table } from '../../../src/cli/output/table.ts';
import { linesWrapped, outputColumns, widthOf } from '../../../src/cli/output/terminal.ts';

const ADDRESS = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const TOKENS = [
  ['symbol', 'name', 'mint', 'price', 'remarks'],
  ['USDC', 'USD Coin', ADDRESS, '$1.00', 'verified, can be minted, can be frozen'],
  ['PEARL', 'A pearl of the harbour', ADDRESS.toLowerCase(), '$2.4', 'not verified'],
];

/** Every word of a table, in whatever order. */
const wordsOf = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '').sort();
const widest = (text: string): number => Math.max(...text.split('\n').map(widthOf));

describe('issue 13.25: a table on a narrow terminal', () => {
  it('keeps its columns when they fit, also on a wide terminal', () => {
    const wide = table(TOKENS, { right: [3], columns: 200 });
    expect(wide.split('\n')).toHaveLength(TOKENS.length + 1);
    expect(wide).toBe(table(TOKENS, { right: [3], columns: widest(wide) }));
  });

  it('puts a column below its row, then omits columns and names them', () => {
    const below = table(TOKENS, { right: [3], below: [2], columns: 79 });
    expect(widest(below)).toBeLessThanOrEqual(79);
    expect(below).toMatch(new RegExp(`USDC .*can be frozen\\n {4}${ADDRESS}\\n`));
    const fewer = table(TOKENS, { right: [3], below: [2], optional: [1], columns: 60 });
    expect(widest(fewer)).toBeLessThanOrEqual(60);
    expect(fewer).not.toContain('harbour');
    expect(fewer).toMatch(/\(a wider terminal also shows name\)\n$/);
  });

  it('wraps cells between words, else prints each row as a list', () => {
    for (const columns of [120, 100, 90, 80, 70, 60, 50]) {
      const text = table(TOKENS, { right: [3], columns });
      expect(widest(text), `${columns} columns`).toBeLessThanOrEqual(columns === 50 ? 55 : columns);
      // No word is broken, and none is lost.
      for (const word of TOKENS.slice(1).flat().flatMap((cell) => cell.split(' ')))
        expect(wordsOf(text), `${columns} columns`).toContain(word);
    }
    expect(table(TOKENS, { right: [3], columns: 60 })).toContain(`  mint     ${ADDRESS}\n`);
  });
});

describe('issue 13.25: facts and sentences on a narrow terminal', () => {
  it('are wrapped between words, below their start', () => {
    expect(facts([['limits', 'slippage 50 bps, price impact 100 bps, fees 30 bps']], 40))
      .toBe('  limits  slippage 50 bps, price impact\n          100 bps, fees 30 bps\n');
    expect(linesWrapped('12:00:01  dca-sol          swap 1 USDC to SOL: due', 40))
      .toBe('12:00:01  dca-sol          swap 1 USDC\n                    to SOL: due');
    expect(linesWrapped('  a line that fits', 40)).toBe('  a line that fits');
  });

  it('never break a word: one that is too long starts further left', () => {
    const hash = 'f'.repeat(64);
    expect(facts([['decision hash', hash]], 70)).toBe(`  decision hash\n      ${hash}\n`);
    expect(linesWrapped(`  decision hash   ${hash}`, 70)).toBe(`  decision hash\n      ${hash}`);
    expect(linesWrapped(hash, 40)).toBe(hash);
  });

  it('take their width from COLUMNS, and have any width in a pipe', () => {
    const before = process.env['COLUMNS'];
    onTestFinished(() => {
      if (before === undefined) delete process.env['COLUMNS'];
      else process.env['COLUMNS'] = before;
    });
    process.env['COLUMNS'] = '80';
    expect(outputColumns()).toBe(80);
    process.env['COLUMNS'] = '0';
    expect(outputColumns()).toBe(process.stdout.isTTY ? process.stdout.columns : undefined);
  });
});
