import type { GenesisToken } from '../../genesis.ts';
import type { TapeWindow, TradeTape } from '../../market/trade-tape.ts';
import type { Profile } from '../context.ts';

const WINDOWS = { stats5m: 5, stats1h: 60, stats6h: 360, stats24h: 1_440 } as const;
const MINUTES_PER_DAY = 1_440;
const PERCENT = 100;
/** Traders per trade, since a trader may trade several times. */
const TRADERS_PER_TRADE = 0.42;
const SYSTEM_ICON = 'https://icons.gannet.invalid/';
/** From this organic score on, the statistics of a week include the volume. */
const WELL_KNOWN_SCORE = 90;
const DAYS_PER_WEEK = 7;
/** The digits after the milliseconds in a time with nanoseconds. */
const NANOSECONDS = '482193';

/** The market's current figures of a token. */
interface TokenFigures {
  readonly usdPrice: number;
  readonly liquidity: number;
  readonly holders: number;
  /** Undefined where there were no trades yet. */
  readonly tape: Pick<TradeTape, 'distantPrices' | 'window'> | undefined;
}

type WindowStats = Readonly<Record<
  'priceChange' | 'holderChange' | 'liquidityChange' | 'volumeChange' | 'buyVolume' | 'sellVolume' | 'buyOrganicVolume'
    | 'sellOrganicVolume'
  | 'numBuys' | 'numSells' | 'numTraders' | 'numOrganicBuyers' | 'numNetBuyers', number>>;

interface TokenNow extends TokenFigures {
  readonly token: GenesisToken;
  readonly profile: Profile;
  readonly slot: number;
  readonly nowMs: number;
  readonly firstPool: string | undefined;
}

/**
 * Returns a token's record: by the description with every member, null where nothing is known; in the live form
 * without what is not known, with undocumented members, and with times to the nanosecond.
 */
export function tokenRecord(now: TokenNow): object {
  const { token, usdPrice, firstPool, profile } = now;
  const volume = now.tape === undefined ? 0 : volumeOf(now.tape.window({ minutes: MINUTES_PER_DAY }));
  const organicScore = organicScoreOf(token, volume);
  const marketCap = usdPrice * token.supply;
  const isLive = profile === 'live';
  const record = {
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
    graduatedPool: token.launchpad === undefined ? null : (firstPool ?? null),
    graduatedAt: token.launchpad === undefined ? null : token.createdAt,
    holderCount: now.holders,
    fdv: marketCap,
    mcap: marketCap,
    usdPrice,
    priceBlockId: now.slot,
    liquidity: now.liquidity,
    fees: volume * 0.0004,
    ...yieldOf(token, isLive),
    ...windowStats(now),
    ...distantStats(now, volume),
    ...(firstPool === undefined ? {} : { firstPool: { id: firstPool, createdAt: token.createdAt } }),
    audit: {
      ...(token.isSuspicious === true ? { isSus: true } : {}),
      ...(token.mintAuthority === undefined ? { mintAuthorityDisabled: true } : {}),
      ...(token.freezeAuthority === undefined ? { freezeAuthorityDisabled: true } : {}),
      topHoldersPercentage: token.topHoldersPercentage,
      ...(token.developerMints === undefined ? {}
        : { devBalancePercentage: token.topHoldersPercentage / 2, devMints: token.developerMints }),
    },
    organicScore,
    organicScoreLabel: organicScore >= 70 ? 'high' : organicScore >= 20 ? 'medium' : 'low',
    isVerified: token.isVerified ? true : null,
    tags: token.tags.length > 0 ? token.tags : null,
    updatedAt: isoTime(now.nowMs, isLive),
  };
  return isLive ? { ...withoutNulls(record), ...undescribed(token, organicScore) } : record;
}

function isoTime(ms: number, toTheNanosecond: boolean): string {
  const text = new Date(ms).toISOString();
  return toTheNanosecond ? text.replace('Z', `${NANOSECONDS}Z`) : text;
}

