import type { RequestRules, Rule } from './request-rules.ts';
import { anAddress, anInteger, optionalRule, required } from './request-rules.ts';
import type { CategoryRequest, ContentFeedRequest } from './tokens-request.ts';
import { wireAddress } from '../wire/fields.ts';

/** The most mints one search may name. */
export const MAX_SEARCH_MINTS = 100;
/** The most mints whose content one request may name. */
export const MAX_CONTENT_MINTS = 50;

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
export const SEARCH_RULES: RequestRules<{ readonly query: readonly string[] }> = {
  endpoint: 'GET /ultra/v1/search', parameters: { query: required(terms) }, joint: [],
};

/** A tag's list. Which tags there are is not stated. */
export const TAG_RULES: RequestRules<{ readonly query: string }> = {
  endpoint: 'GET /tokens/v2/tag', parameters: { query: required(aWord) }, joint: [],
};

/** A category's list. Which categories and intervals there are is not stated, so only what cannot be one is refused. */
export const CATEGORY_RULES: RequestRules<CategoryRequest> = {
  endpoint: 'GET /tokens/v2/{category}/{interval}',
  parameters: { category: required(aCategory), interval: required(anInterval), limit: anInteger({ min: 1, max: 100 }) },
  joint: [],
};

/** Content by mint; the number of mints is kept by cutting it into several requests. */
export const CONTENT_RULES: RequestRules<{ readonly mints: readonly string[] }> = {
  endpoint: 'GET /tokens/v2/content', parameters: { mints: required(mints) }, joint: [],
};

/** One token's content, page by page. */
export const CONTENT_FEED_RULES: RequestRules<ContentFeedRequest> = {
  endpoint: 'GET /tokens/v2/content/feed',
  parameters: {
    mint: required(anAddress), page: anInteger({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    limit: anInteger({ min: 1, max: 100 }),
  },
  joint: [],
};
