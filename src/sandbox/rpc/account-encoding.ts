import { zstdCompressSync } from 'node:zlib';
import bs58 from 'bs58';
import { formatDecimal } from '../../core/amount.ts';
import type { Address } from '../chain/addresses.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../chain/addresses.ts';
import type { Account } from '../chain/chain.ts';
import { decodeMint, decodeTokenAccount, TOKEN_ACCOUNT_BYTES } from '../chain/token-layout.ts';
import type { Config } from './rpc-params.ts';
import { RPC_CODE, RpcError, choiceOf, integerOf, objectOf } from './rpc-params.ts';

const ENCODINGS = ['binary', 'base58', 'base64', 'base64+zstd', 'jsonParsed'] as const;
type AccountEncoding = (typeof ENCODINGS)[number];

const MAX_BASE58_BYTES = 128;
const RENT_EXEMPT_EPOCH = 2n ** 64n - 1n;
const NATIVE_DECIMALS = 9;
const IMMUTABLE_OWNER_EXTENSION = 7;

export interface EncodingOptions {
  encoding: AccountEncoding;
  slice: { offset: number; length: number } | undefined;
  /** Replaces data that is too long for base58; absent means an error. */
  instead?: string;
}

/** A notification's data where an account has grown beyond base58; clients know the sentence from real nodes. */
export const TOO_LARGE_FOR_BASE58 = 'error: data too large for bs58 encoding';

/** Returns how a configuration wants accounts written. Throws RpcError. */
export function encodingOf(config: Config, fallback: AccountEncoding = 'binary'): EncodingOptions {
  const encoding = choiceOf(config['encoding'], 'encoding', ENCODINGS) ?? fallback;
  if (config['dataSlice'] === undefined || config['dataSlice'] === null) return { encoding, slice: undefined };
  const slice = objectOf(config['dataSlice'], 'dataSlice');
  const range = { min: 0, max: Number.MAX_SAFE_INTEGER };
  const offset = integerOf(slice['offset'], 'dataSlice.offset', range) ?? 0;
  return { encoding, slice: { offset, length: integerOf(slice['length'], 'dataSlice.length', range) ?? 0 } };
}

/** Returns an account in the RPC's JSON form. Throws RpcError where base58 is asked for more than it may carry. */
export function encodeAccount(
  account: Account, options: EncodingOptions, decimalsOf: (mint: Address) => number,
): object {
  const { lamports, owner, executable, data } = account;
  const parsed = options.encoding === 'jsonParsed' ? parseTokenData(account, decimalsOf) : undefined;
  return {
    lamports, owner, data: parsed ?? encodeData(data, options), executable, rentEpoch: RENT_EXEMPT_EPOCH,
    space: data.length,
  };
}

function encodeData(data: Uint8Array, { encoding, slice, instead }: EncodingOptions): string | [string, string] {
  const shown = Buffer.from(slice ? data.subarray(slice.offset, slice.offset + slice.length) : data);
  switch (encoding) {
    case 'binary':
      return toBase58(shown, instead);
    case 'base58':
      return [toBase58(shown, instead), 'base58'];
    case 'base64+zstd':
      return [zstdCompressSync(shown).toString('base64'), 'base64+zstd'];
    case 'base64':
    case 'jsonParsed':
      // Data without a parser is given unparsed.
      return [shown.toString('base64'), 'base64'];
  }
}

function toBase58(data: Uint8Array, instead: string | undefined): string {
  if (data.length <= MAX_BASE58_BYTES) return bs58.encode(data);
  if (instead !== undefined) return instead;
  throw new RpcError(
    RPC_CODE.invalidRequest,
    `Encoded binary (base 58) data should be less than ${MAX_BASE58_BYTES} bytes, please use Base64 encoding.`,
  );
}

function parseTokenData(account: Account, decimalsOf: (mint: Address) => number): object | undefined {
  const { owner, data } = account;
  if (owner !== TOKEN_PROGRAM && owner !== TOKEN_2022_PROGRAM) return undefined;
  const program = owner === TOKEN_PROGRAM ? 'spl-token' : 'spl-token-2022';
  const extensions = data.length > TOKEN_ACCOUNT_BYTES ? { extensions: extensionNames(data) } : {};
  const token = decodeTokenAccount(data);
  if (token) {
    const decimals = decimalsOf(token.mint);
    const info = {
      mint: token.mint,
      owner: token.owner,
      state: token.state,
      isNative: token.rentExemptReserve !== null,
      tokenAmount: uiAmount(token.amount, decimals),
      ...(token.rentExemptReserve === null ? {}
        : { rentExemptReserve: uiAmount(token.rentExemptReserve, NATIVE_DECIMALS) }),
      ...(token.delegate === null ? {}
        : { delegate: token.delegate, delegatedAmount: uiAmount(token.delegatedAmount, decimals) }),
      ...(token.closeAuthority === null ? {} : { closeAuthority: token.closeAuthority }),
      ...extensions,
    };
    return { program, parsed: { type: 'account', info }, space: data.length };
  }
  const mint = decodeMint(data);
  if (!mint) return undefined;
  const { mintAuthority, decimals, isInitialized, freezeAuthority } = mint;
  const info =
    { mintAuthority, supply: mint.supply.toString(), decimals, isInitialized, freezeAuthority, ...extensions };
  return { program, parsed: { type: 'mint', info }, space: data.length };
}

/**
 * Extensions follow the account type as (u16 type, u16 length, value); only the one every such account has is named.
 */
function extensionNames(data: Uint8Array): { extension: string }[] {
  const view = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const names: { extension: string }[] = [];
  for (let at = TOKEN_ACCOUNT_BYTES + 1; at + 4 <= view.length; ) {
    const type = view.readUInt16LE(at);
    if (type === 0) break;
    names.push({ extension: type === IMMUTABLE_OWNER_EXTENSION ? 'immutableOwner' : 'unparseableExtension' });
    at += 4 + view.readUInt16LE(at + 2);
  }
  return names;
}

/** Returns a token amount as the RPC writes it: exact as a string, and as a double for display. */
export function uiAmount(
  amount: bigint, decimals: number,
): { amount: string; decimals: number; uiAmount: number; uiAmountString: string } {
  const uiAmountString = formatDecimal(amount, decimals);
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString };
}
