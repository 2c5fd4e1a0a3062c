import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A disk of its own, small enough to be filled. */
export interface SmallDisk {
  readonly dir: string;
  /** Fills the disk up to `sparing` bytes. */
  fill(sparing?: number): void;
  /** Gives the room back. */
  clear(): void;
  /** Unmounts it and removes its place. */
  remove(): void;
}

/** Why no disk can be mounted here; undefined where it can. */
export const NO_SMALL_DISK = whyNot();

function whyNot(): string | undefined {
  if (process.platform !== 'linux') return 'only Linux has tmpfs';
  const dir = mkdtempSync(join(tmpdir(), 'gannet-disk-'));
  try {
    const { status, stderr } =
      spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', dir], { encoding: 'utf8' });
    if (status !== 0) return `no tmpfs can be mounted here (${(stderr ?? 'no mount command').trim()})`;
    spawnSync('umount', [dir]);
    return undefined;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Mounts a disk of so many mebibytes. */
export function mountSmallDisk(mebibytes: number): SmallDisk {
  const dir = mkdtempSync(join(tmpdir(), 'gannet-disk-'));
  const { status, stderr } =
    spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', dir], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  const filler = join(dir, 'filler');
  return {
    dir,
    fill(sparing = 0) {
      const fd = openSync(filler, 'a');
      try {
        // The free space never falls below `sparing`, because other processes watch it.
        const { bavail, bsize } = statfsSync(dir);
        if (sparing > 0) writeSync(fd, Buffer.alloc(Math.max(0, bavail * bsize - sparing), 7));
        else for (const size of [65_536, 4_096, 1]) writeUntilFull(fd, Buffer.alloc(size, 7));
      } finally {
        closeSync(fd);
      }
    },
    clear() { rmSync(filler, { force: true }); },
    remove() {
      spawnSync('umount', ['-l', dir]);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Returns a disk that is gone when the test is over. */
export function smallDisk(mebibytes = 6): SmallDisk {
  const disk = mountSmallDisk(mebibytes);
  onTestFinished(() => { disk.remove(); });
  return disk;
}

function writeUntilFull(fd: number, bytes: Buffer): void {
  try {
    for (;;) writeSync(fd, bytes);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  }
}
