import { printable } from '../core/text.ts';
import type { Prediction } from '../service/prediction.ts';
import type { EventSearch } from '../service/prediction-request.ts';
import type { PredictionEvent } from '../service/wire/prediction-event.ts';
import type { Records } from '../service/wire/records.ts';
import type { CommandModule } from './command.ts';
import type { ExitCode } from './exit-codes.ts';
import { EXIT } from './exit-codes.ts';
import { instant, microUsd } from './figures.ts';
import { looking, NO_TOKENS } from './look.ts';
import { marketTitle, pricedProbability, priceText, stateText } from './prediction-text.ts';
import type { Flag, RequestFlags } from './request-flags.ts';
import { addFlags } from './request-flags.ts';
import { facts, table } from './table.ts';
import type { Terminal } from './terminal.ts';
import { tellRejected } from './token-table.ts';

/** The provider that the service asks where a request names none. */
const DEFAULT_PROVIDER = 'provider_b';
const PROVIDER_FLAG: Flag = ['text', `provider_a or provider_b; left out, ${DEFAULT_PROVIDER}`];

const SEARCH_FLAGS: RequestFlags<EventSearch, 'query'> = { provider: PROVIDER_FLAG, limit: ['number', '1 to 20'] };

export const eventsCommand: CommandModule = (program, run) => {
  const events = program.command('events').description('events that people bet on, with their markets');
  addFlags(events.command('search <term...>').description('events of one provider whose title matches'), SEARCH_FLAGS)
    .action(run(looking(async ({ terminal, world }, term: string[], flags: Omit<EventSearch, 'query'>) => {
      const { prediction } = world.service;
      const asked = askedProvider(prediction, flags.provider);
      const request = { ...flags, query: term.join(' '), provider: asked.provider };
      return show(terminal, await prediction.searchEvents(request, { priority: 'watch' }), asked);
    }, NO_TOKENS)));
  const suggested = events.command('suggested <pubkey>')
    .description('events that the service suggests on the basis of an order');
  addFlags(suggested, { provider: PROVIDER_FLAG })
    .action(run(looking(async ({ terminal, world }, pubkey: string, flags: { readonly provider?: string }) => {
      const { prediction } = world.service;
      const asked = askedProvider(prediction, flags.provider);
      const found = await prediction.suggestedEvents(pubkey, { provider: asked.provider }, { priority: 'watch' });
      return show(terminal, found, asked);
    }, NO_TOKENS)));
};

/** The one provider that a request asks, and those that it does not ask. */
interface AskedProvider {
  /** Undefined where the service chooses: its host does not know the default one. */
  readonly provider: string | undefined;
  readonly others: readonly string[];
}

function askedProvider({ providers }: Pick<Prediction, 'providers'>, named: string | undefined): AskedProvider {
  const provider = named ?? (providers.includes(DEFAULT_PROVIDER) ? DEFAULT_PROVIDER : undefined);
  return { provider, others: providers.filter((other) => other !== provider) };
}

function show(terminal: Terminal, { records, rejected }: Records<PredictionEvent>, asked: AskedProvider): ExitCode {
  tellRejected(terminal, rejected);
  terminal.result({ data: records, provider: asked.provider ?? null, other_providers: asked.others }, () =>
    (records.length === 0 ? noneText(asked) : records.map((event) => eventText(event, terminal.colour)).join('\n')));
  return records.length > 0 ? EXIT.done : EXIT.failed;
}

function noneText({ provider, others }: AskedProvider): string {
  if (provider === undefined) return '  no event of the provider that the service chose matches\n';
  if (others.length === 0) return `  no event of ${provider} matches\n`;
  const flags = others.map((other) => `--provider ${other}`).join(' or ');
  return `  no event of ${provider} matches, and no other provider was asked: add ${flags}\n`;
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
