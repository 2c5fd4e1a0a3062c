import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { csvRows } from '../../../src/recording/import/csv.ts';
import { temporaryFolder } from '../temporary.ts';

async function read(text: string): Promise<unknown[]> {
  const file = join(temporaryFolder(), 'in.csv');
  writeFileSync(file, text);
  const rows: unknown[] = [];
  try {
    for await (const { row, cells } of csvRows(file, new AbortController().signal)) rows.push([row, ...cells]);
  } catch (error) {
    rows.push((error as Error).message.replace(/^.*in\.csv:/, ''));
  }
  return rows;
}

describe('the rows of a CSV file', () => {
  it('are trimmed, without byte-order mark, line ends and empty lines, with their line numbers', async () => {
    expect(await read('\ufeffa, b\r\n1,2\n\n  \n "3" ,\u00a04\r\n5,6'))
      .toStrictEqual([[1, 'a', 'b'], [2, '1', '2'], [5, '3', '4'], [6, '5', '6']]);
  });

  it('may have commas, quotes and line ends within quotes', async () => {
    expect(await read('a,"b ""c"", d"\n"1,000",2\n')).toStrictEqual([[1, 'a', 'b "c", d'], [2, '1,000', '2']]);
  });

  it.each([
    ['a quote within a cell', 'a,b\n\n1,2"\n', /^3: expected quotes around a whole cell, got quotes within a cell/],
    ['text after a closing quote', 'a,b\n1,"2"x\n', /^2: expected quotes around a whole cell/],
    [
      'an open quote', 'a,b\n1,"2\n3,4\n5,6\n',
      /^2: expected quotes around a whole cell, got one without a closing quote/,
    ],
    ['an open quote in a large file', `a,b\n1,"2\n${'3,4\n'.repeat(40_000)}`, /^2: .*is a closing quote missing/],
    [
      'a row without end', `a,b\n${'1'.repeat(70_000)}`,
      /^2: expected a row of at most 65536 characters; is this a CSV/,
    ],
  ])('are refused with the line of %s', async (_, text, message) => {
    expect((await read(text)).at(-1)).toMatch(message);
  });
});
