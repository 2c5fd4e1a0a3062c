import type { Observable } from 'rxjs';
import type { Amount, Bps, Lamports } from '../core/amount.ts';
import type { Mint } from '../market/token.ts';
import type { Attempt, BalanceMove, LandedSwap, ProofProgress, UnreadableTransaction } from '../trading/attempt.ts';
import type { Intent, IntentPurpose, IntentState, Outcome } from '../trading/intent.ts';
import type { Route } from '../trading/proposal.ts';
import type { StrategyState } from '../trading/strategy-state.ts';
import type { BuildOptions, OrderOptions, SwapOptions } from '../trading/swap-options.ts';
import type { ExecuteAnswer, SwapBuild, SwapOrder, SwapRequest } from '../trading/swap-terms.ts';
import type { Clock, Millis } from '../core/time.ts';

/** The urgency of a request, where requests are scarce. */
interface Urgency {
  readonly priority: IntentPurpose;
  /** Called when the request is sent; until then it waits in the queue. */
  readonly onStart?: (() => void) | undefined;
}

/** A call that can be aborted: it rejects then, but its effects so far remain. */
interface Abortable {
  readonly signal: AbortSignal;
}

/** The swap part of the service. Faults are thrown as GannetError; answers are answers. */
export interface SwapService {
  order(request: SwapRequest & OrderOptions, urgency?: Urgency): Promise<SwapOrder>;
  build(request: SwapRequest & BuildOptions & { readonly taker: string }, urgency?: Urgency): Promise<SwapBuild>;
  /**
   * Submits signed bytes, or asks again for their outcome: posting the same bytes twice is safe. Throws where no answer
   * came; the outcome is unknown then, whatever the error.
   */
  execute(request: {
    readonly signedTransaction: Uint8Array;
    readonly requestId: string;
    readonly lastValidBlockHeight?: bigint | undefined;
  }, call?: Abortable): Promise<ExecuteAnswer>;
}

/** An unsigned transaction with the terms of its own bytes. */
interface ComposedTransaction {
  readonly transaction: Uint8Array;
  readonly unitLimit: number;
  readonly priorityFeeLamports: Lamports;
}

/** The status of a signature by a node. */
export interface SignatureStatus {
  readonly slot: bigint;
  readonly confirmation: 'processed' | 'confirmed' | 'finalized';
  /** Undefined when it succeeded. */
  readonly error?: { readonly code: string; readonly message: string } | undefined;
}

/** The facts in a transaction's own bytes, whatever the service states. */
interface TransactionFacts {
  readonly blockhash: string;
  readonly feePayer: string;
  readonly signers: readonly string[];
  /** A transaction with a durable nonce never expires. */
  readonly durableNonce: boolean;
  /** Whether no slot of a signature is empty. */
  readonly isWhole: boolean;
}

/**
 * One Solana node, or several as one. Faults are thrown as GannetError; CHAIN_UNAGREED where two nodes must agree about
 * what decides on money and do not, or only one of them answers.
 */
