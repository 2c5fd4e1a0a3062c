import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { printable } from '../core/text.ts';
import type { Clock } from '../core/time.ts';
import type { ProcessLock } from './process-lock.ts';
import { takeLock, unusable } from './process-lock.ts';

/** Takes the lock of a wallet, by address and for the whole machine. Throws STATE_LOCKED where somebody has it. */
export function lockWallet(options: {
  /** Base58. */
  readonly address: string;
  readonly clock: Clock;
  /** Where the locks are; the same for all processes of a user. */
  readonly directory?: string | undefined;
}): ProcessLock {
  const { address, clock, directory = defaultDirectory() } = options;
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(address)) throw unusable(`expected a base58 wallet address, got "${printable(address, 60)}"`);
  return takeLock({ name: address, directory, clock, subject: `wallet ${address}`, remedy: 'give this one another wallet' });
}

/** Takes the lock of a state directory: two daemons in one would write over each other. Throws STATE_LOCKED. */
export function lockState(stateDir: string, clock: Clock): ProcessLock {
  return takeLock({
    name: 'daemon', directory: join(stateDir, 'locks'), clock,
    subject: `the state directory ${stateDir}`, remedy: 'give this one another with --state-dir',
  });
}

/** Returns the folder of this user's locks. */
function defaultDirectory(): string {
  return join(tmpdir(), `gannet-locks-${process.getuid?.() ?? userInfo().username}`);
}
