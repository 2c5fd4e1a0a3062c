import type { StatementSync } from 'node:sqlite';
import type { Millis } from '../core/time.ts';
import type { IntentState } from '../trading/intent.ts';
import { readOutcome } from '../trading/intent.ts';
import type { AttemptRow, IntentRow } from './journal-rows.ts';
import type { NumberedIntent, PackedSwap } from './packed-swaps.ts';
import { createPackedSwaps } from './packed-swaps.ts';

/** An intent as `gannet journal list --json` prints it. */
export interface IntentListing {
  readonly intent_id: string;
  readonly strategy: string;
  readonly state: IntentState;
  readonly route: string;
  readonly input_mint: string;
  readonly output_mint: string;
  /** Smallest units. */
  readonly amount_in: string;
  /** The received amount in smallest units; null until it is known. */
  readonly amount_out: string | null;
  readonly created_at: Millis;
  readonly attempts: readonly AttemptListing[];
}

interface AttemptListing {
  readonly number: number;
  readonly state: IntentState;
  readonly signature: string;
  readonly message_hash: string;
  readonly last_valid_block_height: string;
  readonly fee_payer: string;
}

/** An intent with its whole history; amounts in smallest units, null where they are unknown or do not apply. */
export interface IntentStory extends IntentListing {
  readonly purpose: string;
  /** The reason of the proposal. */
  readonly reason: string;
  readonly minimum_out: string | null;
  readonly max_slippage_bps: number;
  /** The output of the last accepted quote. */
  readonly quoted_out: string | null;
  readonly router: string | null;
  readonly fee_lamports: string | null;
  readonly rent_lamports: string | null;
  readonly transitions: readonly TransitionListing[];
}

interface TransitionListing {
  readonly at: Millis;
  readonly attempt: number;
  readonly state: IntentState;
  readonly router: string | null;
  readonly quoted_out: string | null;
  readonly signature: string | null;
  readonly code: string | null;
  readonly reason: string | null;
  /** The id that the service's host gave to the request with the signed transaction. */
  readonly gateway_request_id: string | null;
}

interface TransitionRow {
  readonly attempt: number;
  readonly at: number;
  readonly state: IntentState;
  readonly outcome: string;
}

/** Returns the listings of the journal for people and scripts. */
export function createListings(
  prepare: (sql: string) => StatementSync, { hasPacked = true } = {},
): {
  list(options: { readonly state?: IntentState | undefined; readonly limit: number }): IntentListing[];
  show(intentId: string): IntentStory | undefined;
  ofKey(key: string): IntentStory[];
} {
  const transitionsOf = (intentId: string): TransitionRow[] =>
    prepare('SELECT attempt, at, state, outcome FROM transitions WHERE intent_id = ? ORDER BY number').all(
      intentId,
    ) as unknown as TransitionRow[];
  const attemptsOf = (intentId: string): AttemptRow[] =>
    prepare('SELECT * FROM attempts WHERE intent_id = ? ORDER BY number').all(intentId) as unknown as AttemptRow[];
  const wholeStory = (row: IntentRow): IntentStory => {
    const transitions = transitionsOf(row.intent_id);
    return { ...listingOf(row, attemptsOf(row.intent_id), transitions), ...storyOf(row, transitions) };
  };
  return {
    list({ state, limit }) {
      const rows = state === undefined
        ? prepare('SELECT * FROM intents ORDER BY number DESC LIMIT ?').all(limit)
        : prepare('SELECT * FROM intents WHERE state = ? ORDER BY number DESC LIMIT ?').all(state, limit);
      const whole = rows as unknown as NumberedIntent[];
      const packed = !hasPacked ? [] : createPackedSwaps(prepare).newest({
        limit, from: whole.length < limit ? 0 : whole.at(-1)?.number ?? Infinity,
        isWanted: ({ intent }) => state === undefined || intent.state === state,
      });
      return [
        ...whole.map((row) =>
          ({ number: row.number, listing: listingOf(row, attemptsOf(row.intent_id), transitionsOf(row.intent_id)) })),
        ...packed.map((swap) => ({ number: swap.intent.number, listing: packedListing(swap) })),
      ].sort((a, b) => b.number - a.number).slice(0, limit).map(({ listing }) => listing);
    },
    show(intentId) {
      const row = prepare('SELECT * FROM intents WHERE intent_id = ?').get(intentId) as unknown as IntentRow
        | undefined;
      if (row !== undefined) return wholeStory(row);
      const packed = hasPacked ? createPackedSwaps(prepare).find(intentId) : undefined;
      return packed === undefined ? undefined : packedStory(packed);
    },
    ofKey(key) {
      const rows = prepare('SELECT * FROM intents WHERE key = ? ORDER BY number').all(key);
      return (rows as unknown as IntentRow[]).map(wholeStory);
    },
  };
}

