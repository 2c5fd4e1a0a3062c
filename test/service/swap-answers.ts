import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import { mintNumber, orderAnswer, PROGRAM, TAKER } from './answers.ts';

export const MARKET = mintNumber(7);
export const PAYER = mintNumber(11) as string;

/** A step of a route, as the answers of V2 have it. */
export function routeStep(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    swapInfo: {
      ammKey: MARKET, label: 'Guano Pool', inputMint: SOL_MINT, outputMint: USDC_MINT, inAmount: '1000000000',
      outAmount: '150030000',
    },
    percent: 100, bps: 10_000, usdValue: 150.15,
    ...changes,
  };
}

/**
 * Every field of the reference's V2 order response, as a wallet's order of a maker has them; answers `ASKED_BY_TAKER`.
 */
export function fullOrder(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return orderAnswer({
    mode: 'manual', inUsdValue: 150.15, outUsdValue: 149.99985, swapUsdValue: 150.15, priceImpact: -0.001,
    priceImpactPct: '-0.001', routePlan: [routeStep()], referralAccount: PAYER, feeMint: USDC_MINT, feeBps: 60,
    platformFee: { amount: '30006', feeBps: 2, feeMint: USDC_MINT },
    signatureFeeLamports: 10_000, signatureFeePayer: MARKET, prioritizationFeeLamports: 4_321,
    prioritizationFeePayer: MARKET, rentFeeLamports: 2_039_280, rentFeePayer: TAKER, swapType: 'rfq', router: 'rfqz',
    transaction: Buffer.from([1, 2, 3, 4]).toString('base64'), lastValidBlockHeight: '321', gasless: true,
    requestId: 'r-9',
    totalTime: 12.5, taker: TAKER, quoteId: 'q-1', maker: MARKET, expireAt: '1758598698', contextSlot: 77,
    ...changes,
  });
}

/**
 * A quote as hosts of later days tell it: percentage points, no amount of a fee that is not paid yet, members of their
 * own; answers `ASKED`.
 */
export function liveOrder(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return orderAnswer({
    inUsdValue: 150.15, outUsdValue: 149.99985, swapUsdValue: 150.15, priceImpact: -0.1, priceImpactPct: '-0.001',
    otherAmountThreshold: '150000000', slippageBps: 0, routePlan: [routeStep({ bps: null })],
    platformFee: { feeBps: 2, feeMint: USDC_MINT }, feeMint: USDC_MINT, signatureFeeLamports: 0,
    signatureFeePayer: null, prioritizationFeeLamports: 0, prioritizationFeePayer: null, rentFeeLamports: 0,
    rentFeePayer: null, swapType: 'aggregator',
    gasless: false, totalTime: 310, expireAt: null, tightened: true, promisedPrice: { of: 1 },
    ...changes,
  });
}

/** A quote of V1 by the reference; answers one SOL for dollars. */
export function quoteAnswer(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    inputMint: SOL_MINT, inAmount: '1000000000', outputMint: USDC_MINT, outAmount: '150000000',
    otherAmountThreshold: '149250000', swapMode: 'ExactIn', slippageBps: 50, priceImpactPct: '0.0012',
    routePlan: [{
      swapInfo: {
        ammKey: MARKET, label: 'Guano Pool', inputMint: SOL_MINT, outputMint: USDC_MINT, inAmount: '1000000000',
        outAmount: '150000000', feeAmount: '0', feeMint: SOL_MINT,
      },
      percent: 100,
    }],
    platformFee: { amount: '30006', feeBps: 2 }, contextSlot: 123_456_789, timeTaken: 0.0123,
    mostReliableAmmsQuoteReport: { [MARKET]: '149990000' },
    ...changes,
  };
}

/**
 * The text of a V1 quote that a careless reader would change: long numbers, zeros at the end, unknown members, odd
 * spaces.
 */
export const QUOTE_TEXT = JSON.stringify(quoteAnswer({ platformFee: null, timeTaken: '#time', details: '#details' }))
  .replace('"#time"', '1.50000')
  .replace('"#details"', '{ "nonce" : 18446744073709551615, "ratio": 1.10, "e": 1E3, "text": "\\u00e9\\/" }')
  .replace('"percent":100', '"percent":null, "bps" : null');

/** An answer of V1's `/swap`. */
export function quoteSwapAnswer(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    swapTransaction: Buffer.from([9, 8, 7]).toString('base64'), lastValidBlockHeight: 321,
    prioritizationFeeLamports: 4_321,
    dynamicSlippageReport: {
      slippageBps: 40, otherAmount: 149_400_000, simulatedIncurredSlippageBps: -3, amplificationRatio: '1.5',
    }, computeUnitLimit: 98_765, simulationSlot: 55, simulationError: null,
    prioritizationType: { computeBudget: { microLamports: 5 } },
    ...changes,
  };
}

const INSTRUCTION =
  { programId: PROGRAM, accounts: [{ pubkey: TAKER, isSigner: true, isWritable: false }], data: 'AQID' };

/** An answer of V1's `/swap-instructions` as it was at first: tables by address alone. */
export function quoteInstructionsAnswer(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    tokenLedgerInstruction: null, computeBudgetInstructions: [INSTRUCTION], setupInstructions: [INSTRUCTION],
    swapInstruction: INSTRUCTION,
    cleanupInstruction: null, otherInstructions: [], addressLookupTableAddresses: [PROGRAM],
    ...changes,
  };
}
