import { section } from '../row.ts';

const ANSWERED = { sandbox: 'src/sandbox/service/build/build-endpoint.ts registerBuild' };

export const build = section('GET /swap/v2/build', {
  prefix: 'build', client: 'src/service/endpoints/swap-v2.ts BUILD_RULES',
  sandbox: 'src/sandbox/service/build/build-endpoint.ts parseBuildRequest',
}, [
  [
    'endpoint', '/swap/v2/build', 'Answers 200 with the V2 build response.',
    { ...ANSWERED, client: 'src/service/endpoints/swap-v2.ts createSwapV2' },
  ],
  ['rule', 'exact in only', 'It knows ExactIn alone.', ANSWERED],
  ['parameter', 'inputMint', 'Mint that is sold; required.'],
  ['parameter', 'outputMint', 'Mint that is bought; required.'],
  ['parameter', 'amount', 'Smallest units of what is sold; required.'],
  ['parameter', 'taker', 'The account that begins the swap; required.'],
  ['parameter', 'slippageBps', 'Whole basis points, 0 to 10000; 50 where it is left out.'],
  ['parameter', 'mode', 'fast: less waiting for a quote that may be less good.'],
  ['parameter', 'dexes', 'Labels with commas between them; the route uses these alone.'],
  ['rule', 'dexes or exclude dexes', '`dexes` and `excludeDexes` shut each other out.'],
  ['parameter', 'excludeDexes', 'Labels with commas between them; the route keeps away from them.'],
  ['parameter', 'platformFeeBps', 'Whole basis points, 0 to 10000.'],
  ['rule', 'fee needs account', 'A fee above zero needs `feeAccount`.'],
  ['parameter', 'feeAccount', 'The token account that collects the fee.'],
  ['parameter', 'maxAccounts', 'A whole number of 1 to 64; 64 where it is left out.'],
  ['parameter', 'payer', 'Pays fees and rent; the taker where it is left out.'],
  ['parameter', 'wrapAndUnwrapSol', 'A boolean; true where it is left out.'],
  ['parameter', 'destinationTokenAccount', 'The token account that gets the output.'],
  ['rule', 'one destination', '`destinationTokenAccount` and `nativeDestinationAccount` shut each other out.'],
  ['parameter', 'nativeDestinationAccount', 'The account that gets the output as SOL.'],
  ['parameter', 'blockhashSlotsToExpiry', 'A whole number of 1 to 300; 150 where it is left out.'],
  ['rule', 'no service fee', 'The service takes no fee of its own from a build.', ANSWERED],
]);

const EXECUTE =
  {
    client: 'src/service/endpoints/swap-v2.ts createSwapV2',
    sandbox: 'src/sandbox/service/order/execute-endpoint.ts registerExecute',
  };
const CODES = {
  client: 'src/service/wire/execute-answer.ts readExecuteAnswer',
  sandbox: 'src/sandbox/service/order/kept-orders.ts EXECUTE_CODES',
};

export const execute = section('POST /swap/v2/execute', { prefix: 'execute', ...EXECUTE }, [
  ['endpoint', '/swap/v2/execute', 'Lands a signed transaction that came from `/order`.'],
  ['rule', 'with request id', 'It takes the order\'s `requestId` beside the transaction.'],
  [
    'rule', 'status 200 when failed',
    'A swap that failed is answered 200, with `status` Failed (left open by the description).',
  ],
  ['rule', 'same bytes again', 'The same bytes may be posted again for two minutes and are then told the state; '
    + 'nothing is swapped twice (left open by the description).'],
  [
    'rule', 'changed bytes',
    'Another transaction under the same `requestId` is refused (left open by the description).',
  ],
  [
    'rule', 'fee from amounts',
    'The fee is what the route gave less what the wallet got (left open by the description).',
  ],
  ['state', 'code 0', 'Confirmed.', CODES],
  ['state', 'code -1', 'No such order, or it has expired; that body has no `status`.', CODES],
  ['state', 'code -2', 'A signature is wrong.', CODES],
  ['state', 'code -3', 'The message is not the order\'s.', CODES],
  ['state', 'code -4', 'No `requestId` was given.', CODES],
  ['state', 'code -5', 'No transaction was given.', CODES],
  ['state', 'code -1000', 'Pools: it did not land.', CODES],
  ['state', 'code -1001', 'Pools: unknown; the outcome is open.', CODES],
  ['state', 'code -1002', 'Pools: what was given is no transaction.', CODES],
  ['state', 'code -1003', 'Pools: a signature is missing.', CODES],
  ['state', 'code -1004', 'Pools: the block height is not the order\'s.', CODES],
  ['state', 'code -1005', 'Pools: it expired before it landed.', CODES],
  [
    'state', 'code -1006', 'Pools: it took too long; the outcome is open.',
    { ...CODES, sandbox: 'not applicable: it always knows what became of a transaction' },
  ],
  ['state', 'code -1007', 'Pools: the wallet does not know a second signer, as swaps without gas need one.', CODES],
  ['state', 'code -2000', 'RFQ: it did not land.', CODES],
  ['state', 'code -2001', 'RFQ: unknown; the outcome is open.', CODES],
  ['state', 'code -2002', 'RFQ: what was given is no transaction.', CODES],
  ['state', 'code -2003', 'RFQ: the quote expired.', CODES],
  ['state', 'code -2004', 'RFQ: the maker checked once more and refused.', CODES],
  [
    'state', 'code -2005', 'RFQ: something failed within.',
    { ...CODES, sandbox: 'not applicable: its maker does not fail within' },
  ],
  ['state', 'code 6001', 'The chain\'s own code for too much slippage, passed on.', CODES],
  [
    'rule', 'refusals are 400',
    'What cannot be executed at all is a 400 with `error` and `code` (left open by the description).',
  ],
  [
    'rule', 'unknown is 500',
    'A 500 with `signature` and `error` leaves the outcome open (left open by the description).',
  ],
]);
