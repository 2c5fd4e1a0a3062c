import type { Gateway, GetRequest, ReadAnswer } from '../gateway.ts';
import type { CallOptions } from '../rate/rate-plan.ts';
import { wireAddress } from '../wire/fields.ts';
import type { Records } from '../wire/read.ts';
import { joined } from '../wire/read.ts';
import type { ContentFeed, TokenContent } from '../wire/token-content.ts';
import { readContentFeed, readContents } from '../wire/token-content.ts';
import type { TokenRecords } from '../wire/token-record.ts';
import { readTokenRecords } from '../wire/token-record.ts';
import type { RequestRules, Rule } from './request-rules.ts';
import { anAddress, anInteger, checkRequest, optionalRule, queryOf, required } from './request-rules.ts';

/**
 * The token search and the discovery group, whose prefix the dialect says. Each method refuses what breaks a stated
 * rule with SERVICE_BAD_REQUEST, before anything leaves.
 */
export interface Tokens {
  /**
   * Returns the tokens that match any of the terms: symbols, names or mints. Each word is a request and finds at most
   * 20 tokens; up to a hundred mints are one. A mint that the service does not know is missing from the answer.
   */
  search(terms: readonly string[], call?: CallOptions): Promise<TokenRecords>;
  /** Returns what `search` does, from the search within the discovery group. */
  discoverySearch(terms: readonly string[], call?: CallOptions): Promise<TokenRecords>;
  /** Returns the whole list of a tag: `lst`, `verified` and `stocks` are known. */
  tag(tag: string, call?: CallOptions): Promise<TokenRecords>;
  /** Returns the tokens that lead in something over some time, the leader first. */
  category(request: CategoryRequest, call?: CallOptions): Promise<TokenRecords>;
  /** Returns the tokens whose first pool was created last. */
  recent(call?: CallOptions): Promise<TokenRecords>;
  /** Returns what was approved about tokens. Mints beyond fifty go in further requests. */
  content(mints: readonly string[], call?: CallOptions): Promise<Records<TokenContent>>;
  /** Returns what was approved about the tokens that trend now. */
  cooking(call?: CallOptions): Promise<Records<TokenContent>>;
  /** Returns one page of what was written about one token. */
  contentFeed(request: ContentFeedRequest, call?: CallOptions): Promise<ContentFeed>;
}

/** One list of leading tokens. */
interface CategoryRequest {
  /** The measure: `toporganicscore`, `toptraded` and `toptrending` are known; a host may have more. */
  readonly category: string;
  /** The time: `5m`, `1h`, `6h` and `24h` are known; a host may have more. */
  readonly interval: string;
  /** 1 to 100; 50 unless told otherwise. */
  readonly limit?: number | undefined;
}

/** One page of what was written about a token. */
export interface ContentFeedRequest {
  readonly mint: string;
  /** From 1. */
  readonly page?: number | undefined;
  /** 1 to 100; 50 unless told otherwise. */
  readonly limit?: number | undefined;
}

/** The tags that are known to have a list. */
export const TOKEN_TAGS = ['lst', 'verified', 'stocks'] as const;

const DISCOVERY = '/tokens/v2';
/** A tag's list comes whole: thousands of records of two kilobytes and more. */
const MAX_TAG_BYTES = 32 * 1024 * 1024;

/** The most mints one search may name. */
const MAX_SEARCH_MINTS = 100;
/** The most mints whose content one request may name. */
const MAX_CONTENT_MINTS = 50;

const contents: ReadAnswer<Records<TokenContent>> = (answer, { unread }) => readContents(answer, unread);

