import { isGannetError } from '../../src/core/errors.ts';
import { lockWallet } from '../../src/store/locks.ts';
import { wallClock } from './sample-journey.ts';

/** Takes a wallet's lock, says so, and holds it until it is killed; says the code where it is refused. */
const [, , directory, address] = process.argv;
try {
  lockWallet({ address: address!, directory, clock: wallClock });
  process.stdout.write('locked\n');
} catch (error) {
  process.stdout.write(`${isGannetError(error) ? error.code : String(error)}\n`);
}
