import type { FastifyInstance, FastifyReply } from 'fastify';
import { NATIVE_MINT } from '../../chain/addresses.ts';
import type { GenesisToken } from '../../genesis.ts';
import type { Market } from '../../market/market.ts';
import type { ContentPiece, ContentSummary } from '../../market/token-content.ts';
import type { ServiceContext } from '../context.ts';
import { createParameters } from '../http/parameters.ts';
import type { ListedToken } from './token-index.ts';
import { createTokenIndex } from './token-index.ts';

/** The length of a hundred mints and some words, in characters. */
const LONGEST_QUERY = 100 * 45 + 200;
/** How long an answer stays good, in seconds. */
const SEARCH_FRESH_SECONDS = 10;

const TAGS = ['lst', 'verified', 'stocks'] as const;
const MOST_CONTENT_MINTS = 50;
const RECENT_TOKENS = 30;
const COOKING_TOKENS = 5;
const MOST_LISTED = 100;
const USUAL_LISTED = 50;
const LARGEST_PAGE = 1_000_000;
/** How long answers stay good, in seconds. */
const FRESH_SECONDS = { tag: 30, category: 15, recent: 5, content: 10 } as const;

const CATEGORIES = ['toporganicscore', 'toptraded', 'toptrending'] as const;
type Category = (typeof CATEGORIES)[number];

const MINUTES = { '5m': 5, '1h': 60, '6h': 360, '24h': 1_440 } as const;
const INTERVALS = ['5m', '1h', '6h', '24h'] as const;
type Interval = (typeof INTERVALS)[number];

/** Below this volatility a token's price is pegged. */
const HELD_VOLATILITY = 0.05;

/** The most pieces of a token in a list of tokens; the feed has all. */
const MOST_SHOWN = 10;

/**
 * Serves `GET /ultra/v1/search`, and the same within the discovery group: the records of tokens found by mint, symbol
 * or name.
 */
export function registerSearch(app: FastifyInstance, context: ServiceContext): void {
  const index = createTokenIndex(context);
  for (const path of ['/ultra/v1/search', '/tokens/v2/search']) {
    app.get(path, (request, reply) => {
      const found = index.search(createParameters(request.query).text('query', { min: 0, max: LONGEST_QUERY }));
      return reply.header('cache-control', `public, max-age=${SEARCH_FRESH_SECONDS}`)
        .send(found.map((token) => index.record(token)));
    });
  }
}

/**
 * Serves the discovery group below `/tokens/v2` except its search: lists of tokens, and the texts of users about them.
 */
export function registerDiscovery(app: FastifyInstance, context: ServiceContext): void {
  const { market } = context;
  const index = createTokenIndex(context);
  const sendTokens = (reply: FastifyReply, tokens: readonly ListedToken[], freshSeconds: number): FastifyReply =>
    fresh(reply, freshSeconds).send(tokens.map((token) => index.record(token)));

  app.get('/tokens/v2/tag', (request, reply) => {
    const tag = createParameters(request.query).choice('query', TAGS);
    return sendTokens(reply, index.established.filter(({ token }) => token.tags.includes(tag)), FRESH_SECONDS.tag);
  });

  app.get<{ Params: { category: string; interval: string } }>('/tokens/v2/:category/:interval', (request, reply) => {
    const path = createParameters(request.params);
    const category = path.choice('category', CATEGORIES);
    const interval = path.choice('interval', INTERVALS);
    const limit = createParameters(request.query).optionalInteger('limit', { min: 1, max: MOST_LISTED })
      ?? USUAL_LISTED;
    return sendTokens(
      reply, leaders(index.established, { category, interval, market }).slice(0, limit), FRESH_SECONDS.category,
    );
  });

  app.get('/tokens/v2/recent', (_request, reply) =>
    sendTokens(reply, index.recent(RECENT_TOKENS), FRESH_SECONDS.recent));

  app.get('/tokens/v2/content', (request, reply) => {
    const mints = createParameters(request.query).addresses('mints', MOST_CONTENT_MINTS);
    return fresh(reply, FRESH_SECONDS.content)
      .send({ data: [...new Set(mints)].map((mint) => contentRecord(mint, context)) });
  });

  app.get('/tokens/v2/content/cooking', (_request, reply) => {
    const trending = leaders(index.established, { category: 'toptrending', interval: '24h', market })
      .slice(0, COOKING_TOKENS);
    return fresh(reply, FRESH_SECONDS.content)
      .send({ data: trending.map(({ token }) => contentRecord(token.mint, context)) });
  });

  app.get('/tokens/v2/content/feed', (request, reply) => {
    const parameters = createParameters(request.query);
    const mint = parameters.address('mint');
    const page = parameters.optionalInteger('page', { min: 1, max: LARGEST_PAGE }) ?? 1;
    const limit = parameters.optionalInteger('limit', { min: 1, max: MOST_LISTED }) ?? USUAL_LISTED;
    return fresh(reply, FRESH_SECONDS.content).send({ data: contentFeed(mint, { page, limit }, context) });
  });
}

