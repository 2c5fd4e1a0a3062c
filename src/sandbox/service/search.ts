import type { FastifyInstance } from 'fastify';
import type { ServiceContext } from './context.ts';
import { createParameters } from './parameters.ts';
import { createTokenIndex } from './token-index.ts';

/** A hundred mints and some words. */
const LONGEST_QUERY = 100 * 45 + 200;
/** How long an answer stays good, in seconds. */
const FRESH_SECONDS = 10;

/**
 * Serves `GET /ultra/v1/search`, and the same within the discovery group: the records of tokens found by mint, symbol
 * or name.
 */
export function registerSearch(app: FastifyInstance, context: ServiceContext): void {
  const index = createTokenIndex(context);
  for (const path of ['/ultra/v1/search', '/tokens/v2/search']) {
    app.get(path, (request, reply) => {
      const found = index.search(createParameters(request.query).text('query', { min: 0, max: LONGEST_QUERY }));
      return reply.header('cache-control', `public, max-age=${FRESH_SECONDS}`)
        .send(found.map((token) => index.record(token)));
    });
  }
}
