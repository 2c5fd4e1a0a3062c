import { section } from '../row.ts';

const QUOTING = { sandbox: 'src/sandbox/service/v1/quote.ts registerV1Quote' };

export const v1Quote = section('GET /swap/v1/quote', {
  prefix: 'v1-quote', client: 'src/service/endpoints/swap-v1.ts QUOTE_RULES',
  sandbox: 'src/sandbox/service/v1/quote-request.ts parseQuoteRequest',
}, [
  [
    'endpoint', '/swap/v1/quote', 'Answers 200 with the V1 quote response.',
    { ...QUOTING, client: 'src/service/endpoints/swap-v1.ts createSwapV1' },
  ],
  ['parameter', 'inputMint', 'Mint that is sold; required.'],
  ['parameter', 'outputMint', 'Mint that is bought; required.'],
  ['parameter', 'amount', 'Smallest units, 64 bits; required.'],
  ['rule', 'amount by mode', 'It is the input for ExactIn and the output for ExactOut.', QUOTING],
  ['parameter', 'slippageBps', 'Whole basis points of 16 bits; 50 where it is left out.'],
  ['rule', 'threshold fails the swap', 'A result beyond the threshold makes the transaction fail.', QUOTING],
  ['parameter', 'swapMode', 'ExactIn or ExactOut; ExactIn where it is left out.'],
  [
    'rule', 'slippage by mode', 'Slippage is taken off the output for ExactIn and put on the input for ExactOut.',
    QUOTING,
  ],
  ['rule', 'exact out of few', 'ExactOut is known to some markets only, and advised against.', QUOTING],
  ['parameter', 'dexes', 'Labels with commas between them; the route uses these alone.'],
  ['parameter', 'excludeDexes', 'Labels with commas between them; the route keeps away from them.'],
  ['parameter', 'restrictIntermediateTokens', 'Only steadier tokens in between; true where it is left out.'],
  ['parameter', 'onlyDirectRoutes', 'Routes of one hop alone; false where it is left out.'],
  ['parameter', 'asLegacyTransaction', 'For a legacy transaction; false where it is left out.'],
  ['parameter', 'platformFeeBps', 'Whole basis points of 16 bits.'],
  [
    'rule', 'fee needs account at swap', 'Who asks for a fee here has to name `feeAccount` at `/swap`.',
    { sandbox: 'src/sandbox/service/v1/swap.ts registerV1Swap' },
  ],
  ['parameter', 'maxAccounts', 'How many accounts, roughly; 64 where it is left out.'],
  ['parameter', 'instructionVersion', 'V1 or V2; V1 where it is left out.'],
  ['parameter', 'dynamicSlippage', 'No longer does anything here; `/swap` has it. False where it is left out.'],
  ['parameter', 'forBundle', 'Keeps away from markets that do not go with bundles; false where it is left out.'],
]);

