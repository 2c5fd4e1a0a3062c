import type { Mint } from '../../../src/market/token.ts';
import { SOL_MINT } from '../../../src/market/token.ts';

/** What stands in the bytes of a model transaction; two with the same id are the same bytes. */
export interface ModelMessage {
  readonly id: string;
  readonly payer: 'us' | 'sponsor';
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  readonly blockhash: string;
}

/** What the chain does with a transaction once its bytes reach it. */
export interface Fate {
  /** So many sendings get lost. */
  readonly drops: number;
  /** In the last block that is possible, never, or after so many blocks. */
  readonly lands: 'last' | 'never' | number;
  /** Undefined where it succeeds; the wallet's means decide too. */
  readonly error?: string | undefined;
  /** Seen first in a block that falls away. */
  readonly forks: boolean;
  readonly tipLamports: bigint;
  /** How late after their block nodes find it in their history. */
  readonly indexLateMs: number;
  /** How late nodes give the transaction itself. */
  readonly givenLateMs: number;
}

export const KIND_FATE: Fate = { drops: 0, lands: 1, forks: false, tipLamports: 0n, indexLateMs: 0, givenLateMs: 0 };

/** A transaction in a block; one that was dropped is gone after `goneAt`. */
export interface Landing {
  readonly message: ModelMessage;
  readonly transactionId: string;
  readonly slot: number;
  readonly goneAt: number;
  readonly fate: Fate;
  readonly error: string | undefined;
  readonly feeLamports: bigint;
  readonly rentLamports: bigint;
}

export const SLOT_MS = 400;
/** For so many blocks after its own a blockhash is good. */
export const LIFE_BLOCKS = 150;
export const BASE_FEE = 5_000n;
const FIRST_SLOT = 10_000;
const FIRST_HEIGHT = 8_000;
const RENT = 2_039_280n;
const FORK_SLOTS = 2;

interface Pending {
  readonly message: ModelMessage;
  readonly fate: Fate;
  received: number;
  due: number;
  forked: boolean;
}

/** What moved the wallet's balances at once: a transaction of ours that stays, or another one's. */
export interface Movement {
  readonly transactionId: string | undefined;
  readonly slot: number;
  readonly before: ReadonlyMap<Mint, bigint>;
  readonly after: ReadonlyMap<Mint, bigint>;
}

/**
 * A chain of one wallet: blocks with gaps, transactions that may land until their blockhash is too old, balances to the
 * unit.
 */
export class ModelChain {
  readonly landings: Landing[] = [];
  /** In order. */
  readonly movements: Movement[] = [];
  /** What the chain has moved, from outside too. */
  readonly balances: Map<Mint, bigint>;
  readonly #history: { readonly slot: number; readonly balances: ReadonlyMap<Mint, bigint> }[];
  /** By slot from the first on. */
  readonly #heights: number[] = [FIRST_HEIGHT];
  readonly #pending = new Map<string, Pending>();
  readonly #accounts: Set<Mint>;
  readonly #fates: readonly Fate[];
  readonly #skips: () => boolean;

  constructor(options: {
    readonly balances: ReadonlyMap<Mint, bigint>; readonly fates: readonly Fate[]; readonly skips: () => boolean;
  }) {
    this.balances = new Map(options.balances);
    this.#history = [{ slot: 0, balances: new Map(this.balances) }];
    this.#accounts = new Set(this.balances.keys());
    this.#fates = options.fates;
    this.#skips = options.skips;
  }

  /** Makes the slots until a moment. */
  advanceTo(at: number): void {
    for (let slot = this.tip + 1; slot <= FIRST_SLOT + Math.floor(at / SLOT_MS); slot++) {
      const skipped = this.#skips();
      this.#heights.push(this.#heights.at(-1)! + (skipped ? 0 : 1));
      if (!skipped) this.#fill(slot, this.#heights.at(-1)!);
    }
  }

  get tip(): number {
    return FIRST_SLOT + this.#heights.length - 1;
  }

  heightAt(slot: number): number {
    return slot < FIRST_SLOT ? FIRST_HEIGHT - (FIRST_SLOT - slot)
      : this.#heights[Math.min(slot, this.tip) - FIRST_SLOT]!;
  }

  balanceAt(slot: number, mint: Mint): bigint {
    return this.#history.findLast((entry) => entry.slot <= slot)!.balances.get(mint) ?? 0n;
  }

