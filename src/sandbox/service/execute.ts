import type { FastifyInstance } from 'fastify';
import bs58 from 'bs58';
import { describeTransactionError } from '../chain/transaction-error.ts';
import type { ServiceContext } from './context.ts';
import { failureAnswer, failureOnChain, successAnswer } from './execute-answer.ts';
import { EXECUTE_CODES } from './execute-codes.ts';
import { LOW_LAMPORTS } from './gasless.ts';
import { SIGNATURE_BYTES } from './message.ts';
import { familyOf, type FirmPromise, type StoredOrder } from './orders.ts';
import { EXECUTE } from './request-line.ts';
import { completeSignatures, refusal } from './signed-order.ts';

/** Serves `POST /swap/v2/execute`: lands an order's signed transaction and answers with what came of it. */
export function registerExecute(app: FastifyInstance, context: ServiceContext): void {
  app.post(EXECUTE.path, (request, reply) => {
    const answer = execute(context, request.body);
    return reply.code(answer.statusCode).send(answer.body);
  });
}

interface Answer {
  readonly statusCode: number;
  readonly body: object;
}

function execute(context: ServiceContext, body: unknown): Answer {
  const { requestId, signedTransaction, lastValidBlockHeight } = readBody(body);
  const order = context.orders.find(requestId);
  if (order === undefined) throw refusal(EXECUTE_CODES.orderNotFound);
  const transaction = completeSignatures(context, order, signedTransaction);
  if (order.execution !== undefined) {
    // Posting the same bytes again asks what became of them; nothing is sent twice, and nothing else in their place.
    if (order.execution.transaction.equals(transaction)) return { statusCode: 200, body: order.execution.answer };
    throw refusal(EXECUTE_CODES.badSignature);
  }
  if (lastValidBlockHeight !== undefined && lastValidBlockHeight !== order.lastValidBlockHeight.toString()) {
    throw refusal(EXECUTE_CODES.invalidBlockHeight);
  }
  return send(context, order, transaction);
}

function readBody(
  body: unknown,
): { requestId: string; signedTransaction: string; lastValidBlockHeight: string | undefined } {
  const fields: { requestId?: unknown; signedTransaction?: unknown; lastValidBlockHeight?: unknown } =
    typeof body === 'object' && body !== null ? body : {};
  const { requestId, signedTransaction, lastValidBlockHeight } = fields;
  if (typeof requestId !== 'string' || requestId === '') throw refusal(EXECUTE_CODES.missingRequestId);
  if (typeof signedTransaction !== 'string' || signedTransaction === '')
    throw refusal(EXECUTE_CODES.missingTransaction);
  if (lastValidBlockHeight === undefined) return { requestId, signedTransaction, lastValidBlockHeight };
  if (typeof lastValidBlockHeight !== 'string') throw refusal(EXECUTE_CODES.invalidBlockHeight);
  return { requestId, signedTransaction, lastValidBlockHeight };
}

function send(context: ServiceContext, order: StoredOrder, transaction: Buffer): Answer {
  const { chain, faults } = context;
  const family = familyOf(order);
  const signature = bs58.encode(transaction.subarray(1, 1 + SIGNATURE_BYTES));
  const remember = (body: object): Answer => {
    context.orders.remember(order, { transaction, answer: body });
    return { statusCode: 200, body };
  };
  if (order.firm !== undefined) {
    // A maker who does not sign leaves no signature behind: it is his that would be the transaction's.
    const isOverdue = context.nowMs() >= order.firm.expireAtUnixSeconds * 1_000;
    if (isOverdue || faults.draw(EXECUTE, ['expire']) !== undefined)
      return remember(failureAnswer(EXECUTE_CODES.expired.maker));
    const isRejected = faults.draw(EXECUTE, ['reject']) !== undefined || !makerHonours(context, order, order.firm);
    if (isRejected) return remember(failureAnswer(EXECUTE_CODES.rejectedByMaker));
  } else if (faults.draw(EXECUTE, ['expire']) !== undefined) {
    return remember(failureAnswer(EXECUTE_CODES.expired.pools, { signature }));
  }
  const unknown = faults.draw(EXECUTE, ['unknown']);
  if (unknown?.landed === false) return uncertain(signature);

  const result = chain.land(transaction);
  if (result.kind === 'rejected') {
    if (result.error === 'SignatureFailure') throw refusal(EXECUTE_CODES.badSignature);
    // An expired blockhash needs no second sentence.
    return remember(result.error === 'BlockhashNotFound'
      ? failureAnswer(EXECUTE_CODES.expired[family], { signature })
      : failureAnswer(EXECUTE_CODES.failedToLand[family], {
        signature, detail: describeTransactionError(result.error),
      }));
  }
  context.confirm();
  const landed = chain.transaction(result.signature);
  if (result.error === null)
    context.market.recordTrade({ inputMint: order.inputMint, outputMint: order.outputMint, usd: order.inUsd });
  const remembered = remember(result.error === null && landed !== undefined
    ? successAnswer(order, landed)
    : failureOnChain(order, { ...result, error: result.error ?? 'Unknown' }, context.profile));
  return unknown === undefined ? remembered : uncertain(result.signature);
}

/** The maker's last look. Live, it never fills for a referrer whose taker could not pay a fee himself. */
function makerHonours(context: ServiceContext, order: StoredOrder, firm: FirmPromise): boolean {
  const { chain, maker, profile, tokens } = context;
  if (profile === 'live' && firm.hasReferrer && chain.balance(firm.taker) < LOW_LAMPORTS) return false;
  const [input, output] = [tokens.get(order.inputMint)!, tokens.get(order.outputMint)!];
  return maker.honours({ input, output, inAmount: order.inAmount, outAmount: firm.outAmount });
}

/** A 500 with a signature: whoever gets it knows nothing yet, and may post the same bytes again. */
function uncertain(signature: string): Answer {
  return { statusCode: 500, body: { signature, error: EXECUTE_CODES.unknown.pools.error } };
}
