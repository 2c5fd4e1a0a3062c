import bs58 from 'bs58';
import { GannetError } from '../core/errors.ts';
import { accountInfo } from './rpc-answers.ts';
import type { RpcClient } from './rpc.ts';

const LOOKUP_TABLE_PROGRAM = 'AddressLookupTab1e1111111111111111111111111';
/** Of a table's state: kind, deactivation, extension and authority; the addresses follow. */
const HEADER_BYTES = 56;
const TABLE_STATE = 1;
const ADDRESS_BYTES = 32;
const MAX_ADDRESSES = 256;
const NEVER_DEACTIVATED = 2n ** 64n - 1n;

/**
 * Returns what lookup tables hold, by their addresses, as the node has them at `confirmed`. Tables that do not exist, are
 * being closed or are none are left out. Throws what the call throws.
 */
export async function readLookupTables(rpc: Pick<RpcClient, 'call'>, tables: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const held = await Promise.all(tables.map(async (table) => {
    const { value } = await rpc.call('getAccountInfo', [table, { encoding: 'base64', commitment: 'confirmed' }], accountInfo);
    return value === null || value.owner !== LOOKUP_TABLE_PROGRAM ? undefined : decodeLookupTable(table, value.data);
  }));
  return new Map(tables.flatMap((table, index) => (held[index] === undefined ? [] : [[table, held[index]] as const])));
}

function decodeLookupTable(table: string, data: Uint8Array): readonly string[] | undefined {
  const view = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const count = (view.length - HEADER_BYTES) / ADDRESS_BYTES;
  if (!Number.isInteger(count) || count < 0 || count > MAX_ADDRESSES || view.readUInt32LE(0) !== TABLE_STATE) {
    throw new GannetError('CHAIN_RESPONSE_INVALID', `lookup table ${table}: expected its state and whole addresses, got ${view.length} bytes`);
  }
  if (view.readBigUInt64LE(4) !== NEVER_DEACTIVATED) return undefined;
  return Array.from({ length: count }, (_, index) => bs58.encode(view.subarray(HEADER_BYTES + ADDRESS_BYTES * index, HEADER_BYTES + ADDRESS_BYTES * (index + 1))));
}
