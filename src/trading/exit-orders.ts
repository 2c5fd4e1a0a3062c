import type { Amount, Bps } from '../core/amount.ts';
import { mulDiv } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { Route } from './proposal.ts';

/** The remaining part of a strategy's exit that is too large for one swap. */
export interface ExitOrder {
  readonly strategy: string;
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  /** The amount still to be sold, the part under way included. */
  readonly left: Amount;
  /** The strategy's own least output for what is left. */
  readonly limit?: Amount | undefined;
  readonly slippageBps?: Bps | undefined;
  readonly route?: Route | undefined;
  readonly reason: string;
  /** The key of the strategy's proposal; the strategy may use it again when the exit is given up. */
  readonly key?: string | undefined;
  readonly tag?: string | undefined;
  /** The exit rule of the configuration that began it; undefined where the strategy did. */
  readonly rule?: string | undefined;
  /** Failed parts in a row. */
  readonly failures: number;
}

/** An exit order as plain data. */
export interface ExitOrderSnapshot extends Omit<ExitOrder, 'left' | 'limit'> {
  readonly left: string;
  readonly limit?: string | undefined;
}

/** The depth of a pair's market, estimated after a swap was refused as too large. */
export interface KnownDepth {
  readonly amount: Amount;
  readonly at: Millis;
  readonly halvings: number;
}

/** The exits in parts that are under way: at most one for each strategy and token. */
export class ExitOrders {
  readonly #byStrategy = new Map<string, Map<Mint, ExitOrder>>();
  #version = 0;

  constructor(saved: readonly ExitOrderSnapshot[] = []) {
    for (const { left, limit, ...rest } of saved) {
      const least = limit === undefined ? undefined : (BigInt(limit) as Amount);
      this.put({ ...rest, left: BigInt(left) as Amount, limit: least });
    }
  }

  /** Increases with every change. */
  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#byStrategy.size;
  }

  /** Returns the strategies with an exit in parts. */
  strategies(): IterableIterator<string> {
    return this.#byStrategy.keys();
  }

  get(strategy: string, mint: Mint): ExitOrder | undefined {
    return this.#byStrategy.get(strategy)?.get(mint);
  }

  /** Returns the exits of a strategy, oldest first. */
  of(strategy: string): readonly ExitOrder[] {
    return [...(this.#byStrategy.get(strategy)?.values() ?? [])];
  }

  put(order: ExitOrder): void {
    const orders = this.#byStrategy.get(order.strategy) ?? new Map<Mint, ExitOrder>();
    this.#byStrategy.set(order.strategy, orders.set(order.inputMint, order));
    this.#version += 1;
  }

  delete(strategy: string, mint: Mint): void {
    const orders = this.#byStrategy.get(strategy);
    if (orders?.delete(mint) !== true) return;
    if (orders.size === 0) this.#byStrategy.delete(strategy);
    this.#version += 1;
  }

  /** Ends all exits of a strategy. */
  end(strategy: string): void {
    if (this.#byStrategy.delete(strategy)) this.#version += 1;
  }

  snapshot(): ExitOrderSnapshot[] {
    return [...this.#byStrategy.values()].flatMap((orders) => [...orders.values()]).map(({ left, limit, ...rest }) => ({
      ...rest, left: left.toString(), ...(limit === undefined ? {} : { limit: limit.toString() }),
    }));
  }
}

/** Returns the least output of a part, in proportion to the whole, rounded up. */
export function limitOfPart(limit: Amount | undefined, part: Amount, whole: Amount): Amount | undefined {
  return limit === undefined || part >= whole ? limit : mulDiv(limit, part, whole, 'ceil');
}
