import { addressOf } from '../chain/addresses.ts';
import { TOKEN_ACCOUNT_BYTES } from '../chain/token-layout.ts';
import { exactNumber } from '../json-text.ts';

type Value = string | number | bigint | boolean | null | readonly (readonly [string, string])[] | Fields;
interface Fields {
  readonly [name: string]: Value;
}

/** An extension of a Token-2022 mint or account as nodes name it; without a state where the presence says it all. */
interface TokenExtension {
  readonly extension: string;
  readonly state?: Fields;
}

/** The state of `interestBearingConfig`; rates are basis points a year. */
export interface InterestBearing {
  readonly initializationTimestamp: number | bigint;
  readonly lastUpdateTimestamp: number | bigint;
  readonly preUpdateAverageRate: number;
  readonly currentRate: number;
}

/** The state of `scaledUiAmountConfig`. */
export interface ScaledAmounts {
  readonly multiplier: string;
  readonly newMultiplier: string;
  readonly newMultiplierEffectiveTimestamp: number | bigint;
}

/** A member of a state: how many bytes it takes, and how it is read. */
interface Member {
  readonly bytes: number;
  readonly read: (at: Buffer) => Value;
}

type Layout = Readonly<Record<string, Member>>;

const KEY_BYTES = 32;
const ELGAMAL_CIPHERTEXT_BYTES = 64;
const AES_CIPHERTEXT_BYTES = 36;
/** The entries begin behind the part that both token programs share, and a byte that tells mints from accounts. */
const FIRST_ENTRY = TOKEN_ACCOUNT_BYTES + 1;
const ENTRY_HEADER_BYTES = 4;
const UNINITIALIZED = 0;
const EXPONENT_FORM = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/;
const ACCOUNT_STATES: readonly string[] = ['uninitialized', 'initialized', 'frozen'];

const key: Member = { bytes: KEY_BYTES, read: (at) => addressOf(at.subarray(0, KEY_BYTES)) };
/** A key of zeros means none. */
const optionalKey: Member = { bytes: KEY_BYTES, read: (at) => (isZero(at, KEY_BYTES) ? null : key.read(at)) };
const u16: Member = { bytes: 2, read: (at) => at.readUInt16LE(0) };
const i16: Member = { bytes: 2, read: (at) => at.readInt16LE(0) };
const u64: Member = { bytes: 8, read: (at) => exactNumber(at.readBigUInt64LE(0)) };
const i64: Member = { bytes: 8, read: (at) => exactNumber(at.readBigInt64LE(0)) };
/** Doubles are texts, as nodes write them. */
const f64: Member = { bytes: 8, read: (at) => plainText(at.readDoubleLE(0)) };
const flag: Member = { bytes: 1, read: (at) => at[0] !== 0 };
const accountState: Member = { bytes: 1, read: (at) => ACCOUNT_STATES[at[0]!] ?? ACCOUNT_STATES[0]! };
/** Keys and ciphertexts of confidential transfers are base64. */
const encrypted = (bytes: number): Member => ({ bytes, read: (at) => at.toString('base64', 0, bytes) });
const optionalElGamalKey: Member =
  { bytes: KEY_BYTES, read: (at) => (isZero(at, KEY_BYTES) ? null : at.toString('base64', 0, KEY_BYTES)) };
const nested = (layout: Layout): Member => ({ bytes: sizeOf(layout), read: (at) => readState(layout, at) });
const ciphertext = encrypted(ELGAMAL_CIPHERTEXT_BYTES);
const transferFee = nested({ epoch: u64, maximumFee: u64, transferFeeBasisPoints: u16 });

