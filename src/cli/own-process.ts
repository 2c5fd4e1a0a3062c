import { Console } from 'node:console';
import { GannetError } from '../core/errors.ts';
import { EXIT } from './exit-codes.ts';
import { processTerminal, reportError } from './terminal.ts';

/**
 * Keeps a strategy, which runs in this process, from speaking or ending in the command's place: what it prints stands on
 * standard error, and a process that it ends is a failure (exit 1), told as one. Returns what says that the command is done.
 */
export function keepProcess(json: boolean): () => void {
  globalThis.console = new Console(process.stderr);
  let isDone = false;
  process.on('exit', (code) => {
    if (isDone || code === EXIT.interrupted) return;
    process.exitCode = reportError(processTerminal(json), new GannetError('PROCESS_ENDED', 'something ended the process before the command was done, such as a bug, or a strategy by process.exit(): there is no result, and a swap that was under way is taken up by the next run'));
  });
  return () => { isDone = true; };
}
