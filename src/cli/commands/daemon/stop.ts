import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Option } from 'commander';
import type { CommandContext, CommandModule } from '../../command.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { durationFlag } from '../../input/flags.ts';
import { GannetError, isGannetError, messageOf } from '../../../core/errors.ts';
import type { Millis } from '../../../core/time.ts';
import { roughDuration } from '../../../core/time.ts';
import { daemonClient } from '../../../daemon/control/control-client.ts';
import type { ControlFile } from '../../../daemon/control/control-file.ts';
import { readControlFile } from '../../../daemon/control/control-file.ts';
import { systemClock } from '../../../daemon/watch/system-clock.ts';
import { interruption } from '../../../recording/interrupt.ts';
import { lockState } from '../../../store/locks.ts';

/** Longer than a run follows its open swaps before it leaves them to the next run. */
const WAIT_MS: Millis = 120_000;
const POLL_MS: Millis = 100;

interface StopFlags {
  readonly timeout: Millis;
}

/** The answer of a daemon to `stop`. */
interface Ending {
  readonly run_id: string;
  readonly pid: number;
  /** Open swaps that it completes first. */
  readonly open: readonly string[];
}

export const stopCommand: CommandModule = (program, run) => {
  program.command('stop')
    .description('ends the running daemon after it has completed its open swaps, and waits for that')
    .addOption(new Option('--timeout <duration>', 'the longest time to wait').argParser(durationFlag)
      .default(WAIT_MS, '2m'))
    .action(run(stop));
};

async function stop(context: CommandContext, { timeout }: StopFlags): Promise<ExitCode> {
  const { terminal, options } = context;
  const { ending, control } = await askToEnd(context);
  const { run_id: runId, pid, open } = ending;
  if (!terminal.json) terminal.err(`stopping run ${runId} (process ${pid}); `
    + `${open.length === 0 ? 'no swap is open' : `it completes ${open.join(', ')} first`} …\n`);
  const startedAt = systemClock.now();
  while (!hasEnded(options.stateDir, control)) {
    if (context.interrupt.aborted) throw interruption();
    if (systemClock.now() - startedAt >= timeout) {
      throw new GannetError(
        'DAEMON_RUNNING',
        `run ${runId} (process ${pid}) is still ending after ${roughDuration(timeout)}: "gannet stop" waits again, `
          + '"gannet status" shows its open swaps',
        { details: { runId, pid } },
      );
    }
    await delay(POLL_MS);
  }
  const waitedMs = systemClock.now() - startedAt;
  terminal.result({ run_id: runId, pid, open, stopped: true, waited_ms: waitedMs }, () =>
    `  run ${runId} has ended (process ${pid}), after ${roughDuration(waitedMs)}\n`);
  return EXIT.done;
}

/** Asks the daemon to end. Throws CONTROL_UNREACHABLE when none runs, and what the control API throws. */
async function askToEnd(context: CommandContext): Promise<{ readonly ending: Ending; readonly control: ControlFile }> {
  const { stateDir } = context.options;
  try {
    const daemon = daemonClient(context);
    return { control: daemon.control, ending: await daemon.post('/api/stop', {}) as unknown as Ending };
  } catch (error) {
    if (!isGannetError(error) || error.code !== 'CONTROL_UNREACHABLE') throw error;
    const holder = lockHolder(stateDir);
    throw new GannetError('CONTROL_UNREACHABLE', holder === undefined
      ? `no daemon runs with the state directory ${stateDir}: there is nothing to stop`
      : `${holder} runs with the state directory ${stateDir}, but its control API does not answer `
        + `(${messageOf(error)}); end it with the signal TERM, which has the effect of "gannet stop"`,
        { cause: error });
  }
}

/** Returns the process that holds the lock of a state directory; undefined when it is free. */
function lockHolder(stateDir: string): string | undefined {
  // The check must not create files where no daemon has ever run.
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

/** A run has ended when its process is gone. A process in another container is not visible, but its lock is. */
function hasEnded(stateDir: string, { pid, run_id: runId }: ControlFile): boolean {
  if (isRunning(pid)) return false;
  try {
    // A killed process leaves its file behind.
    return readControlFile(stateDir).run_id !== runId || lockHolder(stateDir) === undefined;
  } catch (error) {
    if (isGannetError(error) && error.code === 'CONTROL_UNREACHABLE') return true;
    throw error;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process runs, but belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