/** The name and the layout of each extension by its number; without a layout where it has no state. */
const EXTENSIONS: Readonly<Record<number, readonly [name: string, layout?: Layout]>> = {
  1: ['transferFeeConfig', {
    transferFeeConfigAuthority: optionalKey, withdrawWithheldAuthority: optionalKey, withheldAmount: u64,
    olderTransferFee: transferFee, newerTransferFee: transferFee,
  }],
  2: ['transferFeeAmount', { withheldAmount: u64 }],
  3: ['mintCloseAuthority', { closeAuthority: optionalKey }],
  4: ['confidentialTransferMint', {
    authority: optionalKey, autoApproveNewAccounts: flag, auditorElgamalPubkey: optionalElGamalKey,
  }],
  5: ['confidentialTransferAccount', {
    approved: flag, elgamalPubkey: encrypted(KEY_BYTES), pendingBalanceLo: ciphertext, pendingBalanceHi: ciphertext,
    availableBalance: ciphertext, decryptableAvailableBalance: encrypted(AES_CIPHERTEXT_BYTES),
    allowConfidentialCredits: flag, allowNonConfidentialCredits: flag, pendingBalanceCreditCounter: u64,
    maximumPendingBalanceCreditCounter: u64, expectedPendingBalanceCreditCounter: u64,
    actualPendingBalanceCreditCounter: u64,
  }],
  6: ['defaultAccountState', { accountState }],
  7: ['immutableOwner'],
  8: ['memoTransfer', { requireIncomingTransferMemos: flag }],
  9: ['nonTransferable'],
  10: ['interestBearingConfig', {
    rateAuthority: optionalKey, initializationTimestamp: i64, preUpdateAverageRate: i16, lastUpdateTimestamp: i64,
    currentRate: i16,
  }],
  11: ['cpiGuard', { lockCpi: flag }],
  12: ['permanentDelegate', { delegate: optionalKey }],
  13: ['nonTransferableAccount'],
  14: ['transferHook', { authority: optionalKey, programId: optionalKey }],
  15: ['transferHookAccount', { transferring: flag }],
  16: ['confidentialTransferFeeConfig', {
    authority: optionalKey, withdrawWithheldAuthorityElgamalPubkey: optionalElGamalKey, harvestToMintEnabled: flag,
    withheldAmount: ciphertext,
  }],
  17: ['confidentialTransferFeeAmount', { withheldAmount: ciphertext }],
  18: ['metadataPointer', { authority: optionalKey, metadataAddress: optionalKey }],
  20: ['groupPointer', { authority: optionalKey, groupAddress: optionalKey }],
  21: ['tokenGroup', { updateAuthority: optionalKey, mint: key, size: u64, maxSize: u64 }],
  22: ['groupMemberPointer', { authority: optionalKey, memberAddress: optionalKey }],
  23: ['tokenGroupMember', { mint: key, group: key, memberNumber: u64 }],
  24: ['confidentialMintBurn', {
    confidentialSupply: ciphertext, decryptableSupply: encrypted(AES_CIPHERTEXT_BYTES),
    supplyElgamalPubkey: encrypted(KEY_BYTES), pendingBurn: ciphertext,
  }],
  25: ['scaledUiAmountConfig', {
    authority: optionalKey, multiplier: f64, newMultiplierEffectiveTimestamp: i64, newMultiplier: f64,
  }],
  26: ['pausableConfig', { authority: optionalKey, paused: flag }],
  27: ['pausableAccount'],
  28: ['permissionedBurnConfig', { authority: optionalKey }],
};
const TOKEN_METADATA = 19;

/**
 * Returns the extensions of a mint or token account, in the order of its entries (u16 type, u16 length, value).
 * One that cannot be read is `unparseableExtension`. Data of the first token program has none.
 */
export function tokenExtensions(data: Uint8Array): TokenExtension[] {
  const view = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const found: TokenExtension[] = [];
  for (let at = FIRST_ENTRY; at + ENTRY_HEADER_BYTES <= view.length;) {
    const type = view.readUInt16LE(at);
    if (type === UNINITIALIZED) break;
    const start = at + ENTRY_HEADER_BYTES;
    at = start + view.readUInt16LE(at + 2);
    found.push(readExtension(type, view.subarray(start, at), at > view.length));
  }
  return found;
}

function readExtension(type: number, value: Buffer, isCut: boolean): TokenExtension {
  const unreadable = { extension: 'unparseableExtension' };
  if (isCut) return unreadable;
  if (type === TOKEN_METADATA) {
    const state = readMetadata(value);
    return state === undefined ? unreadable : { extension: 'tokenMetadata', state };
  }
  const [extension, layout] = EXTENSIONS[type] ?? [];
  if (extension === undefined) return unreadable;
  if (layout === undefined) return { extension };
  return value.length === sizeOf(layout) ? { extension, state: readState(layout, value) } : unreadable;
}

function sizeOf(layout: Layout): number {
  return Object.values(layout).reduce((sum, { bytes }) => sum + bytes, 0);
}

function readState(layout: Layout, value: Buffer): Fields {
  let at = 0;
  return Object.fromEntries(Object.entries(layout).map(([name, { bytes, read }]) => {
    at += bytes;
    return [name, read(value.subarray(at - bytes))];
  }));
}

/** Two keys, then texts with their lengths; undefined where the value ends too early. */
function readMetadata(value: Buffer): Fields | undefined {
  let at = 2 * KEY_BYTES;
  const text = (): string => {
    const start = at + ENTRY_HEADER_BYTES;
    at = start + value.readUInt32LE(at);
    if (at > value.length) throw new RangeError('the text ends too early');
    return value.toString('utf8', start, at);
  };
  try {
    const [name, symbol, uri] = [text(), text(), text()];
    const count = value.readUInt32LE(at);
    at += ENTRY_HEADER_BYTES;
    const additionalMetadata: [string, string][] = [];
    // Each pair takes bytes, so that a large count ends with the value.
    for (let pair = 0; pair < count; pair++) additionalMetadata.push([text(), text()]);
    return {
      updateAuthority: optionalKey.read(value), mint: key.read(value.subarray(KEY_BYTES)), name, symbol, uri,
      additionalMetadata,
    };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function isZero(value: Buffer, bytes: number): boolean {
  return value.subarray(0, bytes).every((byte) => byte === 0);
}

/** Returns the shortest text of a double, as the nodes' language writes it: never with an exponent. */
function plainText(value: number): string {
  const [, sign = '', first = '', rest = '', exponent = ''] = EXPONENT_FORM.exec(String(value)) ?? [];
  if (exponent === '') return Number.isFinite(value) ? String(value) : Number.isNaN(value) ? 'NaN' : infinity(value);
  const power = Number(exponent);
  return power < 0 ? `${sign}0.${'0'.repeat(-power - 1)}${first}${rest}`
    : `${sign}${first}${rest}${'0'.repeat(power - rest.length)}`;
}

function infinity(value: number): string {
  return value > 0 ? 'inf' : '-inf';
}
