import type { Millis } from '../core/time.ts';

/** The name of one feed; the same in configuration, live feeds and recordings. */
export type FeedKey = string;

/** The members of every market event. */
export interface MarketEventBase {
  readonly feed: FeedKey;
  /** When the engine received it. Replay shows the event at this time and no sooner. */
  readonly receivedAt: Millis;
  /** The time of the data, where the source states it. */
  readonly eventAt?: Millis | undefined;
}
