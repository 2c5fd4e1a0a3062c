import { NATIVE_MINT } from '../../src/solana/constants.ts';
import { openSpendingCaps } from '../../src/signer/counters/caps.ts';
import { begun, COUNTERS_KEY } from './session.ts';

// Counts one spend and dies before anybody is told: `killed-child.ts STATE_DIR WALLET AMOUNT`.
const [stateDir, wallet, amount] = process.argv.slice(2) as [string, string, string];
const caps = begun(openSpendingCaps({ folder: stateDir, key: COUNTERS_KEY, wallet, clock: { now: () => 1_000_000 } }));
caps.count(
  { messageHash: 'killed', mint: NATIVE_MINT, amount: BigInt(amount), costLamports: 0n },
  { input: { name: 'SOL', decimals: 9, perDay: BigInt(amount) }, solPerDay: undefined, costPerDay: undefined },
);
process.kill(process.pid, 'SIGKILL');
