import {
  AccountState, DEFAULT_ACCOUNT_STATE_SIZE, ExtensionType, PERMANENT_DELEGATE_SIZE, TRANSFER_FEE_CONFIG_SIZE,
  TRANSFER_HOOK_SIZE, getDefaultAccountState, getExtensionData, getPermanentDelegate, getTransferFeeConfig,
  getTransferHook, unpackMint, type Mint as UnpackedMint,
} from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import { GannetError } from '../core/errors.ts';
import type { Mint, MintAccount } from '../market/token.ts';
import type { AccountData } from '../solana/accounts.ts';
import { isTokenProgram } from '../solana/constants.ts';
import { notAMint } from './mint-decimals.ts';
import { checkedExtensions } from './token-extensions.ts';

/** The names of the extensions that a mint can carry. The library has none for the two numbers. */
const MINT_EXTENSIONS: ReadonlyMap<number, string> = new Map([
  [ExtensionType.TransferFeeConfig, 'transfer-fee'], [ExtensionType.MintCloseAuthority, 'mint-close-authority'],
  [ExtensionType.ConfidentialTransferMint, 'confidential-transfer'],
  [ExtensionType.DefaultAccountState, 'default-account-state'], [ExtensionType.NonTransferable, 'non-transferable'],
  [ExtensionType.InterestBearingConfig, 'interest-bearing'], [ExtensionType.PermanentDelegate, 'permanent-delegate'],
  [ExtensionType.TransferHook, 'transfer-hook'], [16, 'confidential-transfer-fee'],
  [ExtensionType.MetadataPointer, 'metadata-pointer'], [ExtensionType.TokenMetadata, 'metadata'],
  [ExtensionType.GroupPointer, 'group-pointer'], [ExtensionType.TokenGroup, 'group'],
  [ExtensionType.GroupMemberPointer, 'group-member-pointer'], [ExtensionType.TokenGroupMember, 'group-member'],
  [24, 'confidential-mint-burn'], [ExtensionType.ScaledUiAmountConfig, 'scaled-ui-amount'],
  [ExtensionType.PausableConfig, 'pausable'],
]);

/** The lengths of the extensions whose content is read. The library decodes shorter ones to something else. */
const LENGTHS: ReadonlyMap<ExtensionType, number> = new Map([
  [ExtensionType.TransferFeeConfig, TRANSFER_FEE_CONFIG_SIZE],
  [ExtensionType.PermanentDelegate, PERMANENT_DELEGATE_SIZE],
  [ExtensionType.TransferHook, TRANSFER_HOOK_SIZE], [ExtensionType.DefaultAccountState, DEFAULT_ACCOUNT_STATE_SIZE],
]);

/**
 * Returns the content of a mint's account, all extensions of Token-2022 included. Throws MINT_INVALID on any other
 * account, and on one that is cut short.
 */
export function readMintAccount(mint: Mint, account: AccountData): MintAccount {
  const unpacked = unpack(mint, account);
  const { decimals, supply, mintAuthority, freezeAuthority, tlvData } = unpacked;
  const kinds = checkedExtensions(tlvData, (problem) => invalid(mint, problem));
  for (const [kind, bytes] of LENGTHS) {
    const length = getExtensionData(kind, tlvData)?.length ?? bytes;
    if (length < bytes)
      throw invalid(mint, `its extension ${MINT_EXTENSIONS.get(kind)} has ${length} bytes, expected ${bytes}`);
  }
  const fees = getTransferFeeConfig(unpacked);
  const frozen = getDefaultAccountState(unpacked);
  return {
    mint, decimals, supply,
    tokenProgram: account.owner,
    mintAuthority: mintAuthority?.toBase58(),
    freezeAuthority: freezeAuthority?.toBase58(),
    extensions: kinds.map((kind) => MINT_EXTENSIONS.get(kind) ?? `unknown-${kind}`),
    transferFee: fees === null ? undefined : {
      ...worseFee(fees.olderTransferFee, fees.newerTransferFee), authority: setKey(fees.transferFeeConfigAuthority),
    },
    permanentDelegate: setKey(getPermanentDelegate(unpacked)?.delegate),
    transferHook: setKey(getTransferHook(unpacked)?.programId),
    isFrozenByDefault: frozen === null ? undefined : frozen.state === AccountState.Frozen,
  };
}

function unpack(mint: Mint, { owner, data }: AccountData): UnpackedMint {
  if (!isTokenProgram(owner)) throw notAMint(mint, owner);
  const program = new PublicKey(owner);
  let unpacked: UnpackedMint;
  try {
    unpacked = unpackMint(new PublicKey(mint), { owner: program, data, executable: false, lamports: 0 }, program);
  } catch {
    // It has another length, or says that it is another kind of account.
    throw notAMint(mint, owner);
  }
  if (!unpacked.isInitialized) throw notAMint(mint, owner);
  return unpacked;
}

interface SetFee {
  readonly maximumFee: bigint;
  readonly transferFeeBasisPoints: number;
}

/** The newer fee can apply from any epoch on: the worse of both counts. */
function worseFee(older: SetFee, newer: SetFee): { readonly maximum: bigint; readonly bps: number } {
  const worse = newer.transferFeeBasisPoints > older.transferFeeBasisPoints ? newer : older;
  return { maximum: worse.maximumFee, bps: worse.transferFeeBasisPoints };
}

/** An authority or a program of zeros is none. */
function setKey(key: PublicKey | undefined): string | undefined {
  return key === undefined || key.equals(PublicKey.default) ? undefined : key.toBase58();
}

function invalid(mint: Mint, problem: string): GannetError {
  return new GannetError(
    'MINT_INVALID', `the account of the mint ${mint} cannot be read: ${problem}`, { details: { mint } },
  );
}
