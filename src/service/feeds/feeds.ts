import { Observable, share } from 'rxjs';
import { isGannetError } from '../../core/errors.ts';
import type { Random } from '../../core/random.ts';
import type { Clock } from '../../core/time.ts';
import type { FeedHealth, FeedKey, MarketEvent } from '../../market/event.ts';
import type { Feed, FeedSpec } from '../../market/feed.ts';
import { feedKey, sharedFeeds } from '../../market/feed.ts';
import type { FeedRecord, FeedStats } from './feed-stats.ts';
import { createFeedRecord } from './feed-stats.ts';
import { startScheduler } from './poll-scheduler.ts';
import type { FeedSource } from './feed-request.ts';
import { pollsFor } from './polls.ts';

interface FeedsOptions {
  readonly service: FeedSource;
  readonly specs: readonly FeedSpec[];
  readonly clock: Clock;
  /** Spreads the polls. It is a separate stream, so that it changes no other random decision. */
  readonly random: Random;
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
export function createFeeds({ service, specs, clock, random, log }: FeedsOptions): PollingFeed {
  const polls = pollsFor(specs, service, clock);
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

    return startScheduler({
      polls, clock, random, pace: () => service.watchPace(),
      onResult(feed, result) {
        const record = records.get(feed)!;
        if (isGannetError(result)) {
          report(record.failed(result, clock.now()));
        } else {
          report(record.succeeded(result.receivedAt));
          subscriber.next(result);
        }
      },
    });
  }).pipe(share());

  return { events$, stats: () => [...records.values()].map((record) => record.stats(clock.now())) };
}
