import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createBacktestFiles } from '../../../src/cli/commands/research/backtest.ts';
import { reportFile } from '../../../src/cli/output/report-file.ts';
import type { RunManifest } from '../../../src/daemon/files/run-manifest.ts';
import { writePage } from '../../../src/report/write-report.ts';
import { NO_SMALL_DISK, smallDisk } from '../../store/small-disk.ts';

const PAGE = 'x'.repeat(200_000);

function write(path: string): string {
  return writePage(path, PAGE);
}

describe.skipIf(NO_SMALL_DISK !== undefined)('a full disk', () => {
  it('loses the report only, not the rest of the answer', () => {
    const disk = smallDisk(1);
    const told: string[] = [];
    const terminal = { err: (text: string) => { told.push(text); } };
    const file = join(disk.dir, 'report.html');
    expect(reportFile(undefined, write, terminal)).toStrictEqual({ path: undefined, isLost: false });
    expect(reportFile(file, write, terminal)).toStrictEqual({ path: file, isLost: false });
    disk.fill();
    const other = join(disk.dir, 'other.html');
    expect(reportFile(other, write, terminal)).toStrictEqual({ path: undefined, isLost: true });
    expect(told)
      .toStrictEqual([`the report ${other} cannot be written: the disk is full; the other results are not affected\n`]);
    expect(readdirSync(disk.dir).toSorted()).toStrictEqual(['filler', 'report.html']);
    expect(() => reportFile(other, () => { throw new TypeError('a bug'); }, terminal)).toThrow('a bug');
  });

  it('is reported by a backtest with the folder that cannot be written', () => {
    const disk = smallDisk(1);
    const files = createBacktestFiles(disk.dir, 'backtest-1');
    disk.fill();
    expect(() => { files.manifest({ format_version: 1, run_id: PAGE } as RunManifest); })
      .toThrow(expect.objectContaining({ code: 'DISK_FULL', message: expect.stringContaining(disk.dir) as string }));
    expect(existsSync(join(files.dir, 'manifest.json.new'))).toBe(false);
    files.close();
  });
});
