import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import { SOL_MINT, USDC_MINT } from '../../market/token.ts';
import type { WalletTransaction } from '../../market/wallet-activity.ts';
import { indexedRandom } from './indexed-random.ts';

/** Slots in which each wallet makes one transaction: four minutes. */
const SLOTS_EACH = 600;
const FEE_LAMPORTS = 5_000n;
const FEWEST_USD = 20;
const MOST_USD = 220;
/** Shares of transactions in which the wallet is sent a token, and in which its swap fails. */
const GIFT_SHARE = 0.1;
const FAILED_SHARE = 0.1;

interface WalletTradesOptions {
  readonly seed: number;
  /** Returns the price of one whole token in US dollars now. */
  readonly usdPrice: (mint: string) => number;
  readonly unixSeconds: (slot: number) => number;
}

/**
 * Returns what a wallet does after the slot `from` up to `to`, oldest first: any wallet swaps SOL and USDC, each time
 * at the present price, and now and then it is sent something, or fails. Nothing of it is on the chain.
 */
export function createWalletTrades(
  { seed, usdPrice, unixSeconds }: WalletTradesOptions,
): (owner: string, span: { readonly from: number; readonly to: number }) => WalletTransaction[] {
  return (owner, { from, to }) => {
    const random = indexedRandom(`${seed}:wallet:${owner}`);
    const transactionOf = (place: number): WalletTransaction => {
      const slot = place * SLOTS_EACH + Math.floor(random(place, 0) * SLOTS_EACH);
      const usd = FEWEST_USD + random(place, 1) * (MOST_USD - FEWEST_USD);
      const luck = random(place, 2);
      const isGift = luck < GIFT_SHARE;
      const hasFailed = !isGift && luck < GIFT_SHARE + FAILED_SHARE;
      const dollars = BigInt(Math.round(usd * 1e6));
      const lamports = BigInt(Math.round((usd / usdPrice(SOL_MINT)) * 1e9));
      const sign = random(place, 3) < 0.5 ? 1n : -1n;
      const sol = { mint: SOL_MINT, decimals: 9, amount: hasFailed ? -FEE_LAMPORTS : sign * lamports - FEE_LAMPORTS };
      const usdc = { mint: USDC_MINT, decimals: 6, amount: isGift ? dollars : -sign * dollars };
      return {
        signature: bs58.encode(createHash('sha512').update(`${seed}:${owner}:${place}`).digest()), slot,
        blockTime: unixSeconds(slot) * 1_000, hasFailed, isSigner: !isGift,
        changes: isGift ? [usdc] : hasFailed ? [sol] : [sol, usdc],
      };
    };
    const first = Math.floor(from / SLOTS_EACH);
    const last = Math.floor(to / SLOTS_EACH);
    return Array.from({ length: last - first + 1 }, (_, n) => transactionOf(first + n))
      .filter(({ slot }) => slot > from && slot <= to);
  };
}
