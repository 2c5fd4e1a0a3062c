import { isGannetError } from '../../src/core/errors.ts';
import { lockWallet } from '../../src/store/locks.ts';
import { wallClock } from './sample-intents.ts';

/**
 * Takes a wallet's lock, in a folder or for the whole machine, says so, and holds it until it is killed; says why where
 * it is refused.
 */
const [, , directory, address] = process.argv;
try {
  await lockWallet({ address: address!, directory: directory === 'host' ? undefined : directory, clock: wallClock });
  process.stdout.write('locked\n');
  setInterval(() => undefined, 60_000);
} catch (error) {
  process.stdout.write(`${isGannetError(error) ? `${error.code} ${String(error.details['pid'])}` : String(error)}\n`);
}
