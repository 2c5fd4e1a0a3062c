import type { Observable } from 'rxjs';
import type { GannetError } from '../../core/errors.ts';
import type { FeedSpec } from '../../market/feed.ts';
import type { FeedEventByKind, FeedKindName } from '../../market/feeds/registry.ts';
import type { WalletActivity } from '../../market/wallet-activity.ts';
import type { SwapOrder, SwapRequest } from '../../trading/swap-terms.ts';
import type { WatchPace } from '../rate/back-off.ts';
import type { CallOptions } from '../rate/rate-plan.ts';
import type { Service } from '../service.ts';
import type { OrderAnswer } from '../wire/order-answer.ts';

/** The parts of the service that feeds poll. */
export interface FeedSource {
  readonly swap: { order(request: SwapRequest, call?: CallOptions): Promise<SwapOrder & Partial<OrderAnswer>> };
  readonly tokens: Pick<Service['tokens'], 'search' | 'recent' | 'tag' | 'category'>;
  readonly prediction: Pick<
    Service['prediction'], 'orderBook' | 'eventMarkets' | 'searchEvents' | 'suggestedEvents' | 'positions' | 'history'
  >;
  readonly lend: Pick<Service['lend'], 'earnings'>;
  watchPace(): WatchPace;
}

/** What feeds poll at the chain's node. */
export interface NodeSource {
  walletActivity(owner: string, signal?: AbortSignal): Promise<WalletActivity>;
  /** Returns hints that there is news of a wallet. Absent for none. */
  walletHints$?(owner: string): Observable<unknown>;
}

/** Where the requests of feeds go. */
export interface RequestSource extends Omit<FeedSource, 'watchPace'> {
  /** Undefined without a node. */
  readonly node?: NodeSource | undefined;
}

type SpecOf<K extends FeedKindName> = Extract<FeedSpec, { kind: K }>;

/** An event without its stamp and its name, which are added to every kind alike. */
type Content<K extends FeedKindName> = Omit<FeedEventByKind[K], 'kind' | 'feed' | 'receivedAt'>;

/**
 * Makes one request for the specs, which it serves together, and returns for each, in their order, the content of its
 * event or why there is none. Rejects where the request as a whole failed.
 */
export type FeedRequest<K extends FeedKindName> = (
  specs: readonly SpecOf<K>[], source: RequestSource, call: CallOptions,
) => Promise<readonly (Content<K> | GannetError)[]>;

/** The request of each kind. */
export type FeedRequests<K extends FeedKindName> = { readonly [Kind in K]: FeedRequest<Kind> };

/** Returns the request of a kind whose requests serve one feed each. */
export function eachAlone<K extends FeedKindName>(
  ask: (spec: SpecOf<K>, source: RequestSource, call: CallOptions) => Promise<Content<K>>,
): FeedRequest<K> {
  return async (specs, source, call) => Promise.all(specs.map((spec) => ask(spec, source, call)));
}
