import { U64_MAX } from '../core/amount.ts';
import { GannetError, isGannetError } from '../core/errors.ts';
import { nearest } from '../core/nearest.ts';
import type { ExecuteAnswer, SwapBuild, SwapOrder, SwapRequest } from '../trading/swap-order.ts';
import type { Gateway } from './gateway.ts';
import { badRequest } from './gateway.ts';
import type { CallOptions } from './priority.ts';
import { readExecuteAnswer } from './wire/execute-answer.ts';
import type { Dialect } from './wire/dialect.ts';
import { MAX_TRANSACTION_BYTES, wireAddress } from './wire/fields.ts';
import { readSwapBuild } from './wire/swap-build.ts';
import { readSwapOrder } from './wire/swap-order.ts';

/** A transaction that came from an order, signed. */
export interface ExecuteRequest {
  readonly signedTransaction: Uint8Array;
  /** The order's own. */
  readonly requestId: string;
  readonly lastValidBlockHeight?: bigint | undefined;
}

/** The swap API, second version. Every method rejects with a GannetError of a SERVICE_ code. */
export interface SwapV2 {
  /** Returns a quote, with a transaction where there is a taker. An entry unless the call says otherwise. */
  order(request: SwapRequest, call?: CallOptions): Promise<SwapOrder>;
  /** Returns a quote with the instructions for a transaction of our own. It knows one router, so none can be excluded. */
  build(request: SwapRequest & { readonly taker: string }, call?: CallOptions): Promise<SwapBuild>;
  /** Returns the service's word on a signed transaction. A rejection is no word: the outcome is unknown then. */
  execute(request: ExecuteRequest): Promise<ExecuteAnswer>;
}

/** Returns the client of the swap API. */
export function createSwapV2(gateway: Gateway, dialect: Dialect): SwapV2 {
  return {
    async order(request, call) {
      checkRequest(request);
      const answer = await gateway.get({
        path: '/swap/v2/order',
        query: {
          inputMint: request.inputMint,
          outputMint: request.outputMint,
          amount: request.amount.toString(),
          taker: request.taker,
          slippageBps: request.slippageBps,
          excludeRouters: routersToWire(request.excludeRouters, dialect),
        },
        shareable: request.taker === undefined,
      }, call);
      return readSwapOrder(answer, request);
    },

    async build(request, call) {
      checkRequest(request);
      if ((request.excludeRouters ?? []).length > 0) {
        throw badRequest('expected no excludeRouters: /build has no such parameter', request.excludeRouters);
      }
      const answer = await gateway.get({
        path: '/swap/v2/build',
        query: {
          inputMint: request.inputMint,
          outputMint: request.outputMint,
          amount: request.amount.toString(),
          taker: request.taker,
          slippageBps: request.slippageBps,
        },
        shareable: false,
      }, call);
      return readSwapBuild(answer, request);
    },

    async execute(request) {
      checkExecute(request);
      const { signedTransaction, requestId, lastValidBlockHeight } = request;
      try {
        return readExecuteAnswer(await gateway.execute({
          path: '/swap/v2/execute',
          body: {
            signedTransaction: Buffer.from(signedTransaction).toString('base64'),
            requestId,
            ...(lastValidBlockHeight === undefined ? {} : { lastValidBlockHeight: lastValidBlockHeight.toString() }),
          },
        }));
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
function readRefusal(thrown: unknown): ExecuteAnswer | undefined {
  if (!isGannetError(thrown) || thrown.code !== 'SERVICE_STATUS' || thrown.details['status'] !== 400) return undefined;
  const { serviceCode, serviceMessage } = thrown.details;
  if (typeof serviceCode !== 'number' || !Number.isSafeInteger(serviceCode) || serviceCode >= 0) return undefined;
  return { status: 'failed', code: serviceCode, error: typeof serviceMessage === 'string' ? serviceMessage : undefined };
}

function checkRequest({ inputMint, outputMint, amount, taker, slippageBps }: SwapRequest): void {
  if (!wireAddress.safeParse(inputMint).success) throw badRequest('expected inputMint to be a base58 address', inputMint);
  if (!wireAddress.safeParse(outputMint).success) throw badRequest('expected outputMint to be a base58 address', outputMint);
  if (inputMint === outputMint) throw badRequest('expected outputMint to differ from inputMint', outputMint);
  if (amount <= 0n || amount > U64_MAX) throw badRequest('expected amount to be 1 to 2^64 - 1 of the smallest units', amount);
  if (taker !== undefined && !wireAddress.safeParse(taker).success) throw badRequest('expected taker to be a base58 address', taker);
  if (slippageBps !== undefined && !(Number.isInteger(slippageBps) && slippageBps >= 0 && slippageBps <= 10_000)) {
    throw badRequest('expected slippageBps to be an integer of 0 to 10000', slippageBps);
  }
}

function routersToWire(routers: readonly string[] | undefined, dialect: Dialect): string | undefined {
  if (routers === undefined || routers.length === 0) return undefined;
  const stranger = routers.find((router) => !dialect.routers.includes(router));
  if (stranger !== undefined) {
    const guess = nearest(stranger, dialect.routers);
    const hint = guess === undefined ? '' : ` (did you mean "${guess}"?)`;
    throw badRequest(`expected excludeRouters out of ${dialect.routers.join(', ')}${hint}`, stranger);
  }
  return routers.join(',');
}

function checkExecute({ signedTransaction, requestId }: ExecuteRequest): void {
  if (signedTransaction.length === 0 || signedTransaction.length > MAX_TRANSACTION_BYTES) {
    throw badRequest(`expected a signed transaction of 1 to ${MAX_TRANSACTION_BYTES} bytes`, signedTransaction.length);
  }
  if (requestId === '') throw new GannetError('SERVICE_BAD_REQUEST', 'expected the requestId of the order, got an empty one');
}
