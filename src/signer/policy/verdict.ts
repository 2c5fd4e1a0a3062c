import type { PolicyCode } from './codes.ts';
import { formatDecimal } from '../../core/amount.ts';
import { printable } from '../../core/text.ts';
import type { Decoded } from './instruction.ts';
import { NATIVE_MINT, SOL_DECIMALS } from '../../solana/constants.ts';
import type { TransactionConfig, TransactionVersion } from '../../solana/transaction-message.ts';

/** One broken rule. */
export interface Finding {
  readonly code: PolicyCode;
  /** The index of the instruction that breaks it; undefined where it is the transaction as a whole. */
  readonly instruction: number | undefined;
  readonly message: string;
}

/** The effect of one instruction, in words. */
interface InstructionSummary {
  readonly index: number;
  /** Name of a known program, else its address. */
  readonly program: string;
  readonly text: string;
}

/** The signers of a transaction, its effects, and its maximum cost for the wallet. */
export interface Summary {
  readonly version: TransactionVersion;
  readonly bytes: number;
  /** What a version 1 message states of its costs; undefined in earlier versions, where instructions do. */
  readonly config: TransactionConfig | undefined;
  readonly blockhash: string;
  readonly feePayer: string;
  readonly signers: readonly string[];
  readonly lookupTables: readonly string[];
  readonly instructions: readonly InstructionSummary[];
  /** Lamports. The rent assumes that none of the accounts exists yet that the wallet opens. */
  readonly costs: {
    readonly feeLamports: bigint;
    readonly priorityFeeLamports: bigint;
    readonly paidByWallet: boolean;
    readonly tipLamports: bigint;
    /** Rent that others may have lent; where the account existed already, it was the wallet's own. */
    readonly repaidLamports: bigint;
    readonly rentLamports: bigint;
  };
  /** The terms in the bytes themselves. */
  readonly swap: {
    readonly inputMint: string;
    readonly outputMint: string;
    /** All input that leaves the wallet, with fees. */
    readonly amountIn: bigint;
    readonly minimumOut: bigint;
    /** The part of `amountIn` that goes to third parties, not into the swap. */
    readonly inputFee: bigint;
  };
}

/** The policy's decision on a transaction. */
export interface Verdict {
  readonly verdict: 'allow' | 'deny';
  /** Of the first finding; undefined where there is none. */
  readonly code: PolicyCode | undefined;
  readonly findings: readonly Finding[];
  /** Undefined where the bytes could not be read. */
  readonly summary: Summary | undefined;
}

const LONGEST_MEMO = 80;

/** Returns the verdict of findings: a single one denies. */
export function verdictOf(findings: readonly Finding[], summary: Summary | undefined): Verdict {
  const [first] = findings;
  return { verdict: first === undefined ? 'allow' : 'deny', code: first?.code, findings, summary };
}

/** Returns the effect of an instruction in words; the wallet's own address is called "the wallet". */
export function inWords(decoded: Decoded, wallet: string): string {
  const who = (address: string): string => (address === wallet ? 'the wallet' : address);
  switch (decoded.kind) {
    case 'budget': return budgetText(decoded);
    case 'transfer-lamports': return `pays ${sol(decoded.lamports)} from ${who(decoded.from)} to ${who(decoded.to)}`;
    case 'open-seeded': return `makes the temporary account ${decoded.account} of ${who(decoded.base)}, lent `
      + `${sol(decoded.lamports)} by ${who(decoded.payer)}`;
    case 'transfer-tokens': {
      const { amount, decimals, mint, source, destination, authority } = decoded;
      const what = mint === undefined ? `${amount} units`
        : tokens(decimals === undefined ? `${amount} units` : formatDecimal(amount, decimals), mint);
      return `moves ${what} from ${source} to ${destination}, by ${who(authority)}`;
    }
    case 'close-token':
      return `closes the token account ${decoded.account}, its lamports to ${who(decoded.destination)}`;
    case 'sync-native': return `counts the SOL in ${decoded.account} as wrapped`;
    case 'initialize-token':
      return `starts ${decoded.account} as a token account of ${who(decoded.owner)} for ${mintText(decoded.mint)}`;
    case 'open-associated': return `opens the token account ${decoded.account} of ${who(decoded.owner)} for `
      + `${mintText(decoded.mint)} unless it is there, paid by ${who(decoded.payer)}`;
    case 'memo': return `says "${printable(decoded.text, LONGEST_MEMO)}"`;
    case 'swap': {
      const { amountIn, minimumOut, inputMint, source, outputMint, destination, platformFeeBps, user } = decoded;
      const fee = platformFeeBps === 0 ? ''
        : `, ${platformFeeBps} bps of it to ${decoded.feeAccount ?? 'an account that it does not name'}`;
      const input = inputMint === undefined ? `what is in ${source}` : mintText(inputMint);
      return `swaps ${amountIn} units of ${input} of ${who(user)} to at least ${minimumOut} units of `
        + `${mintText(outputMint)} in ${destination}${fee}`;
    }
    case 'opaque': return 'has an unknown effect: no decoder reads it';
    case 'refused': return decoded.what;
  }
}

/** Returns lamports as SOL. */
export function sol(lamports: bigint): string {
  return `${formatDecimal(lamports, SOL_DECIMALS)} SOL`;
}

function budgetText({ setting, value }: Extract<Decoded, { kind: 'budget' }>): string {
  switch (setting) {
    case 'unit limit': return `asks for at most ${value} compute units`;
    case 'unit price': return `offers ${value} micro-lamports a compute unit`;
    case 'heap bytes': return `asks for ${value} bytes of memory`;
    case 'loaded bytes': return `asks for at most ${value} bytes of accounts`;
  }
}

/** Returns what a version 1 message states of its costs, in words. */
export function configInWords(
  { priorityFeeLamports, unitLimit, loadedBytes, heapBytes }: TransactionConfig,
): readonly string[] {
  const limits = [['unit limit', unitLimit], ['loaded bytes', loadedBytes], ['heap bytes', heapBytes]] as const;
  return [
    ...(priorityFeeLamports === undefined ? [] : [`offers ${sol(priorityFeeLamports)} for priority`]),
    ...limits.flatMap(([setting, value]) =>
      (value === undefined ? [] : [budgetText({ kind: 'budget', setting, value: BigInt(value) })])),
  ];
}

function tokens(amount: string, mint: string): string {
  return mint === NATIVE_MINT ? `${amount} wrapped SOL` : `${amount} of ${mint}`;
}

function mintText(mint: string): string {
  return mint === NATIVE_MINT ? 'wrapped SOL' : mint;
}
