import { isGannetError } from '../core/errors.ts';
import type { ChainReader } from './chain/chain-reader.ts';
import type { Expectation } from './policy/expectation.ts';
import type { Policy } from './policy/policy.ts';
import { checkTransaction, type CheckedTransaction, type LookupTables } from './policy/lookup-tables.ts';
import type { Verdict } from './policy/verdict.ts';
import { verdictOf } from './policy/verdict.ts';
import type { Addresses } from '../solana/addresses.ts';
import type { ReadTransaction } from '../solana/transaction.ts';

const NO_TABLES: LookupTables = new Map();

/**
 * Returns the policy's verdict on a transaction, with the lookup tables that it uses, and with a simulation where only
 * that is missing. Of several receivers (undefined: the wallet itself) the first that fits counts, else the verdict for
 * the first one. Without a chain nothing that needs one is allowed. Throws what the chain's reader throws.
 */
export async function judgeWithChain(given: Uint8Array | CheckedTransaction, expectation: Expectation,
  { policy, chain, receivers = [expectation.receiver] }: {
    readonly policy: Policy; readonly chain: ChainReader | undefined;
    readonly receivers?: readonly (string | undefined)[] | undefined;
  }): Promise<Verdict> {
  const checked = given instanceof Uint8Array ? checkTransaction(given) : given;
  if ('finding' in checked) return verdictOf([checked.finding], undefined);
  const tables = await tablesOf(checked, { policy, chain });
  let first: Verdict | undefined;
  for (const receiver of receivers) {
    const expected = { ...expectation, receiver };
    let verdict = policy.judge(checked, expected, { tables });
    if (chain !== undefined && wantsSimulation(verdict)) {
      const writable = writableAccounts(checked.read, { tables, addresses: policy.addresses });
      verdict = await chain.simulate(checked.bytes, { wallet: expected.wallet, receiver, writable })
        .then((simulation) => policy.judge(checked, expected, { tables, simulation }), (error: unknown) =>
          failed(error, verdict));
    }
    if (verdict.verdict === 'allow') return verdict;
    first ??= verdict;
  }
  return first!;
}

/**
 * Returns the lookup tables that a transaction uses, from the chain; none for unreadable bytes, which the policy
 * denies.
 */
export async function tablesOf(given: Uint8Array | CheckedTransaction, { policy, chain }: {
  readonly policy: Pick<Policy, 'addresses'>; readonly chain: ChainReader | undefined;
}): Promise<LookupTables> {
  const checked = given instanceof Uint8Array ? checkTransaction(given) : given;
  if ('finding' in checked) return NO_TABLES;
  const places = usedPlaces(checked.read, policy.addresses);
  return places.size === 0 || chain === undefined ? NO_TABLES : chain.lookupTables(places);
}

function failed(error: unknown, { summary }: Verdict): Verdict {
  if (!isGannetError(error) || error.code !== 'CHAIN_SIMULATION_FAILED') throw error;
  return verdictOf([{ code: 'SIMULATION_FAILED', instruction: undefined, message: error.message }], summary);
}

/** A simulation is made only for a transaction without other findings. */
function wantsSimulation({ findings }: Verdict): boolean {
  return findings.length > 0 && findings.every(({ code }) => code === 'SWAP_UNREADABLE');
}

/** The highest index of each lookup table that a transaction uses. */
function usedPlaces(
  { lookups }: ReadTransaction, { addressOf }: Pick<Addresses, 'addressOf'>,
): ReadonlyMap<string, number> {
  const highest = new Map<string, number>();
  for (const { table, writableIndexes, readonlyIndexes } of lookups) {
    const address = addressOf(table);
    highest.set(address, Math.max(highest.get(address) ?? 0, ...writableIndexes, ...readonlyIndexes));
  }
  return highest;
}

/** Every account that a transaction can change; no program can lower the balance of another one. */
function writableAccounts(
  { accountKeys, header: { requiredSignatures, readonlySigned, readonlyUnsigned }, lookups }: ReadTransaction,
  { tables, addresses }: { readonly tables: LookupTables; readonly addresses: Pick<Addresses, 'addressOf'> },
): readonly string[] {
  const written = accountKeys.filter((_, index) => (index < requiredSignatures
    ? index < requiredSignatures - readonlySigned
    : index < accountKeys.length - readonlyUnsigned));
  const loaded = lookups.flatMap(({ table, writableIndexes }) => {
    const held = tables.get(addresses.addressOf(table)) ?? [];
    return Array.from(writableIndexes, (place) => held[place]).filter((account) => account !== undefined);
  });
  return [...written.map(addresses.addressOf), ...loaded];
}
