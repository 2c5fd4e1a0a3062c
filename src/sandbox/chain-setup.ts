import { seededRandom } from '../core/random.ts';
import { ASSOCIATED_TOKEN_PROGRAM, associatedTokenAddress, NATIVE_MINT, SYSTEM_PROGRAM } from './chain/addresses.ts';
import { createChain, type SandboxChain } from './chain/chain.ts';
import { SWAP_PROGRAM_ID } from './chain/pools.ts';
import type { GenesisPool, SeededKey } from './genesis.ts';
import {
  GENESIS_POOLS, GENESIS_TOKENS, GENESIS_WALLET, MAKER_MINTS, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, WITHHOLDING_POOL,
  WITHHOLDING_TOKEN, seededKey, type GenesisToken,
} from './genesis.ts';
import type { Episodes } from './market/episodes.ts';
import { createMarket, type Market, type MarketPool } from './market/market.ts';
import { lookupTable, type LookupTable } from './chain/message.ts';
import type { PriceMotion } from './market/price-process.ts';
import { eventAuthority, type ForeignPrograms } from './service/build/foreign-programs.ts';

/** The chain and the market at the first slot, and the keys and addresses that the sandbox uses. */
export interface ChainSetup {
  readonly chain: SandboxChain;
  readonly market: Market;
  readonly pools: readonly MarketPool[];
  readonly table: LookupTable;
  readonly wallet: SeededKey;
  readonly maker: SeededKey;
  /** Pays the gas of takers without SOL. */
  readonly gas: SeededKey;
  /** Owns the accounts of the platform's fee. */
  readonly feeOwner: string;
  readonly tipAccounts: readonly string[];
  readonly tokens: readonly GenesisToken[];
}

/**
 * Enough for the maker to fill and for the gas account to pay for months; below the 2^52 lamports that doubles count
 * exactly.
 */
const SERVICE_LAMPORTS = 4_000_000n * 10n ** 9n;
const MAKER_USD = 500_000_000;
const START_LAMPORTS = 10n ** 9n;
const FURTHER_TIP_ACCOUNTS = ['tips 2', 'tips 3', 'tips 4'];

/** Returns the chain and market of a seed: the same mints, pools, prices and balances every time. */
export function createChainSetup(options: {
  seed: number; genesisUnixSeconds: number; slotMs: number; motion?: PriceMotion | undefined;
  episodes?: Pick<Episodes, 'rush'> | undefined;
  /** Where there are any, the market has a token whose mint withholds, too. */
  foreign?: ForeignPrograms | undefined;
}): ChainSetup {
  const { seed, foreign } = options;
  const aggregators = foreign === undefined ? [] : [foreign.routeV2, foreign.undocumented];
  const tokens = foreign === undefined ? GENESIS_TOKENS : [...GENESIS_TOKENS, WITHHOLDING_TOKEN];
  const chain =
    createChain({ genesisUnixSeconds: options.genesisUnixSeconds, slotMs: options.slotMs, seed, aggregators });
  const keyFor = (purpose: string): SeededKey => seededKey({ seed, purpose });
  const [wallet, maker, gas] = [keyFor('wallet'), keyFor('maker'), keyFor('gas')];
  const feeOwner = keyFor('fees').address;
  const tipAccounts = ['tips', ...(foreign === undefined ? [] : FURTHER_TIP_ACCOUNTS)].map((purpose) =>
    keyFor(purpose).address);
  createMints(chain, tokens);
  const pools = createPools(chain, foreign === undefined ? GENESIS_POOLS : [...GENESIS_POOLS, WITHHOLDING_POOL]);
  for (const address of [feeOwner, ...tipAccounts]) chain.airdrop(address, START_LAMPORTS);
  for (const { address } of [maker, gas]) chain.airdrop(address, SERVICE_LAMPORTS);
  for (const { mint } of tokens) chain.fundToken({ owner: feeOwner, mint, amount: 1n });
  for (const mint of MAKER_MINTS) chain.fundToken({
    owner: maker.address, mint, amount: unitsWorth({ mint, usd: mint === NATIVE_MINT ? 1_000 : MAKER_USD }),
  });
  for (const { mint, amount } of GENESIS_WALLET) {
    const units = amount * 10n ** BigInt(tokenOf(mint).decimals);
    if (mint === NATIVE_MINT) chain.airdrop(wallet.address, units);
    else chain.fundToken({ owner: wallet.address, mint, amount: units });
  }
  const shared = [
    ...sharedAddresses(chain, tokens, { maker: maker.address, feeOwner }), ...aggregators.map(eventAuthority),
  ];
  const table = lookupTable(chain.createLookupTable(shared), shared);
  const { motion, episodes } = options;
  const market = createMarket({ seed, tokens, pools, reserves: chain, motion, episodes });
  return { chain, market, pools, table, wallet, maker, gas, feeOwner, tipAccounts, tokens };
}

