import { base64, flag, integer, key, object, oneOf, text } from './shape.ts';
import type { Schema } from './shape.ts';

// Parameters of a query are texts. Where the description says integer or boolean, the text is written as one.
const whole = (most: number, least = 0): Schema =>
  ({ type: 'string', pattern: '^\\d{1,20}$', between: [least, most] });
const units: Schema = { type: 'string', pattern: '^[1-9]\\d{0,19}$' };
const decimal: Schema = { type: 'string', pattern: '^\\d+(?:\\.\\d+)?$' };
const truth = oneOf('true', 'false');
/** Names between commas, none of them empty. */
const names: Schema = { type: 'string', pattern: '^[^,]+(?:,[^,]+)*$' };
const ROUTER = '(?:iris|rfqz|routerA|routerB)';
const routers: Schema = { type: 'string', pattern: `^${ROUTER}(?:,${ROUTER})*$` };

const not = (...together: readonly string[]): Schema => ({ not: { required: together } });

/** The query of `GET /swap/v2/order`. */
export const orderQuery: Schema = {
  ...object({ inputMint: key, outputMint: key, amount: units }, {
    taker: key, receiver: key, swapMode: oneOf('ExactIn'), slippageBps: whole(10_000), referralAccount: key,
    referralFee: decimal, payer: key, priorityFeeLamports: decimal, bundleTipLamports: decimal,
    broadcastFeeType: oneOf('maxCap', 'exactFee'), excludeRouters: routers, excludeDexes: names,
  }),
  dependentRequired: { referralAccount: ['referralFee'], referralFee: ['referralAccount'] },
};

/** The query of `GET /swap/v2/build`. */
export const buildQuery: Schema = {
  ...object({ inputMint: key, outputMint: key, amount: units, taker: key }, {
    slippageBps: whole(10_000), mode: oneOf('fast'), dexes: names, excludeDexes: names, platformFeeBps: whole(10_000),
    feeAccount: key, maxAccounts: whole(64, 1), payer: key, wrapAndUnwrapSol: truth, destinationTokenAccount: key,
    nativeDestinationAccount: key, blockhashSlotsToExpiry: whole(300, 1),
  }),
  allOf: [not('dexes', 'excludeDexes'), not('destinationTokenAccount', 'nativeDestinationAccount')],
  dependentRequired: { platformFeeBps: ['feeAccount'] },
};

/** The query of `GET /swap/v1/quote`. */
export const quoteQuery: Schema = {
  ...object({ inputMint: key, outputMint: key, amount: units }, {
    slippageBps: whole(65_535), swapMode: oneOf('ExactIn', 'ExactOut'), dexes: names, excludeDexes: names,
    restrictIntermediateTokens: truth, onlyDirectRoutes: truth, asLegacyTransaction: truth,
    platformFeeBps: whole(65_535), maxAccounts: whole(Number.MAX_SAFE_INTEGER), instructionVersion: oneOf('V1', 'V2'),
    dynamicSlippage: truth, forBundle: truth,
  }),
  allOf: [not('dexes', 'excludeDexes')],
};

/** The body of `POST /swap/v2/execute`, of the public documents. */
export const executeBody = object(
  { signedTransaction: base64, requestId: text }, { lastValidBlockHeight: { type: 'string', pattern: '^\\d+$' } },
);

/** Returns the body of `POST /swap/v1/swap`, given the schema of the quote that goes back. */
export function swapBody(quote: Schema): Schema {
  return {
    ...object({ userPublicKey: key, quoteResponse: quote }, {
      payer: key, wrapAndUnwrapSol: flag, useSharedAccounts: flag, feeAccount: key, trackingAccount: key,
      prioritizationFeeLamports: { anyOf: [integer, object({}, {
        priorityLevelWithMaxLamports: object({ priorityLevel: text, maxLamports: integer }, { global: flag }),
        bundleTipLamports: integer,
      })] },
      asLegacyTransaction: flag, destinationTokenAccount: key, nativeDestinationAccount: key,
      dynamicComputeUnitLimit: flag, skipUserAccountsRpcCalls: flag, dynamicSlippage: flag,
      computeUnitPriceMicroLamports: integer, blockhashSlotsToExpiry: { type: 'integer', minimum: 0, maximum: 255 },
    }),
    allOf: [not('destinationTokenAccount', 'nativeDestinationAccount')],
  };
}

/** The query of `GET /ultra/v1/search`. */
export const searchQuery = object({ query: { type: 'string', minLength: 1 } });
