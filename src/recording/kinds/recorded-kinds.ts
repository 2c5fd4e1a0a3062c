import type { FeedKindName } from '../../market/feeds/registry.ts';
import { FEED_KIND_NAMES } from '../../market/feeds/registry.ts';
import type { RecordingKind } from '../format.ts';
import { documentKind } from './document.ts';
import { FEED_HEALTH } from './feed-health.ts';
import { ORDER_BOOK } from './order-book.ts';
import { QUOTE } from './quote.ts';
import type { RecordedKind } from './recorded-kind.ts';
import { COMMAND, OUTCOME } from './run-inputs.ts';
import { TOKEN_STATS } from './token-stats.ts';

/** The kinds with columns of their own. A kind of feed that is not here is recorded as documents. */
const OWN_COLUMNS = {
  'quote': QUOTE, 'order-book': ORDER_BOOK, 'token-stats': TOKEN_STATS, 'feed-health': FEED_HEALTH,
  'outcome': OUTCOME, 'command': COMMAND,
} as const;

type AnyRecordedKind = RecordedKind<RecordingKind, unknown>;

const DOCUMENTS = new Map(FEED_KIND_NAMES.filter((kind) => !Object.hasOwn(OWN_COLUMNS, kind))
  .map((kind: FeedKindName) => [kind as RecordingKind, documentKind(kind)]));

/** Returns how a kind is recorded. */
export function recordedKind(kind: RecordingKind): AnyRecordedKind {
  const own = Object.hasOwn(OWN_COLUMNS, kind) ? OWN_COLUMNS[kind as keyof typeof OWN_COLUMNS] : DOCUMENTS.get(kind);
  // Each is called with the inputs and the blocks of its own kind alone.
  return own as unknown as AnyRecordedKind;
}
