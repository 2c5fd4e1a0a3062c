import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addResult, packResults, readResults } from './results.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-results-'));
  file = join(folder, 'some.ndjson.gz');
});
afterEach(() => { rmSync(folder, { recursive: true }); });

describe('the results of a campaign', () => {
  it('can be read before and after packing, and extended', () => {
    addResult(file, { type: 'first' });
    expect(readResults(file)).toEqual([{ type: 'first' }]);
    packResults(file);
    addResult(file, { type: 'second' });
    expect(readResults(file)).toEqual([{ type: 'first' }, { type: 'second' }]);
    packResults(file);
    expect(readResults(file)).toEqual([{ type: 'first' }, { type: 'second' }]);
    expect(existsSync(join(folder, 'some.ndjson'))).toBe(false);
  });

  it('lose only the last line of a killed campaign', () => {
    addResult(file, { type: 'first' });
    appendFileSync(join(folder, 'some.ndjson'), '{"type":"hal');
    expect(readResults(file)).toEqual([{ type: 'first' }]);
    packResults(file);
    expect(readResults(file)).toEqual([{ type: 'first' }]);
  });

  it('are packed at the end, which says what was found and gives the exit code', () => {
    addResult(file, { type: 'first' });
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', `
      import { endCampaign } from ${JSON.stringify(join(import.meta.dirname, 'results.ts'))};
      const file = ${JSON.stringify(file)};
      for (const end of [[['a', 'b']], [2], [[]], [['a'], { swaps: 3 }], [[], { swaps: 3 }]])
        console.log('ends with', endCampaign(file, ...end));
    `], { encoding: 'utf8' });
    expect(stdout).toBe([
      `2 violations; the results are in ${file}\na\nb\nends with 1\n`,
      `2 violations; the results are in ${file}\nends with 1\n`,
      `0 violations; the results are in ${file}\nends with 0\n`,
      '{\n  "swaps": 3\n}\na\n\n1 violations\nends with 1\n',
      '{\n  "swaps": 3\n}\n\n0 violations\nends with 0\n',
    ].join(''));
    expect(readdirSync(folder)).toEqual(['some.ndjson.gz']);
    expect(readResults(file)).toEqual([{ type: 'first' }]);
  });
});
