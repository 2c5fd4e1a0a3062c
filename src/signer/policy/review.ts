import type { Addresses } from './addresses.ts';
import type { PolicyCode } from './codes.ts';
import { usualPlatformFeeBps, type Expectation } from './expectation.ts';
import { NATIVE_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './known-programs.ts';
import { createLedger, type Ledger } from './ledger.ts';
import type { ResolvedTransaction } from './resolve.ts';
import type { Finding } from './verdict.ts';

/** One transaction under review: what is expected of it, whose accounts are whose, and what its instructions came to so far. */
export interface Review {
  readonly expectation: Expectation;
  readonly transaction: ResolvedTransaction;
  readonly addresses: Addresses;
  readonly ledger: Ledger;
  readonly findings: readonly Finding[];
  /** Whose fee it is. */
  readonly feePayer: string;
  /** What third parties may get of the swap, in the input's and the output's smallest units at most this share. */
  readonly maxPlatformFeeBps: number;
  /** Who gets the output. */
  readonly beneficiary: string;
  /** Whether wrapped SOL takes part, at either end. */
  readonly hasNative: boolean;
  /** Notes a broken rule. */
  readonly deny: (code: PolicyCode, instruction: number | undefined, message: string) => void;
  /** Returns the mint that an account of the wallet holds in this swap, its temporary accounts included; undefined for any other account. */
  readonly ownMint: (account: string) => string | undefined;
  /** Returns whether an account is somebody's associated account for a mint, under either token program. */
  readonly isAssociated: (account: string, owner: string, mint: string) => boolean;
  /** Returns whether the output may be paid there. */
  readonly isOutputAccount: (account: string) => boolean;
  /** Returns whether somebody other than the wallet signs too. */
  readonly isCoSigner: (account: string) => boolean;
}

/** Returns a review that has seen nothing yet. */
export function createReview(
  { expectation: given, transaction, addresses }: { readonly expectation: Expectation; readonly transaction: ResolvedTransaction; readonly addresses: Addresses },
): Review {
  // Whoever receives his own is no other receiver.
  const expectation = given.receiver === given.wallet ? { ...given, receiver: undefined } : given;
  const { wallet, inputMint, outputMint, receiver } = expectation;
  const ledger = createLedger();
  const findings: Finding[] = [];
  const feePayer = transaction.signers[0]!;
  const hasNative = inputMint === NATIVE_MINT || outputMint === NATIVE_MINT;

  function isAssociated(account: string, owner: string, mint: string): boolean {
    // Which of the two programs a mint belongs to only the chain knows, of wrapped SOL apart; under the other one there can
    // be no account, and what is sent there as lamports is lost.
    const programs = mint === NATIVE_MINT ? [TOKEN_PROGRAM] : [TOKEN_PROGRAM, TOKEN_2022_PROGRAM];
    return programs.some((program) => addresses.associated(owner, mint, program) === account);
  }

  return {
    expectation, transaction, addresses, ledger, findings, feePayer, hasNative,
    maxPlatformFeeBps: expectation.maxPlatformFeeBps ?? usualPlatformFeeBps(expectation),
    beneficiary: receiver ?? wallet,
    deny(code, instruction, message) {
      findings.push({ code, instruction, message });
    },
    ownMint(account) {
      if (ledger.temporary.has(account)) return NATIVE_MINT;
      return [inputMint, outputMint].find((mint) => isAssociated(account, wallet, mint));
    },
    isAssociated,
    isOutputAccount: (account) => (receiver === undefined
      ? isAssociated(account, wallet, outputMint)
      : account === receiver || isAssociated(account, receiver, outputMint)),
    isCoSigner: (account) => account !== wallet && transaction.signers.includes(account),
  };
}

/** Returns the lamports that an associated account of a token program must hold, were its mint without extensions of its own. */
export function tokenAccountRent(tokenProgram: string): bigint {
  return tokenProgram === TOKEN_2022_PROGRAM ? 2_074_080n : TOKEN_ACCOUNT_RENT;
}

/** Of a token account without extensions: (165 + 128) bytes at 6,960 lamports. */
export const TOKEN_ACCOUNT_RENT = 2_039_280n;
export const TOKEN_ACCOUNT_BYTES = 165n;
