import { section } from '../row.ts';

const VALUES = { client: 'src/market/token-stats.ts TOKEN_FIELDS' };
const WINDOWS =
  {
    client: 'src/market/token-stats.ts STATS_WINDOWS',
    sandbox: 'src/sandbox/service/tokens/token-record.ts tokenRecord',
  };

export const tokenRecord = section('Token record', {
  prefix: 'token', client: 'src/service/wire/token-record.ts readTokenRecord',
  sandbox: 'src/sandbox/service/tokens/token-record.ts tokenRecord',
}, [
  ['field', 'id', 'The mint\'s address.'],
  ['field', 'name', 'A string.'],
  ['field', 'symbol', 'A string.'],
  ['field', 'icon', 'Address of the logo, or null.'],
  ['field', 'decimals', 'A number.'],
  ['field', 'tokenProgram', 'Address of the token program, the standard or the extended one.'],
  ['field', 'createdAt', 'Date and time.'],
  ['field', 'twitter', 'A string or null.'],
  ['field', 'telegram', 'A string or null.'],
  ['field', 'website', 'A string or null.'],
  ['field', 'discord', 'A string or null.'],
  ['field', 'instagram', 'A string or null.'],
  ['field', 'tiktok', 'A string or null.'],
  ['field', 'otherUrl', 'A string or null.'],
  ['field', 'dev', 'The developer\'s wallet, or null.'],
  ['field', 'mintAuthority', 'A string or null; present while an authority can still mint.'],
  ['field', 'freezeAuthority', 'A string or null; present while an authority can still freeze.'],
  ['field', 'issuer', 'The issuer\'s name, or null.'],
  ['field', 'circSupply', 'A number or null.', VALUES],
  ['field', 'totalSupply', 'A number or null.', VALUES],
  ['field', 'launchpad', 'A string or null.'],
  ['field', 'partnerConfig', 'A string or null.'],
  ['field', 'graduatedPool', 'A string or null.'],
  ['field', 'graduatedAt', 'A string or null.'],
  ['field', 'holderCount', 'A number or null.', VALUES],
  ['field', 'fdv', 'Fully diluted value in US dollars, a number or null.', VALUES],
  ['field', 'mcap', 'Market value in US dollars, a number or null.', VALUES],
  ['field', 'usdPrice', 'A number or null.', VALUES],
  ['field', 'priceBlockId', 'Number of the block the price is of, or null.', VALUES],
  ['field', 'liquidity', 'US dollars, a number or null.', VALUES],
  ['field', 'fees', 'US dollars, a number or null.', VALUES],
  ['field', 'apy.platformEarn', 'A number; there for what the lending product lists, and for nothing else.'],
  [
    'field', 'stats5m', 'Statistics of five minutes.',
    { ...WINDOWS, client: 'src/market/token-stats.ts STATS_WINDOWS (5m)' },
  ],
  [
    'field', 'stats1h', 'Statistics of an hour.',
    { ...WINDOWS, client: 'src/market/token-stats.ts STATS_WINDOWS (1h)' },
  ],
  [
    'field', 'stats6h', 'Statistics of six hours.',
    { ...WINDOWS, client: 'src/market/token-stats.ts STATS_WINDOWS (6h)' },
  ],
  [
    'field', 'stats24h', 'Statistics of a day.',
    { ...WINDOWS, client: 'src/market/token-stats.ts STATS_WINDOWS (24h)' },
  ],
  [
    'field', 'stats7d', 'Statistics of a week.',
    { ...WINDOWS, client: 'src/service/wire/token-record.ts readTokenRecord' },
  ],
  [
    'field', 'stats30d', 'Statistics of thirty days.',
    { ...WINDOWS, client: 'src/service/wire/token-record.ts readTokenRecord' },
  ],
  [
    'rule', 'long windows are thin',
    'The week and the thirty days usually carry `priceChange` alone, and may carry volumes.',
  ],
  ['field', 'firstPool.id', 'A string.'],
  ['field', 'firstPool.createdAt', 'A string.'],
  ['rule', 'audit is conditional', 'No member of `audit` is promised.'],
  ['field', 'audit.isSus', 'A boolean.'],
  ['field', 'audit.mintAuthorityDisabled', 'A boolean.'],
  ['field', 'audit.freezeAuthorityDisabled', 'A boolean.'],
  ['field', 'audit.topHoldersPercentage', 'A number.'],
  ['field', 'audit.devBalancePercentage', 'A number.'],
  ['field', 'audit.devMints', 'A number.'],
  ['field', 'organicScore', 'A number of 0 to 100.', VALUES],
  ['field', 'organicScoreLabel', 'high, medium or low.'],
  ['field', 'isVerified', 'A boolean or null.'],
  ['field', 'tags', 'List of strings, or null.'],
  ['field', 'updatedAt', 'Date and time.'],
]);

export const tokenStats = section('Stats object', {
  prefix: 'stats', client: 'src/market/token-stats.ts WINDOW_FIELDS',
  sandbox: 'src/sandbox/service/tokens/token-record.ts tokenRecord',
}, [
  ['field', 'priceChange', 'A number.'],
  ['field', 'holderChange', 'A number.'],
  ['field', 'liquidityChange', 'A number.'],
  ['field', 'volumeChange', 'A number.'],
  ['field', 'buyVolume', 'A number.'],
  ['field', 'sellVolume', 'A number.'],
  ['field', 'buyOrganicVolume', 'A number.'],
  ['field', 'sellOrganicVolume', 'A number.'],
  ['field', 'numBuys', 'A number.'],
  ['field', 'numSells', 'A number.'],
  ['field', 'numTraders', 'A number.'],
  ['field', 'numOrganicBuyers', 'A number.'],
  ['field', 'numNetBuyers', 'A number.'],
  ['rule', 'removed likes', '`ctLikes` and `smartCtLikes` are gone from search answers and nothing may rest on them.', {
    client: 'src/service/wire/token-record.ts readTokenRecord',
    sandbox: 'src/sandbox/service/tokens/token-record.ts tokenRecord',
  }],
]);