export interface Chain {
  /** Identifies the node without its address: a proof counts only where one node gave all of it. */
  readonly node?: string | undefined;
  /** Loads what composing needs, where that takes time: the first build would wait for it. */
  loadComposer?(): Promise<void>;
  /**
   * Composes a transaction from a build: compute-unit limit by simulation, price clamped, given tables and blockhash.
   */
  compose(build: SwapBuild, payer: string): Promise<ComposedTransaction>;
  /**
   * Returns hints to ask about a transaction now. They never fail, prove nothing, and may stay away for good. Absent
   * where no node gives any.
   */
  transactionHints$?(signature: string): Observable<TransactionHint>;
  /** Returns hints that something changed for a wallet, in the same way. */
  walletHints$?(owner: string): Observable<unknown>;
  /** Sends signed bytes. `rejected` means that this node refused them, which is no proof that they cannot land. */
  send(transaction: Uint8Array, call?: Abortable): Promise<{ readonly kind: 'accepted' } | {
    readonly kind: 'rejected'; readonly code: string; readonly message: string;
  }>;
  signatureStatus(
    signature: string, options: { readonly searchHistory: boolean },
  ): Promise<SignatureStatus | undefined>;
  /** Block height (not slot) at finalized. Before a signature, the only node that answers is enough. */
  finalizedBlockHeight(how?: { readonly beforeSigning: boolean }): Promise<bigint>;
  isBlockhashValid(blockhash: string): Promise<boolean>;
  /** Returns the effect of a landed transaction on a wallet; undefined while the node does not have it. */
  landedSwap(options: {
    readonly signature: string; readonly owner: string; readonly inputMint: Mint; readonly outputMint: Mint;
    /** Gets the output in the wallet's place: a wallet, or a token account. */
    readonly receiver?: string | undefined;
  }): Promise<LandedSwap | UnreadableTransaction | undefined>;
  /**
   * Finds the id of a signed transaction in the wallet's history since a slot, where another account pays its fee and
   * thus makes the id. No node has to give the transaction itself.
   */
  findBySigner(options: {
    readonly owner: string; readonly transaction: Uint8Array; readonly sinceSlot?: bigint | undefined;
  }): Promise<string | undefined>;
  /** Returns all signatures of a landed transaction, base58; undefined while the node does not have it. */
  signaturesOf(signature: string): Promise<readonly string[] | UnreadableTransaction | undefined>;
  /**
   * Returns a wallet's balance of a mint, native and wrapped SOL together, no older than any earlier part of a proof.
   */
  tokenBalance(
    owner: string, mint: Mint,
    /** With several nodes: two must agree, else CHAIN_UNAGREED is thrown. */
    how?: { readonly agreed?: boolean | undefined },
  ): Promise<TokenBalance>;
  /**
   * Returns a wallet's transactions with their changes of a mint: all since shortly before a slot, and earlier ones
   * until one shows the mint.
   */
  balanceHistory(
    options: { readonly owner: string; readonly mint: Mint; readonly sinceSlot: bigint },
  ): Promise<BalanceSteps>;
  readTransaction(transaction: Uint8Array): TransactionFacts;
}

/** A reason to ask about a transaction now. */
export interface TransactionHint {
  /** Whether the next one is expected as soon as the transaction is confirmed. */
  readonly isReliable: boolean;
}

/** The balance of an account before and after a transaction. */
export interface BalanceChange {
  readonly before: bigint;
  readonly after: bigint;
}

/** A wallet's transactions, oldest first, and its lamports without wrapped SOL, as of a slot. */
export interface BalanceSteps {
  readonly native: { readonly lamports: bigint; readonly slot: bigint };
  readonly steps: readonly BalanceStep[];
  /** Those whose changes are unknown. */
  readonly unreadable: readonly { readonly signature: string; readonly slot: bigint }[];
}

/** A landed transaction of a wallet. */
export interface BalanceStep {
  /** All signatures, the fee payer's first. */
  readonly signatures: readonly string[];
  readonly slot: bigint;
  readonly hasFailed: boolean;
  /** Lamports without wrapped SOL. */
  readonly native: BalanceChange;
  /** The wallet's token accounts of the mint in the transaction, by address. */
  readonly accounts: ReadonlyMap<string, BalanceChange>;
}

/** A wallet's balance of one mint. */
export interface TokenBalance {
  readonly amount: Amount;
  /** At confirmed: the amount includes all that landed up to this slot. */
  readonly slot: bigint;
  /** The amount includes nothing that landed after this slot. */
  readonly lastSlot: bigint;
}

/** The terms that a transaction must meet; the signer compares its own reading of the bytes with them. */
interface SigningTerms {
  readonly intentId: string;
  /** From 1. */
  readonly attempt: number;
  readonly route: Route;
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  /** The most input that may leave the wallet, with fees. */
  readonly amountIn: Amount;
  /** The least output that must arrive, after all fees. */
  readonly minimumOut: Amount;
  readonly maker?: string | undefined;
  /** Pays the network's fee in the wallet's place. */
  readonly feePayer?: string | undefined;
  /** The share of the swap that third parties may get. */
  readonly maxFeeBps: Bps;
}

