import type { Amount, Bps } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { DenialCode } from './limits.ts';
import type { Retry, Route, SwapProposal } from './proposal.ts';
import { intentKey } from './recent-keys.ts';

/** More refusals of a strategy than this many do not wait at once: a longer list is a fault of the strategy. */
const RETRIES_PER_STRATEGY_MAX = 100;

/** Refusals that pass by themselves: an open swap, a rate, an input or a price that is missing or old, a pause. */
const PASSING: ReadonlySet<string> = new Set<DenialCode>([
  'INTENT_OPEN_FOR_MINT', 'INTENTS_OPEN_LIMIT', 'EXIT_UNDER_WAY', 'RATE_PER_MINUTE', 'RATE_PER_HOUR', 'RATE_PER_DAY',
  'INPUT_STALE', 'QUOTE_STALE', 'VALUE_UNKNOWN', 'SERVICE_UNAUTHORIZED', 'SERVICE_FORBIDDEN', 'SERVICE_SILENT',
  'TOKEN_UNVETTED', 'COOLDOWN_ACTIVE',
]);

/** Returns whether a refusal passes by itself, so that the same proposal may be approved later. */
export function isPassing(code: string): boolean {
  return PASSING.has(code);
}

/** A proposal with a retry policy, which always has a key. */
interface RetriedSwap extends SwapProposal {
  readonly key: string;
  readonly retry: Retry;
}

/** A refused proposal that is proposed again. */
export interface WaitingProposal {
  readonly strategy: string;
  readonly proposal: RetriedSwap;
}

/** A waiting proposal as plain data. */
export interface WaitingProposalSnapshot {
  readonly strategy: string;
  readonly inputMint: string;
  readonly outputMint: string;
  /** A decimal string, "all", or a fraction. */
  readonly amount: string | { readonly fraction: number };
  readonly limit?: string | undefined;
  readonly slippageBps?: number | undefined;
  readonly route?: Route | undefined;
  readonly reason: string;
  readonly key: string;
  readonly tag?: string | undefined;
  readonly retry: Retry;
}

/** Returns whether a proposal has a retry policy; `readProposal` guarantees the key. */
export function isRetried(proposal: SwapProposal): proposal is RetriedSwap {
  return proposal.retry !== undefined && proposal.key !== undefined;
}

/** The refused proposals that wait for their next try: one for each key of a strategy, oldest first. */
export class WaitingProposals {
  readonly #byKey = new Map<string, WaitingProposal>();
  #version = 0;

  constructor(saved: readonly WaitingProposalSnapshot[] = []) {
    for (const waiting of saved) this.put(readWaiting(waiting));
  }

  /** Increases with every change. */
  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** Returns them with their names, oldest first. */
  entries(): IterableIterator<[name: string, waiting: WaitingProposal]> {
    return this.#byKey.entries();
  }

  get(name: string): WaitingProposal | undefined {
    return this.#byKey.get(name);
  }

  /** Adds a proposal, in place of an earlier one with its key. Returns false where too many of the strategy wait. */
  put(waiting: WaitingProposal): boolean {
    const { strategy, proposal } = waiting;
    const name = intentKey(strategy, proposal.key);
    if (!this.#byKey.has(name)) {
      let own = 0;
      for (const other of this.#byKey.values()) if (other.strategy === strategy) own += 1;
      if (own >= RETRIES_PER_STRATEGY_MAX) return false;
    }
    this.#byKey.set(name, waiting);
    this.#version += 1;
    return true;
  }

  delete(strategy: string, key: string): void {
    if (this.#byKey.delete(intentKey(strategy, key))) this.#version += 1;
  }

  /** Removes those whose time is over at an instant, and those that are over for another cause. */
  drop(at: Millis, isOver: (name: string, waiting: WaitingProposal) => boolean): void {
    for (const [name, waiting] of this.#byKey)
      if (waiting.proposal.retry.until <= at || isOver(name, waiting)) this.#byKey.delete(name);
  }

  snapshot(): WaitingProposalSnapshot[] {
    return [...this.#byKey.values()].map(({ strategy, proposal: { kind: _kind, amount, limit, ...rest } }) => ({
      ...rest, strategy, amount: typeof amount === 'bigint' ? amount.toString() : amount,
      ...(limit === undefined ? {} : { limit: limit.toString() }),
    }));
  }
}

function readWaiting(
  { strategy, amount, limit, inputMint, outputMint, slippageBps, ...rest }: WaitingProposalSnapshot,
): WaitingProposal {
  return {
    strategy,
    proposal: {
      kind: 'swap', ...rest,
      inputMint: inputMint as Mint, outputMint: outputMint as Mint,
      amount: amount === 'all' || typeof amount === 'object' ? amount : (BigInt(amount) as Amount),
      ...(limit === undefined ? {} : { limit: BigInt(limit) as Amount }),
      ...(slippageBps === undefined ? {} : { slippageBps: slippageBps as Bps }),
    },
  };
}
