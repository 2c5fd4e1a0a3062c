import { count, percent, usd } from './figures.ts';
import { table } from './table.ts';
import type { Terminal } from './terminal.ts';
import { printable } from '../../core/text.ts';
import type { Rejected } from '../../service/wire/read.ts';
import type { TokenRecord } from '../../market/token-record.ts';

/**
 * Returns token records as a table. Names and symbols are claims of the token itself; their control characters are
 * escaped.
 */
export function tokenTable(records: readonly TokenRecord[], colour: boolean): string {
  if (records.length === 0) return '  no token matches\n';
  const rows = records.map((record) => [
    printable(record.symbol, 16), printable(record.name, 32), record.id, String(record.decimals),
    usd(record.values.usdPrice), percent(record.values['24h.priceChange']), usd(record.values.liquidity),
    count(record.values.holderCount), record.values.organicScore?.toFixed(0) ?? '', warnings(record),
  ]);
  return table(
    [['symbol', 'name', 'mint', 'decimals', 'price', '24 h', 'liquidity', 'holders', 'organic', 'remarks'], ...rows],
    { right: [3, 4, 5, 6, 7, 8], colour, below: [2], optional: [3, 1, 7, 8] },
  );
}

/** Returns what a buyer must know before trusting the name of a token. */
function warnings({ isVerified, audit, mintAuthority, freezeAuthority }: TokenRecord): string {
  return [
    isVerified === true ? 'verified' : 'not verified',
    audit.isSus === true ? 'suspicious' : undefined,
    mintAuthority === undefined ? undefined : 'can be minted',
    freezeAuthority === undefined ? undefined : 'can be frozen',
  ].filter((word) => word !== undefined).join(', ');
}

/** Prints how many records of an answer could not be read; the other records are not affected. */
export function reportRejected(terminal: Terminal, rejected: readonly Rejected[]): void {
  if (rejected.length === 0) return;
  const [first] = rejected;
  terminal.err(`${rejected.length} ${rejected.length === 1 ? 'record' : 'records'} of the answer cannot be read and `
    + `${rejected.length === 1 ? 'is' : 'are'} omitted; the first one: ${printable(first!.message, 300)}\n`);
}
