import bs58 from 'bs58';
import { assert } from '../../core/assert.ts';
import type { Address } from '../chain/addresses.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../chain/addresses.ts';
import type { Account, Commitment, SandboxChain } from '../chain/chain.ts';
import { decodeMint, decodeTokenAccount, isTokenProgram } from '../chain/token-layout.ts';
import type { EncodingOptions } from './account-encoding.ts';
import { accountEncoder, encodingOf } from './account-encoding.ts';
import type { Config, Params, RpcMethods } from './rpc-params.ts';
import {
  RPC_CODE, RpcError, addressOfText, addressParam, configParam, flagOf, integerOf, invalidParams, listParam,
  objectOf, shown, viewOf, withContext,
} from './rpc-params.ts';
import type { TokenDisplay } from './token-amounts.ts';
import { displayedAmount, displayOf, mintDisplays } from './token-amounts.ts';

const LARGEST_ACCOUNTS = 20;
const MAX_ACCOUNTS_AT_ONCE = 100;
const MAX_FILTERS = 4;
const MAX_COMPARED_BYTES = 128;

type TokenAccount = NonNullable<ReturnType<typeof decodeTokenAccount>>;

/** Returns the methods that understand the two token programs. */
export function tokenMethods(chain: SandboxChain): RpcMethods {
  return {
    getTokenAccountsByOwner: (params) => tokenAccounts(chain, params, ({ owner }) => owner),

    getTokenAccountsByDelegate: (params) => tokenAccounts(chain, params, ({ delegate }) => delegate),

    getTokenAccountBalance: (params) => {
      const { commitment, value: token } = tokenProgramAccount(chain, params, decodeTokenAccount, 'account');
      const display = mintDisplays(chain, commitment)(token.mint);
      if (display === undefined) throw invalidParam('could not find mint');
      return withContext(chain, commitment, displayedAmount(token.amount, display));
    },

    getTokenLargestAccounts: (params) => {
      const { address, account, commitment } = tokenProgramAccount(chain, params, decodeMint, 'mint');
      const holdings = sortedByAddress(chain.programAccounts(account.owner, commitment))
        .flatMap(([holder, { data }]) => {
          const token = decodeTokenAccount(data);
          return token?.mint === address ? [{ holder, amount: token.amount }] : [];
        });
      const largest = holdings.sort((a, b) => (a.amount > b.amount ? -1 : a.amount < b.amount ? 1 : 0))
        .slice(0, LARGEST_ACCOUNTS);
      return withContext(chain, commitment, largest.map(({ holder, amount }) =>
        ({ address: holder, ...displayedAmount(amount, displayIn(chain, commitment, account)) })));
    },

    getTokenSupply: (params) => {
      const { account, commitment, value: mint } = tokenProgramAccount(chain, params, decodeMint, 'mint');
      return withContext(chain, commitment, displayedAmount(mint.supply, displayIn(chain, commitment, account)));
    },
  };
}

/** Returns the token accounts of one mint or one program of which a key is the one at the first parameter. */
function tokenAccounts(
  chain: SandboxChain, params: Params, keyOf: (token: TokenAccount) => Address | null,
): object {
  const wanted = addressParam(params, 0);
  const config = configParam(params, 2);
  const commitment = viewOf(chain, config);
  const { programs, mint } = tokenFilter(chain, commitment, configParam(params, 1));
  const encode = accountEncoder(chain, commitment, encodingOf(config));
  const found = programs
    .flatMap((program) => sortedByAddress(chain.programAccounts(program, commitment)))
    .filter(([, account]) => {
      const token = decodeTokenAccount(account.data);
      return token !== undefined && keyOf(token) === wanted && (mint === undefined || token.mint === mint);
    })
    .map(([pubkey, account]) => ({ pubkey, account: encode(pubkey, account) }));
  return withContext(chain, commitment, found);
}

function displayIn(chain: SandboxChain, commitment: Commitment, mint: Account): TokenDisplay {
  const display = displayOf(mint.data, chain.blockAt(commitment).unixSeconds);
  assert(display !== undefined, 'the account was read as a mint before');
  return display;
}

/** Returns the token or mint account at the first parameter. Throws RpcError where it is another account. */
function tokenProgramAccount<T>(
  chain: SandboxChain, params: Params,
  decode: (data: Uint8Array) => T | undefined, kind: 'account' | 'mint',
): { address: Address; account: Account; commitment: Commitment; value: T } {
  const address = addressParam(params, 0);
  const commitment = viewOf(chain, configParam(params, 1));
  const account = chain.account(address, commitment);
  if (!account) throw invalidParam('could not find account');
  const value = isTokenProgram(account.owner) ? decode(account.data) : undefined;
  if (value === undefined) throw invalidParam(`not a Token ${kind}`);
  return { address, account, commitment, value };
}

function tokenFilter(
  chain: SandboxChain, commitment: Commitment, filter: Config,
): { programs: readonly Address[]; mint: Address | undefined } {
  if (filter['mint'] !== undefined) {
    const mint = addressOfText(filter['mint'], 'mint');
    const owner = chain.account(mint, commitment)?.owner;
    if (owner === undefined || !isTokenProgram(owner)) throw invalidParam('could not find mint');
    return { programs: [owner], mint };
  }
  if (filter['programId'] === undefined) throw invalidParams('parameter 1: expected {mint} or {programId}');
  const program = addressOfText(filter['programId'], 'programId');
  if (program !== TOKEN_PROGRAM && program !== TOKEN_2022_PROGRAM) throw invalidParam('unrecognized Token program id');
  return { programs: [program], mint: undefined };
}

/** Clients match on these sentences, so they are the nodes' own. */
function invalidParam(reason: string): RpcError {
  return new RpcError(RPC_CODE.invalidParams, `Invalid param: ${reason}`);
}

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
      const encode = accountEncoder(chain, commitment, encodingOf(config));
      const found = sortedByAddress(chain.programAccounts(program, commitment))
        .filter(([, account]) => filters.every((matches) => matches(account.data)))
        .map(([pubkey, account]) => ({ pubkey, account: encode(pubkey, account) }));
      return flagOf(config, 'withContext') ? withContext(chain, commitment, found) : found;
    },
  };
}

/** Returns the account at an address in the RPC's form, or null where there is none. */
export function readEncoded(
  chain: SandboxChain, options: { address: Address; commitment: Commitment; encoding: EncodingOptions },
): object | null {
  const { address, commitment, encoding } = options;
  const account = chain.account(address, commitment);
  return account ? accountEncoder(chain, commitment, encoding)(address, account) : null;
}

/** Returns accounts in an order that does not depend on how the VM happens to store them. */
function sortedByAddress(accounts: ReadonlyMap<Address, Account>): [Address, Account][] {
  return [...accounts].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

type AccountFilter = (data: Uint8Array) => boolean;

/** Returns the filters of a configuration on an account’s data. Throws RpcError. */
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
