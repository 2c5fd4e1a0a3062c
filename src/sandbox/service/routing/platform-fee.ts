import type { GenesisToken } from '../../genesis.ts';

/** On which side of a swap a fee is taken: from the taker's payment, or from the pools' output. */
export type FeeSide = 'input' | 'output';

/** A fee of a swap, in basis points of the side's amount. */
export interface SwapFee {
  readonly side: FeeSide;
  readonly bps: number;
}

const NO_FEE_BPS = 0;
const STABLE_FEE_BPS = 2;
const STAKED_FEE_BPS = 5;
const USUAL_FEE_BPS = 10;
const NEWCOMER_FEE_BPS = 50;
const NEWCOMER_MS = 24 * 3_600_000;

/** The platform's preference of fee tokens, best first. */
const PREFERENCE: readonly PriceClass[] = ['sol', 'stable', 'staked', 'other'];

/**
 * Returns the platform's fee on managed swaps, in basis points: lowest for stable prices, highest for tokens younger
 * than a day.
 */
export function platformFeeBps(input: GenesisToken, output: GenesisToken, nowMs: number): number {
  if ([input, output].some(({ createdAt }) => nowMs - Date.parse(createdAt) < NEWCOMER_MS)) return NEWCOMER_FEE_BPS;
  const classes = [priceClass(input), priceClass(output)];
  if (classes[0] === classes[1] && classes[0] !== 'other') return NO_FEE_BPS;
  if (classes.includes('other')) return USUAL_FEE_BPS;
  return classes.includes('staked') ? STAKED_FEE_BPS : STABLE_FEE_BPS;
}

/** Returns both sides, the preferred fee token's first; the output's where both are equal. */
export function feeSides(input: GenesisToken, output: GenesisToken): readonly [FeeSide, FeeSide] {
  return PREFERENCE.indexOf(priceClass(input)) < PREFERENCE.indexOf(priceClass(output)) ? ['input', 'output']
    : ['output', 'input'];
}

/** The asset that a token's price follows. */
type PriceClass = 'sol' | 'stable' | 'staked' | 'other';

/** Returns the asset that a token's price follows; it decides fees and intermediate tokens. */
export function priceClass(token: GenesisToken): PriceClass {
  if (token.symbol === 'SOL' && token.isVerified) return 'sol';
  if (token.tags.includes('lst')) return 'staked';
  return token.isVerified && token.volatility < 0.1 ? 'stable' : 'other';
}
