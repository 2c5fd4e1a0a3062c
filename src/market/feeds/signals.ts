import type { SignalEvent } from '../signal.ts';
import { SIGNAL_NAME } from '../signal.ts';
import type { FeedKind } from './feed-kind.ts';

/** The subjects of what other programs tell the daemon, by kind. */
export interface SignalSubjects {
  readonly 'signal': { readonly name: string };
}

/** The events of the same feeds. */
export interface SignalEvents {
  readonly 'signal': SignalEvent;
}

const BODY_SHOWN = 80;

/** The feeds of what other programs tell the daemon. */
export const SIGNAL_FEEDS: { readonly [K in keyof SignalSubjects]: FeedKind<SignalSubjects[K], SignalEvents[K]> } = {
  'signal': {
    input: 'signals',
    keyOf: ({ name }) => name,
    read: ({ name }, { shown }) => (typeof name === 'string' && SIGNAL_NAME.test(name) ? { name }
      : `waits for the signal ${shown(name)}: expected a name of lower-case letters, digits and dashes`),
    origin: 'webhook',
    feedsPerRequest: 1,
    mints: () => [],
    nouns: ['signal', 'signals'],
    reading: ({ body }) => JSON.stringify(body).slice(0, BODY_SHOWN),
  },
};
