import { GannetError } from '../../core/errors.ts';
import type { TokenSubjects } from '../../market/feeds/tokens.ts';
import { listWords } from '../../market/feeds/tokens.ts';
import type { TokenListName, TokenRecord } from '../../market/token-record.ts';
import type { Mint } from '../../market/token.ts';
import type { CallOptions } from '../rate/rate-plan.ts';
import type { TokenRecords } from '../wire/token-record.ts';
import type { FeedRequests, FeedSource } from './feed-request.ts';
import { eachAlone } from './feed-request.ts';

/** A token's own texts in a list are cut: one token must not make a list too large. */
const LISTED_TEXT_MAX = 100;
const LISTED_TAGS_MAX = 20;

/** The requests of the feeds about tokens. */
export const TOKEN_REQUESTS: FeedRequests<keyof TokenSubjects> = {
  'token-stats': async (specs, { tokens }, call) => {
    const answer = await tokens.search(specs.map(({ mint }) => mint), call);
    return specs.map(({ mint }) => {
      const record = recordOf(mint, answer);
      if (record instanceof GannetError) return record;
      const { values, updatedAt: eventAt } = record;
      return { ...(eventAt === undefined ? {} : { eventAt }), mint, values };
    });
  },
  'token-record': async (specs, { tokens }, call) => {
    const answer = await tokens.search(specs.map(({ mint }) => mint), call);
    return specs.map(({ mint }) => {
      const record = recordOf(mint, answer);
      return record instanceof GannetError ? record : { eventAt: record.updatedAt, mint, record };
    });
  },
  'token-list': eachAlone(async (spec, { tokens }, call) => {
    const { records } = await listOf(spec, tokens, call);
    return { list: listWords(spec).join(' '), tokens: records.slice(0, spec.limit).map(listed) };
  }),
};

function listOf(
  spec: TokenListName & { readonly limit: number }, tokens: FeedSource['tokens'], call: CallOptions,
): Promise<TokenRecords> {
  if (spec.list === 'recent') return tokens.recent(call);
  if (spec.list === 'tag') return tokens.tag(spec.tag, call);
  if (spec.list === 'search') return tokens.search([spec.query], call);
  return tokens.category({ category: spec.list, interval: spec.interval, limit: spec.limit }, call);
}

function recordOf(mint: Mint, { records, rejected }: TokenRecords): TokenRecord | GannetError {
  const record = records.find(({ id }) => id === mint);
  if (record !== undefined) return record;
  const spoilt = rejected.find(({ id }) => id === mint);
  if (spoilt !== undefined) return new GannetError('SERVICE_MALFORMED', spoilt.message);
  return new GannetError('TOKEN_UNKNOWN', `expected a record of the token ${mint}, the service gave none`);
}

function listed(record: TokenRecord): TokenRecord {
  const cut = Object.entries(record).map(([name, value]: [string, unknown]) =>
    [name, typeof value === 'string' ? value.slice(0, LISTED_TEXT_MAX) : value] as const);
  const tags = record.tags.slice(0, LISTED_TAGS_MAX).map((tag) => tag.slice(0, LISTED_TEXT_MAX));
  return { ...Object.fromEntries(cut) as unknown as TokenRecord, tags };
}
