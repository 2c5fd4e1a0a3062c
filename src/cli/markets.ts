import { printable } from '../core/text.ts';
import type { PredictionMarket } from '../service/wire/prediction-market.ts';
import type { CommandModule } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { count, instant } from './figures.ts';
import { looking, NO_TOKENS } from './look.ts';
import type { ListFlags } from './list-flags.ts';
import { addListFlags, nothingListed, readRange } from './list-flags.ts';
import { marketTitle, pricedProbability, priceText, stateText } from './prediction-text.ts';
import { table } from './table.ts';

export const marketsCommand: CommandModule = (program, run) => {
  addListFlags(program.command('markets <event>').description('the markets of an event, with what a contract costs now'))
    .action(run(looking(async ({ terminal, world }, event: string, flags: ListFlags) => {
      const { prediction } = world.service;
      const page = await readRange(terminal, flags, {
        page: (range) => prediction.eventMarkets(event, range, { priority: 'watch' }),
        all: (options) => prediction.allEventMarkets(event, options),
      });
      terminal.result(page, () => (page.data.length === 0 ? nothingListed(page, 'the event has no markets') : marketsText(page.data, terminal.colour)));
      return EXIT.done;
    }, NO_TOKENS)));
};

function marketsText(markets: readonly PredictionMarket[], colour: boolean): string {
  return table([
    ['market', 'about', 'state', 'YES', 'YES costs', 'YES brings', 'NO costs', 'NO brings', 'volume', 'closes (UTC)'],
    ...markets.map(({ marketId, metadata, pricing, closeTime, ...market }) => [
      printable(marketId, 40), marketTitle(marketId, metadata), stateText(market),
      pricedProbability(pricing), priceText(pricing.buyYesPriceUsd), priceText(pricing.sellYesPriceUsd), priceText(pricing.buyNoPriceUsd), priceText(pricing.sellNoPriceUsd),
      count(pricing.volume), instant(closeTime),
    ]),
  ], { right: [3, 4, 5, 6, 7, 8], colour, optional: [8, 9, 7, 5, 2] });
}