  /** Takes bytes, as often as they come. */
  receive(message: ModelMessage): void {
    const pending = this.#pending.get(message.id)
      ?? { message, fate: this.#fates[this.#pending.size] ?? KIND_FATE, received: 0, due: Infinity, forked: false };
    this.#pending.set(message.id, pending);
    pending.received += 1;
    if (pending.received !== pending.fate.drops + 1) return;
    const { lands } = pending.fate;
    pending.due = lands === 'never' ? Infinity : lands === 'last' ? lastHeight(message)
      : this.heightAt(this.tip) + lands;
  }

  /** Another party moves something in the wallet. */
  move(mint: Mint, change: bigint): void {
    const before = new Map(this.balances);
    this.#add(mint, change);
    this.movements.push({ transactionId: undefined, slot: this.tip, before, after: new Map(this.balances) });
    this.#history.push({ slot: this.tip, balances: new Map(this.balances) });
  }

  /** Returns where a transaction stands in a chain whose last block, processed only, is of a slot. */
  find(transactionId: string, slot: number): Landing | undefined {
    return this.landings.find((landing) =>
      landing.transactionId === transactionId && landing.slot <= slot && slot < landing.goneAt);
  }

  /** Returns where a transaction stands in the part of the chain, up to a slot, that stays. */
  findForGood(transactionId: string, slot: number): Landing | undefined {
    return this.landings.find((landing) =>
      landing.transactionId === transactionId && landing.slot <= slot && landing.goneAt === Infinity);
  }

  #fill(slot: number, height: number): void {
    for (const pending of this.#pending.values()) {
      if (pending.due > height) continue;
      pending.due = Infinity;
      if (height > lastHeight(pending.message)) continue;
      this.#land(pending, slot, height);
    }
  }

  #land(pending: Pending, slot: number, height: number): void {
    const { message, fate } = pending;
    const transactionId = idOf(message);
    if (fate.forks && !pending.forked) {
      pending.forked = true;
      pending.due = height + FORK_SLOTS + 2;
      this.landings.push({
        message, transactionId, slot, goneAt: slot + FORK_SLOTS, fate, error: fate.error, feeLamports: 0n,
        rentLamports: 0n,
      });
      return;
    }
    const paysItself = message.payer === 'us';
    const feeLamports = paysItself ? BASE_FEE : 0n;
    const sol = this.balances.get(SOL_MINT) ?? 0n;
    if (sol < feeLamports) return;
    const rent = paysItself && message.outputMint !== SOL_MINT && !this.#accounts.has(message.outputMint) ? RENT : 0n;
    const solNeeded = feeLamports + fate.tipLamports + rent + (message.inputMint === SOL_MINT ? message.amountIn : 0n);
    const isShort = (this.balances.get(message.inputMint) ?? 0n) < message.amountIn || sol < solNeeded;
    const error = fate.error ?? (isShort ? '1' : undefined);
    const landing = { message, transactionId, slot, goneAt: Infinity, fate, error };
    const before = new Map(this.balances);
    if (error === undefined) {
      this.#add(message.inputMint, -message.amountIn);
      this.#add(message.outputMint, message.amountOut);
      this.#add(SOL_MINT, -(feeLamports + fate.tipLamports + rent));
      this.#accounts.add(message.outputMint);
      this.landings.push({ ...landing, feeLamports: feeLamports + fate.tipLamports, rentLamports: rent });
    } else {
      this.#add(SOL_MINT, -feeLamports);
      this.landings.push({ ...landing, feeLamports, rentLamports: 0n });
    }
    this.#history.push({ slot, balances: new Map(this.balances) });
    this.movements.push({ transactionId, slot, before, after: new Map(this.balances) });
  }

  #add(mint: Mint, change: bigint): void {
    this.balances.set(mint, (this.balances.get(mint) ?? 0n) + change);
  }
}

/** Returns the name by which the chain lists a transaction: the payer's signature. */
export function idOf({ id, payer }: ModelMessage): string {
  return payer === 'us' ? `us/${id}` : `sponsor/${id}`;
}

export function blockhashOf(height: number): string {
  return `hash/${height}`;
}

export function heightOf(blockhash: string): number {
  return Number(blockhash.slice(5));
}

function lastHeight({ blockhash }: ModelMessage): number {
  return heightOf(blockhash) + LIFE_BLOCKS;
}

export function writeMessage(message: ModelMessage): Uint8Array {
  return new TextEncoder().encode(
    JSON.stringify({ ...message, amountIn: message.amountIn.toString(), amountOut: message.amountOut.toString() }),
  );
}

export function readMessage(bytes: Uint8Array): ModelMessage {
  const { amountIn, amountOut, ...rest } = JSON.parse(
    new TextDecoder().decode(bytes),
  ) as Omit<ModelMessage, 'amountIn' | 'amountOut'> & { readonly amountIn: string; readonly amountOut: string };
  return { ...rest, amountIn: BigInt(amountIn), amountOut: BigInt(amountOut) };
}
