import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ControlFile } from '../daemon/control-file.ts';
import { readControlFile } from '../daemon/control-file.ts';
import { systemClock } from '../daemon/system-clock.ts';
import { GannetError, isGannetError, messageOf } from '../core/errors.ts';
import type { Millis } from '../core/time.ts';
import { roughDuration } from '../core/time.ts';
import { lockState } from '../store/locks.ts';
import type { CommandContext, CommandModule } from './command.ts';
import { daemonClient } from './daemon-client.ts';
import type { ExitCode } from './exit-codes.ts';
import { EXIT } from './exit-codes.ts';
import { interruption } from './interrupt.ts';
import { durationFlag } from './research/flags.ts';

/** Longer than a run follows its open swaps before it leaves them to the next one. */
const WAIT_MS: Millis = 120_000;
const POLL_MS: Millis = 100;

interface StopFlags {
  readonly timeout: Millis;
}

/** What a daemon answers that was asked to end. */
interface Ending {
  readonly run_id: string;
  readonly pid: number;
  /** Swaps that it follows to their end first. */
  readonly open: readonly string[];
}

export const stopCommand: CommandModule = (program, run) => {
  program.command('stop')
    .description('ends the running daemon: it enters nothing more, follows open swaps to their end, and the command waits for that')
    .option('--timeout <duration>', 'how long to wait for the end (default: 2m)', durationFlag, WAIT_MS)
    .action(run(stop));
};

async function stop(context: CommandContext, { timeout }: StopFlags): Promise<ExitCode> {
  const { terminal, options } = context;
  const { ending, control } = await askToEnd(context);
  const { run_id: runId, pid, open } = ending;
  if (!terminal.json) terminal.err(`stopping run ${runId} (process ${pid}); ${open.length === 0 ? 'no swap is open' : `it follows ${open.join(', ')} to the end first`} …\n`);
  const startedAt = systemClock.now();
  while (!hasEnded(options.stateDir, control)) {
    if (context.interrupt.aborted) throw interruption();
    if (systemClock.now() - startedAt >= timeout) {
      throw new GannetError('DAEMON_RUNNING', `run ${runId} (process ${pid}) is still ending after ${roughDuration(timeout)}: "gannet stop" waits on, "gannet status" tells what it waits for`, { details: { runId, pid } });
    }
    await delay(POLL_MS);
  }
  const waitedMs = systemClock.now() - startedAt;
  terminal.result({ run_id: runId, pid, open, stopped: true, waited_ms: waitedMs }, () => `  run ${runId} has ended (process ${pid}), after ${roughDuration(waitedMs)}\n`);
  return EXIT.done;
}

/** Throws CONTROL_UNREACHABLE where no daemon runs, saying so; what else the daemon or the way to it says. */
async function askToEnd(context: CommandContext): Promise<{ readonly ending: Ending; readonly control: ControlFile }> {
  const { stateDir } = context.options;
  try {
    const control = readControlFile(stateDir);
    return { control, ending: await daemonClient(context).post('/api/stop', {}) as unknown as Ending };
  } catch (error) {
    if (!isGannetError(error) || error.code !== 'CONTROL_UNREACHABLE') throw error;
    const holder = lockHolder(stateDir);
    throw new GannetError('CONTROL_UNREACHABLE', holder === undefined
      ? `no daemon runs with the state directory ${stateDir}: there is nothing to stop`
      : `${holder} runs with the state directory ${stateDir}, but its control API does not answer (${messageOf(error)}); end it with its signal TERM: it drains as "gannet stop" would`, { cause: error });
  }
}

/** Returns who holds the lock of a state directory, undefined where nobody does. */
function lockHolder(stateDir: string): string | undefined {
  // Nothing is made where there never was a daemon.
  if (!existsSync(join(stateDir, 'locks'))) return undefined;
  try {
    lockState(stateDir, systemClock).release();
    return undefined;
  } catch (error) {
    if (!isGannetError(error) || error.code !== 'STATE_LOCKED') throw error;
    const { pid } = error.details as { readonly pid?: number };
    return pid === undefined ? 'another process' : `process ${pid}`;
  }
}

/** A run has ended when its process is gone. A process of another container is not seen from here: there its lock tells. */
function hasEnded(stateDir: string, { pid, run_id: runId }: ControlFile): boolean {
  if (isAlive(pid)) return false;
  try {
    // Of a process that was killed in the midst of it, the file stays.
    return readControlFile(stateDir).run_id !== runId || lockHolder(stateDir) === undefined;
  } catch (error) {
    if (isGannetError(error) && error.code === 'CONTROL_UNREACHABLE') return true;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user lives too.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
