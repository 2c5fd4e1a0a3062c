import { section } from '../row.ts';

export const pagination = section('Prediction: pagination object', {
  prefix: 'pagination', client: 'src/service/endpoints/paged-list.ts readPage',
  sandbox: 'src/sandbox/service/prediction/prediction-endpoints.ts page',
}, [
  ['field', 'start', 'First place of the page, a whole number.'],
  ['field', 'end', 'Place behind the last one, a whole number.'],
  ['field', 'total', 'How many there are at all, a whole number.'],
  ['field', 'hasNext', 'Whether more follow, a boolean.'],
]);

const EVENTS = {
  client: 'src/service/wire/prediction-events.ts readEvents',
  sandbox: 'src/sandbox/service/prediction/records.ts eventRecord',
};

export const predictionEvent = section('Prediction: event', { prefix: 'event', ...EVENTS }, [
  ['field', 'eventId', 'A string.'],
  ['field', 'isActive', 'A boolean.'],
  ['field', 'isLive', 'A boolean.'],
  ['field', 'category', 'A string.'],
  ['field', 'subcategory', 'A string.'],
  ['field', 'volumeUsd', 'A string, in millionths of a dollar.'],
  ['field', 'closeCondition', 'A string.'],
  ['field', 'beginAt', 'A string.'],
  ['field', 'rulesPdf', 'A string.'],
  ['field', 'tags', 'List of strings.'],
  ['field', 'metadata', 'The event\'s metadata.'],
  ['field', 'markets', 'List of markets.'],
]);

export const eventMetadata = section('Prediction: event metadata',
  { prefix: 'event-metadata', ...EVENTS, client: 'src/service/wire/prediction-events.ts wireEventMetadata' }, [
    ['field', 'eventId', 'A string.'],
    ['field', 'title', 'A string.'],
    ['field', 'subtitle', 'A string.'],
    ['field', 'slug', 'A string.'],
    ['field', 'series', 'A string.'],
    ['field', 'closeTime', 'A string.'],
    ['field', 'imageUrl', 'A string.'],
    ['field', 'isLive', 'A boolean.'],
  ]);

const MARKETS = {
  client: 'src/service/wire/prediction-events.ts MARKETS',
  sandbox: 'src/sandbox/service/prediction/records.ts marketRecord',
};

const PRICES = { sandbox: 'src/sandbox/prediction/venue.ts createVenue' };

export const predictionMarket = section('Prediction: market', { prefix: 'market', ...MARKETS }, [
  ['field', 'marketId', 'The market\'s identifier outside, a string.'],
  ['field', 'status', 'A string; `open` is one value.'],
  ['field', 'result', 'A string; null while it is not resolved.'],
  ['field', 'openTime', 'Unix seconds, a whole number.'],
  ['field', 'closeTime', 'Unix seconds, a whole number.'],
  ['field', 'resolveAt', 'Unix seconds, a whole number.'],
  ['field', 'marketResultPubkey', 'A string.'],
  ['field', 'imageUrl', 'A string.'],
  ['field', 'metadata', 'The market\'s metadata.'],
  ['field', 'pricing', 'What it costs.'],
  ['field', 'pricing.buyYesPriceUsd', 'A number.', PRICES],
  ['field', 'pricing.buyNoPriceUsd', 'A number.', PRICES],
  ['field', 'pricing.sellYesPriceUsd', 'A number.', PRICES],
  ['field', 'pricing.sellNoPriceUsd', 'A number.', PRICES],
  ['field', 'pricing.volume', 'A number.'],
]);

export const marketMetadata = section('Prediction: market metadata', {
  prefix: 'market-metadata', client: 'src/service/wire/prediction-events.ts wireMarketMetadata',
  sandbox: 'src/sandbox/service/prediction/records.ts marketMetadata',
}, [
  ['field', 'marketId', 'A string.'],
  ['field', 'title', 'A string.'],
  ['field', 'status', 'A string.'],
  ['field', 'result', 'A string.'],
  ['field', 'closeTime', 'A whole number.'],
  ['field', 'openTime', 'A whole number.'],
  ['field', 'isTeamMarket', 'A boolean.'],
  ['field', 'rulesPrimary', 'A string.'],
  ['field', 'rulesSecondary', 'A string.'],
  ['field', 'eventId', 'A string, there where the metadata sits in a position or in a record of the history.'],
]);
