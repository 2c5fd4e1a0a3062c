import { statSync } from 'node:fs';
import { messageOf } from '../core/errors.ts';
import { printable } from '../core/text.ts';

/** A file that a process has open and relies on. */
export interface KeptFile {
  /** For messages: "the journal". */
  readonly name: string;
  readonly path: string;
}

/** Says whether files are still those that were opened: a deleted file takes every write, and keeps none. */
export interface KeptFiles {
  /** Adds a file as it is now; one that is not there yet counts from when it is. */
  add(file: KeptFile): void;
  /** Returns what became of the first file that is not where it was, undefined while all are. */
  fault(): string | undefined;
}

interface Identity {
  readonly device: bigint;
  readonly inode: bigint;
}

/** Returns a watch over no file yet. Whether a file is the same is told by its device and inode, never by its content. */
export function createKeptFiles(): KeptFiles {
  const kept: { readonly file: KeptFile; identity: Identity | undefined }[] = [];
  return {
    add: (file) => { kept.push({ file, identity: identityOf(file.path) }); },
    fault() {
      for (const entry of kept) {
        const { name, path } = entry.file;
        let now: Identity | undefined;
        try {
          now = identityOf(path);
        } catch (error) {
          return `${name} (${path}) cannot be looked at: ${printable(messageOf(error), 200)}`;
        }
        if (entry.identity === undefined) entry.identity = now;
        else if (now === undefined) return `${name} (${path}) was deleted, moved away or unmounted`;
        else if (now.inode !== entry.identity.inode || now.device !== entry.identity.device) return `${name} (${path}) was replaced by another file`;
      }
      return undefined;
    },
  };
}

/** Undefined where there is no such file, or no such folder. */
function identityOf(path: string): Identity | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? undefined : { device: stats.dev, inode: stats.ino };
}
