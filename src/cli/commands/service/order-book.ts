import type { CommandModule } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { NO_TOKENS, serviceRequest } from '../../input/service-request.ts';
import { count, microUsd } from '../../output/figures.ts';
import { probabilityText } from '../../output/prediction-text.ts';
import { facts, table } from '../../output/table.ts';
import { formatDecimal } from '../../../core/amount.ts';
import { GannetError } from '../../../core/errors.ts';
import { printable } from '../../../core/text.ts';
import type { BookLevel, BookSide, OrderBook } from '../../../market/order-book.ts';
import { asks, bids, bookTop, isCrossed, isEmpty } from '../../../market/order-book.ts';

type Book = Pick<OrderBook, 'yes' | 'no'>;

const USD_DECIMALS = 6;
const LEVELS_SHOWN = 10;

export const orderBookCommand: CommandModule = (program, run) => {
  program.command('order-book <market>')
    .description('the order book of a prediction market; asks are the bids of the other side')
    .action(run(serviceRequest(async ({ terminal, connections }, market: string) => {
      const book = await connections.service.prediction.orderBook(market, { priority: 'watch' });
      if (book === undefined)
        throw new GannetError('BOOK_MISSING', `the service has no order book of ${printable(market, 100)}`);
      terminal.result(asJson(market, book), () => asText(market, book, terminal.colour));
      return EXIT.done;
    }, NO_TOKENS)));
};

function asJson(market: string, book: Book): unknown {
  return {
    market_id: market, yes: sideJson(book, 'yes'), no: sideJson(book, 'no'), crossed: isCrossed(book),
    empty: isEmpty(book),
  };
}

function sideJson(book: Book, side: BookSide): unknown {
  const top = bookTop(book, side);
  const levels = (list: readonly BookLevel[]): [string, number][] =>
    list.map(({ priceMicroUsd, size }) => [usd(priceMicroUsd)!, size]);
  return {
    best_bid: usd(top.bestBid), best_ask: usd(top.bestAsk), mid: usd(top.mid), spread: usd(top.spread),
    microprice: usd(top.microprice), imbalance: top.imbalance ?? null,
    bids: levels(bids(book, side)), asks: levels(asks(book, side)),
  };
}

/** Returns decimal dollars. The seventh decimal keeps the half millionth that a mid price may have. */
function usd(microUsd: number | undefined): string | null {
  if (microUsd === undefined) return null;
  return formatDecimal(BigInt(Math.round(microUsd * 10)), USD_DECIMALS + 1);
}

function asText(market: string, book: Book, colour: boolean): string {
  const yesBids = bids(book, 'yes');
  const yesAsks = asks(book, 'yes');
  const rows = Array.from({ length: Math.min(LEVELS_SHOWN, Math.max(yesBids.length, yesAsks.length)) }, (_, level) => [
    contracts(yesBids[level]), price(yesBids[level]?.priceMicroUsd), price(yesAsks[level]?.priceMicroUsd),
    contracts(yesAsks[level]),
  ]);
  const hidden = Math.max(yesBids.length, yesAsks.length) - rows.length;
  const levels = rows.length === 0 ? ''
    : `\n${table([['contracts', 'bid YES', 'ask YES', 'contracts'], ...rows], { right: [0, 1, 2, 3], colour })}`;
  return `${facts([
    ['market', printable(market, 100)],
    ['state', summary(book)],
    ['bids', `${contractsOf(yesBids)} contracts for YES`],
    ['asks', `${contractsOf(yesAsks)} contracts of YES, derived from the bids for NO`],
  ])}${levels}${hidden > 0 ? `  and ${hidden} more levels\n` : ''}`;
}

function summary(book: Book): string {
  const { bestBid, bestAsk, spread } = bookTop(book, 'yes');
  if (isEmpty(book)) return 'the book is empty';
  if (isCrossed(book)) return 'the book is crossed: stale or broken, do not trade on it';
  const implied = probabilityText({ bid: bestBid, ask: bestAsk });
  if (bestBid === undefined || bestAsk === undefined)
    return `one-sided: ${bestBid === undefined ? 'no bids for YES' : 'no offers of YES'}, YES ${implied}`;
  return `YES ${implied}, spread ${price(spread)} a contract`;
}

function price(micro: number | undefined): string {
  return micro === undefined ? '' : microUsd(BigInt(Math.round(micro)));
}

function contracts(level: BookLevel | undefined): string {
  return level === undefined ? '' : level.size.toFixed(2);
}

function contractsOf(levels: readonly BookLevel[]): string {
  return count(levels.reduce((sum, { size }) => sum + size, 0));
}
