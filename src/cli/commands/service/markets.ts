import type { CommandModule } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import type { ListFlags } from '../../input/request-flags.ts';
import { addListFlags, nothingListed, readRange } from '../../input/request-flags.ts';
import { NO_TOKENS, serviceRequest } from '../../input/service-request.ts';
import { count, instant } from '../../output/figures.ts';
import { marketTitle, pricedProbability, priceText, stateText } from '../../output/prediction-text.ts';
import { table } from '../../output/table.ts';
import { printable } from '../../../core/text.ts';
import type { PredictionMarket } from '../../../market/prediction.ts';

export const marketsCommand: CommandModule = (program, run) => {
  addListFlags(program.command('markets <event>')
    .description('the markets of an event, with the prices of their contracts'))
    .action(run(serviceRequest(async ({ terminal, connections }, event: string, flags: ListFlags) => {
      const { prediction } = connections.service;
      const page = await readRange(terminal, flags, {
        page: (range) => prediction.eventMarkets(event, range, { priority: 'watch' }),
        all: (options) => prediction.allEventMarkets(event, options),
      });
      terminal.result(page, () => (page.data.length === 0 ? nothingListed(page, 'the event has no markets')
        : marketsText(page.data, terminal.colour)));
      return EXIT.done;
    }, NO_TOKENS)));
};

function marketsText(markets: readonly PredictionMarket[], colour: boolean): string {
  return table([
    ['market', 'about', 'state', 'YES', 'buy YES', 'sell YES', 'buy NO', 'sell NO', 'volume', 'closes (UTC)'],
    ...markets.map(({ marketId, metadata, pricing, closeTime, ...market }) => [
      printable(marketId, 40), marketTitle(marketId, metadata), stateText(market),
      pricedProbability(pricing), priceText(pricing.buyYesPriceUsd), priceText(pricing.sellYesPriceUsd),
      priceText(pricing.buyNoPriceUsd), priceText(pricing.sellNoPriceUsd), count(pricing.volume), instant(closeTime),
    ]),
  ], { right: [3, 4, 5, 6, 7, 8], colour, optional: [8, 9, 7, 5, 2] });
}
