import { printable } from '../core/text.ts';
import type { EventSearch } from '../service/prediction-request.ts';
import type { PredictionEvent } from '../service/wire/prediction-event.ts';
import type { Records } from '../service/wire/records.ts';
import type { CommandModule } from './command.ts';
import type { ExitCode } from './exit-codes.ts';
import { EXIT } from './exit-codes.ts';
import { instant, microUsd } from './figures.ts';
import { looking, NO_TOKENS } from './look.ts';
import { marketTitle, pricedProbability, priceText, stateText } from './prediction-text.ts';
import type { RequestFlags } from './request-flags.ts';
import { addFlags } from './request-flags.ts';
import { facts, table } from './table.ts';
import type { Terminal } from './terminal.ts';
import { tellRejected } from './token-table.ts';

const SEARCH_FLAGS: RequestFlags<EventSearch, 'query'> = {
  provider: ['text', 'provider_a or provider_b; left out, the service chooses'],
  limit: ['number', '1 to 20'],
};

export const eventsCommand: CommandModule = (program, run) => {
  const events = program.command('events').description('events that people bet on, with their markets');
  addFlags(events.command('search <term...>').description('events whose title matches'), SEARCH_FLAGS)
    .action(run(looking(async ({ terminal, world }, term: string[], flags: Omit<EventSearch, 'query'>) =>
      show(terminal, await world.service.prediction.searchEvents({ query: term.join(' '), ...flags }, { priority: 'watch' })), NO_TOKENS)));
  addFlags(events.command('suggested <pubkey>').description('events that the service suggests on the basis of an order'), { provider: ['text', 'provider_a or provider_b; left out, the service chooses'] } as const)
    .action(run(looking(async ({ terminal, world }, pubkey: string, { provider }: { readonly provider?: string }) =>
      show(terminal, await world.service.prediction.suggestedEvents(pubkey, { provider }, { priority: 'watch' })), NO_TOKENS)));
};

function show(terminal: Terminal, { records, rejected }: Records<PredictionEvent>): ExitCode {
  tellRejected(terminal, rejected);
  terminal.result({ data: records }, () => (records.length === 0 ? '  no event matches\n' : records.map((event) => eventText(event, terminal.colour)).join('\n')));
  return records.length > 0 ? EXIT.done : EXIT.failed;
}

function eventText(event: PredictionEvent, colour: boolean): string {
  const { metadata, markets } = event;
  const heading = facts([
    ['event', `${printable(metadata.title ?? event.eventId, 100)}${metadata.subtitle === undefined ? '' : `, ${printable(metadata.subtitle, 100)}`}`],
    ['id', printable(event.eventId, 100)],
    ['about', [event.category, event.subcategory].filter((part) => part !== undefined).map((part) => printable(part, 40)).join(', ')],
    ['traded', event.volumeUsd === undefined ? undefined : microUsd(event.volumeUsd)],
    ['closes', metadata.closeTime === undefined ? undefined : `${instant(metadata.closeTime)} UTC`],
  ]);
  if (markets.length === 0) return heading;
  return `${heading}\n${table([
    ['market', 'about', 'state', 'YES', 'YES costs', 'NO costs'],
    ...markets.map((market) => [
      printable(market.marketId, 40), marketTitle(market.marketId, market.metadata), stateText(market),
      pricedProbability(market.pricing), priceText(market.pricing.buyYesPriceUsd), priceText(market.pricing.buyNoPriceUsd),
    ]),
  ], { right: [3, 4, 5], colour })}`;
}
