import type { Fields } from './byte-fields.ts';
import type { Info, Layout } from './instruction-layout.ts';
import { UNNAMED } from './instruction-layout.ts';
import { uiAmount } from './token-amounts.ts';

const AUTHORITY_TYPES: readonly string[] = [
  'mintTokens', 'freezeAccount', 'accountOwner', 'closeAccount', 'transferFeeConfig', 'withheldWithdraw', 'closeMint',
  'interestRate', 'permanentDelegate', 'confidentialTransferMint', 'transferHookProgramId',
  'confidentialTransferFeeConfig', 'metadataPointer', 'groupPointer', 'groupMemberPointer', 'scaledUiAmount', 'pause',
];
/** These are of an account, all others of a mint. */
const OF_ACCOUNTS: readonly string[] = ['accountOwner', 'closeAccount'];

const amount = (f: Fields): Info => ({ amount: f.amount() });
/** Checked instructions state the decimals. */
const tokenAmount = (f: Fields): Info => {
  const units = BigInt(f.amount());
  return { tokenAmount: uiAmount(units, f.u8()) };
};
const mint = (f: Fields): Info => {
  const [decimals, mintAuthority, freezeAuthority] = [f.u8(), f.key(), f.optionalKey()];
  return { decimals, mintAuthority, ...(freezeAuthority === null ? {} : { freezeAuthority }) };
};
const setAuthority = (f: Fields, [owned]: readonly string[]): Info => {
  const authorityType = AUTHORITY_TYPES[f.u8()];
  if (authorityType === undefined) throw new RangeError('an authority of an unknown kind');
  const name = OF_ACCOUNTS.includes(authorityType) ? 'account' : 'mint';
  return { [name]: owned, authorityType, newAuthority: f.optionalKey() };
};

/** The instructions that both token programs share, by their number. */
export const TOKEN_LAYOUTS: readonly Layout[] = [
  { type: 'initializeMint', accounts: ['mint', 'rentSysvar'], fields: mint },
  { type: 'initializeAccount', accounts: ['account', 'mint', 'owner', 'rentSysvar'] },
  {
    type: 'initializeMultisig', accounts: ['multisig', 'rentSysvar'], rest: 'signers', fields: (f) => ({ m: f.u8() }),
  },
  { type: 'transfer', accounts: ['source', 'destination'], signer: 'authority', fields: amount },
  { type: 'approve', accounts: ['source', 'delegate'], signer: 'owner', fields: amount },
  { type: 'revoke', accounts: ['source'], signer: 'owner' },
  { type: 'setAuthority', accounts: [UNNAMED], signer: 'authority', fields: setAuthority },
  { type: 'mintTo', accounts: ['mint', 'account'], signer: 'mintAuthority', fields: amount },
  { type: 'burn', accounts: ['account', 'mint'], signer: 'authority', fields: amount },
  { type: 'closeAccount', accounts: ['account', 'destination'], signer: 'owner' },
  { type: 'freezeAccount', accounts: ['account', 'mint'], signer: 'freezeAuthority' },
  { type: 'thawAccount', accounts: ['account', 'mint'], signer: 'freezeAuthority' },
  {
    type: 'transferChecked', accounts: ['source', 'mint', 'destination'], signer: 'authority', fields: tokenAmount,
  },
  { type: 'approveChecked', accounts: ['source', 'mint', 'delegate'], signer: 'owner', fields: tokenAmount },
  { type: 'mintToChecked', accounts: ['mint', 'account'], signer: 'mintAuthority', fields: tokenAmount },
  { type: 'burnChecked', accounts: ['account', 'mint'], signer: 'authority', fields: tokenAmount },
  { type: 'initializeAccount2', accounts: ['account', 'mint', 'rentSysvar'], fields: (f) => ({ owner: f.key() }) },
  { type: 'syncNative', accounts: ['account'] },
  { type: 'initializeAccount3', accounts: ['account', 'mint'], fields: (f) => ({ owner: f.key() }) },
  { type: 'initializeMultisig2', accounts: ['multisig'], rest: 'signers', fields: (f) => ({ m: f.u8() }) },
  { type: 'initializeMint2', accounts: ['mint'], fields: mint },
  { type: 'getAccountDataSize', accounts: ['mint'] },
  { type: 'initializeImmutableOwner', accounts: ['account'] },
  { type: 'amountToUiAmount', accounts: ['mint'], fields: amount },
];
