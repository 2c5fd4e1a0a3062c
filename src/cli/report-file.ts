import { isGannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import { faultText } from './file-places.ts';
import type { Terminal } from './terminal.ts';

/** What became of the report that was asked for. */
export interface ReportFile {
  /** Where it is; undefined where none was asked for, or none could be written. */
  readonly path: string | undefined;
  readonly isLost: boolean;
}

/** Writes a report when all else is done. Where the disk takes none, that is said, and no more: what was computed for it is still to be told. Throws what is no fault of the disk. */
export function reportFile(file: string | undefined, write: (file: string) => string, terminal: Pick<Terminal, 'err'>): ReportFile {
  if (file === undefined) return { path: undefined, isLost: false };
  try {
    return { path: write(file), isLost: false };
  } catch (error) {
    if (isGannetError(error) || !(error instanceof Error && 'syscall' in error)) throw error;
    terminal.err(`the report ${printable(file)} cannot be written: ${faultText(error)}; the rest of the answer stands\n`);
    return { path: undefined, isLost: true };
  }
}