export const v1Swap = section('POST /swap/v1/swap', {
  prefix: 'v1-swap', client: 'src/service/endpoints/swap-v1.ts quoteSwapRules',
  sandbox: 'src/sandbox/service/v1/swap-request.ts parseSwapRequest',
}, [
  [
    'endpoint', '/swap/v1/swap', 'Takes a JSON body and answers 200 with the V1 swap response.',
    {
      client: 'src/service/endpoints/swap-v1.ts createSwapV1', sandbox: 'src/sandbox/service/v1/swap.ts registerV1Swap',
    },
  ],
  ['parameter', 'userPublicKey', 'The signing wallet; required.'],
  ['parameter', 'quoteResponse', 'The quote as `/quote` gave it; required.'],
  ['parameter', 'payer', 'Pays fees and rent in the signer\'s place.'],
  ['parameter', 'wrapAndUnwrapSol', 'True where it is left out.'],
  ['rule', 'wrapped account is closed', 'With true the account of wrapped SOL is always closed afterwards.'],
  ['rule', 'unwrapped needs account', 'With false the account of wrapped SOL has to exist.'],
  [
    'parameter', 'useSharedAccounts',
    'Intermediate accounts need not be made; the service chooses where it is left out.',
  ],
  ['rule', 'shared accounts may fail', 'Shared accounts do not work with some new markets.'],
  ['parameter', 'feeAccount', 'A token account of the swap\'s input or output mint that exists.'],
  ['rule', 'fee account with fee', 'Required where the quote was asked with `platformFeeBps`.'],
  ['parameter', 'trackingAccount', 'Any public key, to find one\'s transactions by.'],
  [
    'parameter', 'prioritizationFeeLamports',
    'A whole number, an object with a level, or left out for what the service thinks right.',
  ],
  ['parameter', 'prioritizationFeeLamports.priorityLevelWithMaxLamports', 'A level and a limit.'],
  [
    'parameter', 'prioritizationFeeLamports.priorityLevelWithMaxLamports.priorityLevel',
    'A string; `veryHigh` is one level.',
  ],
  ['parameter', 'prioritizationFeeLamports.priorityLevelWithMaxLamports.maxLamports', 'A whole number.'],
  ['rule', 'fee or tip', 'Either a priority fee or a tip, not both.'],
  ['parameter', 'asLegacyTransaction', 'False where it is left out; has to be what the quote was asked for.'],
  ['parameter', 'destinationTokenAccount', 'Taken to exist; the signer\'s own token account where it is left out.'],
  ['rule', 'one destination', '`destinationTokenAccount` and `nativeDestinationAccount` shut each other out.'],
  ['parameter', 'nativeDestinationAccount', 'The account that gets the output as SOL.'],
  [
    'rule', 'native destination for sol',
    'Only where the output is SOL, with V2 instructions, and not for an account of the token program.',
  ],
  ['rule', 'native destination rent', 'An account that is new has to get its rent at least.'],
  ['parameter', 'dynamicComputeUnitLimit', 'The limit comes from a simulation; false where it is left out.'],
  [
    'parameter', 'skipUserAccountsRpcCalls',
    'Accounts are not checked and still created in the transaction; false where it is left out.',
  ],
  [
    'parameter', 'dynamicSlippage',
    'Slippage is estimated and overrides the quote\'s; unmaintained; false where it is left out.',
  ],
  ['parameter', 'computeUnitPriceMicroLamports', 'The exact price of a compute unit, 64 bits.'],
  ['parameter', 'blockhashSlotsToExpiry', 'How many slots it holds, 8 bits.'],
  ['state', 'priority levels', 'medium, high and veryHigh (the others are left open by the description).'],
]);

const INSTRUCTIONS = { client: 'src/service/wire/v1-answers.ts readQuoteInstructions' };

export const v1Others = section('Other V1 endpoints', {
  prefix: 'v1', client: 'src/service/endpoints/swap-v1.ts createSwapV1',
  sandbox: 'src/sandbox/service/v1/swap.ts registerV1SwapInstructions',
}, [
  [
    'endpoint', '/swap/v1/swap-instructions',
    'The same body as `/swap`, answered with instructions (left open by the description).',
  ],
  ['field', 'swap-instructions.tokenLedgerInstruction', 'An instruction or null.', INSTRUCTIONS],
  ['field', 'swap-instructions.computeBudgetInstructions', 'List of instructions.', INSTRUCTIONS],
  ['field', 'swap-instructions.setupInstructions', 'List of instructions.', INSTRUCTIONS],
  ['field', 'swap-instructions.swapInstruction', 'An instruction.', INSTRUCTIONS],
  ['field', 'swap-instructions.cleanupInstruction', 'An instruction or null.', INSTRUCTIONS],
  ['field', 'swap-instructions.otherInstructions', 'List of instructions.', INSTRUCTIONS],
  ['field', 'swap-instructions.addressLookupTableAddresses', 'List of addresses.', INSTRUCTIONS],
  [
    'endpoint', '/swap/v1/program-id-to-label',
    'An object of program and label; the labels are those of `dexes` and `excludeDexes`.',
    { sandbox: 'src/sandbox/service/v1/quote.ts registerV1Labels' },
  ],
  ['rule', 'wrong label', 'An unknown label leaves no route (left open by the description).'],
]);
