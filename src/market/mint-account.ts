import type { Mint } from './token.ts';

/** A Token-2022 extension of a mint by its name; `unknown-<number>` for one that is newer than this code. */
export type MintExtensionName = string;

/** The share of every transfer that the issuer keeps. */
export interface TransferFee {
  readonly bps: number;
  /** Smallest units. */
  readonly maximum: bigint;
}

/** What a mint's own account says of the token, whatever anybody claims. */
export interface MintAccount {
  readonly mint: Mint;
  readonly tokenProgram: string;
  readonly decimals: number;
  readonly supply: bigint;
  /** Who can make more of it; undefined where nobody can. */
  readonly mintAuthority?: string | undefined;
  /** Who can freeze anybody's account of it. */
  readonly freezeAuthority?: string | undefined;
  /** In the order of the account; with those that say nothing of what can be done to a holder. */
  readonly extensions: readonly MintExtensionName[];
  /** The highest fee that is set, now or for a later epoch, and who can change it. */
  readonly transferFee?: (TransferFee & { readonly authority?: string | undefined }) | undefined;
  /** Who can move or burn anybody's tokens. */
  readonly permanentDelegate?: string | undefined;
  /** The program that every transfer calls. */
  readonly transferHook?: string | undefined;
  /** Whether new accounts begin frozen. */
  readonly isFrozenByDefault?: boolean | undefined;
}
