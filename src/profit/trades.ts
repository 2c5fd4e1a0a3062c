import type { Millis } from '../core/time.ts';
import { symbolOf } from '../market/market-text.ts';
import type { TokenTable } from '../market/token.ts';
import type { Money } from './figures.ts';
import { feeValueOf, moneyOf } from './figures.ts';
import type { Booked, Sale } from './ledger.ts';

/** A closed trade: a sale with the purchases that it closes, by FIFO. */
export interface Trade {
  readonly intent_id: string;
  readonly strategy: string;
  readonly token: string;
  readonly mint: string;
  readonly quantity: Money;
  /** When the oldest part was bought; null where it was not bought here. */
  readonly entered_at: Millis | null;
  readonly exited_at: Millis;
  readonly duration_ms: Millis | null;
  readonly cost: Money | null;
  readonly proceeds: Money;
  /** Proceeds less cost, without fees; null where the cost is unknown. */
  readonly profit: Money | null;
  /** Of the cost: 0.05 is 5 %. */
  readonly return: number | null;
  /** The network's costs of the sale; null where SOL had no price. */
  readonly fee: Money | null;
  readonly reason: string;
  readonly signature: string | null;
}

/** Returns the closed trades, newest first. */
export function tradesOf(
  booked: readonly Booked[], tokens: TokenTable,
  { strategy, since }: { readonly strategy?: string | undefined; readonly since?: Millis | undefined } = {},
): Trade[] {
  return booked.flatMap(({ sale }) => (sale === undefined ? [] : [sale]))
    .filter(({ book, swap }) => (strategy === undefined || book === strategy) && swap.at >= (since ?? -Infinity))
    .map((sale) => tradeOf(sale, tokens)).toReversed();
}

function tradeOf(sale: Sale, tokens: TokenTable): Trade {
  const { book, swap, currency, mint, quantity, proceeds, cost, profit, enteredAt = null } = sale;
  const fee = feeValueOf({ currency, feeLamports: swap.feeLamports, values: swap.values });
  const money = (units: bigint | undefined): Money | null =>
    (units === undefined ? null : moneyOf(tokens, currency, units));
  return {
    intent_id: swap.intentId, strategy: book, token: symbolOf(tokens, mint), mint,
    quantity: moneyOf(tokens, mint, quantity), entered_at: enteredAt, exited_at: swap.at,
    duration_ms: enteredAt === null ? null : swap.at - enteredAt, cost: money(cost),
    proceeds: moneyOf(tokens, currency, proceeds), profit: money(profit),
    return: profit === undefined || cost === undefined || cost === 0n ? null : Number(profit) / Number(cost),
    fee: money(fee), reason: swap.reason, signature: swap.signature ?? null,
  };
}
