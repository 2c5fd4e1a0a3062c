import type { Millis } from '../../../src/core/time.ts';
import type { PredictionMarketEvent } from '../../../src/market/prediction.ts';
import type { TokenListEvent, TokenRecord } from '../../../src/market/token-record.ts';
import type { Token } from '../../../src/market/token.ts';

const HOUR = 3_600_000;

/** Returns the record of a token that passes every filter of a screen, an hour old, changed where asked. */
export function recordOf(
  { mint, symbol, decimals }: Token, at: Millis, change: Partial<TokenRecord> = {},
): TokenRecord {
  return {
    id: mint, symbol, name: symbol, decimals, firstPool: { createdAt: at - HOUR }, tags: [],
    audit: { mintAuthorityDisabled: true, freezeAuthorityDisabled: true, topHoldersPercentage: 10 },
    values: { liquidity: 100_000, holderCount: 1_000 }, ...change,
  };
}

/** Returns the list of the newest tokens. */
export function listOf(tokens: readonly TokenRecord[], at: Millis): TokenListEvent {
  return { kind: 'token-list', feed: 'token-list:recent:50', receivedAt: at, list: 'recent', tokens };
}

/** Returns the market M of the event E, resolved where a result is given. */
export function marketOf(result: string | undefined, at: Millis): PredictionMarketEvent {
  return {
    kind: 'prediction-market', feed: 'prediction-market:E:0:M', receivedAt: at, eventId: 'E',
    market: {
      marketId: 'M', status: result === undefined ? 'open' : 'closed', result, outcomes: [], metadata: {}, pricing: {},
    },
  };
}
