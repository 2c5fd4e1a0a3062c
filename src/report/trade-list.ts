import { shortDuration } from '../core/time.ts';
import { groupThousands } from '../core/text.ts';
import type { RunRecord } from '../backtest/record/run-record.ts';
import { shareText } from '../research/metrics/figure-text.ts';
import type { Trade } from '../research/metrics/trades.ts';
import { profitShare, tradesOf } from '../research/metrics/trades.ts';
import { amountText } from '../research/metrics/value-text.ts';
import { createDataTable } from '../web/data-table.ts';
import { element, fill, nameElement } from '../web/element.ts';
import { instantText } from './printed-figures.ts';

/** Rows of a table that are shown at once: more would hide what follows. */
export const PAGE_ROWS = 25;
/** More rows would make the page slow. */
const MOST_TRADES = 5_000;

/** A column of the table of trades. */
interface TradeColumn {
  readonly name: string;
  readonly text: (trade: Trade) => string;
  /** What it is sorted by; a column with it holds numbers. */
  readonly sort?: ((trade: Trade) => number | undefined) | undefined;
  /** An untrusted name. */
  readonly isName?: boolean | undefined;
  /** The colour says gain or loss. */
  readonly isResult?: boolean | undefined;
}

function share(name: string, sort: (trade: Trade) => number | undefined): TradeColumn {
  return {
    name, sort,
    text: (trade) => {
      const value = sort(trade);
      return value === undefined ? '' : shareText(value);
    },
  };
}

function held({ openedAt, closedAt }: Trade): number {
  return closedAt - openedAt;
}

/** Returns the columns of the table of trades. */
export function tradeColumns({ currency, strategies }: Pick<RunRecord, 'currency' | 'strategies'>): TradeColumn[] {
  return [
    { name: 'closed, UTC', text: ({ closedAt }) => instantText(closedAt) },
    { name: 'pair', text: ({ pair }) => pair, isName: true },
    ...(strategies.length > 1 ? [{ name: 'strategy', text: ({ strategy }: Trade) => strategy, isName: true }] : []),
    {
      name: `profit, ${currency}`, sort: ({ profit }) => profit, isResult: true,
      text: ({ profit }) => `${profit > 0 ? '+' : ''}${amountText(profit)}`,
    },
    share('profit, %', profitShare),
    { name: 'duration', text: (trade) => shortDuration(held(trade)), sort: held },
    share('MAE', ({ excursion }) => excursion?.adverse), share('MFE', ({ excursion }) => excursion?.favourable),
    {
      name: `size, ${currency}`, text: ({ entryValue }) => amountText(entryValue), sort: ({ entryValue }) => entryValue,
    },
    { name: 'entry reason', text: ({ entryReason }) => entryReason ?? '' },
    { name: 'exit reason', text: ({ exitReason }) => exitReason ?? '' },
  ];
}

/** Shows the trades of a record in the page, in a table that sorts and filters. */
export function showTrades(record: RunRecord): void {
  const place = document.getElementById('trade-table');
  if (place === null) return;
  const trades = tradesOf(record);
  const columns = tradeColumns(record);
  const table = createDataTable({
    label: 'List of trades', empty: 'No trade was completed.', pageRows: PAGE_ROWS,
    columns: columns.map(({ name, sort }) => ({ name, isNumber: sort !== undefined })),
  });
  const shown = trades.slice(-MOST_TRADES).toReversed();
  table.setRows(shown.map((trade, i) => ({
    key: String(i),
    cells: columns.map(({ text, sort, isName, isResult }) => {
      const shownText = text(trade);
      return {
        content: isName === true ? nameElement(shownText)
          : isResult === true ? element('span', { class: trade.profit < 0 ? 'loss' : 'gain' }, shownText) : shownText,
        sort: sort?.(trade),
      };
    }),
  })));
  fill(
    place, shown.length < trades.length && element('p', { class: 'note' },
      `The last ${groupThousands(String(MOST_TRADES))} of ${groupThousands(String(trades.length))} trades.`),
    table.element,
  );
}
