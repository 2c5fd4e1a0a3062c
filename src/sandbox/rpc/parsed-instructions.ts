import { ASSOCIATED_TOKEN_PROGRAM, LOOKUP_TABLE_PROGRAM, MEMO_PROGRAM, SYSTEM_PROGRAM } from '../chain/addresses.ts';
import { isTokenProgram } from '../chain/token-layout.ts';
import type { Layout, ParsedInstruction } from './instruction-layout.ts';
import { readInstruction } from './instruction-layout.ts';
import { tokenProgramName } from './parsed-token.ts';
import { TOKEN_LAYOUTS } from './token-instructions.ts';

export const MEMO_PROGRAMS: readonly string[] = [MEMO_PROGRAM, 'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo'];

const SYSTEM_LAYOUTS: readonly Layout[] = [
  { type: 'createAccount', accounts: ['source', 'newAccount'], fields: (f) =>
    ({ lamports: f.u64(), space: f.u64(), owner: f.key() }) },
  { type: 'assign', accounts: ['account'], fields: (f) => ({ owner: f.key() }) },
  { type: 'transfer', accounts: ['source', 'destination'], fields: (f) => ({ lamports: f.u64() }) },
  {
    type: 'createAccountWithSeed', accounts: ['source', 'newAccount'],
    fields: (f) => ({ base: f.key(), seed: f.text(), lamports: f.u64(), space: f.u64(), owner: f.key() }),
  },
  { type: 'advanceNonce', accounts: ['nonceAccount', 'recentBlockhashesSysvar', 'nonceAuthority'] },
  {
    type: 'withdrawFromNonce',
    accounts: ['nonceAccount', 'destination', 'recentBlockhashesSysvar', 'rentSysvar', 'nonceAuthority'],
    fields: (f) => ({ lamports: f.u64() }),
  },
  { type: 'initializeNonce', accounts: ['nonceAccount', 'recentBlockhashesSysvar', 'rentSysvar'], fields: (f) =>
    ({ nonceAuthority: f.key() }) },
  { type: 'authorizeNonce', accounts: ['nonceAccount', 'nonceAuthority'], fields: (f) => ({ newAuthorized: f.key() }) },
  { type: 'allocate', accounts: ['account'], fields: (f) => ({ space: f.u64() }) },
  { type: 'allocateWithSeed', accounts: ['account'], fields: (f) =>
    ({ base: f.key(), seed: f.text(), space: f.u64(), owner: f.key() }) },
  { type: 'assignWithSeed', accounts: ['account'], fields: (f) => ({ base: f.key(), seed: f.text(), owner: f.key() }) },
  {
    type: 'transferWithSeed', accounts: ['source', 'sourceBase', 'destination'],
    fields: (f) => ({ lamports: f.u64(), sourceSeed: f.text(), sourceOwner: f.key() }),
  },
  { type: 'upgradeNonce', accounts: ['nonceAccount'] },
];

const NEW_ASSOCIATED_ACCOUNT = ['source', 'account', 'wallet', 'mint', 'systemProgram', 'tokenProgram'];
const ASSOCIATED_LAYOUTS: readonly Layout[] = [
  { type: 'create', accounts: NEW_ASSOCIATED_ACCOUNT }, { type: 'createIdempotent', accounts: NEW_ASSOCIATED_ACCOUNT },
  {
    type: 'recoverNested',
    accounts: ['nestedSource', 'nestedMint', 'destination', 'nestedOwner', 'ownerMint', 'wallet', 'tokenProgram'],
  },
];

const TABLE = ['lookupTableAccount', 'lookupTableAuthority'];
const TABLE_LAYOUTS: readonly Layout[] = [
  { type: 'createLookupTable', accounts: [...TABLE, 'payerAccount', 'systemProgram'], fields: (f) =>
    ({ recentSlot: f.u64(), bumpSeed: f.u8() }) },
  { type: 'freezeLookupTable', accounts: TABLE },
  { type: 'extendLookupTable', accounts: TABLE, optional: ['payerAccount', 'systemProgram'], fields: (f) =>
    ({ newAddresses: f.list(() => f.key()) }) },
  { type: 'deactivateLookupTable', accounts: TABLE }, { type: 'closeLookupTable', accounts: [...TABLE, 'recipient'] },
];

/** An instruction's content, of memos the text alone, with the name of its program. */
interface OfProgram {
  readonly program: string;
  readonly parsed: ParsedInstruction | string;
}

/** Returns an instruction as nodes describe it, or undefined where they have no parser and show its bytes. */
export function parseInstruction(
  programId: string, accounts: readonly string[], data: Uint8Array,
): OfProgram | undefined {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (MEMO_PROGRAMS.includes(programId)) return { program: 'spl-memo', parsed: bytes.toString('utf8') };
  if (isTokenProgram(programId)) {
    const layout = bytes.length === 0 ? undefined : TOKEN_LAYOUTS[bytes[0]!];
    return wrap(tokenProgramName(programId), readInstruction(layout, accounts, bytes.subarray(1)));
  }
  switch (programId) {
    case SYSTEM_PROGRAM:
      return wrap('system', numbered(SYSTEM_LAYOUTS, accounts, bytes));
    case LOOKUP_TABLE_PROGRAM:
      return wrap('address-lookup-table', numbered(TABLE_LAYOUTS, accounts, bytes));
    case ASSOCIATED_TOKEN_PROGRAM:
      // The oldest form has no data at all.
      return wrap('spl-associated-token-account',
        readInstruction(ASSOCIATED_LAYOUTS[bytes[0] ?? 0], accounts, bytes.subarray(1)));
    default:
      return undefined;
  }
}

function wrap(program: string, parsed: ParsedInstruction | undefined): OfProgram | undefined {
  return parsed && { program, parsed };
}

/** Native programs number their instructions by four bytes. */
function numbered(
  layouts: readonly Layout[], accounts: readonly string[], bytes: Buffer,
): ParsedInstruction | undefined {
  return bytes.length < 4 ? undefined : readInstruction(layouts[bytes.readUInt32LE(0)], accounts, bytes.subarray(4));
}
