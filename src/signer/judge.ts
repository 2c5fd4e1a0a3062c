import { isGannetError } from '../core/errors.ts';
import type { ChainReader } from './chain-reader.ts';
import type { Expectation } from './policy/expectation.ts';
import type { Policy } from './policy/policy.ts';
import type { LookupTables } from './policy/resolve.ts';
import { verdictOf, type Verdict } from './policy/verdict.ts';
import { usedPlaces, writableAccounts } from './writable-accounts.ts';

const NO_TABLES: LookupTables = new Map();

/**
 * Returns the policy's word on a transaction with what it needs of the chain: the tables it uses, and a simulation where
 * that alone is missing to allow it. Of several receivers (undefined: the wallet itself) the first one that fits counts,
 * else what is said of the first. Without a chain nothing that needs one is allowed. Throws what the chain's reader throws.
 */
export async function judgeWithChain(bytes: Uint8Array, expectation: Expectation, { policy, chain, receivers = [expectation.receiver] }: {
  readonly policy: Policy; readonly chain: ChainReader | undefined; readonly receivers?: readonly (string | undefined)[] | undefined;
}): Promise<Verdict> {
  const tables = await tablesOf(bytes, { policy, chain });
  let first: Verdict | undefined;
  for (const receiver of receivers) {
    const expected = { ...expectation, receiver };
    let verdict = policy.judge(bytes, expected, { tables });
    if (chain !== undefined && wantsSimulation(verdict)) {
      const writable = writableAccounts(bytes, { tables, addresses: policy.addresses });
      verdict = await chain.simulate(bytes, { wallet: expected.wallet, receiver, writable })
        .then((simulation) => policy.judge(bytes, expected, { tables, simulation }), (error: unknown) => failed(error, verdict));
    }
    if (verdict.verdict === 'allow') return verdict;
    first ??= verdict;
  }
  return first!;
}

/** Returns the lookup tables that a transaction uses, as the chain has them: none of bytes that cannot be read, which the policy denies for what they are. */
export async function tablesOf(bytes: Uint8Array, { policy, chain }: { readonly policy: Pick<Policy, 'addresses'>; readonly chain: ChainReader | undefined }): Promise<LookupTables> {
  let places: ReadonlyMap<string, number>;
  try {
    places = usedPlaces(bytes, policy.addresses);
  } catch (error) {
    if (!isGannetError(error)) throw error;
    return NO_TABLES;
  }
  return places.size === 0 || chain === undefined ? NO_TABLES : chain.lookupTables(places);
}

function failed(error: unknown, { summary }: Verdict): Verdict {
  if (!isGannetError(error) || error.code !== 'CHAIN_SIMULATION_FAILED') throw error;
  return verdictOf([{ code: 'SIMULATION_FAILED', instruction: undefined, message: error.message }], summary);
}

/** A simulation is asked for only where nothing else speaks against the transaction. */
function wantsSimulation({ findings }: Verdict): boolean {
  return findings.length > 0 && findings.every(({ code }) => code === 'SWAP_UNREADABLE');
}
