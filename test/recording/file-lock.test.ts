import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isFileLocked, takeFileLock } from '../../src/recording/files/file-lock.ts';
import { temporaryFolder } from '../store/fixtures.ts';

describe('the lock that a file stands for', () => {
  it('is had once at a time, also by the process that has it, and goes with its file', () => {
    const file = join(temporaryFolder(), 'a.lock');
    const lock = takeFileLock(file)!;
    for (let i = 0; i < 3; i++) expect([takeFileLock(file), isFileLocked(file)]).toEqual([undefined, true]);
    lock.release();
    expect([existsSync(file), isFileLocked(file)]).toEqual([false, false]);
    takeFileLock(file)!.release();
  });

  it('cannot be taken where no file can be made, and the system itself says why', () => {
    expect(() => takeFileLock(join(temporaryFolder(), 'missing', 'a.lock'))).toThrow(expect.objectContaining({ code: 'ENOENT' }));
  });
});
