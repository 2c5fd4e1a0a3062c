/** One list of leading tokens. */
export interface CategoryRequest {
  /** What they lead in: `toporganicscore`, `toptraded` and `toptrending` are known; a host may have more. */
  readonly category: string;
  /** Over which time: `5m`, `1h`, `6h` and `24h` are known; a host may have more. */
  readonly interval: string;
  /** 1 to 100; 50 unless told otherwise. */
  readonly limit?: number | undefined;
}

/** One page of what was written about a token. */
export interface ContentFeedRequest {
  readonly mint: string;
  /** From 1. */
  readonly page?: number | undefined;
  /** 1 to 100; 50 unless told otherwise. */
  readonly limit?: number | undefined;
}

/** The lists of leading tokens that are known. */
export const TOKEN_CATEGORIES = ['toporganicscore', 'toptraded', 'toptrending'] as const;
/** The times over which they lead. */
export const TOKEN_INTERVALS = ['5m', '1h', '6h', '24h'] as const;
/** The tags that are known to have a list. */
export const TOKEN_TAGS = ['lst', 'verified', 'stocks'] as const;
