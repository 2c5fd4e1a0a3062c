import { base64, count, digits, flag, integer, key, list, map, number, object, oneOf, orNull, text } from './shape.ts';
import type { Schema } from './shape.ts';

// Written from the description of the service, member by member; a member that it does not list stands under
// `beyond`, with the document that has it.

const swapInfo = (more: Readonly<Record<string, Schema>> = {}): Schema => object({
  ammKey: key, label: text, inputMint: key, outputMint: key, inAmount: digits, outAmount: digits, ...more,
});

const share: Schema = { type: 'integer', minimum: 0, maximum: 100 };
const points: Schema = { type: 'integer', minimum: 0, maximum: 10_000 };

/** V2: shares in percent and in basis points, and the value in dollars. */
const step = object({ swapInfo: swapInfo(), percent: share, bps: points, usdValue: number });
/** V1: `percent` may be null with instructions of the second version; the fees of the market are obsolete. */
const stepOfV1 = object(
  { swapInfo: swapInfo({ feeAmount: digits, feeMint: key }), percent: orNull(share) }, { bps: points },
);

const platformFee = object({ amount: digits, feeBps: points }, { feeMint: key });
const instruction = object({
  programId: key, accounts: list(object({ pubkey: key, isWritable: flag, isSigner: flag })), data: base64,
});

/** `GET /swap/v1/quote`. */
export const quoteOfV1 = object({
  inputMint: key, inAmount: digits, outputMint: key, outAmount: digits, otherAmountThreshold: digits,
  swapMode: oneOf('ExactIn', 'ExactOut'), slippageBps: { type: 'integer', minimum: 0, maximum: 65_535 },
  priceImpactPct: text, routePlan: { ...list(stepOfV1), minItems: 1 },
}, { platformFee, contextSlot: count, timeTaken: number, mostReliableAmmsQuoteReport: map(digits) });

/** The error of a simulation, null where there is none: a member that the public documents have. */
const simulationError = orNull(object({ errorCode: text, error: text }));

/** `POST /swap/v1/swap`. */
export const swapOfV1 = object({ swapTransaction: base64, lastValidBlockHeight: count }, {
  prioritizationFeeLamports: count,
  dynamicSlippageReport: object({
    slippageBps: integer, otherAmount: integer, simulatedIncurredSlippageBps: integer, amplificationRatio: text,
  }),
  simulationError,
});

/** `POST /swap/v1/swap-instructions`: its members are those of the public documents. */
export const instructionsOfV1 = object({
  tokenLedgerInstruction: orNull(instruction), computeBudgetInstructions: list(instruction),
  setupInstructions: list(instruction), swapInstruction: instruction, cleanupInstruction: orNull(instruction),
  otherInstructions: list(instruction), addressLookupTableAddresses: list(key),
});

/** `GET /swap/v2/order`: every member is optional, but an answer has what identifies it. */
export const order = object({
  inputMint: key, outputMint: key, inAmount: digits, outAmount: digits, otherAmountThreshold: digits, requestId: text,
}, {
  mode: oneOf('ultra', 'manual'), inUsdValue: number, outUsdValue: number, swapUsdValue: number, priceImpact: number,
  swapMode: oneOf('ExactIn'), slippageBps: number, priceImpactPct: text, routePlan: list(step),
  referralAccount: key, feeMint: key, feeBps: number, platformFee,
  signatureFeeLamports: number, signatureFeePayer: orNull(key), prioritizationFeeLamports: number,
  prioritizationFeePayer: orNull(key), rentFeeLamports: number, rentFeePayer: orNull(key),
  swapType: oneOf('aggregator', 'rfq', 'aggregator+rfq', 'routerA', 'routerB'),
  router: oneOf('iris', 'rfqz', 'routerA', 'routerB'), transaction: orNull(base64), lastValidBlockHeight: digits,
  gasless: flag, totalTime: number, taker: orNull(key), quoteId: text, maker: key, expireAt: digits,
  errorCode: number, errorMessage: text, error: text,
  // Of the public documents.
  contextSlot: count,
});

/** `GET /swap/v2/build`. */
export const build = object({
  inputMint: key, outputMint: key, inAmount: digits, outAmount: digits, otherAmountThreshold: digits,
  swapMode: text, slippageBps: number, routePlan: list(step), computeBudgetInstructions: list(instruction),
  setupInstructions: list(instruction), swapInstruction: instruction, cleanupInstruction: orNull(instruction),
  otherInstructions: list(instruction), addressesByLookupTableAddress: map(list(key)),
  blockhashWithMetadata: object({
    blockhash: { ...list({ type: 'integer', minimum: 0, maximum: 255 }, 32), minItems: 32 },
    lastValidBlockHeight: count,
  }),
}, {
  // Of the public documents.
  contextSlot: count,
});

/** `POST /swap/v2/execute`: its members are those of the public documents. */
export const execution = object({ status: oneOf('Success', 'Failed'), slot: digits, code: integer }, {
  signature: { type: 'string', pattern: '^[1-9A-HJ-NP-Za-km-z]{64,88}$' }, error: text, totalInputAmount: digits,
  totalOutputAmount: digits, inputAmountResult: digits, outputAmountResult: digits,
  swapEvents: list(object({ inputMint: key, inputAmount: digits, outputMint: key, outputAmount: digits })),
});
