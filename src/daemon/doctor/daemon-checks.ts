import { connect } from 'node:net';
import { resolve } from 'node:path';
import { Agent, request } from 'undici';
import type { RunConfig } from '../../config/run-config.ts';
import { isGannetError, messageOf } from '../../core/errors.ts';
import { viewStateLock, viewWalletLock } from '../../store/locks.ts';
import type { ControlFile } from '../control/control-file.ts';
import { readControlFile } from '../control/control-file.ts';
import type { Check, DoctorScope } from './check.ts';
import { checksOf } from './check.ts';

const { ok, warning, fault } = checksOf('daemon');
const ANSWER_WITHIN_MS = 3_000;

/** A daemon of the state directory, as its lock and its control file show it. */
interface FoundDaemon {
  readonly isRunning: boolean;
  readonly checks: readonly Check[];
  /** Undefined where it left none. */
  readonly control: ControlFile | undefined;
}

/** Finds a running daemon. It is asked for its health alone, without a token, so this counts as no operator. */
export async function findDaemon(scope: DoctorScope): Promise<FoundDaemon> {
  const stateDir = resolve(scope.workingDir, scope.stateDir);
  const control = controlOf(stateDir);
  const found = control instanceof Error ? undefined : control;
  try {
    const { isHeld, pid } = viewStateLock(stateDir);
    const checks = isHeld ? [await heldCheck(found, pid)] : freeChecks(found, stateDir);
    return { isRunning: isHeld, control: found, checks: [...checks, ...unusableChecks(control, stateDir)] };
  } catch (error) {
    return { isRunning: false, control: found, checks: [fault('locks', messageOf(error),
      `check the folder ${stateDir}/locks with "ls -la ${stateDir}/locks"`)] };
  }
}

function controlOf(stateDir: string): ControlFile | Error | undefined {
  try {
    return readControlFile(stateDir);
  } catch (error) {
    if (!isGannetError(error)) throw error;
    return error.message.startsWith('no daemon runs') ? undefined : error;
  }
}

/** A control file that others could have placed is used by no command. */
function unusableChecks(control: ControlFile | Error | undefined, stateDir: string): Check[] {
  return control instanceof Error ? [fault('control-file', control.message,
    `run "rm ${stateDir}/control.json"; a running daemon places its own again`)] : [];
}

async function heldCheck(control: ControlFile | undefined, pid: number | undefined): Promise<Check> {
  const name = `process ${pid ?? control?.pid ?? 'of unknown number'}`;
  if (control === undefined) return ok('locks', `a daemon runs (${name}), without control API or still starting`);
  // No secret is sent, so the answer of any certificate will do.
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  try {
    const { statusCode, body } = await request(new URL('/healthz', control.url), {
      headersTimeout: ANSWER_WITHIN_MS, bodyTimeout: ANSWER_WITHIN_MS, signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      dispatcher,
    });
    await body.dump();
    if (statusCode === 200) return ok('locks', `a daemon runs (${name}) and answers at ${control.url}`);
    return fault('locks', `the daemon (${name}) answers at ${control.url}/healthz with status ${statusCode}`,
      'see "gannet status" and "gannet logs --level error"');
  } catch (error) {
    return fault('locks', `a daemon runs (${name}), but does not answer at ${control.url}: ${messageOf(error)}`,
      `see "gannet logs --level error"; where it stays so, run "kill ${pid ?? control.pid}" and start it again`);
  } finally {
    await dispatcher.destroy();
  }
}

/** The lock ends with its process, so a file that is left does no harm; but a daemon that should run does not. */
function freeChecks(control: ControlFile | undefined, stateDir: string): Check[] {
  return [control === undefined ? ok('locks', 'no daemon runs with this state directory')
    : warning('locks', `the daemon of ${stateDir} (process ${control.pid}) was killed: its control file is left`,
      'start it again with "gannet run", which replaces the file')];
}

/** Returns what is to be said about another daemon with the same wallet, and about the port of the control API. */
export async function exclusiveChecks(
  { isRunning, control }: FoundDaemon, { config, address }: {
    readonly config: RunConfig; readonly address: string | undefined;
  },
): Promise<Check[]> {
  const [wallet, port] = await Promise.all([
    config.mode === 'live' && address !== undefined && !isRunning ? walletCheck(address) : [],
    isRunning && control !== undefined ? [] : portChecks(config),
  ]);
  return [...wallet, ...port];
}

async function walletCheck(address: string): Promise<Check[]> {
  const { isHeld, pid } = await viewWalletLock(address);
  return isHeld ? [fault('wallet-lock', `another daemon trades with the wallet ${address} (process `
    + `${pid ?? 'of unknown number'}): a second one does not start`,
    `name its state directory with --state-dir, or stop it${pid === undefined ? '' : ` with "kill ${pid}"`}`)] : [];
}

async function portChecks({ control: { enabled, host, port, isPortGiven } }: RunConfig): Promise<Check[]> {
  if (!enabled || port === 0) return [];
  const isTaken = await new Promise<boolean>((done) => {
    const probe = connect({ host, port, timeout: ANSWER_WITHIN_MS });
    const end = (isThere: boolean) => (): void => {
      probe.destroy();
      done(isThere);
    };
    probe.once('connect', end(true)).once('error', end(false)).once('timeout', end(false));
  });
  const text = `another program uses the port ${port} of ${host}`;
  if (!isTaken) return [ok('control-port', `the port ${port} is free for the control API`)];
  return isPortGiven ? [fault('control-port', `${text}, which control.port names: the daemon does not start`,
    `set another control.port; "ss -ltnp 'sport = :${port}'" shows the program`)]
    : [ok('control-port', `${text}; the daemon takes the next free one`)];
}
