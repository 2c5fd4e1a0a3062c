import { DOCUMENT_CHARS_MAX, documentOf, documentText } from '../../core/document.ts';
import { GannetError, isGannetError } from '../../core/errors.ts';
import type { Clock } from '../../core/time.ts';
import type { FeedKey, MarketEvent } from '../../market/event.ts';
import type { FeedSpec } from '../../market/feed.ts';
import { feedKey } from '../../market/feed.ts';
import type { FeedKindName } from '../../market/feeds/registry.ts';
import { feedKindOf } from '../../market/feeds/registry.ts';
import type { PollDemand } from '../../market/poll-plan.ts';
import { pollGroups } from '../../market/poll-plan.ts';
import type { CallOptions } from '../rate/rate-plan.ts';
import type { FeedRequest, FeedRequests, RequestSource } from './feed-request.ts';
import { LENDING_REQUESTS } from './lending.ts';
import { PREDICTION_REQUESTS } from './prediction.ts';
import { SWAP_REQUESTS } from './swap.ts';
import { TOKEN_REQUESTS } from './tokens.ts';
import { WALLET_REQUESTS } from './wallet.ts';

/** The kinds that are polled. Signals come unasked, and the engine knows the portfolio. */
type PolledKind = Exclude<FeedKindName, 'signal' | 'portfolio'>;

/** The request of each kind of feed. */
const REQUESTS: FeedRequests<PolledKind> =
  { ...SWAP_REQUESTS, ...TOKEN_REQUESTS, ...PREDICTION_REQUESTS, ...LENDING_REQUESTS, ...WALLET_REQUESTS };

/** One request that is repeated, and the feeds it serves. */
export interface Poll extends PollDemand {
  readonly feeds: readonly FeedKey[];
  /** Returns the event or the fault of each of its feeds; rejects where the request as a whole failed. */
  request(call: CallOptions): Promise<ReadonlyMap<FeedKey, MarketEvent | GannetError>>;
}

/**
 * Returns the requests that serve the specs of polled kinds: each feed once, those of one kind and rate together where
 * they can be.
 */
export function pollsFor(specs: Iterable<FeedSpec>, source: RequestSource, clock: Clock): Poll[] {
  return pollGroups(specs).map(({ specs: together, everyMs, weight }) => {
    const feeds = together.map(feedKey);
    const [{ kind }] = together as [FeedSpec];
    // The request of the first serves all specs of a group.
    const request = REQUESTS[kind as PolledKind] as unknown as FeedRequest<FeedKindName>;
    return {
      feeds, everyMs, weight,
      request: async (call) => {
        const contents = await request(together, source, call);
        const receivedAt = clock.now();
        return new Map(feeds.map((feed, index) => {
          const content = contents[index]!;
          if (isGannetError(content)) return [feed, content];
          const { kind: own } = together[index]!;
          const event = { kind: own, feed, receivedAt, ...content } as MarketEvent;
          return [feed, feedKindOf(own).hasColumns === true ? event : boundedDocument(event)];
        }));
      },
    };
  });
}

/** What a strategy sees is what a recording can keep: the event as a document, or why it is none. */
function boundedDocument(event: MarketEvent): MarketEvent | GannetError {
  const document = documentOf(event);
  const { length } = documentText(document);
  return length <= DOCUMENT_CHARS_MAX ? document : new GannetError(
    'SERVICE_MALFORMED', `${event.feed}: expected an answer of at most ${DOCUMENT_CHARS_MAX} characters, got ${length}`,
  );
}
