import type { Fact } from './table.ts';
import { facts, table } from './table.ts';
import { groupThousands, pluralize, printable } from '../../core/text.ts';
import { ratioText, shareText } from '../../research/metrics/figure-text.ts';
import type { RunStatistics } from '../../research/metrics/run-statistics.ts';
import { durationText } from '../../research/metrics/shown-statistics.ts';
import { amountText } from '../../research/metrics/value-text.ts';

const MOST_ROWS = 5;
const NAME_CHARACTERS = 36;

/** Returns the statistics of a run as text: facts, then the tables of pairs, exit reasons and drawdowns. */
export function statisticsText(statistics: RunStatistics, currency: string): string {
  const { by_pair: pairs, by_exit_reason: exits } = statistics;
  return [
    facts([...tradeFacts(statistics, currency), ...dayFacts(statistics), ...orderFacts(statistics, currency)]),
    ...(pairs.length < 2 ? [] : [groupTable('pair', pairs, currency)]),
    ...(exits.length === 0 ? [] : [groupTable('trades by exit reason', exits, currency)]),
    ...drawdownTable(statistics),
  ].join('\n');
}

function tradeFacts({ trades }: RunStatistics, currency: string): Fact[] {
  if (trades.count === 0) return [];
  const { duration, best, worst } = trades;
  const named = (trade: typeof best): string => (trade === null ? '-'
    : `${amountText(trade.profit)} ${currency} (${given(trade.profit_share, shareText)}) with ${trade.pair}, `
      + `closed ${minuteText(trade.closed_at)}`);
  return [
    ['held', `${given(duration.mean, durationText)} on average, half of them under `
      + `${given(duration.median, durationText)}, at most ${given(duration.longest, durationText)}; winners `
      + `${given(duration.winners, durationText)}, losers ${given(duration.losers, durationText)}`],
    ['best trade', named(best)],
    ['worst trade', named(worst)],
    ['streaks', `${trades.winning_streak} won and ${trades.losing_streak} lost in a row at most`],
    ['MAE, MFE', `the price fell ${given(trades.mae, shareText)} below and rose ${given(trades.mfe, shareText)} above `
      + 'the entry on average'],
    ['SQN, Kelly', `SQN ${given(trades.sqn, ratioText)}, Kelly fraction ${given(trades.kelly, shareText)}`],
  ];
}

function dayFacts({ days, against: { buy_and_hold: holding }, longest_drawdown: longest }: RunStatistics): Fact[] {
  const { best, worst, value_at_risk_95: risk, expected_shortfall_95: shortfall, omega } = days;
  return [
    ['days', best === null || worst === null ? undefined : `best ${shareText(best.change)} (${best.day}), worst `
      + `${shareText(worst.change)} (${worst.day}); ${days.up} up, ${days.down} down`],
    ['bad days', risk === null ? undefined : `VaR 95 % ${shareText(risk)}, CVaR 95 % ${given(shortfall, shareText)}, `
      + `Omega ratio ${given(omega, ratioText)}`],
    ['holding', holding === null ? undefined
      : `alpha ${shareText(holding.alpha)} a year, beta ${ratioText(holding.beta)}`],
    ['below peak', longest === 0 ? undefined : `${durationText(longest)} at most`],
  ];
}

function orderFacts({ trade_order: order }: RunStatistics, currency: string): Fact[] {
  if (order === null) return [];
  const { orders, drawdown, shuffled, resampled } = order;
  return [['trade order', [
    `in ${groupThousands(String(orders))} other orders: drawdown ${shareText(shuffled.drawdown.p5)} to `
      + `${shareText(shuffled.drawdown.p95)}; in its own ${shareText(drawdown)}`,
    `with trades drawn again: result ${amountText(resampled.profit.p5)} to ${amountText(resampled.profit.p95)} `
      + `${currency}, ${shareText(resampled.losing)} lose`,
  ]]];
}

function groupTable(heading: string, rows: RunStatistics['by_pair'], currency: string): string {
  const more = rows.length - MOST_ROWS;
  return table([
    [heading, 'trips', 'won', `profit, ${currency}`, 'of entry', 'held'],
    ...rows.slice(0, MOST_ROWS).map((row) => [
      printable(row.name, NAME_CHARACTERS), String(row.trades), given(row.win_rate, shareText), amountText(row.profit),
      given(row.profit_share, shareText), given(row.duration, durationText),
    ]),
  ], { right: [1, 2, 3, 4, 5], optional: [5, 4] })
    + (more > 0 ? `  and ${pluralize(more, 'more name')} (--json has them)\n` : '');
}

function drawdownTable({ drawdowns }: RunStatistics): string[] {
  return drawdowns.length === 0 ? [] : [table([
    ['worst drawdowns', 'depth', 'lowest', 'fell for', 'recovered in'],
    ...drawdowns.map(({ start, trough, depth, fall, recovery }) => [
      minuteText(start), shareText(depth), minuteText(trough), durationText(fall),
      recovery === null ? 'not yet' : durationText(recovery),
    ]),
  ], { right: [1, 3, 4] })];
}

function given(value: number | null, show: (value: number) => string): string {
  return value === null ? '-' : show(value);
}

/** "2026-01-31 12:05" of ISO 8601. */
function minuteText(iso: string): string {
  return iso.slice(0, 16).replace('T', ' ');
}
