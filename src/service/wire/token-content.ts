import { z } from 'zod';
import type { Json } from '../../core/json.ts';
import type { Millis } from '../../core/time.ts';
import type { Mint } from '../../market/token.ts';
import { cutText, lenientInstant, lenientText, lenientTexts, optional, wireInteger, wireMint } from './fields.ts';
import type { RecordKind, Records, Rejected, ReportUnread } from './read.ts';
import { malformed, membersOf, readRecords, readWire } from './read.ts';

/** The author of a text or of a change, as far as the service states it. */
interface Contributor {
  readonly id?: string | undefined;
  readonly username?: string | undefined;
  readonly role?: string | undefined;
}

/** Something that people wrote about a token. Its texts are hostile until printed through `printable`. */
export interface ContentItem {
  readonly contentId: string;
  /** At most 10,000 characters. */
  readonly content: string;
  /** `text` and `tweet` are known; others pass. */
  readonly contentType?: string | undefined;
  /** `approved` and `pending` are known; others pass. */
  readonly status?: string | undefined;
  readonly source?: string | undefined;
  readonly submittedAt?: Millis | undefined;
  readonly submittedBy?: Contributor | undefined;
  readonly updatedAt?: Millis | undefined;
  readonly updatedBy?: Contributor | undefined;
  readonly postedAt?: Millis | undefined;
}

/** The service's summary of a token or of its news. */
interface Summary {
  readonly summaryFull?: string | undefined;
  readonly summaryShort?: string | undefined;
  readonly updatedAt?: Millis | undefined;
  readonly citations: readonly string[];
}

/** All content about one token. */
export interface TokenContent {
  readonly mint: Mint;
  readonly contents: readonly ContentItem[];
  readonly tokenSummary?: Summary | undefined;
  readonly newsSummary?: Summary | undefined;
}

/** One page of what was written about one token, and what of it could not be read. */
export interface ContentFeed extends Omit<TokenContent, 'mint'> {
  readonly rejected: readonly Rejected[];
  readonly pagination: {
    readonly limit?: number | undefined;
    readonly total?: number | undefined;
    /** From 1. */
    readonly page?: number | undefined;
    readonly totalPages?: number | undefined;
  };
}

const prose = z.string().transform((text) => cutText(text, 10_000));
const lenientSummaryText = optional(prose);

const contributor = optional(z.object({ id: lenientText, username: lenientText, role: lenientText }));

const WireItem = z.object({
  contentId: z.string().min(1).max(200),
  content: prose,
  contentType: lenientText,
  status: lenientText,
  source: lenientText,
  submittedAt: lenientInstant,
  submittedBy: contributor,
  updatedAt: lenientInstant,
  updatedBy: contributor,
  postedAt: lenientInstant,
});

const summary = optional(
  z.object({
    summaryFull: lenientSummaryText, summaryShort: lenientSummaryText, updatedAt: lenientInstant,
    citations: lenientTexts,
  }),
);

const count = optional(wireInteger);

const WireContent = z.object({ mint: wireMint, tokenSummary: summary, newsSummary: summary });
const WireFeed = z.object({
  tokenSummary: summary,
  newsSummary: summary,
  pagination: z.object({ limit: count, total: count, page: count, totalPages: count }),
});

const ITEMS: RecordKind<ContentItem> = {
  what: 'contents', idMember: 'contentId',
  read: (element, { unread }) => readWire(WireItem, element, 'content', unread),
};

const CONTENTS: RecordKind<TokenContent> = {
  what: 'content by token',
  idMember: 'mint',
  read(element, report) {
    const token = readWire(WireContent, element, 'content by token', report.unread);
    const { records, rejected } = readRecords(ITEMS, membersOf(element)['contents'] ?? [], report.unread);
    rejected.forEach(report.rejected);
    return { ...token, contents: records };
  },
};

/**
 * Returns the content of several tokens; an item that cannot be read is reported by its own id. Throws
 * SERVICE_MALFORMED unless it is a list.
 */
export function readContents(answer: Json, unread?: ReportUnread): Records<TokenContent> {
  return readRecords(CONTENTS, listOf(answer), unread);
}

/** Returns one page of a token's content. Throws SERVICE_MALFORMED. */
export function readContentFeed(answer: Json, unread?: ReportUnread): ContentFeed {
  const data = membersOf(answer)['data'] ?? answer;
  if (typeof data !== 'object' || data === null) throw malformed('content feed: expected an object', data);
  const feed = readWire(WireFeed, data, 'content feed', unread);
  const { records, rejected } = readRecords(ITEMS, membersOf(data)['contents'] ?? [], unread);
  return { ...feed, contents: records, rejected };
}

/** Lists come bare or as the member `data`. */
function listOf(answer: Json): Json | undefined {
  return Array.isArray(answer) ? (answer as readonly Json[]) : membersOf(answer)['data'];
}
