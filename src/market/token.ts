import type { Brand } from '../core/brand.ts';
import { GannetError } from '../core/errors.ts';
import { formatDecimal } from '../core/amount.ts';

/** A token's mint address, base58. */
export type Mint = Brand<string, 'Mint'>;

export const SOL_MINT = 'So11111111111111111111111111111111111111112' as Mint;
export const USDC_MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' as Mint;

const BASE58_32_BYTES = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** Returns `text` as a mint. Throws MINT_INVALID unless it has the form of a base58 address. */
export function mint(text: string): Mint {
  if (!BASE58_32_BYTES.test(text)) {
    throw new GannetError(
      'MINT_INVALID', `expected a base58 mint address of 32 to 44 characters, got "${text.slice(0, 60)}"`,
    );
  }
  return text as Mint;
}

/** A token as the configuration and the chain agree on it. */
export interface Token {
  readonly mint: Mint;
  /** The alias the configuration gives it; never the token's own claim. */
  readonly symbol: string;
  readonly decimals: number;
}

/** The tokens a run knows, found by alias or by mint. */
export interface TokenTable {
  bySymbol(symbol: string): Token | undefined;
  byMint(mint: Mint): Token | undefined;
  readonly all: readonly Token[];
}

/** Returns the table of `tokens`; aliases and mints must be unique. */
export function tokenTable(tokens: readonly Token[]): TokenTable {
  const symbols = new Map(tokens.map((token) => [token.symbol, token]));
  const mints = new Map(tokens.map((token) => [token.mint, token]));
  return { bySymbol: (symbol) => symbols.get(symbol), byMint: (address) => mints.get(address), all: tokens };
}

/** Two tokens whose price is the number of `quote` tokens for one `base` token. */
export interface Pair {
  readonly base: Token;
  readonly quote: Token;
}

/** An amount together with the token it is of. */
export interface TokenAmount {
  readonly token: Token;
  /** Smallest units. */
  readonly amount: bigint;
}

/** Returns an amount for people: "1.5 SOL". */
export function formatTokenAmount(value: TokenAmount): string {
  return `${formatDecimal(value.amount, value.token.decimals)} ${value.token.symbol}`;
}
