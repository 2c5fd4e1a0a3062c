import { section } from '../row.ts';

const HISTORY = { sandbox: 'src/sandbox/service/prediction/prediction-endpoints.ts registerHistory' };
const POSITIONS = { sandbox: 'src/sandbox/service/prediction/prediction-endpoints.ts registerPositions' };
const PAGED = { sandbox: 'src/sandbox/service/prediction/prediction-endpoints.ts pageRange' };
const EVENTS = { sandbox: 'src/sandbox/service/prediction/prediction-endpoints.ts registerEvents' };

export const prediction = section('Prediction market API', {
  prefix: 'prediction', client: 'src/service/endpoints/prediction.ts createPrediction',
  sandbox: 'src/sandbox/service/prediction/prediction-endpoints.ts registerOrderbook',
}, [
  ['endpoint', '/history', 'Answers with `data`, a list of history records, and `pagination`.', HISTORY],
  ['parameter', 'history.start', 'A whole number from 0 (its name is left open by the description).', PAGED],
  ['parameter', 'history.end', 'A whole number from 0 (its name is left open by the description).', PAGED],
  ['parameter', 'history.ownerPubkey', 'The owner (its name is left open by the description).', HISTORY],
  ['parameter', 'history.id', 'The event\'s number, from 1 (its name is left open by the description).', HISTORY],
  ['parameter', 'history.positionPubkey', 'The position (its name is left open by the description).', HISTORY],
  ['endpoint', '/positions', 'Answers with `data`, a list of positions, and `pagination`.', POSITIONS],
  ['parameter', 'positions.start', 'A whole number from 0 (its name is left open by the description).', PAGED],
  ['parameter', 'positions.end', 'A whole number from 0 (its name is left open by the description).', PAGED],
  ['parameter', 'positions.ownerPubkey', 'The owner (its name is left open by the description).', POSITIONS],
  [
    'parameter', 'positions.isYes',
    'True for YES alone, false for NO alone (its name is left open by the description).', POSITIONS,
  ],
  ['endpoint', '/positions/{positionPubkey}', 'Answers with one position.', POSITIONS],
  ['parameter', 'position.positionPubkey', 'One character at least.', POSITIONS],
  ['endpoint', '/events/suggested/{pubkey}', 'Answers with `data`, a list of events.', EVENTS],
  ['parameter', 'suggested.pubkey', 'An order\'s public key to start from; one character at least.', EVENTS],
  ['parameter', 'suggested.provider', 'provider_a or provider_b; provider_b where it is left out.', EVENTS],
  ['endpoint', '/events/search', 'Answers with `data`, a list of events.', EVENTS],
  ['parameter', 'search.provider', 'provider_a or provider_b; provider_b where it is left out.', EVENTS],
  [
    'parameter', 'search.query',
    'Matched against the titles; 1 to 200 characters (its name is left open by the description).', EVENTS,
  ],
  ['parameter', 'search.limit', 'How many results, 1 to 20 (its name is left open by the description).', EVENTS],
  [
    'endpoint', '/events/{eventId}/markets',
    'Answers with `data`, a list of markets, and `pagination`; both always there.', EVENTS,
  ],
  ['parameter', 'markets.eventId', 'One character at least.', EVENTS],
  ['parameter', 'markets.start', 'A whole number from 0, or left out.', PAGED],
  ['parameter', 'markets.end', 'A whole number from 0, or left out.', PAGED],
  ['endpoint', '/orderbook/{marketId}', 'Answers with an order book, or null.'],
  ['parameter', 'orderbook.marketId', 'One character at least; from either provider.'],
  [
    'rule', 'pages of twenty',
    'A page has twenty elements at most; a longer one is cut without a word (left open by the description).', HISTORY,
  ],
  ['rule', 'no placing', 'Placing orders, closing positions and claiming payouts are not described.', {
    client: 'not applicable: the client only reads', sandbox: 'src/sandbox/service/endpoints.ts registerRetired',
  }],
]);
