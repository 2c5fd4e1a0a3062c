import type { ExitCode } from '../exit-codes.ts';
import { EXIT } from '../exit-codes.ts';
import type { Terminal } from './terminal.ts';
import { reportError } from './terminal.ts';
import { isGannetError } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';

/** Runs the action of a command and reports its error, also that of a write that failed; returns the exit code. */
export async function reported(
  { terminal, output }: { readonly terminal: Terminal; readonly output: Output }, action: () => Promise<ExitCode>,
): Promise<ExitCode> {
  let code: ExitCode = EXIT.failed;
  try {
    code = await action();
  } catch (error) {
    if (output.fault() === undefined)
      code = reportError(output.isClosed() && isInterruption(error) ? silent(terminal) : terminal, error);
  }
  // A failed last write is reported a turn later.
  await new Promise((resolve) => { setImmediate(resolve); });
  const fault = output.fault();
  if (fault === undefined) return code;
  terminal.err(`standard output or standard error cannot be written: ${printable(fault.message)}\n`);
  return EXIT.failed;
}

/**
 * Launchers repeat an interrupt that the terminal has already sent to every process: two within this time count as one.
 */
const ONE_INTERRUPT_MS = 1_000;

/** The state of standard output and standard error. */
export interface Output {
  /**
   * Aborted when they can no longer be written. A full disk does not count: it may get room again, and a run must not
   * stop for its output.
   */
  readonly ended: AbortSignal;
  /** Returns whether the reader of a pipe closed it. */
  readonly isClosed: () => boolean;
  /** Returns the error of a write that failed for another reason. */
  readonly fault: () => Error | undefined;
}

/** Watches standard output and standard error. A pipe closed by its reader is no fault, also while help is printed. */
export function watchOutput(): Output {
  const ended = new AbortController();
  let fault: Error | undefined;
  let closed = false;
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') closed = true;
      else fault ??= error;
      if (error.code !== 'ENOSPC') ended.abort();
    });
  }
  return { ended: ended.signal, isClosed: () => closed, fault: () => fault };
}

/** What interrupts a command; a closed terminal does so too. */
const INTERRUPTS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** A drain follows open swaps for 30 s. What then still does not end, such as a device that takes no data, is left. */
const END_MAX_MS = 45_000;

/**
 * Returns the signal that the first interrupt aborts, or the end of the output. A second interrupt calls `exit`, and so
 * does the bound on the time after the first.
 */
export function interruptions(
  { ended }: Output, exit: (code: ExitCode) => void, signals: readonly NodeJS.Signals[] = INTERRUPTS,
): AbortSignal {
  const controller = new AbortController();
  let firstAt = 0;
  for (const signal of signals) {
    process.on(signal, () => {
      const now = performance.now();
      if (!controller.signal.aborted) {
        firstAt = now;
        controller.abort();
        setTimeout(() => { exit(EXIT.interrupted); }, END_MAX_MS).unref();
      } else if (now - firstAt > ONE_INTERRUPT_MS) {
        exit(EXIT.interrupted);
      }
    });
  }
  ended.addEventListener('abort', () => { controller.abort(); }, { once: true });
  if (ended.aborted) controller.abort();
  return controller.signal;
}

function isInterruption(error: unknown): boolean {
  return isGannetError(error) && error.code === 'INTERRUPTED';
}

/** Returns a terminal that prints nothing, for output that has no reader any more. */
function silent(terminal: Terminal): Terminal {
  return { ...terminal, out: () => undefined, err: () => undefined };
}
