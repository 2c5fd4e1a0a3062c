import { NEVER, Observable, share, type Subscription } from 'rxjs';
import type { GannetError } from '../../core/errors.ts';
import { isGannetError } from '../../core/errors.ts';
import type { Random } from '../../core/random.ts';
import type { Clock } from '../../core/time.ts';
import type { FeedHealth, FeedKey, MarketEvent } from '../../market/event.ts';
import type { Feed, FeedSpec } from '../../market/feed.ts';
import { feedKey, originOf, sharedFeeds, weightOf } from '../../market/feed.ts';
import type { WatchPace } from '../rate/back-off.ts';
import type { FeedRecord, FeedStats } from './feed-stats.ts';
import { createFeedRecord } from './feed-stats.ts';
import type { PollScheduler } from './poll-scheduler.ts';
import { startScheduler } from './poll-scheduler.ts';
import type { FeedSource, NodeSource } from './feed-request.ts';
import type { Poll } from './polls.ts';
import { pollsFor } from './polls.ts';

/** What answers polls; signals come unasked. */
const POLLED_ORIGINS = ['service', 'node'] as const;
type PolledOrigin = (typeof POLLED_ORIGINS)[number];

/** The polls of one origin while the feed has subscribers. */
interface Running {
  readonly origin: PolledOrigin;
  readonly scheduler: PollScheduler;
}

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
  /** Polls these feeds from now on beside those that are always polled, in place of the ones of the last call. */
  watch(specs: readonly FeedSpec[]): void;
  /** Replaces the feeds that are always polled. */
  replace(specs: readonly FeedSpec[]): void;
  /** Returns the counters and ages of every feed since the last start. */
  stats(): readonly FeedStats[];
}

/**
 * Returns a feed that polls each distinct spec while it has subscribers, which share the polls.
 * The rate governor decides how fast requests leave: more feeds than the rate allows are served by weight.
 */
export function createFeeds({
  service, node, specs, clock, random, arrivals$ = NEVER, log,
}: FeedsOptions): PollingFeed {
  const { swap, tokens, prediction, lend } = service;
  const source = { swap, tokens, prediction, lend, node };
  let always = specs;
  let watched: readonly FeedSpec[] = [];
  let polled = sharedFeeds(specs);
  let records = recordsOf(new Map());
  let running: readonly Running[] = [];
  const hinted = new Map<FeedKey, Subscription>();

  function pollsOf(origin: PolledOrigin): Poll[] {
    return pollsFor(polled.filter((spec) => originOf(spec) === origin), source, clock);
  }

  /** Returns the record of each feed that is polled, the known one where there is one. */
  function recordsOf(known: ReadonlyMap<FeedKey, FeedRecord>): Map<FeedKey, FeedRecord> {
    return new Map(polled.map((spec) => [feedKey(spec), known.get(feedKey(spec)) ?? createFeedRecord(spec)]));
  }

  function renew(): void {
    polled = sharedFeeds([...always, ...watched]);
    records = recordsOf(records);
    for (const { origin, scheduler } of running) scheduler.replace(pollsOf(origin));
    hearHints();
  }

  /** A hint about a wallet makes its poll come sooner. */
  function hearHints(): void {
    const isRunning = running.length > 0;
    const wanted = new Map((isRunning ? polled : []).flatMap((spec) =>
      (spec.kind === 'wallet-activity' ? [[feedKey(spec), spec.owner] as const] : [])));
    for (const [feed, subscription] of hinted) {
      if (wanted.has(feed)) continue;
      subscription.unsubscribe();
      hinted.delete(feed);
    }
    for (const [feed, owner] of wanted) {
      const hints$ = hinted.has(feed) ? undefined : node?.walletHints$?.(owner);
      if (hints$ !== undefined) hinted.set(feed, hints$.subscribe(() => {
        for (const { scheduler } of running) scheduler.hurry(feed);
      }));
    }
  }

  const events$ = new Observable<MarketEvent>((subscriber) => {
    records = recordsOf(new Map());

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
      const record = records.get(feed);
      // It is watched no longer.
      if (record === undefined) return;
      if (isGannetError(result)) {
        report(record.failed(result, clock.now()));
      } else {
        report(record.succeeded(result.receivedAt));
        subscriber.next(result);
      }
    }

    // The rate of the service is not that of the node.
    const paces = { service: () => service.watchPace(), node: () => UNPACED };
    const started = POLLED_ORIGINS.map((origin) => ({
      origin, scheduler: startScheduler({ polls: pollsOf(origin), pace: paces[origin], clock, random, onResult }),
    }));
    running = started;
    hearHints();
    return () => {
      running = [];
      hearHints();
      for (const { scheduler } of started) scheduler.stop();
    };
  }).pipe(share());

  return {
    events$,
    watch: (given) => {
      watched = given;
      renew();
    },
    replace: (given) => {
      always = given;
      renew();
    },
    stats: () => polled.map((spec) => ({
      ...records.get(feedKey(spec))!.stats(clock.now()), everyMs: spec.everyMs, weight: weightOf(spec),
    })),
  };
}