/** Returns a generator of identifiers in the form of a UUID of version 7, time first. */
export function createIds(options: { seed: number; nowMs: () => number }): () => string {
  const random = seededRandom(`${options.seed}:identifiers`);
  const digits = (count: number): string => Math.floor(random() * 16 ** count).toString(16).padStart(count, '0');
  return () => {
    const time = Math.floor(options.nowMs()).toString(16).padStart(12, '0').slice(-12);
    const variant = (8 + Math.floor(random() * 4)).toString(16);
    return `${time.slice(0, 8)}-${time.slice(8)}-7${digits(3)}-${variant}${digits(3)}-${digits(6)}${digits(6)}`;
  };
}

function createMints(chain: SandboxChain, tokens: readonly GenesisToken[]): void {
  for (const token of tokens) {
    chain.createMint({
      mint: token.mint,
      decimals: token.decimals,
      tokenProgram: token.tokenProgram,
      supply: BigInt(token.supply) * 10n ** BigInt(token.decimals),
      ...(token.mintAuthority === undefined ? {} : { mintAuthority: token.mintAuthority }),
      ...(token.freezeAuthority === undefined ? {} : { freezeAuthority: token.freezeAuthority }),
      ...(token.transferFee === undefined ? {} : { transferFee: token.transferFee }),
    });
  }
}

function createPools(chain: SandboxChain, pools: readonly GenesisPool[]): MarketPool[] {
  return pools.map(({ label, mintA, mintB, feeBps, depthUsd }) => {
    const withholding = [mintA, mintB].map(tokenOf).find(({ transferFee }) => transferFee !== undefined);
    const { address } = chain.createPool({
      mintA, mintB, feeBps, holdsExtensions: withholding !== undefined,
      reserveA: unitsWorth({ mint: mintA, usd: depthUsd }),
      reserveB: unitsWorth({ mint: mintB, usd: depthUsd }),
    });
    return {
      address, label, mintA, mintB, feeBps,
      ...(withholding === undefined ? {} : { withholding: { mint: withholding.mint, fee: withholding.transferFee! } }),
    };
  });
}

function unitsWorth({ mint, usd }: { mint: string; usd: number }): bigint {
  const { decimals } = tokenOf(mint);
  return BigInt(Math.round((usd / genesisUsd(mint)) * 10 ** decimals));
}

function genesisUsd(mint: string): number {
  const { usdPrice, peg } = tokenOf(mint);
  return usdPrice * (peg === undefined ? 1 : genesisUsd(peg));
}

function tokenOf(mint: string): GenesisToken {
  const token = [...GENESIS_TOKENS, WITHHOLDING_TOKEN].find((candidate) => candidate.mint === mint);
  if (token === undefined) throw new RangeError(`no token ${mint} in the sandbox`);
  return token;
}

/**
 * Returns the addresses that many swaps use: programs, mints, pools with their vaults, and the accounts of fees and
 * maker.
 */
function sharedAddresses(
  chain: SandboxChain, tokens: readonly GenesisToken[], owners: { maker: string; feeOwner: string },
): string[] {
  return [...new Set([
    SYSTEM_PROGRAM, TOKEN_PROGRAM, TOKEN_2022_PROGRAM, ASSOCIATED_TOKEN_PROGRAM, SWAP_PROGRAM_ID,
    ...tokens.map(({ mint }) => mint),
    ...chain.pools().flatMap(({ address, vaultA, vaultB }) => [address, vaultA, vaultB]),
    ...tokens.map(({ mint, tokenProgram }) => associatedTokenAddress(owners.feeOwner, mint, tokenProgram)),
    ...MAKER_MINTS.map((mint) => associatedTokenAddress(owners.maker, mint, tokenOf(mint).tokenProgram)),
  ])];
}
