import { isGannetError } from '../../core/errors.ts';
import { SOL_MINT } from '../../market/token.ts';
import { MAX_V1_TRANSACTION_BYTES } from '../../solana/constants.ts';
import type { BuildOptions, OrderOptions } from '../../trading/swap-options.ts';
import type { SwapRequest } from '../../trading/swap-terms.ts';
import type { Gateway } from '../gateway.ts';
import type { CallOptions } from '../rate/rate-plan.ts';
import type { BuildAnswer } from '../wire/build-answer.ts';
import { readSwapBuild } from '../wire/build-answer.ts';
import type { Dialect } from '../wire/dialect.ts';
import type { ExecuteReport } from '../wire/execute-answer.ts';
import { readExecuteAnswer } from '../wire/execute-answer.ts';
import type { OrderAnswer } from '../wire/order-answer.ts';
import { readSwapOrder } from '../wire/order-answer.ts';
import type { RequestRules } from './request-rules.ts';
import {
  aFlag, aNumber, aU64, anAddress, anAmount, anInteger, bothOrNeither, checkRequest, labels, mustDiffer, notBoth,
  oneOf, optionalRule, queryOf, required, someOf,
} from './request-rules.ts';

/**
 * The swap API, second version. Every method rejects with a GannetError of a SERVICE_ code; a request that breaks a
 * stated rule with SERVICE_BAD_REQUEST (details: parameter), before it leaves.
 */
export interface SwapV2 {
  /** Returns a quote, with a transaction where there is a taker. An entry unless the call says otherwise. */
  order(request: OrderRequest, call?: CallOptions): Promise<OrderAnswer>;
  /** Returns a quote with the instructions for a transaction of our own. */
  build(request: BuildRequest, call?: CallOptions): Promise<BuildAnswer>;
  /** Returns what the service reports of a signed transaction. If it rejects, the outcome is unknown. */
  execute(request: ExecuteRequest, call?: Pick<CallOptions, 'signal'>): Promise<ExecuteReport>;
}

/** The parameters of an order. The service chooses those that are left out. */
export interface OrderRequest extends SwapRequest, OrderOptions {
  readonly swapMode?: 'ExactIn' | undefined;
}

/** The parameters of a build; ExactIn always. */
export interface BuildRequest extends Omit<SwapRequest, 'taker'>, BuildOptions {
  readonly taker: string;
}

/** A transaction that came from an order, signed. */
interface ExecuteRequest {
  readonly signedTransaction: Uint8Array;
  /** The order's own. */
  readonly requestId: string;
  readonly lastValidBlockHeight?: bigint | undefined;
}

/** Returns the client of the swap API. */
export function createSwapV2(gateway: Gateway, dialect: Dialect): SwapV2 {
  const rules = orderRules(dialect.routers);
  return {
    async order(request, call) {
      checkRequest(rules, request);
      return gateway.get({
        path: '/swap/v2/order', query: queryOf(rules, request), shareable: request.taker === undefined,
        read: (answer, { unread }) => readSwapOrder(answer, request, unread),
      }, call);
    },

    async build(request, call) {
      checkRequest(BUILD_RULES, request);
      return gateway.get({
        path: '/swap/v2/build', query: queryOf(BUILD_RULES, request), shareable: false,
        read: (answer, { unread }) => readSwapBuild(answer, request, unread),
      }, call);
    },

    async execute(request, call) {
      checkRequest(EXECUTE_RULES, request);
      const { signedTransaction, requestId, lastValidBlockHeight } = request;
      try {
        return await gateway.execute({
          path: '/swap/v2/execute',
          read: (answer, { unread, requestId: gatewayRequestId }) =>
            ({ ...readExecuteAnswer(answer, unread), gatewayRequestId }),
          body: {
            signedTransaction: Buffer.from(signedTransaction).toString('base64'),
            requestId,
            ...(lastValidBlockHeight === undefined ? {} : { lastValidBlockHeight: lastValidBlockHeight.toString() }),
          },
        }, call);
      } catch (thrown) {
        const refusal = readRefusal(thrown);
        if (refusal !== undefined) return refusal;
        throw thrown;
      }
    },
  };
}

/**
 * A refusal may come as a 400 with one of the service's own codes, which are negative. A positive code there is the
 * gateway's (it repeats the status), and must not pass for an error of the chain.
 */
function readRefusal(thrown: unknown): ExecuteReport | undefined {
  if (!isGannetError(thrown) || thrown.code !== 'SERVICE_STATUS' || thrown.details['status'] !== 400) return undefined;
  const { serviceCode, serviceMessage, gatewayRequestId } = thrown.details;
  if (typeof serviceCode !== 'number' || !Number.isSafeInteger(serviceCode) || serviceCode >= 0) return undefined;
  return {
    status: 'failed', code: serviceCode, error: typeof serviceMessage === 'string' ? serviceMessage : undefined,
    gatewayRequestId: typeof gatewayRequestId === 'string' ? gatewayRequestId : undefined,
  };
}

/** Returns the rules of `GET /swap/v2/order`, as the reference states them. */
function orderRules(routers: readonly string[]): RequestRules<OrderRequest> {
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

/** The rules of `GET /swap/v2/build`, as the reference states them. */
const BUILD_RULES: RequestRules<BuildRequest> = {
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

/** The known rules of `POST /swap/v2/execute`. */
const EXECUTE_RULES: RequestRules<ExecuteRequest> = {
  endpoint: 'POST /swap/v2/execute',
  parameters: {
    signedTransaction: required(optionalRule(`a signed transaction of 1 to ${MAX_V1_TRANSACTION_BYTES} bytes`,
      (value) => value instanceof Uint8Array && value.length > 0 && value.length <= MAX_V1_TRANSACTION_BYTES)),
    requestId: required(optionalRule('the requestId of the order', (value) =>
      typeof value === 'string' && value !== '' && value.length <= 200)),
    lastValidBlockHeight: aU64,
  },
  joint: [],
};
