import { userInfo } from 'node:os';
import { join } from 'node:path';
import { printable } from '../core/text.ts';
import type { Clock } from '../core/time.ts';
import { takeHostLock } from './host-lock.ts';
import type { ProcessLock } from './process-lock.ts';
import { takeLock, unusable } from './process-lock.ts';

/**
 * Takes the lock of a wallet, by address and for the whole machine, whatever the state directories are. Throws
 * STATE_LOCKED where somebody has it.
 */
export async function lockWallet(options: {
  /** Base58. */
  readonly address: string;
  readonly clock: Clock;
  /** Where the lock's files are; left out, no files where the kernel has names (Linux), else this user's home. */
  readonly directory?: string | undefined;
}): Promise<ProcessLock> {
  const { address, clock, directory } = options;
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(address))
    throw unusable(`expected a base58 wallet address, got "${printable(address, 60)}"`);
  const told = { subject: `wallet ${address}`, remedy: 'give this one another wallet' };
  if (directory === undefined && process.platform === 'linux')
    return takeHostLock({ name: `wallet:${address}`, ...told });
  return takeLock({ name: address, directory: directory ?? homeDirectory(), clock, ...told });
}

/** Takes the lock of a state directory: two daemons in one would write over each other. Throws STATE_LOCKED. */
export function lockState(stateDir: string, clock: Clock): ProcessLock {
  return takeLock({
    name: 'daemon', directory: join(stateDir, 'locks'), clock,
    subject: `the state directory ${stateDir}`, remedy: 'give this one another with --state-dir',
  });
}

/** Of the user, not of the environment: two processes with different variables must meet. */
function homeDirectory(): string {
  return join(userInfo().homedir, '.gannet', 'locks');
}
