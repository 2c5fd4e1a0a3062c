import type { CommandModule } from '../../command.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import type { Flag, RequestFlags } from '../../input/request-flags.ts';
import { addFlags } from '../../input/request-flags.ts';
import { NO_TOKENS, serviceRequest } from '../../input/service-request.ts';
import { instant, microUsd } from '../../output/figures.ts';
import { marketTitle, pricedProbability, priceText, stateText } from '../../output/prediction-text.ts';
import { facts, table } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { reportRejected } from '../../output/token-table.ts';
import { printable } from '../../../core/text.ts';
import type { EventSearch, Prediction } from '../../../service/endpoints/prediction.ts';
import type { Records } from '../../../service/wire/read.ts';
import type { PredictionEvent } from '../../../market/prediction.ts';

/** The provider of a request that names none. */
const DEFAULT_PROVIDER = 'provider_b';
const PROVIDER_FLAG: Flag = ['text', `provider_a or provider_b (default: ${DEFAULT_PROVIDER})`];

const SEARCH_FLAGS: RequestFlags<EventSearch, 'query'> = { provider: PROVIDER_FLAG, limit: ['number', '1 to 20'] };

export const eventsCommand: CommandModule = (program, run) => {
  const events = program.command('events').description('prediction events with their markets');
  addFlags(events.command('search <term...>').description('events of one provider whose title matches'), SEARCH_FLAGS)
    .action(run(serviceRequest(async ({ terminal, connections }, term: string[], flags: Omit<EventSearch, 'query'>) => {
      const { prediction } = connections.service;
      const asked = askedProvider(prediction, flags.provider);
      const request = { ...flags, query: term.join(' '), provider: asked.provider };
      return show(terminal, await prediction.searchEvents(request, { priority: 'watch' }), asked);
    }, NO_TOKENS)));
  const suggested = events.command('suggested <pubkey>')
    .description('events that the service suggests on the basis of an order');
  addFlags(suggested, { provider: PROVIDER_FLAG })
    .action(run(serviceRequest(async (
      { terminal, connections }, pubkey: string, flags: { readonly provider?: string },
    ) => {
      const { prediction } = connections.service;
      const asked = askedProvider(prediction, flags.provider);
      const found = await prediction.suggestedEvents(pubkey, { provider: asked.provider }, { priority: 'watch' });
      return show(terminal, found, asked);
    }, NO_TOKENS)));
};

/** The provider that a request asks, and the others. */
interface AskedProvider {
  /** Undefined when the service chooses, because its host does not know the default provider. */
  readonly provider: string | undefined;
  readonly others: readonly string[];
}

function askedProvider({ providers }: Pick<Prediction, 'providers'>, named: string | undefined): AskedProvider {
  const provider = named ?? (providers.includes(DEFAULT_PROVIDER) ? DEFAULT_PROVIDER : undefined);
  return { provider, others: providers.filter((other) => other !== provider) };
}

function show(terminal: Terminal, { records, rejected }: Records<PredictionEvent>, asked: AskedProvider): ExitCode {
  reportRejected(terminal, rejected);
  terminal.result({ data: records, provider: asked.provider ?? null, other_providers: asked.others }, () =>
    (records.length === 0 ? noneText(asked) : records.map((event) => eventText(event, terminal.colour)).join('\n')));
  return records.length > 0 ? EXIT.done : EXIT.failed;
}

function noneText({ provider, others }: AskedProvider): string {
  if (provider === undefined) return '  no event of the provider that the service chose matches\n';
  if (others.length === 0) return `  no event of ${provider} matches\n`;
  const flags = others.map((other) => `--provider ${other}`).join(' or ');
  return `  no event of ${provider} matches, and the other providers were not asked: add ${flags}\n`;
}

function eventText(event: PredictionEvent, colour: boolean): string {
  const { metadata, markets } = event;
  const heading = facts([
    ['event', [metadata.title ?? event.eventId, metadata.subtitle]
      .filter((part) => part !== undefined).map((part) => printable(part, 100)).join(', ')],
    ['id', printable(event.eventId, 100)],
    ['about', [event.category, event.subcategory].filter((part) => part !== undefined)
      .map((part) => printable(part, 40)).join(', ')],
    ['traded', event.volumeUsd === undefined ? undefined : microUsd(event.volumeUsd)],
    ['closes', metadata.closeTime === undefined ? undefined : `${instant(metadata.closeTime)} UTC`],
  ]);
  if (markets.length === 0) return heading;
  return `${heading}\n${table([
    ['market', 'about', 'state', 'YES', 'buy YES', 'buy NO'],
    ...markets.map((market) => [
      printable(market.marketId, 40), marketTitle(market.marketId, market.metadata), stateText(market),
      pricedProbability(market.pricing),
      priceText(market.pricing.buyYesPriceUsd), priceText(market.pricing.buyNoPriceUsd),
    ]),
  ], { right: [3, 4, 5], colour })}`;
}
