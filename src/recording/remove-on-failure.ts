import { rmSync } from 'node:fs';

/**
 * Does work that makes a folder, and takes the folder away where the work does not come to its end, also where the
 * process is ended in the midst of it: half of it would be taken for all, and on a full disk it would keep the disk
 * full. Rejects as the work does.
 */
export async function removeOnFailure<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const remove = (): void => { rmSync(directory, { recursive: true, force: true }); };
  let isDone = false;
  process.once('exit', remove);
  try {
    const done = await work();
    isDone = true;
    return done;
  } finally {
    process.off('exit', remove);
    if (!isDone) remove();
  }
}
