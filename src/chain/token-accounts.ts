import bs58 from 'bs58';
import type { Amount } from '../core/amount.ts';
import { GannetError } from '../core/errors.ts';
import type { Mint } from '../market/token.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './addresses.ts';

const MINT_BYTES = 82;
const MINT_DECIMALS_OFFSET = 44;
const MINT_INITIALIZED_OFFSET = 45;
const ACCOUNT_BYTES = 165;
const ACCOUNT_AMOUNT_OFFSET = 64;
/** In accounts with extensions the byte after the base layout says what they are. */
const EXTENDED_TYPE_MINT = 1;
const EXTENDED_TYPE_ACCOUNT = 2;

/** What to ask a node for: enough to tell mints, token accounts and everything else apart, however large the account is. */
export const TOKEN_DATA_SLICE = { offset: 0, length: ACCOUNT_BYTES + 1 };

/** What a node gives of an account. */
export interface AccountData {
  /** The program it belongs to. */
  readonly owner: string;
  readonly data: Buffer;
}

/** Returns the decimals in a mint account of either token program. Throws MINT_INVALID on any other account. */
export function readMintDecimals(mint: Mint, { owner, data }: AccountData): number {
  const isMint = hasLayout({ owner, data, baseBytes: MINT_BYTES, extendedType: EXTENDED_TYPE_MINT });
  if (!isMint || data[MINT_INITIALIZED_OFFSET] !== 1) {
    const message = `${mint} is an account of ${owner}, but no mint of a token program`;
    throw new GannetError('MINT_INVALID', message, { details: { mint, owner } });
  }
  return data.readUInt8(MINT_DECIMALS_OFFSET);
}

/** Returns mint and amount of a token account of either token program. Throws CHAIN_RESPONSE_INVALID on any other account. */
export function readTokenAccount(address: string, { owner, data }: AccountData): { readonly mint: Mint; readonly amount: Amount } {
  if (!hasLayout({ owner, data, baseBytes: ACCOUNT_BYTES, extendedType: EXTENDED_TYPE_ACCOUNT })) {
    throw new GannetError('CHAIN_RESPONSE_INVALID', `expected ${address} to be a token account, got ${data.length} bytes of ${owner}`);
  }
  return { mint: bs58.encode(data.subarray(0, 32)) as Mint, amount: data.readBigUInt64LE(ACCOUNT_AMOUNT_OFFSET) as Amount };
}

function hasLayout(options: AccountData & { readonly baseBytes: number; readonly extendedType: number }): boolean {
  const { owner, data, baseBytes, extendedType } = options;
  if (owner === TOKEN_PROGRAM) return data.length === baseBytes;
  if (owner !== TOKEN_2022_PROGRAM) return false;
  return data.length === baseBytes || (data.length > ACCOUNT_BYTES && data[ACCOUNT_BYTES] === extendedType);
}
