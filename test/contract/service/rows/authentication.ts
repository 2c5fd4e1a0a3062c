import { section } from '../row.ts';

const PORTAL = 'not applicable: keys are got by a person in a browser';

export const authentication = section('Authentication', {
  prefix: 'auth', client: 'src/service/transport.ts createTransport',
  sandbox: 'src/sandbox/service/http/gateway.ts guard',
}, [
  ['rule', 'header', 'Every endpoint wants the header `x-api-key` with the key.'],
  ['rule', 'portal', 'Keys are issued by the portal; some cost nothing.', { client: PORTAL, sandbox: PORTAL }],
  ['rule', 'every group', 'The header is wanted by V1, V2, the token search and the prediction API alike.'],
  [
    'rule', 'unauthorized', 'A request without a key is answered 401.',
    { client: 'src/service/http-error.ts statusFault' },
  ],
  ['rule', 'binary key',
    'A binary that one hosts oneself had a key of its own, given as an environment value or as `--binary-key`.', {
      client: 'not applicable: Gannet has no such binary', sandbox: 'src/sandbox/service/endpoints.ts registerRetired',
    }],
]);

export const events = section('Events', {
  prefix: 'events', client: 'src/service/wire/prediction-history.ts HISTORY',
  sandbox: 'src/sandbox/service/prediction/records.ts historyRecord',
}, [
  ['rule', 'ledger', 'The history is a ledger of what happened to an account; each record has an `eventType`.'],
  ['state', 'order_created', 'An order was placed.'],
  ['state', 'other event types', 'Further values, such as order_filled, payout_claimed and position_lost, are taken as '
    + 'they come (left open by the description).'],
  ['rule', 'no push', 'Notifications and webhooks are not described; Gannet asks.', {
    client: 'src/service/feeds/poll-scheduler.ts startScheduler', sandbox: 'not applicable: it pushes nothing',
  }],
]);
