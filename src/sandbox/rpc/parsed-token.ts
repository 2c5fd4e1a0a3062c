import { addressOf, TOKEN_PROGRAM } from '../chain/addresses.ts';
import type { Address } from '../chain/addresses.ts';
import type { Account } from '../chain/chain.ts';
import { decodeMint, decodeTokenAccount } from '../chain/token-layout.ts';
import type { TokenDisplay } from './token-amounts.ts';
import { displayedAmount, uiAmount } from './token-amounts.ts';
import { tokenExtensions } from './token-extensions.ts';

const NATIVE_DECIMALS = 9;
const MULTISIG_BYTES = 355;
const MULTISIG_SIGNERS = 11;
const KEY_BYTES = 32;

/** What an account of a program holds, as nodes describe it. */
export interface ParsedContent {
  readonly type: string;
  readonly info?: unknown;
}

/** Returns the name of a token program in parsed accounts. */
export function tokenProgramName(program: Address): string {
  return program === TOKEN_PROGRAM ? 'spl-token' : 'spl-token-2022';
}

/**
 * Returns the content of an account of a token program, or undefined where nodes give the bytes instead: it holds
 * nothing yet, or its mint is gone.
 */
export function parseTokenContent(
  { data }: Account, displayOf: (mint: Address) => TokenDisplay | undefined,
): ParsedContent | undefined {
  if (data.length === MULTISIG_BYTES) return { type: 'multisig', info: multisigInfo(data) };
  const found = tokenExtensions(data);
  const extensions = found.length === 0 ? {} : { extensions: found };
  const token = decodeTokenAccount(data);
  if (token) {
    const display = displayOf(token.mint);
    if (display === undefined) return undefined;
    const info = {
      mint: token.mint,
      owner: token.owner,
      state: token.state,
      isNative: token.rentExemptReserve !== null,
      tokenAmount: displayedAmount(token.amount, display),
      ...(token.rentExemptReserve === null ? {}
        : { rentExemptReserve: uiAmount(token.rentExemptReserve, NATIVE_DECIMALS) }),
      ...(token.delegate === null ? {}
        : { delegate: token.delegate, delegatedAmount: displayedAmount(token.delegatedAmount, display) }),
      ...(token.closeAuthority === null ? {} : { closeAuthority: token.closeAuthority }),
      ...extensions,
    };
    return { type: 'account', info };
  }
  const mint = decodeMint(data);
  if (!mint?.isInitialized) return undefined;
  const { mintAuthority, decimals, isInitialized, freezeAuthority } = mint;
  const supply = mint.supply.toString();
  return { type: 'mint', info: { mintAuthority, supply, decimals, isInitialized, freezeAuthority, ...extensions } };
}

/** Signers that are not set are zeros. */
function multisigInfo(data: Uint8Array): object {
  const [numRequiredSigners, numValidSigners, isInitialized] = data;
  const signers = Array.from({ length: MULTISIG_SIGNERS }, (_, index) =>
    data.subarray(3 + KEY_BYTES * index, 3 + KEY_BYTES * (index + 1)));
  return {
    numRequiredSigners, numValidSigners, isInitialized: isInitialized === 1,
    signers: signers.filter((signer) => signer.some((byte) => byte !== 0)).map(addressOf),
  };
}
