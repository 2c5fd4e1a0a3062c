import type { FastifyInstance } from 'fastify';
import { isAddress } from '../chain/addresses.ts';
import type { GenesisToken } from '../genesis.ts';
import type { ServiceContext } from './context.ts';
import { badRequest } from './request-error.ts';
import { tokenRecord } from './token-record.ts';

const MOST_MINTS = 100;
const MOST_MATCHES = 20;
const LONGEST_QUERY = 100 * 45 + 200;

/** Serves `GET /ultra/v1/search`: the records of tokens found by mint, symbol or name. */
export function registerSearch(app: FastifyInstance, context: ServiceContext): void {
  const firstPools = new Map<string, string>();
  for (const pool of context.chain.pools()) {
    for (const mint of [pool.mintA, pool.mintB]) if (!firstPools.has(mint)) firstPools.set(mint, pool.address);
  }
  app.get<{ Querystring: { query?: unknown } }>('/ultra/v1/search', (request, reply) => {
    const tokens = findTokens([...context.tokens.values()], request.query.query);
    const { market, chain } = context;
    return reply.send(tokens.map((token) =>
      tokenRecord({ market, token, slot: chain.slot, nowMs: context.nowMs(), firstPool: firstPools.get(token.mint) })));
  });
}

/** Returns the tokens that a query names; an empty one means the best known. An unknown mint is simply missing. */
function findTokens(tokens: readonly GenesisToken[], query: unknown): GenesisToken[] {
  if (typeof query !== 'string') throw badRequest('query: missing, expected a symbol, a name or mint addresses');
  if (query.length > LONGEST_QUERY) throw badRequest(`query: expected at most ${LONGEST_QUERY} characters, got ${query.length}`);
  const terms = query.split(',').map((term) => term.trim()).filter((term) => term !== '');
  if (terms.length === 0) return [...tokens].sort(byScore).slice(0, MOST_MATCHES);
  const mints = terms.filter(isAddress);
  if (mints.length > MOST_MINTS) throw badRequest(`query: expected at most ${MOST_MINTS} mint addresses, got ${mints.length}`);
  const byMint = tokens.filter(({ mint }) => mints.includes(mint));
  const byWord = tokens
    .filter((token) => terms.some((term) => !isAddress(term) && isMatch(token, term)))
    .sort(byScore)
    .slice(0, MOST_MATCHES);
  return [...new Set([...byMint, ...byWord])];
}

function isMatch({ symbol, name }: GenesisToken, term: string): boolean {
  const word = term.toLowerCase();
  return symbol.toLowerCase().includes(word) || name.toLowerCase().includes(word);
}

function byScore(a: GenesisToken, b: GenesisToken): number {
  return b.organicScore - a.organicScore;
}
