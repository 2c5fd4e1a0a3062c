import { zstdCompressSync } from 'node:zlib';
import bs58 from 'bs58';
import type { Address } from '../chain/addresses.ts';
import type { Account, Commitment, SandboxChain } from '../chain/chain.ts';
import { parseAccount } from './parsed-accounts.ts';
import type { Config } from './rpc-params.ts';
import { RPC_CODE, RpcError, choiceOf, integerOf, objectOf } from './rpc-params.ts';
import { mintDisplays } from './token-amounts.ts';

const ENCODINGS = ['binary', 'base58', 'base64', 'base64+zstd', 'jsonParsed'] as const;
type AccountEncoding = (typeof ENCODINGS)[number];

const MAX_BASE58_BYTES = 128;
const RENT_EXEMPT_EPOCH = 2n ** 64n - 1n;

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

/**
 * Returns the writer of accounts in the RPC's JSON form, with their mints as one view of the chain has them. It throws
 * RpcError where base58 is asked for more than it may carry.
 */
export function accountEncoder(
  chain: SandboxChain, commitment: Commitment, options: EncodingOptions,
): (address: Address, account: Account) => object {
  const displayOf = mintDisplays(chain, commitment);
  return (address, account) => {
    const { lamports, owner, executable, data } = account;
    const parsed = options.encoding === 'jsonParsed' ? parseAccount(address, account, displayOf) : undefined;
    return {
      lamports, owner, data: parsed ?? encodeData(data, options), executable, rentEpoch: RENT_EXEMPT_EPOCH,
      space: data.length,
    };
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
