/** A part of a list; the newest element has place 0. The service gives at most 20 elements of it. */
export interface PageRange {
  /** 0 unless told otherwise. */
  readonly start?: number | undefined;
  /** Exclusive. */
  readonly end?: number | undefined;
}

/** Whose ledger. Mostly the service wants an owner. */
export interface HistoryFilter {
  readonly owner?: string | undefined;
  /** One entry of the ledger, by its number of at least 1; it is not an event that is bet on. */
  readonly eventId?: number | undefined;
  readonly positionPubkey?: string | undefined;
}

/** Whose positions, and which of them. */
export interface PositionsFilter {
  readonly owner?: string | undefined;
  /** True for those on YES alone, false for those on NO. */
  readonly isYes?: boolean | undefined;
  readonly marketId?: string | undefined;
  readonly marketPubkey?: string | undefined;
}

/** What to look for among events. */
export interface EventSearch {
  /** 1 to 200 characters that are looked for in titles. */
  readonly query: string;
  /** In neutral words; the service has a provider of its own choice. */
  readonly provider?: string | undefined;
  /** 1 to 20. */
  readonly limit?: number | undefined;
}