/** Returns the client of the token endpoints. */
export function createTokens(gateway: Gateway): Tokens {
  const list = (
    request: Omit<GetRequest<TokenRecords>, 'shareable' | 'read'>, call: CallOptions | undefined,
  ): Promise<TokenRecords> =>
    gateway.get({ ...request, shareable: true, read: (answer, { unread }) => readTokenRecords(answer, unread) }, call);

  async function search(path: string, terms: readonly string[], call: CallOptions | undefined): Promise<TokenRecords> {
    checkRequest(SEARCH_RULES, { query: terms });
    return merge(await Promise.all(searchBatches(terms).map((batch) =>
      list({ path, query: { query: batch.join(',') } }, call))));
  }

  return {
    search: (terms, call) => search('/ultra/v1/search', terms, call),
    discoverySearch: (terms, call) => search(`${DISCOVERY}/search`, terms, call),
    async tag(tag, call) {
      const request = { query: tag };
      checkRequest(TAG_RULES, request);
      return list({ path: `${DISCOVERY}/tag`, query: queryOf(TAG_RULES, request), maxBodyBytes: MAX_TAG_BYTES }, call);
    },
    async category(request, call) {
      checkRequest(CATEGORY_RULES, request);
      return list(
        { path: `${DISCOVERY}/${request.category}/${request.interval}`, query: { limit: request.limit } }, call,
      );
    },
    recent: (call) => list({ path: `${DISCOVERY}/recent` }, call),
    async content(mints, call) {
      checkRequest(CONTENT_RULES, { mints });
      const batches = batchesOf([...new Set(mints)], MAX_CONTENT_MINTS);
      return joined(await Promise.all(batches.map((batch) => gateway.get({
        path: `${DISCOVERY}/content`, query: { mints: batch.join(',') }, shareable: true, read: contents,
      }, call))));
    },
    async cooking(call) {
      return gateway.get({ path: `${DISCOVERY}/content/cooking`, shareable: true, read: contents }, call);
    },
    async contentFeed(request, call) {
      checkRequest(CONTENT_FEED_RULES, request);
      return gateway.get({
        path: `${DISCOVERY}/content/feed`, query: queryOf(CONTENT_FEED_RULES, request), shareable: true,
        read: (answer, { unread }) => readContentFeed(answer, unread),
      }, call);
    },
  };
}

/** Newer hosts take commas between mints alone; they read words with commas between them as one name. */
function searchBatches(terms: readonly string[]): string[][] {
  const distinct = [...new Set(terms)];
  return [
    ...batchesOf(distinct.filter((term) => !isMint(term)), 1), ...batchesOf(distinct.filter(isMint), MAX_SEARCH_MINTS),
  ];
}

function batchesOf(terms: readonly string[], size: number): string[][] {
  return Array.from({ length: Math.ceil(terms.length / size) }, (_, batch) =>
    terms.slice(batch * size, (batch + 1) * size));
}

function isMint(term: string): boolean {
  return wireAddress.safeParse(term).success;
}

/** A token that several batches found is one. */
function merge(answers: readonly TokenRecords[]): TokenRecords {
  const { records, rejected } = joined(answers);
  return { records: [...new Map(records.map((record) => [record.id, record])).values()], rejected };
}

/** What else the discovery group has at the place of a category. */
const OTHER_LISTS: ReadonlySet<unknown> = new Set(['content', 'recent', 'search', 'tag']);

const aWord: Rule = optionalRule('1 to 40 letters, digits, dashes and underscores', (value) =>
  typeof value === 'string' && /^[\w-]{1,40}$/.test(value));

const aCategory: Rule = optionalRule('a category such as toptraded, in 1 to 40 letters, digits, dashes and underscores',
  (value) => aWord.holds(value) && !OTHER_LISTS.has(value));

const anInterval: Rule = { ...aWord, words: 'an interval such as 5m, 1h, 6h or 24h' };

const terms: Rule = optionalRule('at least one symbol, name or mint, each of 1 to 200 characters without a comma',
  (value) => isListOf(value, (term) =>
    typeof term === 'string' && term.trim() !== '' && !term.includes(',') && term.length <= 200));

const mints: Rule = optionalRule('at least one mint address', (value) =>
  isListOf(value, (mint) => wireAddress.safeParse(mint).success));

function isListOf(value: unknown, isElement: (element: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isElement);
}

/** What the reference states of a search; the number of mints is kept by cutting it into several requests. */
const SEARCH_RULES: RequestRules<{ readonly query: readonly string[] }> = {
  endpoint: 'GET /ultra/v1/search', parameters: { query: required(terms) }, joint: [],
};

/** A tag's list. Which tags there are is not stated. */
const TAG_RULES: RequestRules<{ readonly query: string }> = {
  endpoint: 'GET /tokens/v2/tag', parameters: { query: required(aWord) }, joint: [],
};

/** A category's list. Which categories and intervals there are is not stated, so only what cannot be one is refused. */
const CATEGORY_RULES: RequestRules<CategoryRequest> = {
  endpoint: 'GET /tokens/v2/{category}/{interval}',
  parameters: { category: required(aCategory), interval: required(anInterval), limit: anInteger({ min: 1, max: 100 }) },
  joint: [],
};

/** Content by mint; the number of mints is kept by cutting it into several requests. */
const CONTENT_RULES: RequestRules<{ readonly mints: readonly string[] }> = {
  endpoint: 'GET /tokens/v2/content', parameters: { mints: required(mints) }, joint: [],
};

/** One token's content, page by page. */
const CONTENT_FEED_RULES: RequestRules<ContentFeedRequest> = {
  endpoint: 'GET /tokens/v2/content/feed',
  parameters: {
    mint: required(anAddress), page: anInteger({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    limit: anInteger({ min: 1, max: 100 }),
  },
  joint: [],
};
