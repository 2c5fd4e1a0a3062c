import { normal, seededRandom } from '../../core/random.ts';

/** A day of minutes, twice: a window's volume is compared with the window before it. */
const MINUTES_PER_DAY = 1_440;
const MINUTES = 2 * MINUTES_PER_DAY;
/** Standard deviation of a minute's move at volatility 1, as a fraction. */
const WALK_PER_MINUTE = 0.0009;

/** The trades of one token in a span of time. */
export interface TapeWindow {
  readonly openPrice: number;
  readonly buyVolumeUsd: number;
  readonly sellVolumeUsd: number;
  readonly openHolders: number;
  readonly openLiquidityUsd: number;
}

/** The trades of one token, minute by minute, over the range of the statistics. */
export interface TradeTape {
  /** The price seven and thirty days before the first slot. */
  readonly distantPrices: { readonly sevenDays: number; readonly thirtyDays: number };
  addTrade(options: { side: 'buy' | 'sell'; usd: number }): void;
  /** Closes the current minute. */
  endMinute(options: { price: number; holders: number; liquidityUsd: number }): void;
  /** Returns the sums of the last `minutes`, the current one included, ending `minutesAgo`. */
  window(options: { minutes: number; minutesAgo?: number }): TapeWindow;
}

interface TapeOptions {
  readonly seed: string;
  readonly price: number;
  readonly volatility: number;
  readonly volumeUsdPerDay: number;
  readonly holders: number;
  readonly liquidityUsd: number;
}

/** Returns a tape with two days of seeded history that end at the token's current price. */
export function createTradeTape(options: TapeOptions): TradeTape {
  const random = seededRandom(options.seed);
  const prices = new Float64Array(MINUTES);
  const buys = new Float64Array(MINUTES);
  const sells = new Float64Array(MINUTES);
  const holders = new Float64Array(MINUTES);
  const liquidity = new Float64Array(MINUTES);
  let walk = 0;
  for (let age = 0; age < MINUTES; age++) {
    const at = MINUTES - 1 - age;
    const volumeUsd = (options.volumeUsdPerDay / MINUTES_PER_DAY) * (0.4 + 1.2 * random());
    const buyShare = 0.35 + 0.3 * random();
    prices[at] = options.price * Math.exp(walk);
    buys[at] = volumeUsd * buyShare;
    sells[at] = volumeUsd - buys[at];
    holders[at] = Math.round(options.holders * (1 - age * 2e-6));
    liquidity[at] = options.liquidityUsd * Math.exp(walk / 2);
    walk = walk * 0.999 + WALK_PER_MINUTE * options.volatility * normal(random);
  }
  const priceDaysAgo = (days: number): number => {
    const deviation = WALK_PER_MINUTE * options.volatility * Math.sqrt(days * MINUTES_PER_DAY);
    return options.price * Math.exp(deviation * normal(random));
  };
  const distantPrices = { sevenDays: priceDaysAgo(7), thirtyDays: priceDaysAgo(30) };
  // `newest` is the minute that is still open.
  let newest = MINUTES - 1;
  return {
    distantPrices,
    addTrade({ side, usd }) {
      const volumes = side === 'buy' ? buys : sells;
      volumes[newest] = volumes[newest]! + usd;
    },
    endMinute({ price, holders: holderCount, liquidityUsd }) {
      newest = (newest + 1) % MINUTES;
      prices[newest] = price;
      holders[newest] = holderCount;
      liquidity[newest] = liquidityUsd;
      buys[newest] = 0;
      sells[newest] = 0;
    },
    window({ minutes, minutesAgo = 0 }) {
      let buyVolumeUsd = 0;
      let sellVolumeUsd = 0;
      let at = newest;
      for (let age = 0; age < minutesAgo + minutes; age++) {
        at = (newest - age + MINUTES) % MINUTES;
        if (age < minutesAgo) continue;
        buyVolumeUsd += buys[at]!;
        sellVolumeUsd += sells[at]!;
      }
      return {
        openPrice: prices[at]!, buyVolumeUsd, sellVolumeUsd, openHolders: holders[at]!,
        openLiquidityUsd: liquidity[at]!,
      };
    },
  };
}
