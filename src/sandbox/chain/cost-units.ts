import type { DecodedMessage } from './transaction-bytes.ts';

const PER_SIGNATURE = 720;
const PER_WRITE_LOCK = 300;
const PER_PAGE = 8;
const PAGE_BYTES = 32 * 1024;
const DATA_BYTES_PER_UNIT = 4;
/** What a signature costs that a precompile checks. */
const PER_PRECOMPILED_SIGNATURE: ReadonlyMap<string, number> = new Map([
  ['Ed25519SigVerify111111111111111111111111111', 2_400],
  ['KeccakSecp256k11111111111111111111111111111', 6_690],
  ['Secp256r1SigVerify1111111111111111111111111', 4_800],
]);

interface Use {
  readonly unitsConsumed: number;
  readonly writeLocks: number;
  readonly loadedDataSize: number;
}

/**
 * Returns what a transaction that ran takes of a block's capacity: its compute units, and the nodes' rates for its
 * signatures, write locks, instruction data and pages of loaded data.
 */
export function transactionCost(
  { message, staticKeys, instructions }: DecodedMessage, { unitsConsumed, writeLocks, loadedDataSize }: Use,
): number {
  const dataBytes = instructions.reduce((sum, { data }) => sum + data.length, 0);
  const precompiled = instructions.reduce((sum, { programIdIndex, data }) =>
    sum + (PER_PRECOMPILED_SIGNATURE.get(staticKeys[programIdIndex]!) ?? 0) * (data[0] ?? 0), 0);
  return unitsConsumed
    + PER_SIGNATURE * message.header.numRequiredSignatures
    + precompiled
    + PER_WRITE_LOCK * writeLocks
    + Math.floor(dataBytes / DATA_BYTES_PER_UNIT)
    + PER_PAGE * Math.ceil(loadedDataSize / PAGE_BYTES);
}
