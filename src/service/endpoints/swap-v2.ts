import { isGannetError } from '../../core/errors.ts';
import type { Gateway } from '../gateway.ts';
import type { CallOptions } from '../rate/priority.ts';
import { checkRequest, queryOf } from './request-rules.ts';
import type { BuildRequest, ExecuteRequest, OrderRequest } from './swap-v2-request.ts';
import { BUILD_RULES, EXECUTE_RULES, orderRules } from './swap-v2-rules.ts';
import type { ExecuteReport } from '../wire/execute-answer.ts';
import { readExecuteAnswer } from '../wire/execute-answer.ts';
import type { Dialect } from '../wire/dialect.ts';
import type { BuildAnswer } from '../wire/build-answer.ts';
import { readSwapBuild } from '../wire/build-answer.ts';
import type { OrderAnswer } from '../wire/order-answer.ts';
import { readSwapOrder } from '../wire/order-answer.ts';

export type { BuildRequest, ExecuteRequest, OrderRequest } from './swap-v2-request.ts';
export type { ExecuteAmounts, ExecuteReport, SwapEvent } from '../wire/execute-answer.ts';
export type { BuildAnswer } from '../wire/build-answer.ts';
export type { OrderAnswer } from '../wire/order-answer.ts';
export type { PlatformFee, RoutePlanEntry, SwapInfo } from '../wire/swap-route.ts';

/**
 * The swap API, second version. Every method rejects with a GannetError of a SERVICE_ code; a request that breaks a
 * stated rule with SERVICE_BAD_REQUEST (details: parameter), before it leaves.
 */
export interface SwapV2 {
  /** Returns a quote, with a transaction where there is a taker. An entry unless the call says otherwise. */
  order(request: OrderRequest, call?: CallOptions): Promise<OrderAnswer>;
  /** Returns a quote with the instructions for a transaction of our own. */
  build(request: BuildRequest, call?: CallOptions): Promise<BuildAnswer>;
  /** Returns the service's word on a signed transaction. A rejection is no word: the outcome is unknown then. */
  execute(request: ExecuteRequest, call?: Pick<CallOptions, 'signal'>): Promise<ExecuteReport>;
}

/** Returns the client of the swap API. */
export function createSwapV2(gateway: Gateway, dialect: Dialect): SwapV2 {
  const rules = orderRules(dialect.routers);
  return {
    async order(request, call) {
      checkRequest(rules, request);
      const answer = await gateway.get({
        path: '/swap/v2/order', query: queryOf(rules, request), shareable: request.taker === undefined,
      }, call);
      return readSwapOrder(answer, request);
    },

    async build(request, call) {
      checkRequest(BUILD_RULES, request);
      const answer =
        await gateway.get({ path: '/swap/v2/build', query: queryOf(BUILD_RULES, request), shareable: false }, call);
      return readSwapBuild(answer, request);
    },

    async execute(request, call) {
      checkRequest(EXECUTE_RULES, request);
      const { signedTransaction, requestId, lastValidBlockHeight } = request;
      try {
        return readExecuteAnswer(await gateway.execute({
          path: '/swap/v2/execute',
          body: {
            signedTransaction: Buffer.from(signedTransaction).toString('base64'),
            requestId,
            ...(lastValidBlockHeight === undefined ? {} : { lastValidBlockHeight: lastValidBlockHeight.toString() }),
          },
        }, call));
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
  const { serviceCode, serviceMessage } = thrown.details;
  if (typeof serviceCode !== 'number' || !Number.isSafeInteger(serviceCode) || serviceCode >= 0) return undefined;
  return {
    status: 'failed', code: serviceCode, error: typeof serviceMessage === 'string' ? serviceMessage : undefined,
  };
}
