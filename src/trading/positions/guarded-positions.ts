import type { Millis } from '../../core/time.ts';
import type { Mint } from '../../market/token.ts';

/** A price as an output for an amount. */
interface SalePrice {
  readonly value: bigint;
  readonly amount: bigint;
}

/** What exit rules remember of one position; it must outlive the process. */
export interface GuardedPosition {
  readonly strategy: string;
  readonly mint: Mint;
  /** When it was opened, or first seen by the rules. */
  readonly since: Millis;
  /** The first and the best price at which it could be sold. */
  readonly first?: SalePrice | undefined;
  readonly peak?: SalePrice | undefined;
  /** How many levels of the gain were taken. */
  readonly taken: number;
}

/** A guarded position as plain data: prices are two decimal strings each. */
export interface GuardedPositionSnapshot extends Omit<GuardedPosition, 'first' | 'peak'> {
  readonly first?: readonly [value: string, amount: string] | undefined;
  readonly peak?: readonly [value: string, amount: string] | undefined;
}

/** The positions of strategies with exit rules. */
export class GuardedPositions {
  readonly #byKey = new Map<string, GuardedPosition>();
  #version = 0;

  constructor(saved: readonly GuardedPositionSnapshot[] = []) {
    for (const { first, peak, ...rest } of saved) this.put({ ...rest, first: readPrice(first), peak: readPrice(peak) });
  }

  /** Increases with every change. */
  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#byKey.size;
  }

  values(): readonly GuardedPosition[] {
    return [...this.#byKey.values()];
  }

  get(strategy: string, mint: Mint): GuardedPosition | undefined {
    return this.#byKey.get(`${strategy} ${mint}`);
  }

  put(position: GuardedPosition): void {
    this.#byKey.set(`${position.strategy} ${position.mint}`, position);
    this.#version += 1;
  }

  delete({ strategy, mint }: GuardedPosition): void {
    if (this.#byKey.delete(`${strategy} ${mint}`)) this.#version += 1;
  }

  snapshot(): GuardedPositionSnapshot[] {
    return this.values().map(({ first, peak, ...rest }) => ({
      ...rest,
      ...(first === undefined ? {} : { first: writePrice(first) }),
      ...(peak === undefined ? {} : { peak: writePrice(peak) }),
    }));
  }
}

function readPrice(saved: readonly [string, string] | undefined): SalePrice | undefined {
  return saved === undefined ? undefined : { value: BigInt(saved[0]), amount: BigInt(saved[1]) };
}

function writePrice({ value, amount }: SalePrice): readonly [string, string] {
  return [value.toString(), amount.toString()];
}
