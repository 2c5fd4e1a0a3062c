import { GannetError } from '../../core/errors.ts';
import { normal, seededRandom, type Random } from '../../core/random.ts';
import type { TransferFee } from '../chain/token-layout.ts';
import type { GenesisToken } from '../genesis.ts';
import type { Episodes, Rush } from './episodes.ts';
import { depthOf, poolPrice, rawPrice, readingOnce, reservesAt, type ReadPool, type Reserves } from './pool-price.ts';
import type { PriceMotion, PriceProcess } from './price-process.ts';
import { createRandomWalk, createStochasticVolatility, createSwingingPrice, meanReversion } from './price-process.ts';
import { SLOTS_PER_DAY, SLOTS_PER_MINUTE } from './slot-counts.ts';
import { createTradeTape, type TradeTape } from './trade-tape.ts';

/** The range of the statistics, in slots. Slots before it are skipped in one leap. */
const LONGEST_WALK = 2 * SLOTS_PER_DAY;
const POOL_NOISE_HALF_LIFE_SLOTS = 40;

/** How prices of one motion move, and how pools follow them. */
interface MotionRules {
  readonly createPrice: (options: { seed: string; start: number; volatility: number }) => PriceProcess;
  /**
   * Share of the gap to the market's price that arbitrage closes each slot: at a half, a user's impact is half gone
   * after one.
   */
  readonly pull: number;
  /** Standard deviation of the difference between pools of one pair, so that the best route changes. */
  readonly noise: number;
  /** A token's ordinary move in one slot at volatility 1; volume scales with moves relative to it. */
  readonly typicalMove: number;
  /** Whether arbitrage moves a pool only where it gains more than the pool's fee, and liquidity comes and goes. */
  readonly isFeeBound: boolean;
}

/**
 * A pool that reverts to a mean makes its next price predictable. So pools of random prices stand at the market's
 * price.
 */
const MOTIONS: Readonly<Record<PriceMotion, MotionRules>> = {
  'swings': { createPrice: createSwingingPrice, pull: 0.5, noise: 0.0003, typicalMove: 0.001, isFeeBound: false },
  'random-walk': { createPrice: createRandomWalk, pull: 1, noise: 0, typicalMove: 0.001, isFeeBound: false },
  'stochastic-volatility': {
    createPrice: createStochasticVolatility, pull: 1, noise: 0, typicalMove: 0.0001, isFeeBound: true,
  },
};

/** Half of a deviation from the usual depth is gone after six hours. */
const LIQUIDITY_HALF_LIFE_SLOTS = SLOTS_PER_DAY / 4;
/** Standard deviation of the logarithm of liquidity, without the effect of volatility. */
const LIQUIDITY = 0.2;

/** A pool as the market moves it. */
export interface MarketPool {
  readonly address: string;
  readonly label: string;
  readonly mintA: string;
  readonly mintB: string;
  readonly feeBps: number;
  /** The one of its mints that keeps part of every transfer. */
  readonly withholding?: { readonly mint: string; readonly fee: TransferFee } | undefined;
}

/** The part of the chain that the market reads and moves. */
interface ReserveAccess {
  readonly readPool: ReadPool;
  writeReserves(address: string, reserves: Reserves): void;
}

/** The seeded market: prices, pools and trades, advanced slot by slot. */
export interface Market {
  readonly tokens: readonly GenesisToken[];
  /** Advances by `slots`; the pools are moved once, at the end. More than two days begin with one leap. */
  step(slots: number): void;
  /** Returns the market's price of one whole token in US dollars. */
  usdPrice(mint: string): number;
  /** Sets a token's price and moves its pools there at once. Throws MINT_INVALID for an unknown mint. */
  setPrice(options: { mint: string; usd: number }): void;
  /** Counts a user's swap in the statistics. */
  recordTrade(options: { inputMint: string; outputMint: string; usd: number }): void;
  tape(mint: string): TradeTape;
  holders(mint: string): number;
  /** Returns the US dollars that a token's pools hold, both sides. */
  liquidityUsd(mint: string): number;
}

const BPS = 10_000;
/** The share by which a token's holders grow with every step, on average. */
const HOLDERS_PER_STEP = 5e-9;

interface TokenState {
  readonly token: GenesisToken;
  readonly process: PriceProcess;
  readonly peg: TokenState | undefined;
  readonly tape: TradeTape;
  readonly random: Random;
  holders: number;
  lastUsd: number;
}

interface PoolState {
  readonly pool: MarketPool;
  readonly a: TokenState;
  readonly b: TokenState;
  readonly depth: number;
  readonly random: Random;
  noise: number;
  /** Logarithm of the liquidity relative to the usual one. */
  liquidity: number;
}

