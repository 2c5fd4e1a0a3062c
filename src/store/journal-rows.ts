import type { Amount, Bps } from '../core/amount.ts';
import type { Mint } from '../market/token.ts';
import type { Attempt } from '../trading/attempt.ts';
import type { Intent, IntentPurpose, IntentState } from '../trading/intent.ts';
import type { Route } from '../trading/proposal.ts';

/** Rows in the form of SQLite. */
export interface IntentRow {
  readonly intent_id: string;
  readonly strategy: string;
  readonly created_at: number;
  readonly purpose: string;
  readonly input_mint: string;
  readonly output_mint: string;
  readonly amount_in: string;
  readonly max_slippage_bps: number;
  readonly max_price_impact_bps: number;
  readonly max_fee_bps: number;
  readonly minimum_out: string | null;
  readonly route: string;
  readonly reason: string;
  readonly key: string | null;
  /** Absent in a journal of an earlier format. */
  readonly tag?: string | null;
  readonly state: string;
}

export interface AttemptRow {
  readonly intent_id: string;
  readonly number: number;
  readonly route: string;
  readonly router: string;
  readonly quoted_out: string;
  readonly threshold: string;
  readonly request_id: string | null;
  readonly signature: string;
  readonly transaction_id: string | null;
  readonly message_hash: string;
  readonly blockhash: string;
  readonly last_valid_block_height: string;
  readonly fee_payer: string;
  readonly maker: string | null;
  /** Since format 6. */
  readonly receiver: string | null;
  readonly input_balance: string | null;
  readonly input_slot_from: string | null;
  readonly input_slot_to: string | null;
  readonly signed_transaction: Uint8Array;
}

/** Returns the intent in a row. */
export function readIntent(row: IntentRow): Intent {
  return {
    id: row.intent_id,
    strategy: row.strategy,
    createdAt: row.created_at,
    purpose: row.purpose as IntentPurpose,
    inputMint: row.input_mint as Mint,
    outputMint: row.output_mint as Mint,
    amountIn: BigInt(row.amount_in) as Amount,
    maxSlippageBps: row.max_slippage_bps as Bps,
    maxPriceImpactBps: row.max_price_impact_bps as Bps,
    maxFeeBps: row.max_fee_bps as Bps,
    ...(row.minimum_out === null ? {} : { minimumOut: BigInt(row.minimum_out) as Amount }),
    route: row.route as Route,
    reason: row.reason,
    ...(row.key === null ? {} : { key: row.key }),
    ...(typeof row.tag === 'string' ? { tag: row.tag } : {}),
  };
}

/** Returns the row of an approved intent. */
export function writeIntent(intent: Intent): Readonly<Record<string, string | number | null>> {
  return {
    intent_id: intent.id,
    strategy: intent.strategy,
    created_at: intent.createdAt,
    purpose: intent.purpose,
    input_mint: intent.inputMint,
    output_mint: intent.outputMint,
    amount_in: intent.amountIn.toString(),
    max_slippage_bps: intent.maxSlippageBps,
    max_price_impact_bps: intent.maxPriceImpactBps,
    max_fee_bps: intent.maxFeeBps,
    minimum_out: intent.minimumOut?.toString() ?? null,
    route: intent.route,
    reason: intent.reason,
    key: intent.key ?? null,
    tag: intent.tag ?? null,
    state: 'approved' satisfies IntentState,
  };
}

/** Returns the attempt in a row. */
export function readAttempt(row: AttemptRow): Attempt {
  return {
    intentId: row.intent_id,
    number: row.number,
    route: row.route as Route,
    router: row.router,
    quotedOut: BigInt(row.quoted_out) as Amount,
    threshold: BigInt(row.threshold) as Amount,
    ...(row.request_id === null ? {} : { requestId: row.request_id }),
    signature: row.signature,
    ...(row.transaction_id === null ? {} : { transactionId: row.transaction_id }),
    messageHash: row.message_hash,
    blockhash: row.blockhash,
    lastValidBlockHeight: BigInt(row.last_valid_block_height),
    feePayer: row.fee_payer,
    ...(row.maker === null ? {} : { maker: row.maker }),
    ...(row.receiver === null ? {} : { receiver: row.receiver }),
    ...(row.input_balance === null ? {} : { inputBalance: BigInt(row.input_balance) as Amount }),
    ...(row.input_slot_from === null || row.input_slot_to === null ? {}
      : { inputSlots: { from: BigInt(row.input_slot_from), to: BigInt(row.input_slot_to) } }),
    signedTransaction: row.signed_transaction,
  };
}

/** Returns the row of an attempt; `signed_at` is the time of writing. */
export function writeAttempt(
  attempt: Attempt, at: number,
): Readonly<Record<string, string | number | null | Uint8Array>> {
  return {
    intent_id: attempt.intentId,
    number: attempt.number,
    signed_at: at,
    route: attempt.route,
    router: attempt.router,
    quoted_out: attempt.quotedOut.toString(),
    threshold: attempt.threshold.toString(),
    request_id: attempt.requestId ?? null,
    signature: attempt.signature,
    transaction_id: attempt.transactionId ?? null,
    message_hash: attempt.messageHash,
    blockhash: attempt.blockhash,
    last_valid_block_height: attempt.lastValidBlockHeight.toString(),
    fee_payer: attempt.feePayer,
    maker: attempt.maker ?? null,
    receiver: attempt.receiver ?? null,
    input_balance: attempt.inputBalance?.toString() ?? null,
    input_slot_from: attempt.inputSlots?.from.toString() ?? null,
    input_slot_to: attempt.inputSlots?.to.toString() ?? null,
    signed_transaction: attempt.signedTransaction,
  };
}

/** Returns a statement that inserts a row with the given columns. */
export function insertStatement(table: string, columns: readonly string[]): string {
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((column) => `:${column}`).join(', ')})`;
}
