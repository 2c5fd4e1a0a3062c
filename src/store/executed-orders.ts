import { GannetError } from '../core/errors.ts';
import type { Clock } from '../core/time.ts';
import type { DatabaseKind } from './database.ts';
import { FORMAT_TABLE, createTransactor, openDatabase } from './database.ts';

/** The known end of an order; `message` says why it did not land. */
interface OrderEnd {
  readonly state: 'landed' | 'failed' | 'expired';
  readonly signature?: string | undefined;
  readonly code?: string | undefined;
  readonly message?: string | undefined;
}

/** An order that was signed elsewhere, before its first byte leaves. */
interface OrderToSend {
  /** SHA-256 of the message, hex. */
  readonly messageHash: string;
  readonly requestId: string;
  readonly signedTransaction: Uint8Array;
  /** The last block in which it can land, or a later one. */
  readonly lastValidBlockHeight: bigint;
}

/** An order as it was first sent, with its end where that is known. */
interface SentOrder extends OrderToSend {
  readonly end: OrderEnd | undefined;
}

/** Durable record of the orders that were signed elsewhere and sent from here. */
interface ExecutedOrders {
  /**
   * Writes an order before its first byte leaves, and returns it as it was first written. Throws EXECUTE_REFUSED where
   * its request was used for another transaction: an order is landed once.
   */
  begin(order: OrderToSend): SentOrder;
  end(messageHash: string, end: OrderEnd): void;
  close(): void;
}

interface OrderRow {
  readonly message_hash: string;
  readonly request_id: string;
  readonly signed_transaction: Uint8Array;
  readonly last_valid_block_height: string;
  readonly outcome: string | null;
}

/** The name of the record in the state directory. */
export const EXECUTED_ORDERS_FILE = 'executed-orders.sqlite';

/** The kind of file of orders that were signed elsewhere ("GNEX"). */
export const EXECUTED_ORDERS: DatabaseKind = {
  name: 'record of executed orders',
  applicationId: 0x47_4e_45_58,
  migrations: [`${FORMAT_TABLE}
CREATE TABLE orders (
  message_hash TEXT PRIMARY KEY,
  request_id TEXT NOT NULL UNIQUE,
  begun_at INTEGER NOT NULL,
  signed_transaction BLOB NOT NULL,
  last_valid_block_height TEXT NOT NULL,
  -- JSON; null while it is open.
  outcome TEXT
) STRICT;
`],
  since: '0.2.0',
  codes: { invalid: 'JOURNAL_INVALID', failed: 'JOURNAL_FAILED' },
  remedy: 'restore it from a copy, or move the file away: what it sent stays on the chain',
};

/** Opens the record at a path, and creates it where it is missing. Throws JOURNAL_INVALID and JOURNAL_FAILED. */
export function openExecutedOrders(
  { path, clock }: { readonly path: string; readonly clock: Pick<Clock, 'now'> },
): ExecutedOrders {
  const { prepare, commit, close } = createTransactor(openDatabase(path, EXECUTED_ORDERS), path, EXECUTED_ORDERS);
  const of = (messageHash: string): OrderRow | undefined =>
    prepare('SELECT * FROM orders WHERE message_hash = ?').get(messageHash) as OrderRow | undefined;
  return {
    begin({ messageHash, requestId, signedTransaction, lastValidBlockHeight }) {
      let known: OrderRow | undefined;
      let used: OrderRow | undefined;
      commit(() => {
        known = of(messageHash);
        used = prepare('SELECT * FROM orders WHERE request_id = ?').get(requestId) as OrderRow | undefined;
        if (known !== undefined || used !== undefined) return;
        prepare('INSERT INTO orders VALUES (?, ?, ?, ?, ?, NULL)')
          .run(messageHash, requestId, clock.now(), signedTransaction, lastValidBlockHeight.toString());
      });
      if (used !== undefined && used.message_hash !== messageHash) throw refused(
        'this request was used for another transaction: an order is landed once; ask for a new order',
      );
      if (known !== undefined && known.request_id !== requestId)
        throw refused('this transaction was sent under another request: give the one that it came with');
      return known === undefined ? { messageHash, requestId, signedTransaction, lastValidBlockHeight, end: undefined }
        : {
          messageHash, requestId, signedTransaction: known.signed_transaction,
          lastValidBlockHeight: BigInt(known.last_valid_block_height),
          end: known.outcome === null ? undefined : JSON.parse(known.outcome) as OrderEnd,
        };
    },
    end(messageHash, end) {
      commit(() => {
        prepare('UPDATE orders SET outcome = ? WHERE message_hash = ?').run(JSON.stringify(end), messageHash);
      });
    },
    close,
  };
}

function refused(message: string): GannetError {
  return new GannetError('EXECUTE_REFUSED', message);
}
