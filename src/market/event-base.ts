import type { Millis } from '../core/time.ts';

/** The name of one polled thing; the same in configuration, live feeds and recordings. */
export type FeedKey = string;

/** What every market event carries. */
export interface MarketEventBase {
  readonly feed: FeedKey;
  /** When we knew it: the stamp. Replay shows the event at this time and no sooner. */
  readonly receivedAt: Millis;
  /** When it was so, where the source says. */
  readonly eventAt?: Millis | undefined;
}
