import { isAddress, NATIVE_MINT } from '../../chain/addresses.ts';
import type { GenesisToken } from '../../genesis.ts';
import type { Launch } from '../../market/launches.ts';
import { poolPrice } from '../../market/pool-price.ts';
import type { ServiceContext } from '../context.ts';
import { badRequest } from '../http/request-error.ts';
import { tokenRecord } from './token-record.ts';

/** A token of the sandbox with its first pool. */
export interface ListedToken {
  readonly token: GenesisToken;
  readonly firstPool: string | undefined;
  /** Undefined for the tokens that exist from the start. */
  readonly launch: Launch | undefined;
}

/** All tokens of the token endpoints, and their current records. */
interface TokenIndex {
  /** Returns the tokens that exist from the start and can be traded. */
  readonly established: readonly ListedToken[];
  /**
   * Returns the tokens that a query finds; an empty one finds the best known. Throws a RequestError (400) on too many
   * mints.
   */
  search(query: string): readonly ListedToken[];
  /** Returns the tokens whose first pool is the newest, the newest first. */
  recent(count: number): readonly ListedToken[];
  record(listed: ListedToken): object;
}

const MOST_MINTS = 100;
const MOST_MATCHES = 20;
const NATIVE_DECIMALS = 9;

/** Returns the index of a sandbox's tokens. */
export function createTokenIndex(context: ServiceContext): TokenIndex {
  const { market, chain, launches, profile } = context;
  const firstPools = new Map<string, string>();
  for (const pool of context.pools) {
    for (const mint of [pool.mintA, pool.mintB]) if (!firstPools.has(mint)) firstPools.set(mint, pool.address);
  }
  const established = [...context.tokens.values()]
    .map((token): ListedToken => ({ token, firstPool: firstPools.get(token.mint), launch: undefined }));

  const findLaunches = (isWanted: (token: GenesisToken) => boolean): ListedToken[] =>
    launches.find(isWanted).map(listed);

  return {
    established,
    search(query) {
      const terms = query.split(',').map((term) => term.trim()).filter((term) => term !== '');
      if (terms.length === 0) return established.toSorted(byScore).slice(0, MOST_MATCHES);
      const named = terms.filter(isAddress);
      if (named.length > MOST_MINTS)
        throw badRequest(`query: expected at most ${MOST_MINTS} mint addresses, got ${named.length}`);
      const mints = new Set(named);
      const words = terms.filter((term) => !isAddress(term)).map((term) => term.toLowerCase());
      const isMatch = (token: GenesisToken): boolean =>
        words.some((word) => token.symbol.toLowerCase().includes(word) || token.name.toLowerCase().includes(word));
      const byMint = established.filter(({ token }) => mints.has(token.mint));
      // The search for launches costs more than all the rest, and is rarely wanted.
      if (byMint.length < mints.size) byMint.push(...findLaunches(({ mint }) => mints.has(mint)));
      if (words.length === 0) return byMint;
      const byWord = [...established.filter(({ token }) => isMatch(token)), ...findLaunches(isMatch)].sort(byScore)
        .slice(0, MOST_MATCHES);
      return [...byMint, ...byWord.filter(({ token }) => !mints.has(token.mint))];
    },
    recent(count) {
      return [...established, ...launches.newest(count).map(listed)]
        .sort((a, b) => Date.parse(b.token.createdAt) - Date.parse(a.token.createdAt)).slice(0, count);
    },
    record({ token, firstPool, launch }) {
      const common = { token, firstPool, profile, slot: chain.slot, nowMs: context.nowMs() };
      if (launch === undefined) {
        return tokenRecord({
          ...common, usdPrice: market.usdPrice(token.mint), liquidity: market.liquidityUsd(token.mint),
          holders: market.holders(token.mint), tape: market.tape(token.mint),
        });
      }
      const reserves = chain.readPool(launch.pool);
      const solUsd = market.usdPrice(NATIVE_MINT);
      const usdPrice = poolPrice(reserves) * 10 ** (token.decimals - NATIVE_DECIMALS) * solUsd;
      const liquidity = 2 * (Number(reserves.reserveB) / 10 ** NATIVE_DECIMALS) * solUsd;
      return tokenRecord({ ...common, usdPrice, liquidity, holders: token.holders, tape: launch.tape });
    },
  };
}

function listed(launch: Launch): ListedToken {
  return { token: launch.token, firstPool: launch.pool, launch };
}

function byScore(a: ListedToken, b: ListedToken): number {
  return b.token.organicScore - a.token.organicScore;
}
