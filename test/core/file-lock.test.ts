import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isFileLocked, takeFileLock } from '../../src/core/file-lock.ts';
import { temporaryFolder } from '../store/fixtures.ts';

describe('a file lock', () => {
  it('is held once, also within one process, and is released with its file', () => {
    const file = join(temporaryFolder(), 'a.lock');
    const lock = takeFileLock(file)!;
    for (let i = 0; i < 3; i++) expect([takeFileLock(file), isFileLocked(file)]).toEqual([undefined, true]);
    lock.release();
    expect([existsSync(file), isFileLocked(file)]).toEqual([false, false]);
    takeFileLock(file)!.release();
  });

  it('cannot be taken where no file can be created, with the reason of the system', () => {
    expect(() => takeFileLock(join(temporaryFolder(), 'missing', 'a.lock')))
      .toThrow(expect.objectContaining({ code: 'ENOENT' }));
  });
});

const SOURCES = fileURLToPath(new URL('../../src', import.meta.url));
/** The test needs a tracer to simulate a disk without locks. */
const CAN_TRACE = spawnSync('strace', ['-e', 'trace=none', 'true']).status === 0;

/** Runs code in a process for which a lock's file is on a disk that refuses locks. Returns what it prints. */
function withoutLocks(file: string, code: string): unknown {
  const { stdout, stderr } = spawnSync('strace', [
    '-f', '-qq', '-o', '/dev/null', '-e', 'trace=fcntl', '-P', file, '-e', 'inject=fcntl:error=EOPNOTSUPP',
    process.execPath, '--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', `
      const { takeFileLock } = await import(${JSON.stringify(`${SOURCES}/core/file-lock.ts`)});
      const { isBeingWritten, RecordingFiles, takeWriterLock } =
        await import(${JSON.stringify(`${SOURCES}/recording/recording-files.ts`)});
      ${code}`,
  ], { encoding: 'utf8' });
  return JSON.parse(stdout === '' ? JSON.stringify(stderr) : stdout);
}

describe.skipIf(!CAN_TRACE)('a disk without locks', () => {
  it('is reported, and does not stop a new recording, which no other process can change either', () => {
    const folder = temporaryFolder();
    const file = join(folder, 'run', 'writer.lock');
    expect(withoutLocks(file, `
      const { existsSync } = await import('node:fs');
      const folder = ${JSON.stringify(folder)};
      const faults = [];
      const { directory } = new RecordingFiles({ dir: folder, name: 'run', createdAt: 0, tokens: [] });
      const hasLockFile = existsSync(${JSON.stringify(file)});
      const isWritten = isBeingWritten(directory);
      try { takeWriterLock(directory); } catch ({ code, message }) { faults.push(code, message); }
      console.log(JSON.stringify({ hasLockFile, isWritten, faults }));
    `))
      .toStrictEqual({
        hasLockFile: false, isWritten: false,
        faults: ['FEATURE_UNAVAILABLE', `${file} cannot be locked: its filesystem takes no file locks, as some network `
          + 'shares; use a folder on a local disk'],
      });
  });
});
