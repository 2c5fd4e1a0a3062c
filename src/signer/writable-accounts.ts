import type { Addresses } from './policy/addresses.ts';
import type { LookupTables } from './policy/resolve.ts';
import { readTransaction } from './transaction-reader.ts';

/** Returns the places of each lookup table that a transaction uses, the highest one of each. Throws CHAIN_TRANSACTION_INVALID where it cannot be read. */
export function usedPlaces(bytes: Uint8Array, { addressOf }: Pick<Addresses, 'addressOf'>): ReadonlyMap<string, number> {
  const highest = new Map<string, number>();
  for (const { table, writableIndexes, readonlyIndexes } of readTransaction(bytes).lookups) {
    const address = addressOf(table);
    highest.set(address, Math.max(highest.get(address) ?? 0, ...writableIndexes, ...readonlyIndexes));
  }
  return highest;
}

/**
 * Returns every account that a transaction can change: whatever programs it reaches, no other one becomes less. Throws
 * CHAIN_TRANSACTION_INVALID where it cannot be read.
 */
export function writableAccounts(bytes: Uint8Array, { tables, addresses }: { readonly tables: LookupTables; readonly addresses: Pick<Addresses, 'addressOf'> }): readonly string[] {
  const { accountKeys, header: { requiredSignatures, readonlySigned, readonlyUnsigned }, lookups } = readTransaction(bytes);
  const written = accountKeys.filter((_, index) => (index < requiredSignatures
    ? index < requiredSignatures - readonlySigned
    : index < accountKeys.length - readonlyUnsigned));
  const loaded = lookups.flatMap(({ table, writableIndexes }) => {
    const held = tables.get(addresses.addressOf(table)) ?? [];
    return Array.from(writableIndexes, (place) => held[place]).filter((account) => account !== undefined);
  });
  return [...written.map(addresses.addressOf), ...loaded];
}
