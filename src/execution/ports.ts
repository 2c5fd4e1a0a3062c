import type { Amount, Bps, Lamports } from '../core/amount.ts';
import type { Mint } from '../market/token.ts';
import type { Attempt, BalanceMove, LandedSwap, ProofProgress } from '../trading/attempt.ts';
import type { Intent, IntentPurpose, IntentState, Outcome } from '../trading/intent.ts';
import type { Route } from '../trading/proposal.ts';
import type { StrategyState } from '../trading/strategy-state.ts';
import type { ExecuteAnswer, SwapBuild, SwapOrder, SwapRequest } from '../trading/swap-order.ts';

/** How urgent a request is where requests are scarce. */
export interface Urgency {
  readonly priority: IntentPurpose;
  /** Called when the request leaves: until then it waits for its turn, and no price is asked for yet. */
  readonly onStart?: (() => void) | undefined;
}

/** A call that may be given up: aborted, it rejects, and what it did until then is done. */
export interface Abandonable {
  readonly signal: AbortSignal;
}

/** The swap part of the service. Faults are thrown as GannetError; answers are answers. */
export interface SwapService {
  order(request: SwapRequest, urgency?: Urgency): Promise<SwapOrder>;
  build(request: SwapRequest & { readonly taker: string }, urgency?: Urgency): Promise<SwapBuild>;
  /**
   * Hands over signed bytes, or asks again what became of them: posting the same bytes is safe.
   * Throws where no answer came: the outcome is unknown then, whatever the error.
   */
  execute(request: {
    readonly signedTransaction: Uint8Array;
    readonly requestId: string;
    readonly lastValidBlockHeight?: bigint | undefined;
  }, call?: Abandonable): Promise<ExecuteAnswer>;
}

/** An unsigned transaction with the terms of its own bytes. */
export interface ComposedTransaction {
  readonly transaction: Uint8Array;
  readonly unitLimit: number;
  readonly priorityFeeLamports: Lamports;
}

/** What a node says of a signature. */
export interface SignatureStatus {
  readonly slot: bigint;
  readonly confirmation: 'processed' | 'confirmed' | 'finalized';
  /** Undefined when it succeeded. */
  readonly error?: { readonly code: string; readonly message: string } | undefined;
}

/** What a transaction's own bytes say; read from them, whatever the service claims. */
export interface TransactionFacts {
  readonly blockhash: string;
  readonly feePayer: string;
  readonly signers: readonly string[];
  /** A transaction on a nonce never expires. */
  readonly durableNonce: boolean;
}

/** One Solana node. Faults are thrown as GannetError. */
export interface Chain {
  /** Names the node's address without telling it: a proof counts only where one node gave all of it. */
  readonly node?: string | undefined;
  /**
   * Composes a transaction from a build: own compute-unit limit by simulation, price clamped, given tables and
   * blockhash.
   */
  compose(build: SwapBuild, payer: string): Promise<ComposedTransaction>;
  /** Sends signed bytes. `rejected` means that this node refused them: not proof that they cannot land. */
  send(transaction: Uint8Array, call?: Abandonable): Promise<{ readonly kind: 'accepted' } | {
    readonly kind: 'rejected'; readonly code: string; readonly message: string;
  }>;
  signatureStatus(
    signature: string, options: { readonly searchHistory: boolean },
  ): Promise<SignatureStatus | undefined>;
  /** Block height (not slot) at finalized. */
  finalizedBlockHeight(): Promise<bigint>;
  isBlockhashValid(blockhash: string): Promise<boolean>;
  /** What a landed transaction did to a wallet; undefined while the node does not have it. */
  landedSwap(options: {
    readonly signature: string; readonly owner: string; readonly inputMint: Mint; readonly outputMint: Mint;
  }): Promise<LandedSwap | undefined>;
  /** Finds the landed transaction that carries our signature, made after a slot, though someone else paid for it. */
  findBySigner(
    options: { readonly owner: string; readonly ownSignature: string; readonly sinceSlot?: bigint | undefined },
  ): Promise<string | undefined>;
  /** All signatures of a landed transaction, base58; undefined while the node does not have it. */
  signaturesOf(signature: string): Promise<readonly string[] | undefined>;
  /**
   * What a wallet has of a mint, native and wrapped SOL together, as of a slot that no proof asked before was ahead of.
   */
  tokenBalance(owner: string, mint: Mint): Promise<TokenBalance>;
  readTransaction(transaction: Uint8Array): TransactionFacts;
}

/** A wallet's balance of one mint. */
export interface TokenBalance {
  readonly amount: Amount;
  /** As of this slot, at confirmed: all that landed until then is in it. */
  readonly slot: bigint;
  /** Nothing that landed after this one is in it. */
  readonly lastSlot: bigint;
}

/** What a transaction must come to: who signs holds the bytes against it, by a reading of his own. */
export interface SigningTerms {
  readonly intentId: string;
  /** From 1. */
  readonly attempt: number;
  readonly route: Route;
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  /** All that may leave the wallet of the input, fees in it included. */
  readonly amountIn: Amount;
  /** What must arrive at least, after all fees. */
  readonly minimumOut: Amount;
  readonly maker?: string | undefined;
  /** Who pays the network's fee in the wallet's place. */
  readonly feePayer?: string | undefined;
  /** The share of the swap that third parties may get. */
  readonly maxFeeBps: Bps;
}

/** Holds the key; nobody else does. */
export interface Signer {
  /** Base58. */
  readonly address: string;
  /**
   * Signs as this address, leaving other signatures as they are. Throws SIGN_REFUSED with the policy's code in its
   * details.
   */
  sign(transaction: Uint8Array, terms: SigningTerms): Promise<SignedTransaction>;
}

export interface SignedTransaction {
  readonly transaction: Uint8Array;
  /** Ours, base58. */
  readonly signature: string;
  /** The fee payer's, base58; undefined while that slot is empty. */
  readonly transactionId?: string | undefined;
  /** SHA-256 of the message, hex. */
  readonly messageHash: string;
}

/** An open intent as the journal knows it. */
export interface JournalledIntent {
  readonly intent: Intent;
  readonly state: IntentState;
  /** Signed ones, in order. */
  readonly attempts: readonly Attempt[];
  /** Which attempt the state is of, from 1: one more than was signed while the next one is built. */
  readonly attempt: number;
  /** What the attempts before that one cost. */
  readonly spentLamports: Lamports;
}

/** Durable memory. Every method returns only after the row is on disk. */
export interface Journal {
  /** With what its strategy keeps as of it: both are written, or neither is. */
  intentApproved(intent: Intent, strategyState?: StrategyState): void;
  /** Must return before the first byte of the transaction leaves. */
  attemptSigned(attempt: Attempt): void;
  transition(outcome: Outcome): void;
  openIntents(): readonly JournalledIntent[];
  /** Whether a transaction with this signature of ours was written down before, for whatever intent. */
  isSigned(signature: string): boolean;
  /** How far the proof of an attempt came in earlier processes; undefined where nothing is known of it. */
  proofOf(attempt: Pick<Attempt, 'intentId' | 'number'>): ProofProgress | undefined;
  /** Keeps it for the next process. What the disk does not take is lost: the proof then begins further back. */
  keepProof(attempt: Pick<Attempt, 'intentId' | 'number'>, progress: ProofProgress): void;
  /** What other swaps, all that ended since an attempt was begun, did to the wallet's balance of a mint. */
  movesSince(attempt: Pick<Attempt, 'intentId' | 'number'>, mint: Mint): readonly BalanceMove[];
}
