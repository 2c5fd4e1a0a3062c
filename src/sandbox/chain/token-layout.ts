import type { Address } from './addresses.ts';
import { addressBytes, addressOf, NATIVE_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './addresses.ts';

export const MINT_BYTES = 82;
export const TOKEN_ACCOUNT_BYTES = 165;
/** What a mint keeps of every transfer: a share, at most `maximum` smallest units. */
export interface TransferFee {
  readonly bps: number;
  readonly maximum: bigint;
}
/** A Token-2022 account made by the associated-token program carries the ImmutableOwner extension. */
const ACCOUNT_TYPE_OFFSET = 165;
const ACCOUNT_TYPE_MINT = 1;
const ACCOUNT_TYPE_ACCOUNT = 2;
const IMMUTABLE_OWNER_EXTENSION = 7;
const TRANSFER_FEE_CONFIG_EXTENSION = 1;
const TRANSFER_FEE_CONFIG_BYTES = 108;
const TRANSFER_FEE_AMOUNT_EXTENSION = 2;
const TRANSFER_FEE_AMOUNT_BYTES = 8;
const OPTION_SOME = 1;

interface MintState {
  mintAuthority: Address | null;
  supply: bigint;
  decimals: number;
  isInitialized: boolean;
  freezeAuthority: Address | null;
}

interface TokenAccountState {
  mint: Address;
  owner: Address;
  amount: bigint;
  delegate: Address | null;
  delegatedAmount: bigint;
  state: 'initialized' | 'frozen';
  /** For wrapped SOL the rent it must keep, in lamports; null for every other mint. */
  rentExemptReserve: bigint | null;
  closeAuthority: Address | null;
}

/** Returns whether a program is one of the two token programs. */
export function isTokenProgram(program: Address): boolean {
  return program === TOKEN_PROGRAM || program === TOKEN_2022_PROGRAM;
}

/** Returns the 82 bytes of a mint. */
export function encodeMint(mint: MintState): Uint8Array {
  const data = Buffer.alloc(MINT_BYTES);
  writeOptionalAddress(data, 0, mint.mintAuthority);
  data.writeBigUInt64LE(mint.supply, 36);
  data.writeUInt8(mint.decimals, 44);
  data.writeUInt8(mint.isInitialized ? 1 : 0, 45);
  writeOptionalAddress(data, 46, mint.freezeAuthority);
  return data;
}

/** Returns the bytes of a mint that withholds part of every transfer. It names no authority over either. */
export function encodeWithholdingMint(mint: MintState, { bps, maximum }: TransferFee): Uint8Array {
  const data = Buffer.alloc(ACCOUNT_TYPE_OFFSET + 5 + TRANSFER_FEE_CONFIG_BYTES);
  data.set(encodeMint(mint));
  data.writeUInt8(ACCOUNT_TYPE_MINT, ACCOUNT_TYPE_OFFSET);
  data.writeUInt16LE(TRANSFER_FEE_CONFIG_EXTENSION, ACCOUNT_TYPE_OFFSET + 1);
  data.writeUInt16LE(TRANSFER_FEE_CONFIG_BYTES, ACCOUNT_TYPE_OFFSET + 3);
  // After two authorities and what is withheld in the mint itself: the share until an epoch, and the one after it.
  for (const start of [0, 18].map((part) => ACCOUNT_TYPE_OFFSET + 5 + 72 + part)) {
    data.writeBigUInt64LE(maximum, start + 8);
    data.writeUInt16LE(bps, start + 16);
  }
  return data;
}

/** Returns the mint in an account of a token program, or undefined when it holds something else. */
export function decodeMint(data: Uint8Array): MintState | undefined {
  if (data.length !== MINT_BYTES && data[ACCOUNT_TYPE_OFFSET] !== ACCOUNT_TYPE_MINT) return undefined;
  const view = bufferOf(data);
  return {
    mintAuthority: readOptionalAddress(view, 0),
    supply: view.readBigUInt64LE(36),
    decimals: view.readUInt8(44),
    isInitialized: view.readUInt8(45) === 1,
    freezeAuthority: readOptionalAddress(view, 46),
  };
}

/** Returns the bytes of a fresh token account as the associated-token program lays them out. */
export function encodeTokenAccount(
  account: {
    mint: Address; owner: Address; amount: bigint; tokenProgram: Address; rentExemptReserve: bigint; withholds: boolean;
  },
): Uint8Array {
  const extended = account.tokenProgram === TOKEN_2022_PROGRAM;
  const withheldBytes = account.withholds ? 4 + TRANSFER_FEE_AMOUNT_BYTES : 0;
  const data = Buffer.alloc(extended ? TOKEN_ACCOUNT_BYTES + 5 + withheldBytes : TOKEN_ACCOUNT_BYTES);
  data.set(addressBytes(account.mint), 0);
  data.set(addressBytes(account.owner), 32);
  data.writeBigUInt64LE(account.amount, 64);
  data.writeUInt8(1, 108);
  if (account.mint === NATIVE_MINT) {
    data.writeUInt32LE(OPTION_SOME, 109);
    data.writeBigUInt64LE(account.rentExemptReserve, 113);
  }
  if (extended) {
    data.writeUInt8(ACCOUNT_TYPE_ACCOUNT, ACCOUNT_TYPE_OFFSET);
    data.writeUInt16LE(IMMUTABLE_OWNER_EXTENSION, ACCOUNT_TYPE_OFFSET + 1);
  }
  if (account.withholds) {
    data.writeUInt16LE(TRANSFER_FEE_AMOUNT_EXTENSION, ACCOUNT_TYPE_OFFSET + 5);
    data.writeUInt16LE(TRANSFER_FEE_AMOUNT_BYTES, ACCOUNT_TYPE_OFFSET + 7);
  }
  return data;
}

/** Returns whether an account of a token program holds tokens (rather than a mint, a multisig or nothing yet). */
function isTokenAccountData(data: Uint8Array): boolean {
  return (data.length === TOKEN_ACCOUNT_BYTES
    || (data.length > TOKEN_ACCOUNT_BYTES && data[ACCOUNT_TYPE_OFFSET] === ACCOUNT_TYPE_ACCOUNT))
    && data[108] !== 0;
}

/** Returns the token account in an account of a token program, or undefined when it holds something else. */
export function decodeTokenAccount(data: Uint8Array): TokenAccountState | undefined {
  if (!isTokenAccountData(data)) return undefined;
  const view = bufferOf(data);
  return {
    mint: addressOf(data.subarray(0, 32)),
    owner: addressOf(data.subarray(32, 64)),
    amount: view.readBigUInt64LE(64),
    delegate: readOptionalAddress(view, 72),
    state: view.readUInt8(108) === 2 ? 'frozen' : 'initialized',
    rentExemptReserve: view.readUInt32LE(109) === OPTION_SOME ? view.readBigUInt64LE(113) : null,
    delegatedAmount: view.readBigUInt64LE(121),
    closeAuthority: readOptionalAddress(view, 129),
  };
}

/** Returns a copy of a token account's bytes with another amount. */
export function withTokenAmount(data: Uint8Array, amount: bigint): Uint8Array {
  const copy = Buffer.from(data);
  copy.writeBigUInt64LE(amount, 64);
  return copy;
}

function bufferOf(data: Uint8Array): Buffer {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

function writeOptionalAddress(data: Buffer, offset: number, address: Address | null): void {
  if (address === null) return;
  data.writeUInt32LE(OPTION_SOME, offset);
  data.set(addressBytes(address), offset + 4);
}

function readOptionalAddress(data: Buffer, offset: number): Address | null {
  return data.readUInt32LE(offset) === OPTION_SOME ? addressOf(data.subarray(offset + 4, offset + 36)) : null;
}
