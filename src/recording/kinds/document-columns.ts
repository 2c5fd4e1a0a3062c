import { assertNever } from '../../core/assert.ts';
import type { FeedEvent, FeedKindName } from '../../market/feeds/registry.ts';
import { TOKEN_STAT_NAMES, WINDOW_FIELDS } from '../../market/token-stats.ts';
import type { ParquetColumn } from '../export/parquet-file.ts';
import type { Stamped } from '../export/parquet-table.ts';
import { statColumnName } from './token-stats.ts';

type StoredAs = ParquetColumn<unknown>['as'];
type DocumentColumn = ParquetColumn<Stamped<FeedEvent>>;

/** Paths of members by the type of their columns. */
type Scalars = { readonly [S in StoredAs]?: readonly string[] };

const QUOTE_DETAIL: Scalars = {
  text: [
    'inputMint', 'outputMint', 'router', 'mode', 'swapMode', 'feeMint', 'platformFee.feeMint', 'requestId', 'quoteId',
    'maker',
  ],
  unsigned: [
    'inAmount', 'outAmount', 'threshold', 'contextSlot', 'platformFee.amount', 'signatureFeeLamports',
    'prioritizationFeeLamports', 'rentFeeLamports',
  ],
  double: [
    'priceImpact', 'feeBps', 'slippageBps', 'inUsdValue', 'outUsdValue', 'swapUsdValue', 'platformFee.feeBps',
    'totalTimeMs',
  ],
  boolean: ['gasless'],
  time: ['expireAt'],
};

const TOKEN_RECORD: Scalars = {
  text: [
    'mint', ...[
      'symbol', 'name', 'tokenProgram', 'mintAuthority', 'freezeAuthority', 'dev', 'icon', 'twitter', 'telegram',
      'website', 'discord', 'instagram', 'tiktok', 'otherUrl', 'issuer', 'launchpad', 'partnerConfig', 'graduatedPool',
      'firstPool.id', 'organicScoreLabel',
    ].map((name) => `record.${name}`),
  ],
  double: ['decimals', 'platformEarn', 'audit.topHoldersPercentage', 'audit.devBalancePercentage', 'audit.devMints']
    .map((name) => `record.${name}`),
  boolean: ['isVerified', 'audit.isSus', 'audit.mintAuthorityDisabled', 'audit.freezeAuthorityDisabled']
    .map((name) => `record.${name}`),
  time: ['createdAt', 'updatedAt', 'graduatedAt', 'firstPool.createdAt'].map((name) => `record.${name}`),
};

const PREDICTION_MARKET: Scalars = {
  text: [
    'eventId', ...[
      'marketId', 'status', 'result', 'marketResultPubkey', 'imageUrl', 'provider', 'metadata.title',
      'metadata.rulesPrimary', 'metadata.rulesSecondary',
    ].map((name) => `market.${name}`),
  ],
  signed: ['buyYesPriceUsd', 'buyNoPriceUsd', 'sellYesPriceUsd', 'sellNoPriceUsd']
    .map((name) => `market.pricing.${name}`),
  double: ['market.pricing.volume'],
  boolean: ['market.metadata.isTeamMarket'],
  time: ['openTime', 'closeTime', 'resolveAt'].map((name) => `market.${name}`),
};

/** The members of documents that have a column of their own beside the JSON text, which has all of them. */
const SCALARS: { readonly [K in FeedKindName]?: Scalars } = {
  'quote-detail': QUOTE_DETAIL,
  'token-record': TOKEN_RECORD,
  'token-list': { text: ['list'] },
  'prediction-market': PREDICTION_MARKET,
  'event-markets': { text: ['eventId'], double: ['total'] },
  'prediction-positions': { text: ['owner'], double: ['total'] },
  'prediction-history': { text: ['owner'], double: ['total'] },
  'lend-earnings': { text: ['owner'] },
};

/** The numbers of a token record: those of its statistics, and those of its two long windows. */
const TOKEN_NUMBERS: readonly DocumentColumn[] = [
  ...TOKEN_STAT_NAMES.map((name) => column(statColumnName(name), 'double', ['record', 'values', name])),
  ...['7d', '30d'].flatMap((window) => WINDOW_FIELDS.map((field) =>
    column(`${snakeCase(field)}_${window}`, 'double', ['record', `stats${window}`, field]))),
];

/** Returns the columns of the scalar members of a kind of document; empty for a kind without such members. */
export function scalarColumns(kind: FeedKindName): readonly DocumentColumn[] {
  const columns = Object.entries(SCALARS[kind] ?? {}).flatMap(([as, paths]) => paths.map((path) => {
    const steps = path.split('.');
    const named = steps[0] === 'record' || steps[0] === 'market' ? steps.slice(1) : steps;
    return column(named.map(snakeCase).join('_'), as as StoredAs, steps);
  }));
  return kind === 'token-record' ? [...columns, ...TOKEN_NUMBERS] : columns;
}

function column(name: string, as: StoredAs, path: readonly string[]): DocumentColumn {
  const of = ({ input }: Stamped<FeedEvent>): unknown => fitting(as, path.reduce<unknown>((value, step) =>
    (typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[step] : undefined),
  input));
  return { name, as, optional: true, of } as DocumentColumn;
}

/** Returns a value that a column of this type can hold; undefined for another, which the JSON text has. */
function fitting(as: StoredAs, value: unknown): unknown {
  switch (as) {
    case 'unsigned': return typeof value === 'bigint' && BigInt.asUintN(64, value) === value ? value : undefined;
    case 'signed': return typeof value === 'bigint' && BigInt.asIntN(64, value) === value ? value : undefined;
    case 'time': return Number.isSafeInteger(value) ? value : undefined;
    case 'double': return typeof value === 'number' ? value : undefined;
    case 'boolean': return typeof value === 'boolean' ? value : undefined;
    case 'text': return typeof value === 'string' ? value : undefined;
    default: return assertNever(as, 'column');
  }
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
