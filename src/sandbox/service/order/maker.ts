import { NATIVE_MINT } from '../../chain/addresses.ts';
import type { SandboxChain } from '../../chain/chain.ts';
import type { GenesisToken, SeededKey } from '../../genesis.ts';
import type { Market } from '../../market/market.ts';
import { usdValue } from '../routing/quoting.ts';

/** The validity of a quote: the user's part of the protocol's 55 s, and the rest. */
const QUOTE_LIFETIME_SECONDS = 55;
const SMALLEST_USD = 150;
const LARGEST_USD = 100_000;
/** The maker's margin over the market's price, by the more volatile of the two tokens. */
const MARGIN_PER_VOLATILITY = 0.0001;
const SMALLEST_MARGIN = 0.0001;
/** The maker's largest accepted loss when the market has moved, as a share of its receipt, also by volatility. */
const TOLERANCE_PER_VOLATILITY = 0.003;
const SMALLEST_TOLERANCE = 0.0005;

/** A firm price of the maker. */
export interface MakerQuote {
  readonly outAmount: bigint;
  readonly quoteId: string;
  readonly maker: string;
  readonly expireAtUnixSeconds: number;
}

/** A maker who quotes some pairs at some sizes, pays the fees, and signs after the user. */
export interface Maker {
  readonly key: SeededKey;
  quote(options: { input: GenesisToken; output: GenesisToken; amount: bigint }): MakerQuote | undefined;
  /**
   * Returns whether the maker still signs: the market has not moved against it by more than its tolerance, and it has
   * the tokens.
   */
  honours(fill: { input: GenesisToken; output: GenesisToken; inAmount: bigint; outAmount: bigint }): boolean;
}

/** Returns a maker who owns tokens on the chain and quotes around the market's price. */
export function createMaker(options: {
  key: SeededKey; chain: SandboxChain; market: Market; mints: readonly string[]; nextId: () => string;
  unixSeconds: () => number;
}): Maker {
  const { key, chain, market } = options;
  const stock = (mint: string): bigint =>
    mint === NATIVE_MINT ? chain.balance(key.address) : chain.tokenBalance({ owner: key.address, mint });
  return {
    key,
    quote({ input, output, amount }) {
      if (!options.mints.includes(input.mint) || !options.mints.includes(output.mint)) return undefined;
      const inUsd = usdValue({ market, token: input, amount });
      if (inUsd < SMALLEST_USD || inUsd > LARGEST_USD) return undefined;
      const volatility = Math.max(input.volatility, output.volatility);
      const margin = Math.max(SMALLEST_MARGIN, MARGIN_PER_VOLATILITY * volatility);
      const outTokens = (inUsd / market.usdPrice(output.mint)) * (1 - margin);
      const outAmount = BigInt(Math.floor(outTokens * 10 ** output.decimals));
      // A quote uses at most half of the stock, so that two accepted quotes can both be filled.
      if (outAmount === 0n || outAmount > stock(output.mint) / 2n) return undefined;
      return {
        outAmount,
        quoteId: options.nextId(),
        maker: key.address,
        expireAtUnixSeconds: options.unixSeconds() + QUOTE_LIFETIME_SECONDS,
      };
    },
    honours({ input, output, inAmount, outAmount }) {
      const receivedUsd = usdValue({ market, token: input, amount: inAmount });
      const paidUsd = usdValue({ market, token: output, amount: outAmount });
      const tolerance = Math.max(SMALLEST_TOLERANCE, TOLERANCE_PER_VOLATILITY
        * Math.max(input.volatility, output.volatility));
      return paidUsd <= receivedUsd * (1 + tolerance) && outAmount <= stock(output.mint);
    },
  };
}
