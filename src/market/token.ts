import type { Brand } from '../core/amount.ts';
import { formatDecimal } from '../core/amount.ts';
import { GannetError } from '../core/errors.ts';

/** A token's mint address, base58. */
export type Mint = Brand<string, 'Mint'>;

/** The mint of wrapped SOL, which stands for native SOL too. */
export const SOL_MINT = 'So11111111111111111111111111111111111111112' as Mint;
/** The mint of USDC. */
export const USDC_MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' as Mint;

const BASE58_32_BYTES = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** Returns whether a text has the form of a base58 address; whether it has 32 bytes is not decoded here. */
export function hasMintForm(text: string): boolean {
  return BASE58_32_BYTES.test(text);
}

/** Returns `text` as a mint. Throws MINT_INVALID unless it has the form of a base58 address. */
export function mint(text: string): Mint {
  if (!hasMintForm(text)) {
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

/** The tokens of a run, by alias and by mint. */
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

/** A Token-2022 extension of a mint by its name; `unknown-<number>` for one that is newer than this code. */
type MintExtensionName = string;

/** The share of every transfer that the issuer keeps. */
export interface TransferFee {
  readonly bps: number;
  /** Smallest units. */
  readonly maximum: bigint;
}

/** The content of a mint account on the chain. */
export interface MintAccount {
  readonly mint: Mint;
  readonly tokenProgram: string;
  readonly decimals: number;
  readonly supply: bigint;
  /** The account that can mint more of it; undefined where minting is disabled. */
  readonly mintAuthority?: string | undefined;
  /** The account that can freeze token accounts of holders; undefined where freezing is disabled. */
  readonly freezeAuthority?: string | undefined;
  /** All extensions in the order of the account, harmless ones included. */
  readonly extensions: readonly MintExtensionName[];
  /** The highest fee that is set, now or for a later epoch, and the account that can change it. */
  readonly transferFee?: (TransferFee & { readonly authority?: string | undefined }) | undefined;
  /** The account that can move or burn tokens of holders. */
  readonly permanentDelegate?: string | undefined;
  /** The program that every transfer calls. */
  readonly transferHook?: string | undefined;
  /** Whether new token accounts are frozen. */
  readonly isFrozenByDefault?: boolean | undefined;
}
