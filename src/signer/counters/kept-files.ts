import { statSync } from 'node:fs';
import { messageOf } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';

/** A file that a process has open and depends on. */
export interface KeptFile {
  /** For messages: "the journal". */
  readonly name: string;
  readonly path: string;
}

/** Checks whether files are still those that were opened: a deleted file accepts every write and keeps none. */
export interface KeptFiles {
  /** Adds a file as it is now; a missing one counts from its creation on. */
  add(file: KeptFile): void;
  /** Returns the fault of the first file that is gone or replaced, undefined while there is none. */
  fault(): string | undefined;
}

interface Identity {
  readonly device: bigint;
  readonly inode: bigint;
}

/** Returns a check without files yet. Device and inode identify a file, never its content. */
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
          return `${name} (${path}) cannot be checked: ${printable(messageOf(error), 200)}`;
        }
        if (entry.identity === undefined) entry.identity = now;
        else if (now === undefined) return `${name} (${path}) was deleted, moved away or unmounted`;
        else if (now.inode !== entry.identity.inode || now.device !== entry.identity.device)
          return `${name} (${path}) was replaced by another file`;
      }
      return undefined;
    },
  };
}

/** Undefined where the file or its folder is missing. */
function identityOf(path: string): Identity | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? undefined : { device: stats.dev, inode: stats.ino };
}
