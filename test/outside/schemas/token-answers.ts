import { date, flag, key, list, number, object, oneOf, orNull, text } from './shape.ts';
import type { Schema } from './shape.ts';

const NUMBERS = [
  'priceChange', 'holderChange', 'liquidityChange', 'volumeChange', 'buyVolume', 'sellVolume', 'buyOrganicVolume',
  'sellOrganicVolume', 'numBuys', 'numSells', 'numTraders', 'numOrganicBuyers', 'numNetBuyers',
];
const stats = object({}, Object.fromEntries(NUMBERS.map((name) => [name, number])));
const nullable = (names: readonly string[], schema: Schema): Record<string, Schema> =>
  Object.fromEntries(names.map((name) => [name, orNull(schema)]));

/** A record of `GET /ultra/v1/search` and of the discovery group. */
const record = object({ id: key, name: text, symbol: text, decimals: number, tokenProgram: key }, {
  createdAt: date, updatedAt: date, ...nullable(['graduatedAt'], date),
  ...nullable([
    'icon', 'twitter', 'telegram', 'website', 'discord', 'instagram', 'tiktok', 'otherUrl', 'dev', 'mintAuthority',
    'freezeAuthority', 'issuer', 'launchpad', 'partnerConfig', 'graduatedPool',
  ], text),
  ...nullable([
    'circSupply', 'totalSupply', 'holderCount', 'fdv', 'mcap', 'usdPrice', 'priceBlockId', 'liquidity', 'fees',
  ], number),
  apy: object({}, { platformEarn: number }),
  stats5m: stats, stats1h: stats, stats6h: stats, stats24h: stats, stats7d: stats, stats30d: stats,
  firstPool: object({ id: text, createdAt: date }),
  audit: object({}, {
    isSus: flag, mintAuthorityDisabled: flag, freezeAuthorityDisabled: flag, topHoldersPercentage: number,
    devBalancePercentage: number, devMints: number,
  }),
  organicScore: { type: 'number', minimum: 0, maximum: 100 }, organicScoreLabel: oneOf('high', 'medium', 'low'),
  isVerified: orNull(flag), tags: orNull(list(text)),
});

/** `GET /ultra/v1/search` and the lists of the discovery group. */
export const records = list(record);

/** `GET /lend/v1/earn/earnings`. */
export const earnings = list(object({ address: key, ownerAddress: key, earnings: number, slot: number }));
