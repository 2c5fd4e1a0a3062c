import { clockTime, instant } from './figures.ts';
import { table } from './table.ts';
import { groupThousands, pluralize } from '../../core/text.ts';
import { roughDuration } from '../../core/time.ts';
import type { Figures, Money, PeriodName } from '../../profit/figures.ts';
import { PERIODS } from '../../profit/figures.ts';
import type { DayFigures } from '../../profit/results.ts';
import type { ProfitStatement } from '../../profit/statement.ts';
import { csvText, timeOf } from '../../profit/tax-csv.ts';
import type { Trade } from '../../profit/trades.ts';

const TITLES: Readonly<Record<PeriodName, string>> = {
  today: 'today', week: '7 days', month: '30 days', all: 'all',
};
const LIVE_OR_PAPER = { live: 'live trading', paper: 'paper trading' } as const;

/** Returns a statement for people. */
export function statementText(statement: ProfitStatement): string {
  const { mode, total, positions } = statement;
  const currencies = total.all.map(({ currency }) => currency);
  const head = `  ${LIVE_OR_PAPER[mode]}, days of UTC, until ${instant(statement.at)}\n`;
  if (currencies.length === 0) return `${head}  no swap yet\n`;
  return [
    head,
    ...currencies.map((currency) => `\n${totalText(statement, currency)}`),
    ...currencies.map((currency) => [
      '\n', scopesText(`net ${currency} by strategy`, statement.strategies, currency, ({ name }) => name),
      '\n', scopesText(`net ${currency} by token`, statement.tokens, currency, ({ token }) => token),
    ].join('')),
    ...(positions.length === 0 ? [] : [`\n${positionsText(statement)}`]),
    ...transfersText(statement), notesText(statement),
  ].join('');
}

function totalText({ total, unrealised }: ProfitStatement, currency: string): string {
  const of = (period: PeriodName): Figures | undefined => total[period].find((own) => own.currency === currency);
  const row = (name: string, text: (figures: Figures) => string): string[] =>
    [name, ...PERIODS.map(of).map((own) => (own === undefined ? '0' : text(own)))];
  const open = unrealised.find((own) => own.currency === currency);
  return table([
    [`in ${currency}`, ...PERIODS.map((period) => TITLES[period])],
    row('trades', ({ trades }) => String(trades)),
    row('won, lost', ({ won, lost }) => `${won}, ${lost}`),
    row('realised', ({ realised }) => signed(realised)),
    row('fees', ({ fees }) => plain(fees)),
    row('net', ({ net }) => signed(net)),
    ...(open === undefined ? [] : [['unrealised', '', '', '', open.amount === null ? '?' : signed(open.amount)]]),
    row('fees, SOL', ({ fees_sol: fees }) => plain(fees)),
    row('rent, SOL', ({ rent_paid_sol: paid, rent_returned_sol: back }) =>
      (back.units === '0' ? plain(paid) : `${plain(paid)} - ${plain(back)}`)),
  ], { right: [1, 2, 3, 4] });
}

function scopesText<Scope extends ProfitStatement['strategies'][number] | ProfitStatement['tokens'][number]>(
  title: string, scopes: readonly Scope[], currency: string, nameOf: (scope: Scope) => string,
): string {
  const rows = scopes.flatMap((scope) => {
    const of = (period: PeriodName): Figures | undefined =>
      scope.periods[period].find((own) => own.currency === currency);
    const all = of('all');
    return all === undefined ? [] : [[
      nameOf(scope), String(all.trades), ...PERIODS.map((period) => netOf(of(period))), plain(all.fees),
    ]];
  });
  return table(
    [[title, 'trades', ...PERIODS.map((period) => TITLES[period]), 'fees'], ...rows],
    { right: [1, 2, 3, 4, 5, 6], optional: [6, 1] },
  );
}

function netOf(figures: Figures | undefined): string {
  return figures === undefined ? '0' : signed(figures.net);
}

function positionsText({ positions }: ProfitStatement): string {
  return table([
    ['held', 'quantity', 'cost', 'value', 'unrealised', 'since, UTC'],
    ...positions.map(({ strategy, quantity, cost, value, unrealised, since }) => [
      strategy, shown(quantity), cost === null ? 'unknown' : shown(cost), value === null ? 'no price' : shown(value),
      unrealised === null ? '?' : signed(unrealised), instant(since),
    ]),
  ], { right: [1, 2, 3, 4], optional: [5, 2] });
}

