import type { GenesisToken } from '../genesis.ts';
import type { Market } from '../market/market.ts';
import type { TapeWindow } from '../market/trade-tape.ts';

const WINDOWS = { stats5m: 5, stats1h: 60, stats6h: 360, stats24h: 1_440 } as const;
const MINUTES_PER_DAY = 1_440;
const PERCENT = 100;
/** Share of traders who are counted once although they trade more often. */
const TRADERS_PER_TRADE = 0.42;
const SYSTEM_ICON = 'https://icons.gannet.invalid/';

/** Returns a token's record as the search answers it, from the market's state of now. */
export function tokenRecord(options: { market: Market; token: GenesisToken; slot: number; nowMs: number; firstPool: string | undefined }): object {
  const { market, token } = options;
  const usdPrice = market.usdPrice(token.mint);
  const liquidity = market.liquidityUsd(token.mint);
  const holders = market.holders(token.mint);
  const volume = volumeOf(market.tape(token.mint).window({ minutes: MINUTES_PER_DAY }));
  const organicScore = organicScoreOf(token, volume);
  const marketCap = usdPrice * token.supply;
  return {
    id: token.mint,
    name: token.name,
    symbol: token.symbol,
    icon: token.isVerified ? `${SYSTEM_ICON}${token.mint}.png` : null,
    decimals: token.decimals,
    tokenProgram: token.tokenProgram,
    createdAt: token.createdAt,
    twitter: null,
    telegram: null,
    website: token.isVerified ? `https://${token.symbol.toLowerCase()}.invalid` : null,
    discord: null,
    instagram: null,
    tiktok: null,
    otherUrl: null,
    dev: token.developer ?? null,
    ...(token.mintAuthority === undefined ? {} : { mintAuthority: token.mintAuthority }),
    ...(token.freezeAuthority === undefined ? {} : { freezeAuthority: token.freezeAuthority }),
    issuer: token.issuer ?? null,
    circSupply: token.supply,
    totalSupply: token.supply,
    launchpad: token.launchpad ?? null,
    partnerConfig: null,
    graduatedPool: token.launchpad === undefined ? null : (options.firstPool ?? null),
    graduatedAt: token.launchpad === undefined ? null : token.createdAt,
    holderCount: holders,
    fdv: marketCap,
    mcap: marketCap,
    usdPrice,
    priceBlockId: options.slot,
    liquidity,
    fees: volume * 0.0004,
    ...(token.lendingApy === undefined ? {} : { apy: { platformEarn: token.lendingApy } }),
    ...windowStats({ market, token, usdPrice, liquidity, holders }),
    ...(options.firstPool === undefined ? {} : { firstPool: { id: options.firstPool, createdAt: token.createdAt } }),
    audit: {
      ...(token.isSuspicious === true ? { isSus: true } : {}),
      ...(token.mintAuthority === undefined ? { mintAuthorityDisabled: true } : {}),
      ...(token.freezeAuthority === undefined ? { freezeAuthorityDisabled: true } : {}),
      topHoldersPercentage: token.topHoldersPercentage,
      ...(token.developerMints === undefined ? {} : { devMints: token.developerMints }),
    },
    organicScore,
    organicScoreLabel: organicScore >= 70 ? 'high' : organicScore >= 20 ? 'medium' : 'low',
    ...(token.isVerified ? { isVerified: true } : {}),
    tags: token.tags,
    updatedAt: new Date(options.nowMs).toISOString(),
  };
}

interface Now {
  readonly market: Market;
  readonly token: GenesisToken;
  readonly usdPrice: number;
  readonly liquidity: number;
  readonly holders: number;
}

/** A window in which nobody traded is left out, as the service does. */
function windowStats(now: Now): Record<string, object> {
  const stats: Record<string, object> = {};
  const tape = now.market.tape(now.token.mint);
  for (const [name, minutes] of Object.entries(WINDOWS)) {
    const window = tape.window({ minutes });
    const buys = Math.round(window.buyVolumeUsd / now.token.averageTradeUsd);
    const sells = Math.round(window.sellVolumeUsd / now.token.averageTradeUsd);
    if (buys + sells === 0) continue;
    const before = tape.window({ minutes, minutesAgo: minutes });
    const organicShare = now.token.organicScore / PERCENT / 4;
    const traders = Math.max(1, Math.round((buys + sells) * TRADERS_PER_TRADE));
    stats[name] = {
      priceChange: percentChange(window.openPrice, now.usdPrice),
      holderChange: percentChange(window.openHolders, now.holders),
      liquidityChange: percentChange(window.openLiquidityUsd, now.liquidity),
      volumeChange: percentChange(volumeOf(before), volumeOf(window)),
      buyVolume: window.buyVolumeUsd,
      sellVolume: window.sellVolumeUsd,
      buyOrganicVolume: window.buyVolumeUsd * organicShare,
      sellOrganicVolume: window.sellVolumeUsd * organicShare,
      numBuys: buys,
      numSells: sells,
      numTraders: traders,
      numOrganicBuyers: Math.round(traders * organicShare),
      numNetBuyers: Math.round((buys - sells) * TRADERS_PER_TRADE),
    };
  }
  const { sevenDays, thirtyDays } = tape.distantPrices;
  stats['stats7d'] = { priceChange: percentChange(sevenDays, now.usdPrice) };
  stats['stats30d'] = { priceChange: percentChange(thirtyDays, now.usdPrice) };
  return stats;
}

/** The score breathes with the volume, a few points at most. */
function organicScoreOf(token: GenesisToken, volumeUsd: number): number {
  const activity = Math.min(2, Math.max(0.5, volumeUsd / token.volumeUsdPerDay));
  return Number(Math.min(100, Math.max(0, token.organicScore * (0.97 + 0.03 * activity))).toFixed(4));
}

function volumeOf({ buyVolumeUsd, sellVolumeUsd }: TapeWindow): number {
  return buyVolumeUsd + sellVolumeUsd;
}

function percentChange(from: number, to: number): number {
  return from === 0 ? 0 : (to / from - 1) * PERCENT;
}
