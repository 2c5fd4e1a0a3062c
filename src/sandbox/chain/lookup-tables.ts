import { assert } from '../../core/assert.ts';
import type { Address } from './addresses.ts';
import { addressBytes, addressOf, LOOKUP_TABLE_PROGRAM, programAddress } from './addresses.ts';
import type { DecodedMessage } from './transaction-bytes.ts';
import type { Vm } from './vm.ts';

const HEADER_BYTES = 56;
const MAX_ADDRESSES = 256;
const TABLE_STATE = 1;
const NEVER_DEACTIVATED = 2n ** 64n - 1n;

/** Returns the bytes of a lookup table that is frozen and usable at once. */
function encodeLookupTable(addresses: readonly Address[]): Uint8Array {
  const data = Buffer.alloc(HEADER_BYTES + 32 * addresses.length);
  data.writeUInt32LE(TABLE_STATE, 0);
  data.writeBigUInt64LE(NEVER_DEACTIVATED, 4);
  addresses.forEach((address, index) => data.set(addressBytes(address), HEADER_BYTES + 32 * index));
  return data;
}

/** Writes a lookup table into the VM and returns its address, which is the same for the same `number`. */
export function createLookupTable(vm: Vm, options: { addresses: readonly Address[]; number: number }): Address {
  assert(
    options.addresses.length <= MAX_ADDRESSES,
    `a lookup table holds at most ${MAX_ADDRESSES} addresses, got ${options.addresses.length}`,
  );
  const { address } =
    programAddress([Buffer.from('gannet-table'), Buffer.from(String(options.number))], LOOKUP_TABLE_PROGRAM);
  const data = encodeLookupTable(options.addresses);
  vm.setAccount(address, {
    lamports: vm.rentExemption(data.length), owner: LOOKUP_TABLE_PROGRAM, executable: false, data,
  });
  return address;
}

/**
 * Returns the keys a message takes from lookup tables, or undefined where a table or an index does not exist
 * (the VM then says which, as the transaction's error).
 */
export function loadedAddresses(
  vm: Vm, { message }: DecodedMessage,
): { writable: Address[]; readonly: Address[] } | undefined {
  const loaded: { writable: Address[]; readonly: Address[] } = { writable: [], readonly: [] };
  for (const { accountKey, writableIndexes, readonlyIndexes } of message.addressTableLookups) {
    const account = vm.account(addressOf(accountKey.toBytes()));
    if (account?.owner !== LOOKUP_TABLE_PROGRAM) return undefined;
    const { data } = account;
    for (const [indexes, target] of [[writableIndexes, loaded.writable], [readonlyIndexes, loaded.readonly]] as const) {
      for (const index of indexes) {
        const start = HEADER_BYTES + 32 * index;
        if (start + 32 > data.length) return undefined;
        target.push(addressOf(data.subarray(start, start + 32)));
      }
    }
  }
  return loaded;
}
