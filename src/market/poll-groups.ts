import type { Millis } from '../core/time.ts';
import type { FeedSpec } from './feed.ts';
import { sharedFeeds, weightOf } from './feed.ts';
import type { PollDemand } from './freshness.ts';

/** The service answers for this many tokens in one request. */
export const TOKENS_PER_POLL = 100;

/** Feeds that one request serves, and how often it is wanted; it matters as much as all of them together. */
export interface PollGroup extends PollDemand {
  readonly specs: readonly FeedSpec[];
}

/**
 * Returns the requests that serve the specs: each thing once, token statistics of one rate together, up to a hundred.
 */
export function pollGroups(specs: Iterable<FeedSpec>): PollGroup[] {
  const tokensByRate = new Map<Millis, FeedSpec[]>();
  const groups: PollGroup[] = [];
  for (const spec of sharedFeeds(specs)) {
    if (spec.kind === 'token-stats') tokensByRate.set(spec.everyMs, [...tokensByRate.get(spec.everyMs) ?? [], spec]);
    else groups.push(groupOf([spec]));
  }
  for (const tokens of tokensByRate.values()) {
    for (let first = 0; first < tokens.length; first += TOKENS_PER_POLL)
      groups.push(groupOf(tokens.slice(first, first + TOKENS_PER_POLL)));
  }
  return groups;
}

function groupOf(specs: readonly FeedSpec[]): PollGroup {
  return { specs, everyMs: specs[0]!.everyMs, weight: specs.reduce((sum, spec) => sum + weightOf(spec), 0) };
}
