import { NEVER, Observable, share } from 'rxjs';
import type { GannetError } from '../../core/errors.ts';
import { isGannetError } from '../../core/errors.ts';
import type { Random } from '../../core/random.ts';
import type { Clock } from '../../core/time.ts';
import type { FeedHealth, FeedKey, MarketEvent } from '../../market/event.ts';
import type { Feed, FeedSpec } from '../../market/feed.ts';
import { feedKey, originOf, sharedFeeds } from '../../market/feed.ts';
import type { WatchPace } from '../rate/back-off.ts';
import type { FeedRecord, FeedStats } from './feed-stats.ts';
import { createFeedRecord } from './feed-stats.ts';
import { startScheduler } from './poll-scheduler.ts';
import type { FeedSource, NodeSource } from './feed-request.ts';
import { pollsFor } from './polls.ts';

/** A node says nothing about its rate: only its refusals slow polls down. */
const UNPACED: WatchPace = { waitMs: 0, turnMs: 0 };

interface FeedsOptions {
  readonly service: FeedSource;
  /** Undefined without a node of the chain. */
  readonly node?: NodeSource | undefined;
  readonly specs: readonly FeedSpec[];
  readonly clock: Clock;
  /** Spreads the polls. It is a separate stream, so that it changes no other random decision. */
  readonly random: Random;
  /** The events of feeds that are not polled. */
  readonly arrivals$?: Observable<MarketEvent> | undefined;
  /** Called with every change of health. */
  readonly log?: ((report: FeedHealth) => void) | undefined;
}

/** The live feed, with its counters and the measured age of its data. */
export interface PollingFeed extends Feed {
  /** Returns the counters and ages of every feed since the last start. */
  stats(): readonly FeedStats[];
}

/**
 * Returns a feed that polls each distinct spec while it has subscribers, which share the polls.
 * The rate governor decides how fast requests leave: more feeds than the rate allows are served by weight.
 */
export function createFeeds(options: FeedsOptions): PollingFeed {
  const { service, node, specs, clock, random, arrivals$ = NEVER, log } = options;
  const { swap, tokens, prediction, lend } = service;
  const source = { swap, tokens, prediction, lend, node };
  // The rate of the service is not that of the node.
  const schedules = (['service', 'node'] as const).map((origin) => ({
    polls: pollsFor([...specs].filter((spec) => originOf(spec) === origin), source, clock),
    pace: origin === 'service' ? () => service.watchPace() : () => UNPACED,
  })).filter(({ polls }) => polls.length > 0);
  let records = freshRecords();

  function freshRecords(): Map<FeedKey, FeedRecord> {
    return new Map(sharedFeeds(specs).map((spec) => [feedKey(spec), createFeedRecord(spec)]));
  }

  const events$ = new Observable<MarketEvent>((subscriber) => {
    records = freshRecords();

    function report(health: FeedHealth | undefined): void {
      if (health === undefined) return;
      log?.(health);
      subscriber.next(health);
    }

    // A program may send signals that no strategy watches: they are recorded too.
    subscriber.add(arrivals$.subscribe((event) => {
      records.get(event.feed)?.succeeded(event.receivedAt);
      subscriber.next(event);
    }));
    function onResult(feed: FeedKey, result: MarketEvent | GannetError): void {
      const record = records.get(feed)!;
      if (isGannetError(result)) {
        report(record.failed(result, clock.now()));
      } else {
        report(record.succeeded(result.receivedAt));
        subscriber.next(result);
      }
    }

    for (const schedule of schedules) subscriber.add(startScheduler({ ...schedule, clock, random, onResult }));
  }).pipe(share());

  return { events$, stats: () => [...records.values()].map((record) => record.stats(clock.now())) };
}
