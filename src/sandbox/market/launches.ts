import { NATIVE_MINT } from '../chain/addresses.ts';
import type { SandboxChain } from '../chain/chain.ts';
import { TOKEN_PROGRAM, type GenesisToken } from '../genesis.ts';
import { indexedRandom } from './indexed-random.ts';

/** A token that was launched while the sandbox ran, or shortly before. */
export interface Launch {
  readonly token: GenesisToken;
  readonly pool: string;
}

/**
 * Tokens that appear as time passes, each with a first pool. Mint and pool really exist on the chain, from the moment
 * a request needs them. No route leads there, and they have no trades.
 */
export interface Launches {
  /** Returns the newest launches, the newest first. */
  newest(count: number): readonly Launch[];
  /** Returns the matching ones of the last hundred launches. */
  find(isWanted: (token: GenesisToken) => boolean): readonly Launch[];
}

const SLOTS_BETWEEN = 1_500;
const REMEMBERED = 100;
/** The first reserves of every pool on the launchpad. */
const POOL_LAMPORTS = 30n * 10n ** 9n;
const SUPPLY = 1_000_000_000;
const POOL_SHARE_PERCENT = 80n;
const POOL_FEE_BPS = 100;

const FIRST = ['Salty', 'Foggy', 'Lucky', 'Tiny', 'Mad', 'Royal', 'Sunken', 'Golden', 'Sleepy', 'Turbo'] as const;
const SECOND =
  ['Shrimp', 'Otter', 'Plankton', 'Squid', 'Pirate', 'Whelk', 'Starfish', 'Seal', 'Moray', 'Puffer'] as const;
/** Some launches carry the name of another token, or a hostile text. */
const IMITATIONS = [
  { name: 'Tidal Bitstone', symbol: 'TIDE' },
  { name: 'Conch', symbol: 'CONCH' },
  { name: 'Gift <a href="https://harbour.invalid">claim</a>\u001b[8m\u202e', symbol: 'G\u200bIFT' },
] as const;
const IMITATION_SHARE = 0.1;

/** Returns the launches of a seed. `slot` counts from the sandbox's start. */
export function createLaunches(options: {
  readonly seed: number; readonly chain: Pick<SandboxChain, 'createMint' | 'createPool'>; readonly slot: () => number;
  readonly unixSeconds: (slot: number) => number; readonly addressOf: (purpose: string) => string;
}): Launches {
  const random = indexedRandom(`${options.seed}:launches`);
  const pools = new Map<string, string>();

  const tokenOf = (number: number): GenesisToken => {
    const imitation = random(number, 1) < IMITATION_SHARE ? pick(IMITATIONS, random(number, 2)) : undefined;
    const words = [pick(FIRST, random(number, 3)), pick(SECOND, random(number, 4))];
    const name = imitation?.name ?? words.join(' ');
    return {
      mint: options.addressOf(`launch:${number}`),
      name,
      symbol: imitation?.symbol ?? words.map((word) => word.slice(0, 3)).join('').toUpperCase(),
      decimals: random(number, 5) < 0.8 ? 6 : 9,
      tokenProgram: TOKEN_PROGRAM,
      usdPrice: 0, volatility: 0, volumeUsdPerDay: 0, averageTradeUsd: 1, supply: SUPPLY,
      holders: 1 + Math.floor(40 * random(number, 6)),
      organicScore: 0, isVerified: false, tags: [],
      createdAt: new Date(options.unixSeconds(number * SLOTS_BETWEEN) * 1_000).toISOString(),
      developer: options.addressOf(`launcher:${Math.floor(12 * random(number, 7))}`),
      developerMints: 1 + Math.floor(60 * random(number, 8)),
      launchpad: 'slipway',
      topHoldersPercentage: Math.round(1_000 * (20 + 79 * random(number, 9))) / 1_000,
    };
  };

  /** Puts a launch on the chain, once. */
  const reveal = (token: GenesisToken): Launch => {
    const known = pools.get(token.mint);
    if (known !== undefined) return { token, pool: known };
    const units = BigInt(token.supply) * 10n ** BigInt(token.decimals);
    options.chain.createMint({
      mint: token.mint, decimals: token.decimals, tokenProgram: token.tokenProgram, supply: units,
    });
    const { address } = options.chain.createPool({
      mintA: token.mint, mintB: NATIVE_MINT, feeBps: POOL_FEE_BPS, reserveA: (units * POOL_SHARE_PERCENT) / 100n,
      reserveB: POOL_LAMPORTS,
    });
    pools.set(token.mint, address);
    return { token, pool: address };
  };

  const latest = (count: number): GenesisToken[] => {
    const newest = Math.floor(options.slot() / SLOTS_BETWEEN);
    return Array.from({ length: count }, (_, age) => tokenOf(newest - age));
  };

  return {
    newest: (count) => latest(Math.min(count, REMEMBERED)).map(reveal),
    find: (isWanted) => latest(REMEMBERED).filter(isWanted).map(reveal),
  };
}

function pick<Item>(items: readonly Item[], luck: number): Item {
  return items[Math.floor(luck * items.length)]!;
}
