import type { Gateway, GetRequest } from '../gateway.ts';
import type { CallOptions } from '../rate/priority.ts';
import { checkRequest, queryOf } from './request-rules.ts';
import type { CategoryRequest, ContentFeedRequest } from './tokens-request.ts';
import {
  CATEGORY_RULES, CONTENT_FEED_RULES, CONTENT_RULES, MAX_CONTENT_MINTS, MAX_SEARCH_MINTS, SEARCH_RULES, TAG_RULES,
} from './tokens-rules.ts';
import type { ContentFeed, TokenContent } from '../wire/token-content.ts';
import { readContentFeed, readContents } from '../wire/token-content.ts';
import { wireAddress } from '../wire/fields.ts';
import type { Records } from '../wire/records.ts';
import { joined } from '../wire/records.ts';
import type { TokenRecords } from '../wire/token-record.ts';
import { readTokenRecords } from '../wire/token-record.ts';

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

const DISCOVERY = '/tokens/v2';
/** A tag's list comes whole: thousands of records of two kilobytes and more. */
const MAX_TAG_BYTES = 32 * 1024 * 1024;

/** Returns the client of the token endpoints. */
export function createTokens(gateway: Gateway): Tokens {
  const list = async (request: Omit<GetRequest, 'shareable'>, call: CallOptions | undefined): Promise<TokenRecords> =>
    readTokenRecords(await gateway.get({ ...request, shareable: true }, call));

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
      return joined(await Promise.all(batches.map(async (batch) =>
        readContents(
          await gateway.get({ path: `${DISCOVERY}/content`, query: { mints: batch.join(',') }, shareable: true }, call),
        ))));
    },
    async cooking(call) {
      return readContents(await gateway.get({ path: `${DISCOVERY}/content/cooking`, shareable: true }, call));
    },
    async contentFeed(request, call) {
      checkRequest(CONTENT_FEED_RULES, request);
      return readContentFeed(await gateway.get(
        { path: `${DISCOVERY}/content/feed`, query: queryOf(CONTENT_FEED_RULES, request), shareable: true }, call,
      ));
    },
  };
}

/** Hosts of later days take commas between mints alone, and look for a name with commas in it where words have them. */
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
