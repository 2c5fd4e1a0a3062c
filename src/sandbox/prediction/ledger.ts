/** The events of an account, named as in the reference and the service. */
export type LedgerEventType =
  | 'order_created' | 'order_filled' | 'order_failed' | 'order_closed' | 'payout_claimed' | 'position_updated'
    | 'position_lost';

/** The figures of a record; an absent figure is zero. Contracts and dollars in millionths. */
export interface LedgerFigures {
  readonly contracts?: bigint;
  readonly filledContracts?: bigint;
  readonly contractsSettled?: bigint;
  readonly maxFillPriceUsd?: bigint;
  readonly avgFillPriceUsd?: bigint;
  readonly maxBuyPriceUsd?: bigint;
  readonly minSellPriceUsd?: bigint;
  readonly depositAmountUsd?: bigint;
  readonly totalCostUsd?: bigint;
  readonly feeUsd?: bigint;
  readonly grossProceedsUsd?: bigint;
  readonly netProceedsUsd?: bigint;
  /** The amount that the venue pays to the owner's wallet. */
  readonly transferAmountToken?: bigint;
  readonly realizedPnl?: bigint;
  readonly realizedPnlBeforeFees?: bigint;
  readonly payoutAmountUsd?: bigint;
}

/** One line of the ledger that all accounts share. */
export interface LedgerRecord {
  /** Counts through all accounts. */
  readonly id: number;
  readonly eventType: LedgerEventType;
  readonly slot: number;
  readonly ownerPubkey: string;
  readonly positionPubkey: string;
  readonly marketId: string;
  readonly isYes: boolean;
  readonly isBuy: boolean;
  /** The order's number; a payout has none. */
  readonly orderNumber: number | undefined;
  readonly byKeeper: boolean;
  readonly figures: LedgerFigures;
}

/** Selects records; an absent member selects all. */
export interface LedgerFilter {
  readonly ownerPubkey?: string | undefined;
  readonly id?: number | undefined;
  readonly positionPubkey?: string | undefined;
  readonly marketId?: string | undefined;
  readonly isYes?: boolean | undefined;
}

export interface Ledger {
  add(record: Omit<LedgerRecord, 'id'>): void;
  /** Returns the matching records, newest first. */
  find(filter: LedgerFilter): readonly LedgerRecord[];
}

const FIRST_ID = 1_000_001;
/** A ledger of months would fill the memory, so the oldest records are dropped; the real service keeps all. */
const MOST_RECORDS = 20_000;
const FORGOTTEN_AT_ONCE = 4_000;

/** Returns an empty ledger. */
export function createLedger(): Ledger {
  let records: LedgerRecord[] = [];
  let nextId = FIRST_ID;
  return {
    add(record) {
      if (records.length >= MOST_RECORDS) records = records.slice(FORGOTTEN_AT_ONCE);
      records.push({ ...record, id: nextId++ });
    },
    find(filter) {
      const found: LedgerRecord[] = [];
      for (let i = records.length - 1; i >= 0; i--) if (fits(records[i]!, filter)) found.push(records[i]!);
      return found;
    },
  };
}

function fits(record: LedgerRecord, { ownerPubkey, id, positionPubkey, marketId, isYes }: LedgerFilter): boolean {
  return (ownerPubkey === undefined || record.ownerPubkey === ownerPubkey)
    && (id === undefined || record.id === id)
    && (positionPubkey === undefined || record.positionPubkey === positionPubkey)
    && (marketId === undefined || record.marketId === marketId)
    && (isYes === undefined || record.isYes === isYes);
}
