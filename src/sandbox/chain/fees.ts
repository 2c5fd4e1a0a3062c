import type { MessageV1 } from '@solana/web3.js';
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
 * too) plus the priority fee. Version 1 names that in lamports; before it is ceil(unit limit * price / 10^6), where a
 * message without a compute unit limit is charged for 200,000 units per instruction and 3,000 per built-in one, at most
 * 1,400,000 (the runtime's defaults).
 */
export function transactionFee(decoded: DecodedMessage): TransactionFee {
  const { message } = decoded;
  const { priorityLamports, microLamportsPerUnit } = message.version === 1
    ? configuredPriority(message.transactionConfig) : instructedPriority(decoded);
  const signatures = BigInt(message.header.numRequiredSignatures) + precompiledSignatures(decoded);
  return { feeLamports: signatures * LAMPORTS_PER_SIGNATURE + priorityLamports, microLamportsPerUnit };
}

interface Priority {
  readonly priorityLamports: bigint;
  readonly microLamportsPerUnit: bigint;
}

function configuredPriority({ priorityFee, computeUnitLimit }: MessageV1['transactionConfig']): Priority {
  const priorityLamports = BigInt(priorityFee ?? 0);
  // A message that names no limit may use no units, so it pays nothing for one.
  const units = BigInt(Math.min(computeUnitLimit ?? 0, MAX_UNITS));
  const microLamportsPerUnit = units === 0n ? 0n : priorityLamports * MICRO_LAMPORTS_PER_LAMPORT / units;
  return { priorityLamports, microLamportsPerUnit };
}

function instructedPriority({ staticKeys, instructions }: DecodedMessage): Priority {
  let microLamportsPerUnit = 0n;
  let limit: number | undefined;
  let defaultLimit = 0;
  for (const { programIdIndex, data } of instructions) {
    const program = staticKeys[programIdIndex]!;
    const view = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    if (program === COMPUTE_BUDGET_PROGRAM && view[0] === SET_UNIT_LIMIT && view.length >= 5)
      limit = view.readUInt32LE(1);
    if (program === COMPUTE_BUDGET_PROGRAM && view[0] === SET_UNIT_PRICE && view.length >= 9)
      microLamportsPerUnit = view.readBigUInt64LE(1);
    defaultLimit += BUILTINS.has(program) ? DEFAULT_BUILTIN_UNITS : DEFAULT_UNITS;
  }
  const units = BigInt(Math.min(limit ?? defaultLimit, MAX_UNITS));
  const priorityLamports =
    (units * microLamportsPerUnit + MICRO_LAMPORTS_PER_LAMPORT - 1n) / MICRO_LAMPORTS_PER_LAMPORT;
  return { priorityLamports, microLamportsPerUnit };
}

function precompiledSignatures({ staticKeys, instructions }: DecodedMessage): bigint {
  return instructions.reduce((sum, { programIdIndex, data }) =>
    sum + (PRECOMPILES.has(staticKeys[programIdIndex]!) ? BigInt(data[0] ?? 0) : 0n), 0n);
}