function fresh(reply: FastifyReply, seconds: number): FastifyReply {
  return reply.header('cache-control', `public, max-age=${seconds}`);
}

/**
 * Returns the tokens that lead a category over an interval, the leader first. SOL, staked SOL and dollars are left out,
 * since they would always lead.
 */
function leaders(
  tokens: readonly ListedToken[], options: { category: Category; interval: Interval; market: Market },
): ListedToken[] {
  const { category, market } = options;
  const minutes = MINUTES[options.interval];
  const scoreOf = ({ token }: ListedToken): number => {
    if (category === 'toporganicscore') return token.organicScore;
    const { buyVolumeUsd, sellVolumeUsd, openPrice } = market.tape(token.mint).window({ minutes });
    return category === 'toptraded' ? buyVolumeUsd + sellVolumeUsd : market.usdPrice(token.mint) / openPrice;
  };
  const scored = tokens.filter(({ token }) => !isBase(token)).map((listed) => ({ listed, score: scoreOf(listed) }));
  return scored.sort((a, b) => b.score - a.score).map(({ listed }) => listed);
}

function isBase({ mint, volatility }: GenesisToken): boolean {
  return mint === NATIVE_MINT || volatility < HELD_VOLATILITY;
}

/** Returns the approved content of one token: its newest pieces and the summaries, null where there is none. */
function contentRecord(mint: string, context: ServiceContext): object {
  const token = context.tokens.get(mint);
  if (token === undefined) return { mint, contents: [], tokenSummary: null, newsSummary: null };
  return { mint, contents: pieces(token, { start: 0, count: MOST_SHOWN }, context), ...summaries(token, context) };
}

/** Returns a page of all content of one token; pages count from 1. */
function contentFeed(
  mint: string, { page, limit }: { page: number; limit: number }, context: ServiceContext,
): object {
  const token = context.tokens.get(mint);
  const total = token === undefined ? 0 : context.contents.count(token);
  return {
    contents: token === undefined ? [] : pieces(token, { start: (page - 1) * limit, count: limit }, context),
    ...(token === undefined ? { tokenSummary: null, newsSummary: null } : summaries(token, context)),
    pagination: { limit, total, page, totalPages: Math.ceil(total / limit) },
  };
}

function pieces(token: GenesisToken, range: { start: number; count: number }, context: ServiceContext): object[] {
  return context.contents.pieces(token, range).map((piece) => pieceRecord(token, piece, context));
}

function pieceRecord(token: GenesisToken, piece: ContentPiece, { prediction: { timeline } }: ServiceContext): object {
  return {
    contentId: `${token.mint.slice(0, 8)}-${piece.number}`,
    content: piece.text,
    contentType: piece.type,
    status: 'approved',
    source: piece.source,
    submittedAt: timeline.isoTime(piece.submittedSlot),
    submittedBy: piece.author,
    updatedAt: timeline.isoTime(piece.approvedSlot),
    updatedBy: { id: 'user-eider', username: 'eider', role: 'moderator' },
    postedAt: timeline.isoTime(piece.postedSlot),
  };
}

function summaries(token: GenesisToken, context: ServiceContext): object {
  return {
    tokenSummary: summaryRecord(context.contents.tokenSummary(token), context),
    newsSummary: summaryRecord(context.contents.newsSummary(token), context),
  };
}

function summaryRecord(summary: ContentSummary | undefined, context: ServiceContext): object | null {
  if (summary === undefined) return null;
  return {
    summaryFull: summary.full, summaryShort: summary.short,
    updatedAt: context.prediction.timeline.isoTime(summary.slot), citations: summary.citations,
  };
}
