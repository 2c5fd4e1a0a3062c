import { existsSync, readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openRolledFile, pack, partsOf, readPart } from '../../../src/daemon/files/rolled-file.ts';
import { temporaryFolder } from '../../store/fixtures.ts';

/** Waits until no part is uncompressed. */
async function packed(folder: string): Promise<void> {
  await expect.poll(() => readdirSync(folder).filter((name) => /\.\d+\.log$|\.new$/.test(name))).toEqual([]);
}

it('a file that grows becomes compressed parts, bounded in number, with every line of those that stay', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'run.log');
  const file = openRolledFile({ path, partBytes: 1_000, parts: 3 });
  for (let line = 0; line < 100; line++) {
    file.append(`${String(line).padStart(99)}\n`);
    await packed(folder);
  }
  file.close();
  await expect.poll(() => readdirSync(folder).sort())
    .toEqual(['run.7.log.zst', 'run.8.log.zst', 'run.9.log.zst', 'run.log']);
  const parts = partsOf(path);
  expect(parts.map(({ number }) => number)).toEqual([7, 8, 9, Infinity]);
  const lines = parts.map(readPart).join('').trimEnd().split('\n').map(Number);
  expect(lines).toEqual(Array.from({ length: 40 }, (_, index) => index + 60));
  const again = openRolledFile({ path, partBytes: 1_000 });
  again.append('one more\n');
  again.close();
  expect(partsOf(path).map(({ number }) => number)).toEqual([7, 8, 9, 10, Infinity]);
});

it('a part is read once in any state of its compression', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'run.log');
  writeFileSync(join(folder, 'run.2.log'), 'part\n');
  await pack(join(folder, 'run.2.log'));
  expect(existsSync(join(folder, 'run.2.log'))).toBe(false);
  writeFileSync(join(folder, 'run.2.log'), 'part\n');
  writeFileSync(join(folder, 'run.2.log.zst.new'), 'half');
  const [part] = partsOf(path).filter(({ number }) => number === 2);
  expect(readPart(part!)).toBe('part\n');
  truncateSync(part!.path, 5);
  expect(() => readPart(part!)).toThrow(expect.objectContaining({ code: 'RECORDING_CORRUPT' }));
});
