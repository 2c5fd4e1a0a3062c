import type { Amount, Bps, Lamports } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { Route } from './proposal.ts';
import type { CapRoom } from './usage-counters.ts';

/** Open states: the outcome is not known yet. */
export const OPEN_STATES = ['approved', 'building', 'signed', 'submitted', 'unknown'] as const;
/**
 * Terminal states. confirmed: landed. failed: landed with an error, the fee is paid. expired: signed, and proven never
 * to land. abandoned: given up before anything was signed, or after proof that nothing signed can land.
 */
export const TERMINAL_STATES = ['confirmed', 'failed', 'expired', 'abandoned'] as const;
type OpenState = (typeof OPEN_STATES)[number];
type TerminalState = (typeof TERMINAL_STATES)[number];
/** A state of an intent. */
export type IntentState = OpenState | TerminalState;

const NEXT: Readonly<Record<IntentState, readonly IntentState[]>> = {
  approved: ['building', 'abandoned'],
  // A build may be abandoned or repeated as long as nothing is signed.
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

/** Codes of an `unknown` that needs an operator: the swap's input stays locked until then. */
const NEEDS_OPERATOR = {
  /** The proof says that it never landed, but the wallet lacks the input. */
  PROOF_DISAGREES: true,
  /** Neither its landing nor its expiry could be proven for longer than a transaction is valid. */
  OUTCOME_UNPROVEN: true,
} as const;
type UnprovenCode = keyof typeof NEEDS_OPERATOR;

/** Returns whether an `unknown` of this code waits for an operator: `gannet resolve`. */
export function needsOperator(code: string | undefined): code is UnprovenCode {
  return code !== undefined && Object.hasOwn(NEEDS_OPERATOR, code);
}

/** `exit` leads back into the budget's token; where requests are scarce, exits go before entries. */
export type IntentPurpose = 'entry' | 'exit';

/** An approved proposal with the terms of its execution. */
export interface Intent {
  /** `<strategy>-<n>` from strategy and counter, so that a replay gives the same id. */
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
  readonly tag?: string | undefined;
}

/** The amounts and costs of a landed swap. */
export interface Fill {
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly amountIn: Amount;
  readonly amountOut: Amount;
  /** Base fee, priority fee and tips. */
  readonly feeLamports: Lamports;
  /** The tips among the costs of the attempt that landed, where the chain tells them from the swapped SOL. */
  readonly tipLamports?: Lamports | undefined;
  /** Deposits in opened accounts; they come back when the accounts are closed. */
  readonly rentLamports: Lamports;
  /** Got the output in the wallet's place, which has none of it; absent where the wallet got it. */
  readonly receiver?: string | undefined;
}

/**
 * One transition of an intent. It is plain data, goes through the inbox like every input, and is repeated by a replay.
 * A timeout is `unknown`, never `failed`.
 */
export interface Outcome {
  readonly kind: 'outcome';
  readonly intentId: string;
  /** 1 for the first attempt; a further one only after proof that this one cannot land. */
  readonly attempt: number;
  readonly state: Exclude<IntentState, 'approved'>;
  readonly router?: string | undefined;
  /** The output of the accepted quote, smallest units. */
  readonly quotedOut?: Amount | undefined;
  readonly signature?: string | undefined;
  readonly messageHash?: string | undefined;
  readonly lastValidBlockHeight?: bigint | undefined;
  readonly feePayer?: string | undefined;
  /** A stable code where the intent was not executed as asked. */
  readonly code?: string | undefined;
  readonly reason?: string | undefined;
  /** The id that the service's host gave to the last request with the signed transaction that was answered. */
  readonly gatewayRequestId?: string | undefined;
  /** With `abandoned` where the signer refused for a cap: the room that is left. */
  readonly capRoom?: CapRoom | undefined;
  /** With `building` of a further attempt: the proven end of the one before. */
  readonly ended?: 'failed' | 'expired' | undefined;
  /** With `confirmed`. Its fee is that of all attempts. */
  readonly fill?: Fill | undefined;
  /** With `building` of a further attempt, the fees of the one before; with a terminal state, those of all attempts. */
  readonly feeLamports?: Lamports | undefined;
  /**
   * With `confirmed` and `failed` of a chain: where the last attempt landed. With `building` of a further attempt:
   * where the one before did, if it failed.
   */
  readonly slot?: bigint | undefined;
  /** The key of the swap's proposal, where a strategy sees the outcome. */
  readonly key?: string | undefined;
  /** The tag of the swap's proposal, where a strategy sees the outcome. */
  readonly tag?: string | undefined;
}

/** Returns an outcome as its strategy sees it: with the key and the tag of the proposal that led to the swap. */
export function toldOutcome(outcome: Outcome, proposed: Pick<Intent, 'key' | 'tag'> | undefined): Outcome {
  const { key, tag } = proposed ?? {};
  return key === undefined && tag === undefined ? outcome
    : { ...outcome, ...(key === undefined ? {} : { key }), ...(tag === undefined ? {} : { tag }) };
}

/**
 * Returns an outcome with every member present, defined or not. Backtests create theirs here: objects of one shape keep
 * the engine's hot path fast.
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

type CapRoomText = Omit<CapRoom, 'left'> & { readonly left: string };
type WideMember = 'quotedOut' | 'lastValidBlockHeight' | 'feeLamports' | 'slot';
type OutcomeText = Omit<Outcome, WideMember | 'fill' | 'capRoom'> & { readonly [K in WideMember]?: string }
  & { readonly fill?: FillText; readonly capRoom?: CapRoomText };
type FillAmount = 'amountIn' | 'amountOut' | 'feeLamports' | 'rentLamports';
type FillText = Omit<Fill, FillAmount | 'tipLamports'> & { readonly [K in FillAmount]: string }
  & { readonly tipLamports?: string };

/** Returns the outcome in a JSON text that Gannet wrote, with amounts as bigint. */
export function readOutcome(text: string): Outcome {
  const { quotedOut, lastValidBlockHeight, feeLamports, slot, fill, capRoom, ...rest } =
    JSON.parse(text) as OutcomeText;
  return {
    ...rest,
    ...(quotedOut === undefined ? {} : { quotedOut: BigInt(quotedOut) as Amount }),
    ...(lastValidBlockHeight === undefined ? {} : { lastValidBlockHeight: BigInt(lastValidBlockHeight) }),
    ...(feeLamports === undefined ? {} : { feeLamports: BigInt(feeLamports) as Lamports }),
    ...(slot === undefined ? {} : { slot: BigInt(slot) }),
    ...(fill === undefined ? {} : { fill: readFill(fill) }),
    ...(capRoom === undefined ? {} : { capRoom: { ...capRoom, left: BigInt(capRoom.left) as Amount } }),
  };
}

function readFill({ tipLamports, ...fill }: FillText): Fill {
  return {
    ...fill,
    ...(tipLamports === undefined ? {} : { tipLamports: BigInt(tipLamports) as Lamports }),
    amountIn: BigInt(fill.amountIn) as Amount,
    amountOut: BigInt(fill.amountOut) as Amount,
    feeLamports: BigInt(fill.feeLamports) as Lamports,
    rentLamports: BigInt(fill.rentLamports) as Lamports,
  };
}

/** An intent with the state it has reached. */
interface TrackedIntent {
  readonly intent: Intent;
  state: IntentState;
  /** Whether its outcome may stay unknown for long: it locks its input, and does not count as an open swap. */
  isUnproven?: boolean | undefined;
}

/**
 * The intents that are under way, oldest first. They are few, and each has a new id, so a list is faster than a map,
 * which would have to hash and intern every id.
 */
export class TrackedIntents {
  #all: readonly TrackedIntent[] = [];

  get size(): number {
    return this.#all.length;
  }

  /** Returns all of them; the list does not change when intents are added or deleted. */
  values(): readonly TrackedIntent[] {
    return this.#all;
  }

  /** Returns the intent of an id; undefined where it is not under way. */
  get(id: string): TrackedIntent | undefined {
    for (const tracked of this.#all) if (tracked.intent.id === id) return tracked;
    return undefined;
  }

  has(id: string): boolean {
    return this.get(id) !== undefined;
  }

  add(tracked: TrackedIntent): void {
    this.#all = [...this.#all, tracked];
  }

  delete(id: string): void {
    this.#all = this.#all.filter(({ intent }) => intent.id !== id);
  }
}
