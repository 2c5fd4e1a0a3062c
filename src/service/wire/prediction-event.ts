import { z } from 'zod';
import type { MicroUsd } from '../../core/amount.ts';
import type { Json } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import { optional } from './fields.ts';
import { lenientFlag, lenientInstant, lenientProse, lenientText, lenientTexts } from './lenient.ts';
import { wireMicroUsd } from './prediction-fields.ts';
import type { PredictionMarket } from './prediction-events.ts';
import { MARKETS } from './prediction-events.ts';
import { readWire } from './read.ts';
import type { RecordKind, Records } from './records.ts';
import { membersOf, readRecords } from './records.ts';

/** What is said of an event. Its texts are hostile until printed through `printable`. */
export interface EventMetadata {
  readonly eventId?: string | undefined;
  readonly title?: string | undefined;
  readonly subtitle?: string | undefined;
  readonly slug?: string | undefined;
  readonly series?: string | undefined;
  readonly closeTime?: Millis | undefined;
  readonly imageUrl?: string | undefined;
  readonly isLive?: boolean | undefined;
}

/** An event and the markets on it. Its texts are hostile until printed through `printable`. */
export interface PredictionEvent {
  readonly eventId: string;
  readonly isActive?: boolean | undefined;
  /** Says nothing of liquidity: a live event may have empty books. */
  readonly isLive?: boolean | undefined;
  readonly category?: string | undefined;
  readonly subcategory?: string | undefined;
  readonly volumeUsd?: MicroUsd | undefined;
  readonly closeCondition?: string | undefined;
  readonly beginAt?: Millis | undefined;
  readonly rulesPdf?: string | undefined;
  readonly tags: readonly string[];
  readonly metadata: EventMetadata;
  /** Empty where the answer leaves them out: an event's markets have a list of their own. */
  readonly markets: readonly PredictionMarket[];
}

/** What positions and history say of their event; undefined where they say nothing. */
export const wireEventMetadata = optional(z.object({
  eventId: lenientText,
  title: lenientText,
  subtitle: lenientText,
  slug: lenientText,
  series: lenientText,
  closeTime: lenientInstant,
  imageUrl: lenientProse,
  isLive: lenientFlag,
})).catch(undefined);

const WireEvent = z.object({
  eventId: z.string().min(1).max(200),
  isActive: lenientFlag,
  isLive: lenientFlag,
  category: lenientText,
  subcategory: lenientText,
  volumeUsd: wireMicroUsd.catch(undefined),
  closeCondition: lenientProse,
  beginAt: lenientInstant,
  rulesPdf: lenientProse,
  tags: lenientTexts,
  metadata: wireEventMetadata,
});

const EVENTS: RecordKind<PredictionEvent> = {
  what: 'events',
  idMember: 'eventId',
  read(element, report) {
    const event = readWire(WireEvent, element, 'event');
    const { records, rejected } = readRecords(MARKETS, membersOf(element)['markets'] ?? []);
    rejected.forEach(report);
    return { ...event, metadata: event.metadata ?? {}, markets: records };
  },
};

/**
 * Returns the events of an answer, bare or wrapped; a market that cannot be read is reported by its own id. Throws
 * SERVICE_MALFORMED.
 */
export function readEvents(answer: Json): Records<PredictionEvent> {
  return readRecords(EVENTS, Array.isArray(answer) ? (answer as readonly Json[]) : membersOf(answer)['data']);
}
