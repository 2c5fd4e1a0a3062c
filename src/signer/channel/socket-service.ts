import { chmodSync, lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { resolve } from 'node:path';
import { GannetError, isGannetError, messageOf } from '../../core/errors.ts';
import { takeServiceManager } from '../../core/process-supervisor.ts';
import { greetDaemon, newSessionKey } from './channel-frames.ts';
import { SIGNER_SOCKET } from '../command-process.ts';
import { secretPath } from './connection.ts';
import { refuseStart } from '../launch.ts';
import { prepareWallet, say, serveSigner, type SignerPlace } from './server.ts';
import type { Wallet } from '../wallet.ts';

/** Connections that have not proven yet that they know the secret. */
const MAX_GREETING = 8;
/** A flood of connections must not fill the log: further refusals are counted. */
const REFUSALS_SAID = 10;
/** One late message must not end the signer. */
const TELLS_PER_WATCHDOG = 3;

/**
 * Serves a Unix socket as a process of its own, for one daemon at a time, which is usually another user. Both know the
 * secret in the file beside the socket, which their common group can read; it is new at each start. Each connection has
 * a wallet of its own over the same counters.
 */
export async function serveSocket(place: SignerPlace, named: string): Promise<void> {
  const prepare = prepareWallet(place);
  const manager = takeServiceManager(process.env, say);
  try {
    if (named === '') throw new GannetError('CONFIG_INVALID',
      `expected the path of the socket in ${SIGNER_SOCKET}, such as /run/gannet/signer.sock`);
    const path = resolve(place.workingDir, named);
    const address = await prepare().address();
    const secret = newSessionKey();
    await listen(path, secret, prepare);
    const serves = `serves ${path} for the wallet ${address}`;
    say(`the signer ${serves}, as the user ${process.getuid?.() ?? ''}`);
    manager?.tell({ ready: true, well: true, status: serves });
    // From the event loop, so that one that is stuck says nothing.
    if (manager?.watchdogMs !== undefined)
      setInterval(() => { manager.tell({ well: true }); }, manager.watchdogMs / TELLS_PER_WATCHDOG).unref();
  } catch (error) {
    refuseStart(isGannetError(error) ? error
      : new GannetError('CONFIG_INVALID', `the signer cannot serve ${named}: ${messageOf(error)}`), place.args);
  }
}

async function listen(path: string, secret: Uint8Array, prepare: () => Wallet): Promise<void> {
  if (await isServed(path)) throw new GannetError('STATE_LOCKED', `another signer serves ${path} already`);
  const left = lstatSync(path, { throwIfNoEntry: false });
  if (left?.isSocket() === false) throw new GannetError('CONFIG_INVALID', `expected no other file at ${path}`);
  rmSync(path, { force: true });
  // Replaced as a whole, so that no daemon reads a part of it.
  writeFileSync(`${secretPath(path)}.new`, secret, { mode: 0o640 });
  chmodSync(`${secretPath(path)}.new`, 0o640);
  renameSync(`${secretPath(path)}.new`, secretPath(path));
  const before = process.umask(0o117);
  const server = createServer(oneAtATime(secret, prepare));
  try {
    await new Promise<void>((done, fail) => { server.once('error', fail).listen(path, done); });
  } finally {
    process.umask(before);
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {
    for (const file of [path, secretPath(path)]) rmSync(file, { force: true });
    process.exit(0);
  });
}

/** Returns whether a process accepts connections at a path; a socket that a killed one left behind accepts none. */
function isServed(path: string): Promise<boolean> {
  return new Promise((done) => {
    const probe = connect(path);
    const end = (isThere: boolean) => (): void => {
      probe.destroy();
      done(isThere);
    };
    probe.once('connect', end(true)).once('error', end(false));
  });
}

/** Returns a function that takes connections: it serves the first that knows the secret, until that one ends. */
function oneAtATime(secret: Uint8Array, prepare: () => Wallet): (socket: Socket) => void {
  let served: Socket | undefined;
  let greeting = 0;
  let refusals = 0;
  const refuse = (reason: string): void => {
    refusals += 1;
    if (refusals <= REFUSALS_SAID) say(`a connection was refused: ${reason}`);
    else if (refusals === REFUSALS_SAID + 1) say('further refused connections are counted, and not shown');
  };

  const take = async (socket: Socket): Promise<void> => {
    const admit = (): boolean => {
      if (served !== undefined) return false;
      served = socket;
      return true;
    };
    const sessionKey = await greetDaemon(admit)(socket, secret);
    const wallet = prepare();
    socket.once('close', () => {
      served = undefined;
      wallet.close();
      say('the daemon has ended its connection');
    });
    serveSigner({
      channel: socket, sessionKey, wallet,
      onFault: (message) => { say(`the signer has closed a connection and signed nothing more on it: ${message}`); },
    });
    say(`a daemon is connected${refusals === 0 ? '' : `; ${refusals} connections were refused so far`}`);
  };

  return (socket) => {
    socket.on('error', () => undefined);
    if (greeting >= MAX_GREETING) {
      socket.destroy();
      refuse(`${MAX_GREETING} others have not proven yet that they know the secret`);
      return;
    }
    greeting += 1;
    take(socket).catch((error: unknown) => {
      if (served === socket) served = undefined;
      socket.end();
      refuse(messageOf(error));
    }).finally(() => { greeting -= 1; });
  };
}
