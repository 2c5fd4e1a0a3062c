import type { Terminal } from './terminal.ts';
import { isGannetError } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import { faultText } from '../../recording/import/input-file.ts';

/** The outcome of writing a report. */
interface ReportFile {
  /** The path of the report; undefined when none was requested or written. */
  readonly path: string | undefined;
  readonly isLost: boolean;
}

/**
 * Writes a report, if one was requested. A failure of the disk is printed and not thrown, so that the command still
 * prints its result. Throws every other error.
 */
export function reportFile(
  file: string | undefined, write: (file: string) => string, terminal: Pick<Terminal, 'err'>,
): ReportFile {
  if (file === undefined) return { path: undefined, isLost: false };
  try {
    return { path: write(file), isLost: false };
  } catch (error) {
    if (isGannetError(error) || !(error instanceof Error && 'syscall' in error)) throw error;
    terminal.err(
      `the report ${printable(file)} cannot be written: ${faultText(error)}; the other results are not affected\n`,
    );
    return { path: undefined, isLost: true };
  }
}
