import { Observable, share } from 'rxjs';
import { isGannetError } from '../../core/errors.ts';
import type { Random } from '../../core/random.ts';
import type { Clock } from '../../core/time.ts';
import type { FeedHealth, FeedKey, MarketEvent } from '../../market/event.ts';
import type { Feed, FeedSpec } from '../../market/feed.ts';
import { feedKey, sharedFeeds, weightOf } from '../../market/feed.ts';
import type { FeedRecord, FeedStats } from './feed-stats.ts';
import { createFeedRecord } from './feed-stats.ts';
import type { PollScheduler } from './poll-scheduler.ts';
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
  /** Polls these feeds from now on beside those that are always polled, in place of the ones of the last call. */
  watch(specs: readonly FeedSpec[]): void;
  /** Returns the counters and ages of every feed since the last start. */
  stats(): readonly FeedStats[];
}

/**
 * Returns a feed that polls each distinct spec while it has subscribers, which share the polls.
 * The rate governor decides how fast requests leave: more feeds than the rate allows are served by weight.
 */
export function createFeeds({ service, specs, clock, random, log }: FeedsOptions): PollingFeed {
  let polled = sharedFeeds(specs);
  let records = recordsOf(new Map());
  let scheduler: PollScheduler | undefined;

  /** Returns the record of each feed that is polled, the known one where there is one. */
  function recordsOf(known: ReadonlyMap<FeedKey, FeedRecord>): Map<FeedKey, FeedRecord> {
    return new Map(polled.map((spec) => [feedKey(spec), known.get(feedKey(spec)) ?? createFeedRecord(spec)]));
  }

  const events$ = new Observable<MarketEvent>((subscriber) => {
    records = recordsOf(new Map());

    function report(health: FeedHealth | undefined): void {
      if (health === undefined) return;
      log?.(health);
      subscriber.next(health);
    }

    const started = startScheduler({
      polls: pollsFor(polled, service, clock), clock, random, pace: () => service.watchPace(),
      onResult(feed, result) {
        const record = records.get(feed);
        // It is watched no longer.
        if (record === undefined) return;
        if (isGannetError(result)) {
          report(record.failed(result, clock.now()));
        } else {
          report(record.succeeded(result.receivedAt));
          subscriber.next(result);
        }
      },
    });
    scheduler = started;
    return () => {
      scheduler = undefined;
      started.stop();
    };
  }).pipe(share());

  return {
    events$,
    watch: (watched) => {
      polled = sharedFeeds([...specs, ...watched]);
      records = recordsOf(records);
      scheduler?.replace(pollsFor(polled, service, clock));
    },
    stats: () => polled.map((spec) => ({
      ...records.get(feedKey(spec))!.stats(clock.now()), everyMs: spec.everyMs, weight: weightOf(spec),
    })),
  };
}
