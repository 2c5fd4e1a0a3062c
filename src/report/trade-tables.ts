import { histogram } from '../research/metrics/return-distribution.ts';
import type { Trade } from '../research/metrics/trades.ts';
import { tradesOf } from '../research/metrics/trades.ts';
import { valueText } from '../research/metrics/value-text.ts';
import type { Cell, Markup } from '../web/markup.ts';
import { dataTable, markup, note } from '../web/markup.ts';
import type { ReportFigures, ReportInput } from './report-input.ts';
import { groupTables } from './statistic-tables.ts';
import { tradeColumns } from './trade-list.ts';

const TRADES_SHOWN = 50;

/** Returns the trades, their results, and the trades by pair and reason. The page's script adds sorting and filters. */
export function tradeTables(input: ReportInput, figures: ReportFigures): Markup {
  const { record } = input.run;
  const trades = tradesOf(record);
  if (trades.length === 0) return markup`<p class="none">No trade was completed.</p>${openText(figures)}`;
  return markup`<div id="trade-table">${lastTrades(trades, record)}</div>
${note('A trade is a purchase and its sale, first in, first out; results are after costs. MAE and MFE are how far the '
    + 'price went against and for the trade.')}${openText(figures)}
<h3>Results of trades</h3>${resultTable(trades, record.currency)}
${groupTables(input, figures)}`;
}

function openText({ figure }: ReportFigures): Markup {
  return note(markup`Purchases not fully sold at the end: ${figure('trips.open')}.`);
}

/** The last trades, for a page without scripts. */
function lastTrades(trades: readonly Trade[], record: ReportInput['run']['record']): Markup {
  const shown = trades.slice(-TRADES_SHOWN).toReversed();
  const columns = tradeColumns(record);
  return markup`${trades.length > shown.length
    && note(`The last ${TRADES_SHOWN} of ${valueText(trades.length, 'count')} trades.`)}${dataTable({
    label: 'The last trades', isWide: true,
    columns: columns.map(({ name, sort }) =>
      ({ name, isText: sort === undefined, isLong: name.endsWith('reason') })),
    rows: shown.map((trade): Cell[] => columns.map(({ text, isName }) =>
      (isName === true ? markup`<bdi>${text(trade)}</bdi>` : text(trade)))),
  })}`;
}

function priceText(value: number): string {
  return valueText(value, 'price');
}

/** Returns the distribution of results, with losses apart from gains. */
function resultTable(trades: readonly Trade[], currency: string): Markup {
  const bins = histogram(trades.map(({ profit }) => profit));
  const most = Math.max(...bins.map(({ count }) => count));
  return dataTable({
    label: 'Trades by result',
    columns: [
      { name: `result, ${currency}`, isText: true }, { name: 'trades' }, { name: 'beside the most', isText: true },
    ],
    rows: bins.map(({ from, to, count }): Cell[] => [
      from === to ? priceText(from) : `${priceText(from)} to ${priceText(to)}`, valueText(count, 'count'),
      markup`<progress class="${to <= 0 && from < 0 ? 'loss' : 'gain'}" max="${most}" value="${count}" aria-label="${
        valueText(count, 'count')} trades"></progress>`,
    ]),
  });
}
