import { appendFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
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
});
