import { basename, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isOwnCode } from './code-files.ts';
import { printable } from './text.ts';

const PACKAGES = `${sep}node_modules${sep}`;
/** A module as a URL, or as a path where a loader names it so. */
const FRAME = /(?:\(|at )(?:async )?((?:file:\/\/)?\/.+):(\d+):(\d+)\)?$/;

/** Returns the first location of an error's stack outside the project and its packages, "dip.ts:12:5". */
export function placeOf(error: unknown): string | undefined {
  return error instanceof Error && typeof error.stack === 'string' ? placeIn(error.stack) : undefined;
}

/** Returns the first location of a stack trace outside the project and its packages, "dip.ts:12:5". */
export function placeIn(stack: string): string | undefined {
  for (const frame of stack.split('\n')) {
    const [, from, line, column] = FRAME.exec(frame) ?? [];
    if (from === undefined) continue;
    // A fresh copy of a module has a URL with a query.
    const path = (from.startsWith('file:') && URL.canParse(from) ? fileURLToPath(from) : from).replace(/\?.*$/, '');
    if (!isOwnCode(path) && !path.includes(PACKAGES))
      return `${printable(basename(path), 100)}:${line!}:${column!}`;
  }
  return undefined;
}