interface MarketOptions {
  readonly seed: number;
  readonly tokens: readonly GenesisToken[];
  readonly pools: readonly MarketPool[];
  readonly reserves: ReserveAccess;
  /** Swings unless given. */
  readonly motion?: PriceMotion | undefined;
  readonly episodes?: Pick<Episodes, 'rush'> | undefined;
}

/** Returns the market of a seed over pools that exist on the chain. */
export function createMarket(options: MarketOptions): Market {
  const { reserves } = options;
  const states = createTokenStates(options);
  const stateOf = (mint: string): TokenState => {
    const state = states.get(mint);
    if (state === undefined)
      throw new GannetError('MINT_INVALID', `expected a mint of the sandbox, got "${mint.slice(0, 60)}"`);
    return state;
  };
  const pools = options.pools.map((pool): PoolState => ({
    pool,
    a: stateOf(pool.mintA),
    b: stateOf(pool.mintB),
    depth: depthOf(reserves.readPool(pool.address)),
    random: seededRandom(`${options.seed}:pool:${pool.address}`),
    noise: 0,
    liquidity: 0,
  }));
  const rules = MOTIONS[options.motion ?? 'swings'];
  const noise = { halfLifeSlots: POOL_NOISE_HALF_LIFE_SLOTS, size: rules.noise } as const;
  const stepNoise = meanReversion(noise);
  let slots = 0;

  const stepOnce = (readPool: ReadPool): void => {
    slots++;
    for (const state of states.values())
      stepToken(state, rules.typicalMove, options.episodes?.rush(state.token.mint, slots));
    if (!rules.isFeeBound) for (const state of pools) state.noise = stepNoise(state.noise, normal(state.random));
    if (slots % SLOTS_PER_MINUTE === 0) {
      for (const state of states.values()) {
        state.tape.endMinute({
          price: usdOf(state), holders: state.holders, liquidityUsd: poolsUsd(pools, state.token.mint, readPool),
        });
      }
    }
  };

  const leap = (steps: number): void => {
    slots += steps;
    for (const state of states.values()) {
      state.process.leap(steps);
      state.holders += state.token.holders * HOLDERS_PER_STEP * steps;
    }
    // After all prices have moved, since some follow others.
    for (const state of states.values()) state.lastUsd = usdOf(state);
    const leapNoise = meanReversion({ ...noise, steps });
    for (const state of pools) state.noise = leapNoise(state.noise, normal(state.random));
  };

  return {
    tokens: options.tokens,
    step(count) {
      const walked = Math.min(count, LONGEST_WALK);
      if (count > walked) leap(count - walked);
      // The pools stand still until the end, and reading them costs most.
      const readPool = readingOnce(reserves.readPool);
      for (let i = 0; i < walked; i++) stepOnce(readPool);
      for (const state of pools) {
        if (rules.isFeeBound) arbitrage(reserves, state, count);
        else pull(reserves, state, 1 - (1 - rules.pull) ** count);
      }
    },
    usdPrice: (mint) => usdOf(stateOf(mint)),
    setPrice({ mint, usd }) {
      const changed = stateOf(mint);
      changed.process.set(changed.peg === undefined ? usd : usd / usdOf(changed.peg));
      for (const state of pools) {
        if (dependsOn(state.a, changed) || dependsOn(state.b, changed)) pull(reserves, state, 1);
      }
    },
    recordTrade({ inputMint, outputMint, usd }) {
      stateOf(inputMint).tape.addTrade({ side: 'sell', usd });
      stateOf(outputMint).tape.addTrade({ side: 'buy', usd });
    },
    tape: (mint) => stateOf(mint).tape,
    holders: (mint) => Math.round(stateOf(mint).holders),
    liquidityUsd: (mint) => poolsUsd(pools, mint, reserves.readPool),
  };
}

function createTokenStates(options: MarketOptions): Map<string, TokenState> {
  const states = new Map<string, TokenState>();
  for (const token of options.tokens) {
    const peg = token.peg === undefined ? undefined : states.get(token.peg);
    const seed = `${options.seed}:token:${token.mint}`;
    const process = MOTIONS[options.motion
      ?? 'swings'].createPrice({ seed: `${seed}:price`, start: token.usdPrice, volatility: token.volatility });
    const usd = token.usdPrice * (peg === undefined ? 1 : usdOf(peg));
    const tape = createTradeTape({
      seed: `${seed}:past`, price: usd, volatility: token.volatility, volumeUsdPerDay: token.volumeUsdPerDay,
      holders: token.holders, liquidityUsd: startLiquidityUsd(options, token, usd),
    });
    const random = seededRandom(`${seed}:trades`);
    states.set(token.mint, { token, process, peg, tape, random, holders: token.holders, lastUsd: usd });
  }
  return states;
}

