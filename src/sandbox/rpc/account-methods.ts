import bs58 from 'bs58';
import type { Address } from '../chain/addresses.ts';
import type { Account, Commitment, SandboxChain } from '../chain/chain.ts';
import { decodeMint } from '../chain/token-layout.ts';
import { encodeAccount, encodingOf } from './account-encoding.ts';
import type { EncodingOptions } from './account-encoding.ts';
import {
  addressOfText, addressParam, configParam, flagOf, integerOf, listParam, objectOf, shown, viewOf, withContext,
} from './params.ts';
import type { Config, RpcMethods } from './params.ts';
import { invalidParams } from './rpc-error.ts';

const MAX_ACCOUNTS_AT_ONCE = 100;
const MAX_FILTERS = 4;
const MAX_COMPARED_BYTES = 128;

/** Returns the methods that read accounts of any program. */
export function accountMethods(chain: SandboxChain): RpcMethods {
  return {
    getBalance: (params) => {
      const address = addressParam(params, 0);
      const commitment = viewOf(chain, configParam(params, 1));
      return withContext(chain, commitment, chain.account(address, commitment)?.lamports ?? 0n);
    },

    getAccountInfo: (params) => {
      const address = addressParam(params, 0);
      const config = configParam(params, 1);
      const commitment = viewOf(chain, config);
      return withContext(chain, commitment, readEncoded(chain, { address, commitment, encoding: encodingOf(config) }));
    },

    getMultipleAccounts: (params) => {
      const addresses = listParam(params, 0, MAX_ACCOUNTS_AT_ONCE)
        .map((key, index) => addressOfText(key, `parameter 0[${index}]`));
      const config = configParam(params, 1);
      const commitment = viewOf(chain, config);
      const encoding = encodingOf(config, 'base64');
      return withContext(chain, commitment, addresses.map((address) =>
        readEncoded(chain, { address, commitment, encoding })));
    },

    getProgramAccounts: (params) => {
      const program = addressParam(params, 0);
      const config = configParam(params, 1);
      const commitment = viewOf(chain, config);
      const filters = accountFilters(config);
      const encoding = encodingOf(config);
      const decimalsOf = mintDecimals(chain, commitment);
      const found = sortedByAddress(chain.programAccounts(program, commitment))
        .filter(([, account]) => filters.every((matches) => matches(account.data)))
        .map(([pubkey, account]) => ({ pubkey, account: encodeAccount(account, encoding, decimalsOf) }));
      return flagOf(config, 'withContext') ? withContext(chain, commitment, found) : found;
    },
  };
}

/** Returns the account at an address in the RPC's form, or null where there is none. */
export function readEncoded(
  chain: SandboxChain, options: { address: Address; commitment: Commitment; encoding: EncodingOptions },
): object | null {
  const account = chain.account(options.address, options.commitment);
  return account ? encodeAccount(account, options.encoding, mintDecimals(chain, options.commitment)) : null;
}

/** Returns the look-up of a mint's decimals in one view of the chain; 0 for a mint that is gone. */
export function mintDecimals(chain: SandboxChain, commitment: Commitment): (mint: Address) => number {
  return (mint) => {
    const account = chain.account(mint, commitment);
    return (account && decodeMint(account.data)?.decimals) ?? 0;
  };
}

/** Returns accounts in an order that does not depend on how the VM happens to store them. */
export function sortedByAddress(accounts: ReadonlyMap<Address, Account>): [Address, Account][] {
  return [...accounts].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

type AccountFilter = (data: Uint8Array) => boolean;

/** Returns the tests that a configuration wants of an account’s data. Throws RpcError. */
export function accountFilters(config: Config): AccountFilter[] {
  const filters = config['filters'];
  if (filters === undefined || filters === null) return [];
  if (!Array.isArray(filters) || filters.length > MAX_FILTERS)
    throw invalidParams(`filters: expected at most ${MAX_FILTERS} filters`);
  return filters.map((filter, index) => accountFilter(objectOf(filter, `filters[${index}]`), `filters[${index}]`));
}

function accountFilter(filter: Config, where: string): AccountFilter {
  const range = { min: 0, max: Number.MAX_SAFE_INTEGER };
  const size = integerOf(filter['dataSize'], `${where}.dataSize`, range);
  if (size !== undefined) return (data) => data.length === size;
  if (filter['memcmp'] === undefined) throw invalidParams(`${where}: expected dataSize or memcmp`);
  const comparison = objectOf(filter['memcmp'], `${where}.memcmp`);
  const offset = integerOf(comparison['offset'], `${where}.memcmp.offset`, range) ?? 0;
  const expected = comparedBytes(comparison, where);
  return (data) => Buffer.from(data.buffer, data.byteOffset, data.byteLength).subarray(offset, offset + expected.length)
    .equals(expected);
}

function comparedBytes(comparison: Config, where: string): Uint8Array {
  const { bytes, encoding = 'base58' } = comparison;
  // Base58 takes time quadratic in its length, so the length comes first.
  if (typeof bytes !== 'string' || bytes.length > 2 * MAX_COMPARED_BYTES) throw invalidParams(
    `${where}.memcmp.bytes: expected text of at most ${MAX_COMPARED_BYTES} bytes, got ${shown(bytes)}`,
  );
  const decoded = encoding === 'base64' ? Buffer.from(bytes, 'base64')
    : encoding === 'base58' ? bs58.decodeUnsafe(bytes) : undefined;
  if (!decoded || decoded.length > MAX_COMPARED_BYTES)
    throw invalidParams(`${where}.memcmp: expected at most ${MAX_COMPARED_BYTES} bytes in base58 or base64`);
  return decoded;
}