/** Of a packed intent the end alone is kept, without its attempts. */
function packedStory(swap: PackedSwap): IntentStory {
  return { ...packedListing(swap), ...storyOf(swap.intent, [endOf(swap)]) };
}

function packedListing(swap: PackedSwap): IntentListing {
  return listingOf(swap.intent, [], [endOf(swap)]);
}

function endOf({ intent, ...end }: PackedSwap): TransitionRow {
  return { ...end, state: intent.state as IntentState };
}

function listingOf(
  row: IntentRow, attempts: readonly AttemptRow[], transitions: readonly TransitionRow[],
): IntentListing {
  const last = transitions.at(-1);
  const fill = last === undefined ? undefined : readOutcome(last.outcome).fill;
  return {
    intent_id: row.intent_id,
    strategy: row.strategy,
    state: row.state as IntentState,
    route: row.route,
    input_mint: row.input_mint,
    output_mint: row.output_mint,
    amount_in: row.amount_in,
    amount_out: fill?.amountOut.toString() ?? null,
    created_at: row.created_at,
    attempts: attempts.map((attempt) => ({
      number: attempt.number,
      state: stateOf(attempt.number, transitions),
      signature: attempt.signature,
      message_hash: attempt.message_hash,
      last_valid_block_height: attempt.last_valid_block_height,
      fee_payer: attempt.fee_payer,
    })),
  };
}

/**
 * Returns the state of an attempt. It is signed from its first row on; the end of an attempt that was followed by
 * another is in the start of the next.
 */
function stateOf(number: number, transitions: readonly TransitionRow[]): IntentState {
  const next = transitions.find(({ attempt, state }) => attempt === number + 1 && state === 'building');
  const ended = next === undefined ? undefined : readOutcome(next.outcome).ended;
  return ended ?? transitions.findLast(({ attempt, state }) => attempt === number && state !== 'building')?.state
    ?? 'signed';
}

function storyOf(row: IntentRow, rows: readonly TransitionRow[]): Omit<IntentStory, keyof IntentListing> {
  const transitions = rows.map(transitionOf);
  const outcome = rows.length === 0 ? undefined : readOutcome(rows.at(-1)!.outcome);
  return {
    purpose: row.purpose,
    reason: row.reason,
    minimum_out: row.minimum_out,
    max_slippage_bps: row.max_slippage_bps,
    quoted_out: transitions.findLast(({ quoted_out: quoted }) => quoted !== null)?.quoted_out ?? null,
    router: transitions.findLast(({ router }) => router !== null)?.router ?? null,
    fee_lamports: (outcome?.fill?.feeLamports ?? outcome?.feeLamports)?.toString() ?? null,
    rent_lamports: outcome?.fill?.rentLamports.toString() ?? null,
    transitions,
  };
}

function transitionOf({ at, attempt, state, outcome }: TransitionRow): TransitionListing {
  const { router, quotedOut, signature, code, reason, gatewayRequestId } = readOutcome(outcome);
  return {
    at, attempt, state, router: router ?? null, quoted_out: quotedOut?.toString() ?? null, signature: signature ?? null,
    code: code ?? null, reason: reason ?? null, gateway_request_id: gatewayRequestId ?? null,
  };
}
