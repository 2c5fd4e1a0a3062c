import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ServiceContext } from './context.ts';
import { contentFeed, contentRecord } from './discovery/content-record.ts';
import { CATEGORIES, INTERVALS, leaders } from './discovery/leaders.ts';
import { createParameters } from './parameters.ts';
import { createTokenIndex, type ListedToken } from './token-index.ts';

const TAGS = ['lst', 'verified', 'stocks'] as const;
const MOST_CONTENT_MINTS = 50;
const RECENT_TOKENS = 30;
const COOKING_TOKENS = 5;
const MOST_LISTED = 100;
const USUAL_LISTED = 50;
const LARGEST_PAGE = 1_000_000;
/** How long answers stay good, in seconds. */
const FRESH_SECONDS = { tag: 30, category: 15, recent: 5, content: 10 } as const;

/**
 * Serves the discovery group below `/tokens/v2`, but for its search: lists of tokens, and what people write about them.
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
