import { seededRandom } from '../../src/core/random.ts';
import type { FeedHealth, MarketEvent } from '../../src/market/event.ts';
import type { FeedSpec } from '../../src/market/feed.ts';
import type { PollingFeed } from '../../src/service/feeds/feeds.ts';
import { createFeeds } from '../../src/service/feeds/feeds.ts';
import type { Service } from '../../src/service/service.ts';
import { impatientClock } from '../execution/impatient-clock.ts';
import type { TrapFixture } from './trap-fixture.ts';

/** Five seconds between two polls take 25 ms. */
const CLOCK_FACTOR = 200;
const TIMEOUT_MS = 20_000;

/** A feed that runs, with all it said so far. */
export interface Watched {
  readonly feed: PollingFeed;
  readonly events: readonly MarketEvent[];
  /** Resolves once an event is as wanted; rejects where none comes. */
  until(wanted: (event: MarketEvent, index: number) => boolean): Promise<MarketEvent>;
}

/** Polls the feeds of the specs until the end of the case. */
export function watch(fixture: TrapFixture, service: Service, specs: readonly FeedSpec[]): Watched {
  const feed = createFeeds({ service, specs, clock: impatientClock(CLOCK_FACTOR), random: seededRandom('traps') });
  const events: MarketEvent[] = [];
  const waiting = new Set<() => void>();
  const subscription = feed.events$.subscribe((event) => {
    events.push(event);
    for (const check of waiting) check();
  });
  fixture.atEnd(() => { subscription.unsubscribe(); });
  return {
    feed, events,
    until: (wanted) => new Promise((resolve, reject) => {
      const timeout = setTimeout(() => {
        reject(new Error(`waited in vain; so far came ${events.map(({ kind }) => kind).join(', ') || 'nothing'}`));
      }, TIMEOUT_MS);
      const check = (): void => {
        const found = events.find(wanted);
        if (found === undefined) return;
        clearTimeout(timeout);
        waiting.delete(check);
        resolve(found);
      };
      waiting.add(check);
      check();
    }),
  };
}

/** Returns whether an event is a report of health with this status, and this code where one is given. */
export function isHealth(event: MarketEvent, status: FeedHealth['status'], code?: string): event is FeedHealth {
  return event.kind === 'feed-health' && event.status === status && (code === undefined || event.code === code);
}