/** The only holder of the key. */
export interface Signer {
  /** Base58. */
  readonly address: string;
  /**
   * Signs as this address, leaving other signatures as they are. Throws SIGN_REFUSED with the policy's code in its
   * details.
   */
  sign(transaction: Uint8Array, terms: SigningTerms): Promise<SignedTransaction>;
  /** Announces a swap whose transaction is being requested, so that the signer can look up its price meanwhile. */
  readonly expectSwap?: ((swap: ExpectedSwap, priority: IntentPurpose) => void) | undefined;
}

/** A swap before its transaction is known. */
type ExpectedSwap = Pick<SigningTerms, 'inputMint' | 'outputMint' | 'amountIn'>;

export interface SignedTransaction {
  readonly transaction: Uint8Array;
  /** Of this address, base58. */
  readonly signature: string;
  /** The fee payer's, base58; undefined while that slot is empty. */
  readonly transactionId?: string | undefined;
  /** SHA-256 of the message, hex. */
  readonly messageHash: string;
}

/** An open intent from the journal. */
export interface JournalledIntent {
  readonly intent: Intent;
  readonly state: IntentState;
  /** The signed attempts, in order. */
  readonly attempts: readonly Attempt[];
  /** The attempt of the state, from 1; not signed yet while it is being built. */
  readonly attempt: number;
  /** The cost of the attempts before that one. */
  readonly spentLamports: Lamports;
}

/** The durable journal. Every method returns only after the row is on disk. */
export interface Journal {
  /** Writes the intent and its strategy's state in one transaction. */
  intentApproved(intent: Intent, strategyState?: StrategyState): void;
  /** Must return before the first byte of the transaction is sent. */
  attemptSigned(attempt: Attempt): void;
  transition(outcome: Outcome): void;
  openIntents(): readonly JournalledIntent[];
  /** Returns whether a transaction with this signature is in the journal, for any intent. */
  isSigned(signature: string): boolean;
  /** Returns the progress of an attempt's expiry proof in earlier processes; undefined where there is none. */
  proofOf(attempt: Pick<Attempt, 'intentId' | 'number'>): ProofProgress | undefined;
  /** Keeps the progress for the next process. A failed write only makes the proof start earlier. */
  keepProof(attempt: Pick<Attempt, 'intentId' | 'number'>, progress: ProofProgress): void;
  /** Returns the changes of the wallet's balance of a mint by other swaps that ended since an attempt began. */
  movesSince(attempt: Pick<Attempt, 'intentId' | 'number'>, mint: Mint): readonly BalanceMove[];
}

/** The reason for no further attempt; nothing is signed. */
export interface RetryDenial {
  readonly code: string;
  readonly reason: string;
}

/** Everything that the live execution of an intent uses. */
export interface ExecutorPorts {
  readonly service: SwapService;
  readonly chain: Chain;
  readonly signer: Signer;
  readonly journal: Journal;
  readonly clock: Clock;
  /** Returns the configured options of a strategy's swaps; absent for none. */
  readonly swapOptions?: ((strategy: string) => SwapOptions) | undefined;
  /** The maximum age of a signed quote; 2 s by default. */
  readonly maxQuoteAgeMs?: Millis | undefined;
  /** The maximum number of slots that a signed quote may be behind the chain; unlimited by default. */
  readonly maxQuoteAgeSlots?: number | undefined;
  /** Returns risk's reason against another attempt now, undefined where there is none. By default all are allowed. */
  readonly mayTryAgain?: ((intent: Intent) => RetryDenial | undefined) | undefined;
  /** Returns the ledger's balance of a mint with everything that has ended; absent without a ledger. */
  readonly ledger?: ((mint: Mint) => Amount | undefined) | undefined;
}

/** An outcome without the fields that identify its intent and attempt. */
export type Progress = Omit<Outcome, 'kind' | 'intentId' | 'attempt'>;
