import { section } from '../row.ts';

const TERMS = { client: 'src/service/wire/swap-terms.ts termsShape' };
const INSTRUCTION =
  {
    client: 'src/service/wire/build-answer.ts instruction', sandbox: 'src/sandbox/service/build/instructions.ts toWire',
  };

export const buildAnswer = section('V2 build response', {
  prefix: 'build-answer', client: 'src/service/wire/build-answer.ts readSwapBuild',
  sandbox: 'src/sandbox/service/build/build-endpoint.ts registerBuild',
}, [
  ['field', 'inputMint', 'Mint that is sold.', TERMS],
  ['field', 'outputMint', 'Mint that is bought.', TERMS],
  ['field', 'inAmount', 'How much is sold, as a string.', TERMS],
  ['field', 'outAmount', 'How much is bought, as a string.', TERMS],
  ['field', 'otherAmountThreshold', 'The least output after slippage.', TERMS],
  ['field', 'swapMode', 'A string.', TERMS],
  ['field', 'slippageBps', 'A number.', TERMS],
  ['field', 'routePlan', 'List of route plan entries.', TERMS],
  ['field', 'computeBudgetInstructions', 'The instruction that sets the compute unit price.'],
  ['rule', 'no compute unit limit', 'The compute unit limit is not among them; the caller adds his own.'],
  ['field', 'setupInstructions', 'What has to come before the swap, such as token accounts.'],
  ['field', 'swapInstruction', 'The swap, in the form of V2 instructions.'],
  ['field', 'cleanupInstruction', 'What comes after the swap.'],
  ['field', 'otherInstructions', 'List of further instructions.'],
  ['field', 'addressesByLookupTableAddress', 'Each lookup table\'s address to the addresses it holds.'],
  [
    'rule', 'tables need no fetch',
    'The tables\' contents are complete: a v0 transaction can be compiled without asking a node.',
  ],
  ['field', 'blockhashWithMetadata', 'A blockhash and how long it holds.'],
  ['field', 'blockhashWithMetadata.blockhash', 'List of byte values.'],
  ['field', 'blockhashWithMetadata.lastValidBlockHeight', 'A number.'],
  ['field', 'instruction.programId', 'A string.', INSTRUCTION],
  ['field', 'instruction.accounts', 'A list.', INSTRUCTION],
  ['field', 'instruction.accounts.pubkey', 'A string.', INSTRUCTION],
  ['field', 'instruction.accounts.isWritable', 'A boolean.', INSTRUCTION],
  ['field', 'instruction.accounts.isSigner', 'A boolean.', INSTRUCTION],
  ['field', 'instruction.data', 'A string.', INSTRUCTION],
  [
    'rule', 'no fee events',
    'V2 instructions emit no fee events: what came of a swap is read from the order\'s amounts or from balances.',
  ],
]);
