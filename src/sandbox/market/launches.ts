import { NATIVE_MINT } from '../chain/addresses.ts';
import type { SandboxChain } from '../chain/chain.ts';
import { TOKEN_PROGRAM, type GenesisToken } from '../genesis.ts';
import { indexedRandom } from './indexed-random.ts';
import { SLOTS_PER_MINUTE } from './slot-counts.ts';
import type { TradeTape } from './trade-tape.ts';

/** A token that was launched while the sandbox ran, or shortly before. */
export interface Launch {
  readonly token: GenesisToken;
  readonly pool: string;
  /** Its trades; undefined where there are none. */
  readonly tape?: Pick<TradeTape, 'distantPrices' | 'window'> | undefined;
}

/**
 * Tokens that appear as time passes, each with a first pool. Mint and pool really exist on the chain, from the moment
 * a request needs them. No route leads there, and they have no trades, unless some are to be in demand.
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

/** What makes a launch one that people want. */
const IN_DEMAND = {
  averageTradeUsd: 60, holders: 900, organicScore: 62, topHoldersPercentage: 8, developerMints: 1,
} as const;
const DEMAND_LAMPORTS = 120n * 10n ** 9n;
/** Of a minute. */
const DEMAND_USD = 300;
const DEMAND_BUY_SHARE = 0.6;
/** Minutes of its age, and how much larger the volume is in them. */
const RUSH_FROM = 90;
const RUSH_UNTIL = 110;
const RUSH_TIMES = 10;

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
  /** Whether each fourth launch finds buyers, and is in demand for a while when it is one and a half hours old. */
  readonly hasDemand?: boolean | undefined;
}): Launches {
  const random = indexedRandom(`${options.seed}:launches`);
  const pools = new Map<string, string>();
  const isInDemand = (number: number): boolean => options.hasDemand === true && (number & 3) === 3;

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
      ...(isInDemand(number) ? IN_DEMAND : {}),
    };
  };

  /** Puts a launch on the chain, once. */
  const reveal = (number: number, token: GenesisToken): Launch => {
    const tape = isInDemand(number) ? demandTape(options.slot() - number * SLOTS_BETWEEN) : undefined;
    const known = pools.get(token.mint);
    if (known !== undefined) return { token, pool: known, tape };
    const units = BigInt(token.supply) * 10n ** BigInt(token.decimals);
    options.chain.createMint({
      mint: token.mint, decimals: token.decimals, tokenProgram: token.tokenProgram, supply: units,
    });
    const { address } = options.chain.createPool({
      mintA: token.mint, mintB: NATIVE_MINT, feeBps: POOL_FEE_BPS, reserveA: (units * POOL_SHARE_PERCENT) / 100n,
      reserveB: isInDemand(number) ? DEMAND_LAMPORTS : POOL_LAMPORTS,
    });
    pools.set(token.mint, address);
    return { token, pool: address, tape };
  };

  const latest = (count: number): (readonly [number, GenesisToken])[] => {
    const newest = Math.floor(options.slot() / SLOTS_BETWEEN);
    return Array.from({ length: count }, (_, age) => [newest - age, tokenOf(newest - age)]);
  };

  return {
    newest: (count) => latest(Math.min(count, REMEMBERED)).map(([number, token]) => reveal(number, token)),
    find: (isWanted) => latest(REMEMBERED).filter(([, token]) => isWanted(token))
      .map(([number, token]) => reveal(number, token)),
  };
}

/** Returns the trades of a launch in demand at an age: the same volume each minute, and ten times as much in twenty. */
function demandTape(ageSlots: number): NonNullable<Launch['tape']> {
  const age = Math.floor(ageSlots / SLOTS_PER_MINUTE);
  return {
    // Nothing is known of a price that was not there.
    distantPrices: { sevenDays: 0, thirtyDays: 0 },
    window({ minutes, minutesAgo = 0 }) {
      let usd = 0;
      for (let at = Math.max(0, age - minutesAgo - minutes); at < age - minutesAgo; at++)
        usd += DEMAND_USD * (at >= RUSH_FROM && at < RUSH_UNTIL ? RUSH_TIMES : 1);
      return {
        buyVolumeUsd: usd * DEMAND_BUY_SHARE, sellVolumeUsd: usd * (1 - DEMAND_BUY_SHARE), openPrice: 0, openHolders: 0,
        openLiquidityUsd: 0,
      };
    },
  };
}

function pick<Item>(items: readonly Item[], luck: number): Item {
  return items[Math.floor(luck * items.length)]!;
}