/** Moves a pool `share` of the way, in logarithms, from where trades left it to the market's price. */
function pull(reserves: ReserveAccess, state: PoolState, share: number): void {
  const { pool: { address }, depth } = state;
  const target = targetPrice(state) * Math.exp(state.noise);
  const current = poolPrice(reserves.readPool(address));
  reserves.writeReserves(address, reservesAt({ depth, price: current * (target / current) ** share }));
}

/**
 * Moves a pool as arbitrage does that pays its fee: to the nearest price at which no gain is left. So no trade buys
 * below the market's price or sells above it. The pool's depth wanders, and falls with the root of the volatility.
 */
function arbitrage(reserves: ReserveAccess, state: PoolState, slots: number): void {
  const { a, b, pool, depth } = state;
  const stepLiquidity = meanReversion({ halfLifeSlots: LIQUIDITY_HALF_LIFE_SLOTS, size: LIQUIDITY, steps: slots });
  state.liquidity = stepLiquidity(state.liquidity, normal(state.random));
  const { relativeVolatility } = (a.token.volatility > b.token.volatility ? a : b).process;
  const target = targetPrice(state);
  const fee = 1 - pool.feeBps / BPS;
  const price = Math.min(Math.max(poolPrice(reserves.readPool(pool.address)), target * fee), target / fee);
  reserves.writeReserves(
    pool.address, reservesAt({ depth: (depth * Math.exp(state.liquidity)) / Math.sqrt(relativeVolatility), price }),
  );
}

/** Returns the US dollars that a token's pools hold, both sides. */
function poolsUsd(pools: readonly PoolState[], mint: string, readPool: ReadPool): number {
  let total = 0;
  for (const { pool, a, b } of pools) {
    if (pool.mintA !== mint && pool.mintB !== mint) continue;
    const { reserveA, reserveB } = readPool(pool.address);
    total += wholeTokens(reserveA, a) * usdOf(a) + wholeTokens(reserveB, b) * usdOf(b);
  }
  return total;
}

/** Both sides of a pool are worth the same at the first slot, so twice the token's own side is the total. */
function startLiquidityUsd(options: MarketOptions, token: GenesisToken, usd: number): number {
  let total = 0;
  for (const pool of options.pools) {
    if (pool.mintA !== token.mint && pool.mintB !== token.mint) continue;
    const { reserveA, reserveB } = options.reserves.readPool(pool.address);
    const ownSide = pool.mintA === token.mint ? reserveA : reserveB;
    total += 2 * (Number(ownSide) / 10 ** token.decimals) * usd;
  }
  return total;
}

function stepToken(state: TokenState, usualMove: number, rush?: Rush): void {
  const { token, process, tape, random } = state;
  process.step();
  const usd = usdOf(state);
  const change = usd === state.lastUsd ? 0 : Math.log(usd / state.lastUsd);
  state.lastUsd = usd;
  // Volume follows movement, and the side that moved the price traded more.
  const typicalMove = usualMove * Math.max(token.volatility, 0.01);
  const activity = 0.7 + Math.min(Math.abs(change) / typicalMove, 5) * 0.4;
  const volumeUsd = (token.volumeUsdPerDay / SLOTS_PER_DAY) * activity * (0.4 + 1.2 * random()) * (rush?.volume ?? 1);
  const buyShare = Math.min(0.9, Math.max(rush?.buyShare ?? 0.1, 0.5 + (change / typicalMove) * 0.15));
  tape.addTrade({ side: 'buy', usd: volumeUsd * buyShare });
  tape.addTrade({ side: 'sell', usd: volumeUsd * (1 - buyShare) });
  state.holders += token.holders * (HOLDERS_PER_STEP * (1 + 20 * (random() - 0.5)) + (rush?.holders ?? 0));
}

function usdOf(state: TokenState): number {
  return state.peg === undefined ? state.process.value : state.process.value * usdOf(state.peg);
}

function targetPrice({ a, b }: PoolState): number {
  return rawPrice({ usd: usdOf(a), decimals: a.token.decimals }, { usd: usdOf(b), decimals: b.token.decimals });
}

function dependsOn(state: TokenState, changed: TokenState): boolean {
  return state === changed || (state.peg !== undefined && dependsOn(state.peg, changed));
}

function wholeTokens(amount: bigint, state: TokenState): number {
  return Number(amount) / 10 ** state.token.decimals;
}
