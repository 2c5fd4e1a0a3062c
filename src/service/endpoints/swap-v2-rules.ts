import { SOL_MINT } from '../../market/token.ts';
import type { RequestRules } from './request-rules.ts';
import {
  aFlag, aNumber, aU64, anAddress, anAmount, anInteger, bothOrNeither, labels, mustDiffer, notBoth, oneOf, optionalRule,
  required, someOf,
} from './request-rules.ts';
import type { BuildRequest, ExecuteRequest, OrderRequest } from './swap-v2-request.ts';
import { MAX_TRANSACTION_BYTES } from '../../solana/constants.ts';

/** Returns what the reference states of `GET /swap/v2/order`, line by line. */
export function orderRules(routers: readonly string[]): RequestRules<OrderRequest> {
  return {
    endpoint: 'GET /swap/v2/order',
    parameters: {
      inputMint: required(anAddress),
      outputMint: required(anAddress),
      amount: required(anAmount),
      taker: anAddress,
      receiver: anAddress,
      swapMode: oneOf(['ExactIn']),
      slippageBps: anInteger({ min: 0, max: 10_000 }),
      referralAccount: anAddress,
      referralFee: aNumber({ min: 50, max: 255 }),
      payer: anAddress,
      priorityFeeLamports: aU64,
      bundleTipLamports: aU64,
      broadcastFeeType: oneOf(['maxCap', 'exactFee']),
      excludeRouters: someOf(routers),
      excludeDexes: labels,
    },
    joint: [
      mustDiffer('outputMint', 'inputMint'),
      mustDiffer('receiver', 'taker'),
      ...bothOrNeither<OrderRequest>('referralAccount', 'referralFee'),
      {
        parameter: 'excludeRouters',
        words: `expected at least one of the routers ${routers.join(', ')} to be left, got all of them`,
        holds: ({ excludeRouters }) =>
          excludeRouters === undefined || routers.some((router) => !excludeRouters.includes(router)),
      },
    ],
    elsewhere: {
      userPublicKey: 'it is called taker since V2',
      dexes: '/build has it; an order can only leave markets out, with excludeDexes',
      mode: '/build has it; the mode of an order follows from what is asked and stands in its answer',
      platformFeeBps: '/build has it; a fee of your own on an order is referralAccount with referralFee',
    },
  };
}

/** What the reference states of `GET /swap/v2/build`, line by line. */
export const BUILD_RULES: RequestRules<BuildRequest> = {
  endpoint: 'GET /swap/v2/build',
  parameters: {
    inputMint: required(anAddress),
    outputMint: required(anAddress),
    amount: required(anAmount),
    taker: required(anAddress),
    slippageBps: anInteger({ min: 0, max: 10_000 }),
    mode: oneOf(['fast']),
    dexes: labels,
    excludeDexes: labels,
    platformFeeBps: anInteger({ min: 0, max: 10_000 }),
    feeAccount: anAddress,
    maxAccounts: anInteger({ min: 1, max: 64 }),
    payer: anAddress,
    wrapAndUnwrapSol: aFlag,
    destinationTokenAccount: anAddress,
    nativeDestinationAccount: anAddress,
    blockhashSlotsToExpiry: anInteger({ min: 1, max: 300 }),
  },
  joint: [
    mustDiffer('outputMint', 'inputMint'),
    notBoth('dexes', 'excludeDexes'),
    {
      parameter: 'feeAccount',
      words: 'required where platformFeeBps is positive, got nothing',
      holds: ({ platformFeeBps = 0, feeAccount }) => platformFeeBps <= 0 || feeAccount !== undefined,
    },
    notBoth('destinationTokenAccount', 'nativeDestinationAccount'),
    {
      parameter: 'nativeDestinationAccount',
      words: `only where the output is SOL: expected the outputMint ${SOL_MINT}, got another`,
      holds: ({ nativeDestinationAccount, outputMint }) =>
        nativeDestinationAccount === undefined || outputMint === SOL_MINT,
    },
  ],
  elsewhere: {
    userPublicKey: 'it is called taker since V2',
    swapMode: 'a build is ExactIn always; ExactOut is left to the quote of V1',
    excludeRouters: '/order has it; a build knows one router, so that none can be excluded',
    receiver: '/order has it; a build sends its output to destinationTokenAccount or nativeDestinationAccount',
    referralAccount: '/order has it; a fee of your own on a build is platformFeeBps with feeAccount',
    referralFee: '/order has it; a fee of your own on a build is platformFeeBps with feeAccount',
    instructionVersion: 'V2 instructions are the only ones of a build',
  },
};

/** What is known of `POST /swap/v2/execute`. */
export const EXECUTE_RULES: RequestRules<ExecuteRequest> = {
  endpoint: 'POST /swap/v2/execute',
  parameters: {
    signedTransaction: required(optionalRule(`a signed transaction of 1 to ${MAX_TRANSACTION_BYTES} bytes`,
      (value) => value instanceof Uint8Array && value.length > 0 && value.length <= MAX_TRANSACTION_BYTES)),
    requestId: required(optionalRule('the requestId of the order', (value) =>
      typeof value === 'string' && value !== '' && value.length <= 200)),
    lastValidBlockHeight: aU64,
  },
  joint: [],
};
