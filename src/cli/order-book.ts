import { formatDecimal } from '../core/amount.ts';
import { GannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { BookLevel, BookSide, OrderBook } from '../market/order-book.ts';
import { asks, bids, bookTop, isCrossed, isEmpty } from '../market/order-book.ts';
import type { CommandContext, CommandModule } from './command.ts';
import { openConfigured } from './configured.ts';
import { EXIT } from './exit-codes.ts';
import { table } from './table.ts';

type Book = Pick<OrderBook, 'yes' | 'no'>;

const USD_DECIMALS = 6;
const LEVELS_SHOWN = 10;

export const orderBookCommand: CommandModule = (program, run) => {
  program.command('order-book <market>')
    .description('a prediction market’s order book, asks derived from the other side’s bids')
    .action(run(async (context: CommandContext, market: string) => {
      const { world } = await openConfigured(context, 'look');
      try {
        const book = await world.service.prediction.orderBook(market, { priority: 'watch' });
        if (book === undefined) throw new GannetError('BOOK_MISSING', `the service has no order book of ${printable(market, 100)}`);
        context.terminal.result(asJson(market, book), () => asText(market, book, context.terminal.colour));
        return EXIT.done;
      } finally {
        await world.close();
      }
    }));
};

function asJson(market: string, book: Book): unknown {
  return { market_id: market, yes: sideJson(book, 'yes'), no: sideJson(book, 'no'), crossed: isCrossed(book), empty: isEmpty(book) };
}

function sideJson(book: Book, side: BookSide): unknown {
  const top = bookTop(book, side);
  const levels = (list: readonly BookLevel[]): [string, number][] => list.map(({ priceMicroUsd, size }) => [usd(priceMicroUsd)!, size]);
  return {
    best_bid: usd(top.bestBid), best_ask: usd(top.bestAsk), mid: usd(top.mid), spread: usd(top.spread),
    microprice: usd(top.microprice), imbalance: top.imbalance ?? null,
    bids: levels(bids(book, side)), asks: levels(asks(book, side)),
  };
}

/** Decimal dollars; half a millionth that a mid may have is kept as a seventh place. */
function usd(microUsd: number | undefined): string | null {
  if (microUsd === undefined) return null;
  return formatDecimal(BigInt(Math.round(microUsd * 10)), USD_DECIMALS + 1);
}

function asText(market: string, book: Book, colour: boolean): string {
  const top = bookTop(book, 'yes');
  const yesBids = bids(book, 'yes');
  const yesAsks = asks(book, 'yes');
  const rows = Array.from({ length: Math.min(LEVELS_SHOWN, Math.max(yesBids.length, yesAsks.length)) }, (_, level) => [
    size(yesBids[level]), usd(yesBids[level]?.priceMicroUsd) ?? '', usd(yesAsks[level]?.priceMicroUsd) ?? '', size(yesAsks[level]),
  ]);
  const summary = isEmpty(book) ? 'the book is empty'
    : isCrossed(book) ? 'the book is crossed: stale or broken, not to be traded on'
    : top.mid === undefined ? `one-sided: ${top.bestBid === undefined ? 'nobody bids for YES' : 'nobody offers YES'}`
    : `YES at ${(top.mid / 10_000).toFixed(2)} %, spread $${usd(top.spread)}`;
  return `  ${printable(market, 100)}: ${summary}\n\n${table([['size', 'bid YES', 'ask YES', 'size'], ...rows], { right: [0, 1, 2, 3], colour })}`;
}

function size(level: BookLevel | undefined): string {
  return level === undefined ? '' : String(level.size);
}
