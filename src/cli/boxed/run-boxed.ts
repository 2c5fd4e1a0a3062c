import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Duplex } from 'node:stream';
import type { BoxedCall, CommandContext } from '../command.ts';
import type { ExitCode } from '../exit-codes.ts';
import { EXIT } from '../exit-codes.ts';
import { prepareCall, TERMINAL_VARIABLES } from './boxed-action.ts';
import { commandBox, createFolder } from './command-grants.ts';
import type { ShownOutput } from './parent-calls.ts';
import { answerRequests } from './parent-calls.ts';
import { entryFile } from '../../core/code-files.ts';
import { GannetError } from '../../core/errors.ts';
import { runDirOf } from '../../daemon/files/find-run.ts';
import { interruption } from '../../recording/interrupt.ts';
import { startBoxedProcess } from '../../research/box/boxed-process.ts';
import type { BoxEnd } from '../../research/box/supervise.ts';
import { stopText, superviseBox } from '../../research/box/supervise.ts';
import { serveWorkers } from '../../research/box/workers.ts';
import { openTrialLog } from '../../store/trial-log.ts';

/** The time in which a boxed command ends after an interrupt. */
const INTERRUPT_MS = 3_000;
/** The same while code of a strategy runs, which may never return. */
const STRATEGY_INTERRUPT_MS = 500;

/**
 * Runs a command in a boxed process and returns its exit code. `argv` is the command line, which may hold a key. This
 * process runs no strategy code: it finds the command's files, starts what the box may not, and keeps the log of
 * trials, and watches the strategies. Throws STRATEGY_TIMEOUT, STRATEGY_MEMORY and STRATEGY_ENDED where one of them
 * ended the boxed process, and PROCESS_ENDED where it does not end by itself for another reason.
 */
export async function runBoxed(
  context: CommandContext, call: BoxedCall, argv: readonly string[],
): Promise<ExitCode> {
  const { options, withheld, interrupt } = context;
  if (interrupt.aborted) throw interruption();
  const prepared = prepareCall(options, call);
  const { grants, environment } = await commandBox(context, prepared);
  const removeUnused = createFolder(options, prepared);
  const entry = entryFile('boxed-command');
  const child = startBoxedProcess({ ...grants, entry, pipes: 2, variables: terminalVariables() });
  const [requests, relay] = child.stdio.slice(4) as unknown as [Duplex, Duplex];
  const workers = serveWorkers(relay, { readable: grants.readable, writable: [] });
  const answers = answerRequests(requests, {
    job: {
      call: prepared, options, environment, withheld, argv,
      output: { out: shownOutput(process.stdout), err: shownOutput(process.stderr) },
    },
    openTrialLog: () => openTrialLog(join(options.stateDir, 'trials.sqlite')),
    syncTrials: (file) => { if (resolve(file).startsWith(resolve(options.stateDir, 'sweeps'))) syncFile(file); },
    backtestDecisions: async (until) => {
      const { backtestDecisions } = await import('../commands/research/backtest-process.ts');
      const { file, recordingDir, timerange } = prepared;
      return backtestDecisions({ file: file!, recordingDir: recordingDir!, timerange, until, interrupt });
    },
  });
  const box = superviseBox(child, {
    out: process.stdout, err: process.stderr, isWaiting: () => workers.areRunning() || answers.arePending(),
  });
  const kill = (): void => {
    workers.stop();
    child.kill('SIGKILL');
  };
  // A second interrupt ends this process at once.
  process.once('exit', kill);
  let lastly: NodeJS.Timeout | undefined;
  const forward = (): void => {
    child.kill('SIGTERM');
    lastly = setTimeout(kill, box.isInStrategy() ? STRATEGY_INTERRUPT_MS : INTERRUPT_MS);
  };
  interrupt.addEventListener('abort', forward, { once: true });
  // It may have come while the box was prepared.
  if (interrupt.aborted) forward();
  try {
    return exitCodeOf(await box.ended, prepared.command);
  } catch (error) {
    rmSync(runDirOf(options.stateDir, prepared.runId), { recursive: true, force: true });
    throw interrupt.aborted ? interruption(error) : error;
  } finally {
    clearTimeout(lastly);
    process.off('exit', kill);
    interrupt.removeEventListener('abort', forward);
    workers.stop();
    answers.close();
    removeUnused();
  }
}

function exitCodeOf({ code, signal, stop }: BoxEnd, command: string): ExitCode {
  if (stop !== undefined) throw new GannetError(stop.code, stopText(stop), { details: { place: stop.place } });
  const exit = Object.values(EXIT).find((known) => known === code);
  if (exit !== undefined) return exit;
  throw new GannetError('PROCESS_ENDED', `the process that runs the strategies of ${command} was ended `
    + `(${signal === null ? `exit code ${code}` : signal}), most likely for lack of memory: there is no result`);
}

function shownOutput({ isTTY, columns }: NodeJS.WriteStream): ShownOutput {
  return { isTTY, columns };
}

function syncFile(file: string): void {
  const descriptor = openSync(file, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function terminalVariables(): Record<string, string> {
  return Object.fromEntries(TERMINAL_VARIABLES.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }));
}