function transfersText({ transfers }: ProfitStatement): string[] {
  if (transfers.length === 0) return [];
  return ['\n', table([
    ['moved by others', 'into the wallet', 'out of it'],
    ...transfers.map(({ token, deposits, withdrawals }) => [token, plain(deposits), plain(withdrawals)]),
  ], { right: [1, 2] })];
}

function notesText({ prices, total, positions }: ProfitStatement): string {
  const notes: string[] = [];
  if (positions.length > 0) notes.push({
    running: `positions at the prices of the running daemon, ${clockTime(prices.at ?? undefined)} UTC`,
    last: `no daemon runs: positions at the last known prices, the oldest of ${clockTime(prices.at ?? undefined)} UTC`,
    none: 'no price of what is held is known',
  }[prices.at === null ? 'none' : prices.source]);
  const withoutCost = total.all.reduce((sum, own) => sum + own.without_cost, 0);
  if (withoutCost > 0) notes.push(
    `${pluralize(withoutCost, 'sale')} of what was not bought here: without cost, and in no profit`,
  );
  const unpriced = total.all.find(({ fees_without_value_sol: fees }) => fees.units !== '0');
  if (unpriced !== undefined) notes.push(
    `${plain(unpriced.fees_without_value_sol)} SOL of fees were paid without a known price: not in the net profit`,
  );
  return notes.length === 0 ? '' : `\n${notes.map((note) => `  ${note}\n`).join('')}`;
}

/** Returns closed trades for people. */
export function tradesText(
  trades: readonly Trade[], { mode, all }: { readonly mode: 'live' | 'paper'; readonly all: number },
): string {
  const head = `  ${LIVE_OR_PAPER[mode]}, ${pluralize(all, 'closed trade')}`
    + `${trades.length < all ? `, the newest ${trades.length}` : ''}\n`;
  if (trades.length === 0) return head;
  return `${head}\n${table([
    ['sold, UTC', 'strategy', 'sold', 'for', 'realised', 'return', 'held', 'why'],
    ...trades.map((trade) => [
      instant(trade.exited_at), trade.strategy, shown(trade.quantity), shown(trade.proceeds),
      trade.profit === null ? 'unknown' : signed(trade.profit),
      trade.return === null ? '' : `${(trade.return * 100).toFixed(2)} %`,
      trade.duration_ms === null ? '' : roughDuration(trade.duration_ms), trade.reason,
    ]),
  ], { right: [2, 3, 4, 5, 6], optional: [6, 3], below: [7] })}`;
}

/** Returns closed trades as CSV. */
export function tradesCsv(trades: readonly Trade[]): string {
  return csvText([
    [
      'exited_at', 'entered_at', 'duration_s', 'strategy', 'token', 'mint', 'quantity', 'currency', 'cost', 'proceeds',
      'profit', 'fee', 'reason', 'swap', 'signature',
    ],
    ...trades.map((trade) => [
      timeOf(trade.exited_at), trade.entered_at === null ? '' : timeOf(trade.entered_at),
      trade.duration_ms === null ? '' : String(trade.duration_ms / 1_000), trade.strategy, trade.token, trade.mint,
      trade.quantity.text, trade.proceeds.symbol, trade.cost?.text ?? '', trade.proceeds.text,
      trade.profit?.text ?? '', trade.fee?.text ?? '', trade.reason, trade.intent_id, trade.signature ?? '',
    ]),
  ]);
}

/** Returns the days with swaps for people, the newest at the end. */
export function daysText(days: readonly DayFigures[], mode: 'live' | 'paper'): string {
  const head = `  ${LIVE_OR_PAPER[mode]}, days of UTC with swaps\n`;
  if (days.length === 0) return `${head}  none\n`;
  return `${head}\n${table([
    ['day', 'swaps', 'trades', 'won', 'realised', 'fees', 'net', ''],
    ...days.map(({ day, swaps, trades, won, realised, fees, net, currency }) => [
      day, String(swaps), String(trades), String(won), signed(realised), plain(fees), signed(net), currency,
    ]),
  ], { right: [1, 2, 3, 4, 5, 6], optional: [3, 1] })}`;
}

function plain({ text }: Money): string {
  return groupThousands(text);
}

function signed(money: Money): string {
  return money.units === '0' || money.units.startsWith('-') ? plain(money) : `+${plain(money)}`;
}

function shown(money: Money): string {
  return `${plain(money)} ${money.symbol}`;
}
