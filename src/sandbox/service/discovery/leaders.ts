import { NATIVE_MINT } from '../../chain/addresses.ts';
import type { GenesisToken } from '../../genesis.ts';
import type { Market } from '../../market/market.ts';
import type { ListedToken } from '../token-index.ts';

export const CATEGORIES = ['toporganicscore', 'toptraded', 'toptrending'] as const;
export type Category = (typeof CATEGORIES)[number];

const MINUTES = { '5m': 5, '1h': 60, '6h': 360, '24h': 1_440 } as const;
export const INTERVALS = ['5m', '1h', '6h', '24h'] as const;
export type Interval = (typeof INTERVALS)[number];

/** A price that moves less than that is held by something else. */
const HELD_VOLATILITY = 0.05;

/**
 * Returns the tokens that lead a category over an interval, the leader first. SOL, staked SOL and dollars are left out:
 * they always lead.
 */
export function leaders(
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
