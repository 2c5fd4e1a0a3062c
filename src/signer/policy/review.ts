import type { Addresses } from '../../solana/addresses.ts';
import type { PolicyCode } from './codes.ts';
import type { Expectation } from './expectation.ts';
import { usualPlatformFeeBps } from './expectation.ts';
import { NATIVE_MINT, TOKEN_2022_PROGRAM, TOKEN_ACCOUNT_RENT, TOKEN_PROGRAM } from '../../solana/constants.ts';
import type { ResolvedTransaction } from './lookup-tables.ts';
import type { Finding } from './verdict.ts';
import type { SwapTerms } from './instruction.ts';

/** One transaction under review: its expectation, its accounts, and the ledger of the instructions so far. */
export interface Review {
  readonly expectation: Expectation;
  readonly transaction: ResolvedTransaction;
  readonly addresses: Addresses;
  readonly ledger: Ledger;
  readonly findings: readonly Finding[];
  /** Pays the fee. */
  readonly feePayer: string;
  /** The share of the swap that third parties may get. */
  readonly maxPlatformFeeBps: number;
  /** Gets the output. */
  readonly beneficiary: string;
  /** Whether input or output is SOL. */
  readonly hasNative: boolean;
  /** Notes a broken rule. */
  readonly deny: (code: PolicyCode, instruction: number | undefined, message: string) => void;
  /**
   * Returns the mint of a wallet's account in this swap, temporary accounts included; undefined for any other account.
   */
  readonly ownMint: (account: string) => string | undefined;
  /** Returns whether an account is an owner's associated account for a mint, under either token program. */
  readonly isAssociated: (account: string, owner: string, mint: string) => boolean;
  /** Returns whether the output may be paid there. */
  readonly isOutputAccount: (account: string) => boolean;
  /** Returns the largest share of the operator's own fee to an account; undefined where it is no such account. */
  readonly ownFeeBps: (account: string) => number | undefined;
  /** Returns whether an account other than the wallet signs. */
  readonly isCoSigner: (account: string) => boolean;
}

/** A temporary account of the wallet, made in this transaction. */
interface TemporaryAccount {
  /** The instruction that made it. */
  readonly index: number;
  readonly lamports: bigint;
  readonly payer: string;
  isInitialized: boolean;
  /** A swap pays into it. */
  isSwapDestination: boolean;
  /** Moved from it into another account of the wallet. */
  takenOut: bigint;
  /** Moved into it out of another temporary account. */
  takenIn: bigint;
  closedTo: string | undefined;
}

/** The sums over a transaction's instructions so far. Amounts in smallest units. */
interface Ledger {
  /** The values of the compute-budget settings, by name. */
  readonly budget: Map<string, bigint>;
  /** Of the input: into swaps, to the maker and to third parties. */
  inputSpent: bigint;
  inputToMaker: bigint;
  inputFee: bigint;
  /** Of the input, to accounts of the operator: by account. */
  readonly ownFees: Map<string, bigint>;
  /** The least output that the destination receives. */
  outputMinimum: bigint;
  swaps: { readonly index: number; readonly terms: SwapTerms }[];
  /** The last instruction that pays the output, if any does. */
  paidAt: number | undefined;
  tipLamports: bigint;
  wrappedLamports: bigint;
  /** Rent that another account paid and the wallet got, and the part that the wallet paid back. */
  lentLamports: bigint;
  repaidLamports: bigint;
  /** Rent that the wallet pays for new accounts, assuming that none exists yet. */
  rentLamports: bigint;
  /** Accounts of the wallet whose rent another account pays, with that rent. */
  readonly foreignRent: Map<string, bigint>;
  readonly opened: Set<string>;
  readonly temporary: Map<string, TemporaryAccount>;
  /** Calls of programs on the allow-list without a decoder, by instruction. */
  readonly opaque: { readonly index: number; readonly program: string }[];
  /** Payments that may be less than their instructions state, by instruction, with the reason. */
  readonly unproven: { readonly index: number; readonly why: string }[];
}

/** Returns a review before its first instruction. */
export function createReview(
  { expectation: given, transaction, addresses }: {
    readonly expectation: Expectation; readonly transaction: ResolvedTransaction; readonly addresses: Addresses;
  },
): Review {
  // The wallet itself is no separate receiver.
  const expectation = given.receiver === given.wallet ? { ...given, receiver: undefined } : given;
  const { wallet, inputMint, outputMint, receiver } = expectation;
  const ledger = createLedger();
  const findings: Finding[] = [];
  const feePayer = transaction.signers[0]!;
  const hasNative = inputMint === NATIVE_MINT || outputMint === NATIVE_MINT;

  function isAssociated(account: string, owner: string, mint: string): boolean {
    // Only the chain knows the program of a mint, except for wrapped SOL. Under the other program no account can exist,
    // and lamports that are sent there are lost.
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
    ownFeeBps(account) {
      for (const [owner, bps] of expectation.ownFees ?? []) {
        if (account === owner || isAssociated(account, owner, inputMint) || isAssociated(account, owner, outputMint))
          return bps;
      }
      return undefined;
    },
    isCoSigner: (account) => account !== wallet && transaction.signers.includes(account),
  };
}

/** Returns the rent of an associated account of a token program, for a mint without extensions. */
export function tokenAccountRent(tokenProgram: string): bigint {
  return tokenProgram === TOKEN_2022_PROGRAM ? 2_074_080n : TOKEN_ACCOUNT_RENT;
}

/** Returns an empty ledger. */
function createLedger(): Ledger {
  return {
    budget: new Map(),
    inputSpent: 0n, inputToMaker: 0n, inputFee: 0n, ownFees: new Map(), outputMinimum: 0n, swaps: [], paidAt: undefined,
    tipLamports: 0n, wrappedLamports: 0n, lentLamports: 0n, repaidLamports: 0n, rentLamports: 0n,
    foreignRent: new Map(), opened: new Set(), temporary: new Map(), opaque: [], unproven: [],
  };
}
