import { openSpendingCaps } from '../../src/signer/counters/caps.ts';
import { begun, COUNTERS_KEY } from './session.ts';

// Counts spends of one unit until one is refused, and says how many were counted: `spending-child.ts STATE_DIR WALLET
// MINT`.
const [stateDir, wallet, mint] = process.argv.slice(2) as [string, string, string];
const caps = begun(openSpendingCaps({ folder: stateDir, key: COUNTERS_KEY, wallet, clock: { now: () => 1_000_000 } }));
const inForce =
  { input: { name: 'token', decimals: 6, perDay: 1_000_000n }, solPerDay: undefined, costPerDay: undefined };
for (let counted = 0; ; counted++) {
  const word = caps.count({ messageHash: `unit ${counted}`, mint, amount: 1n, costLamports: 0n }, inForce);
  if (word.ok) continue;
  process.stdout.write(JSON.stringify({ counted, refusal: word }));
  break;
}
