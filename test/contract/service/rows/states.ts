import { section } from '../row.ts';

const MARKETS = {
  client: 'src/service/wire/prediction-events.ts MARKETS',
  sandbox: 'src/sandbox/service/prediction/records.ts marketRecord',
};
const POSITIONS = {
  client: 'src/service/wire/prediction-position.ts readPosition',
  sandbox: 'src/sandbox/service/prediction/records.ts positionRecord',
};
const TOKENS = {
  client: 'src/service/wire/token-record.ts readTokenRecord',
  sandbox: 'src/sandbox/service/tokens/token-record.ts tokenRecord',
};
const ORDERS = {
  client: 'src/service/wire/order-answer.ts readSwapOrder',
  sandbox: 'src/sandbox/service/order/order-answer.ts orderAnswer',
};

export const states = section('States and transitions', { prefix: 'state', ...MARKETS }, [
  ['state', 'market open', 'A market that is open has no result yet.'],
  [
    'state', 'market closed',
    'A market that no longer trades; its result stays null until it is resolved (left open by the description).',
  ],
  [
    'state', 'market resolved',
    'A resolved market stays closed and has its result, yes or no (left open by the description).',
  ],
  ['state', 'market cancelled', 'A cancelled market pays its positions back (left open by the description).'],
  ['state', 'position claimed', 'Whether the payout has been claimed.', POSITIONS],
  ['state', 'position claimable', 'True where the position qualifies for a payout.', POSITIONS],
  [
    'state', 'position on a closed market',
    'Value, mark, profit and both percentages, with fees and without, are null.', POSITIONS,
  ],
  ['state', 'organic score labels', 'A token\'s organic score is high, medium or low.', TOKENS],
  ['state', 'transaction null', 'The order\'s transaction is null where no taker was given.', ORDERS],
  [
    'state', 'transaction empty', 'It is an empty string where it could not be built, with an error code beside it.',
    ORDERS,
  ],
  ['state', 'transaction built', 'It is base64 otherwise.', ORDERS],
  ['state', 'transitions',
    'How a market goes from open to closed to its result, and a position to its payout (left open by the description).',
    {
      sandbox: 'src/sandbox/prediction/settlement.ts createSettlement',
    }],
]);
