import { formatDecimal } from '../../core/amount.ts';
import { csvLine } from '../../core/text.ts';
import type { Trade } from '../../research/metrics/trades.ts';
import { profitShare } from '../../research/metrics/trades.ts';

const HEADING = [
  'pair', 'strategy', 'opened_at', 'closed_at', 'duration_seconds', 'size', 'entry_price', 'exit_price', 'entry_value',
  'exit_value', 'fees', 'profit', 'profit_percent', 'mae_percent', 'mfe_percent', 'entry_reason', 'exit_reason',
];
/** Values of a record are exact to the smallest unit of its currency, and prices to seven digits. */
const SIGNIFICANT_DIGITS = 12;

/**
 * Returns round trips as CSV, a line each in the order of their ends. Amounts are in the currency, the size in whole
 * tokens; without decimals of a token its size and prices are empty.
 */
export function tradesCsv(
  trades: readonly Trade[], decimalsOf: (symbol: string) => number | undefined,
): string {
  const rows = trades.map((trade) => {
    const { pair, symbol, strategy, openedAt, closedAt, quantity, entryValue, exitValue, costs, profit } = trade;
    const decimals = trade.decimals ?? decimalsOf(symbol);
    const size = decimals === undefined ? undefined : Number(quantity) / 10 ** decimals;
    const price = (value: number): string => (size === undefined || size === 0 ? '' : numberText(value / size));
    return [
      pair, strategy, new Date(openedAt).toISOString(), new Date(closedAt).toISOString(),
      numberText((closedAt - openedAt) / 1_000), decimals === undefined ? '' : formatDecimal(quantity, decimals),
      price(entryValue), price(exitValue), numberText(entryValue), numberText(exitValue), numberText(costs),
      numberText(profit), percentText(profitShare(trade)), percentText(trade.excursion?.adverse),
      percentText(trade.excursion?.favourable), trade.entryReason ?? '', trade.exitReason ?? '',
    ];
  });
  return [HEADING, ...rows].map(csvLine).join('');
}

function numberText(value: number): string {
  return String(Number(value.toPrecision(SIGNIFICANT_DIGITS)));
}

function percentText(share: number | undefined): string {
  return share === undefined ? '' : numberText(share * 100);
}
