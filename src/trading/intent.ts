import type { Amount, Bps, Lamports } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { CapRoom } from './spend-tally.ts';
import type { Route } from './proposal.ts';

/** Open states; the outcome is not known yet. */
export const OPEN_STATES = ['approved', 'building', 'signed', 'submitted', 'unknown'] as const;
/**
 * Terminal states. confirmed: landed. failed: landed with an error, the fee is paid. expired: signed, and proven never
 * to land. abandoned: given up before anything was signed, or after proof that nothing signed can land.
 */
export const TERMINAL_STATES = ['confirmed', 'failed', 'expired', 'abandoned'] as const;
export type OpenState = (typeof OPEN_STATES)[number];
export type TerminalState = (typeof TERMINAL_STATES)[number];
export type IntentState = OpenState | TerminalState;

const NEXT: Readonly<Record<IntentState, readonly IntentState[]>> = {
  approved: ['building', 'abandoned'],
  // A build may be given up or begun anew while nothing is signed.
  building: ['building', 'signed', 'abandoned'],
  // Signed bytes may reach the chain by any path, so nothing short of an answer or proof closes the intent.
  signed: ['submitted', 'unknown', 'confirmed', 'failed', 'expired'],
  submitted: ['submitted', 'unknown', 'confirmed', 'failed', 'expired', 'building'],
  unknown: ['unknown', 'submitted', 'confirmed', 'failed', 'expired', 'building'],
  confirmed: [], failed: [], expired: [], abandoned: [],
};

/** Returns whether an intent may go from one state to another. */
export function canTransition(from: IntentState, to: IntentState): boolean {
  return NEXT[from].includes(to);
}

/** Returns whether no more outcome can follow. */
export function isTerminal(state: IntentState): state is TerminalState {
  return state === 'confirmed' || state === 'failed' || state === 'expired' || state === 'abandoned';
}

/** Codes of an `unknown` that does not pass by itself: the swap's input stays locked, and a person should look. */
const NEEDS_OPERATOR = {
  /** Everything proves that it never landed, but the wallet lacks what it would have swapped. */
  PROOF_DISAGREES: true,
  /** Neither its landing nor its death could be proven for longer than a transaction lives. */
  OUTCOME_UNPROVEN: true,
} as const;
type UnprovenCode = keyof typeof NEEDS_OPERATOR;

/** Returns whether an `unknown` of this code waits for a person: `gannet resolve`. */
export function needsOperator(code: string | undefined): code is UnprovenCode {
  return code !== undefined && Object.hasOwn(NEEDS_OPERATOR, code);
}

/** `exit` leads back into the budget's token; where requests are scarce it goes before what only enters. */
export type IntentPurpose = 'entry' | 'exit';

/** An approved proposal: what will be carried out, and within which terms. */
export interface Intent {
  /** `<strategy>-<n>`; from strategy and counter, so that replay gives the same. */
  readonly id: string;
  readonly strategy: string;
  readonly createdAt: Millis;
  readonly purpose: IntentPurpose;
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly amountIn: Amount;
  /** Our own cap, applied once: the service may choose less, never more. */
  readonly maxSlippageBps: Bps;
  readonly maxPriceImpactBps: Bps;
  readonly maxFeeBps: Bps;
  /** The strategy's own floor on the output, smallest units. */
  readonly minimumOut?: Amount | undefined;
  readonly route: Route;
  readonly reason: string;
  readonly key?: string | undefined;
}

/** What a landed swap moved and cost. */
export interface Fill {
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly amountIn: Amount;
  readonly amountOut: Amount;
  /** Base and priority fee together with tips: gone. */
  readonly feeLamports: Lamports;
  /** Deposits in accounts opened on the way: ours, and back when they are closed. */
  readonly rentLamports: Lamports;
}

/**
 * What became of an intent, one transition at a time. It is plain data, it goes through the inbox like everything else,
 * and replay repeats it. A timeout is `unknown`, never `failed`.
 */
export interface Outcome {
  readonly kind: 'outcome';
  readonly intentId: string;
  /** 1 for the first attempt; a further one only after proof that this one cannot land. */
  readonly attempt: number;
  readonly state: Exclude<IntentState, 'approved'>;
  readonly router?: string | undefined;
  /** The output the accepted quote promised, smallest units. */
  readonly quotedOut?: Amount | undefined;
  readonly signature?: string | undefined;
  readonly messageHash?: string | undefined;
  readonly lastValidBlockHeight?: bigint | undefined;
  readonly feePayer?: string | undefined;
  /** A stable code where something went otherwise than asked. */
  readonly code?: string | undefined;
  readonly reason?: string | undefined;
  /** With `abandoned` where the signer refused for a cap: what it leaves. */
  readonly capRoom?: CapRoom | undefined;
  /** With `building` of a further attempt: what became of the one before it, for certain. */
  readonly ended?: 'failed' | 'expired' | undefined;
  /** With `confirmed`. Its fee is that of all attempts. */
  readonly fill?: Fill | undefined;
  /** With `building` of a further attempt, what the one before cost; with a terminal state, what all attempts cost. */
  readonly feeLamports?: Lamports | undefined;
  /** With `confirmed` and `failed` of a chain: where the last attempt landed. */
  readonly slot?: bigint | undefined;
}

/**
 * Returns an outcome with every member in place, known or not. Those of a backtest are made here: objects of one shape
 * keep the engine's path fast, on which quotes by the million and outcomes meet.
 */
export function outcomeOf(intentId: string, state: Outcome['state'], rest: Partial<Outcome> = {}): Outcome {
  return {
    kind: 'outcome',
    intentId,
    attempt: rest.attempt ?? 1,
    state,
    router: rest.router,
    quotedOut: rest.quotedOut,
    signature: rest.signature,
    messageHash: rest.messageHash,
    lastValidBlockHeight: rest.lastValidBlockHeight,
    feePayer: rest.feePayer,
    code: rest.code,
    reason: rest.reason,
    capRoom: rest.capRoom,
    ended: rest.ended,
    fill: rest.fill,
    feeLamports: rest.feeLamports,
    slot: rest.slot,
  };
}
