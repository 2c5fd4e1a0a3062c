import { COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM } from './addresses.ts';
import type { DecodedMessage } from './transaction-bytes.ts';

const LAMPORTS_PER_SIGNATURE = 5_000n;
const MICRO_LAMPORTS_PER_LAMPORT = 1_000_000n;
const MAX_UNITS = 1_400_000;
const DEFAULT_UNITS = 200_000;
const DEFAULT_BUILTIN_UNITS = 3_000;
const SET_UNIT_LIMIT = 2;
const SET_UNIT_PRICE = 3;
const PRECOMPILES: ReadonlySet<string> = new Set([
  'Ed25519SigVerify111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'Secp256r1SigVerify1111111111111111111111111',
]);
const BUILTINS: ReadonlySet<string> = new Set([
  SYSTEM_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  'Vote111111111111111111111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
  'Ed25519SigVerify111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
]);

interface TransactionFee {
  /** Base fee and priority fee. */
  feeLamports: bigint;
  microLamportsPerUnit: bigint;
}

/**
 * Returns the fee that the payer of a message pays: 5000 lamports a signature (those inside precompile instructions
 * too) plus ceil(unit limit * price / 10^6). Without a compute unit limit, a message is charged for 200,000 units per
 * instruction and 3,000 per built-in one, at most 1,400,000 (the runtime's defaults).
 */
export function transactionFee(message: DecodedMessage): TransactionFee {
  let signatures = BigInt(message.header.numRequiredSignatures);
  let microLamportsPerUnit = 0n;
  let limit: number | undefined;
  let defaultLimit = 0;
  for (const { programIdIndex, data } of message.instructions) {
    const program = message.staticKeys[programIdIndex]!;
    const view = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    if (program === COMPUTE_BUDGET_PROGRAM && view[0] === SET_UNIT_LIMIT && view.length >= 5)
      limit = view.readUInt32LE(1);
    if (program === COMPUTE_BUDGET_PROGRAM && view[0] === SET_UNIT_PRICE && view.length >= 9)
      microLamportsPerUnit = view.readBigUInt64LE(1);
    if (PRECOMPILES.has(program)) signatures += BigInt(view[0] ?? 0);
    defaultLimit += BUILTINS.has(program) ? DEFAULT_BUILTIN_UNITS : DEFAULT_UNITS;
  }
  const units = BigInt(Math.min(limit ?? defaultLimit, MAX_UNITS));
  const priority = (units * microLamportsPerUnit + MICRO_LAMPORTS_PER_LAMPORT - 1n) / MICRO_LAMPORTS_PER_LAMPORT;
  return { feeLamports: signatures * LAMPORTS_PER_SIGNATURE + priority, microLamportsPerUnit };
}