/** The live service writes an empty object for tokens that are not lent. */
function yieldOf(token: GenesisToken, isLive: boolean): object {
  if (token.lendingApy !== undefined) return { apy: { platformEarn: token.lendingApy } };
  return isLive ? { apy: {} } : {};
}

function withoutNulls(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
}

/** Members that were observed but are undocumented, including those that are documented as removed. */
function undescribed(token: GenesisToken, organicScore: number): object {
  return {
    ctLikes: Math.round(organicScore * 61),
    smartCtLikes: Math.round(organicScore * 2),
    botHoldersPercentage: token.topHoldersPercentage / 20,
    ...(token.launchpad === undefined ? {} : { bondingCurve: 100, bundlerStats: { count: 0 } }),
    ...(token.developer === undefined ? {} : { devMigrations: 0 }),
  };
}

/** A window without trades is all zeros by the description, and left out in the live form. */
function windowStats(now: TokenNow): Record<string, object> {
  const stats: Record<string, object> = {};
  for (const [name, minutes] of Object.entries(WINDOWS)) {
    const figures = now.tape === undefined ? undefined : statsOf(now, now.tape, minutes);
    if (figures !== undefined) stats[name] = figures;
    else if (now.profile !== 'live') stats[name] = NO_TRADES;
  }
  return stats;
}

const NO_TRADES: WindowStats = {
  priceChange: 0, holderChange: 0, liquidityChange: 0, volumeChange: 0, buyVolume: 0, sellVolume: 0,
  buyOrganicVolume: 0, sellOrganicVolume: 0,
  numBuys: 0, numSells: 0, numTraders: 0, numOrganicBuyers: 0, numNetBuyers: 0,
};

/** Returns the statistics of the last `minutes`, undefined when there were no trades. */
function statsOf(now: TokenNow, tape: Pick<TradeTape, 'window'>, minutes: number): WindowStats | undefined {
  const window = tape.window({ minutes });
  const buys = Math.round(window.buyVolumeUsd / now.token.averageTradeUsd);
  const sells = Math.round(window.sellVolumeUsd / now.token.averageTradeUsd);
  if (buys + sells === 0) return undefined;
  const before = tape.window({ minutes, minutesAgo: minutes });
  const organicShare = now.token.organicScore / PERCENT / 4;
  const traders = Math.max(1, Math.round((buys + sells) * TRADERS_PER_TRADE));
  return {
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

/** The price's change over a week and a month, and for the best known tokens the volume of a week. */
function distantStats({ tape, usdPrice, token, profile }: TokenNow, dayVolume: number): Record<string, object> {
  if (tape === undefined)
    return profile === 'live' ? {} : { stats7d: { priceChange: 0 }, stats30d: { priceChange: 0 } };
  const { sevenDays, thirtyDays } = tape.distantPrices;
  const traded = token.organicScore < WELL_KNOWN_SCORE ? {}
    : { buyVolume: (dayVolume * DAYS_PER_WEEK) / 2, sellVolume: (dayVolume * DAYS_PER_WEEK) / 2 };
  return {
    stats7d: { priceChange: percentChange(sevenDays, usdPrice), ...traded },
    stats30d: { priceChange: percentChange(thirtyDays, usdPrice) },
  };
}

/** The score follows the volume by a few points at most. */
function organicScoreOf(token: GenesisToken, volumeUsd: number): number {
  const activity = token.volumeUsdPerDay === 0 ? 0.5 : Math.min(2, Math.max(0.5, volumeUsd / token.volumeUsdPerDay));
  return Number(Math.min(100, Math.max(0, token.organicScore * (0.97 + 0.03 * activity))).toFixed(4));
}

function volumeOf({ buyVolumeUsd, sellVolumeUsd }: TapeWindow): number {
  return buyVolumeUsd + sellVolumeUsd;
}

function percentChange(from: number, to: number): number {
  return from === 0 ? 0 : (to / from - 1) * PERCENT;
}
