import type { FastifyInstance } from 'fastify';
import bs58 from 'bs58';
import type { LandedTransaction, TokenBalance } from '../chain/chain.ts';
import { customErrorCode, describeTransactionError, type TransactionError } from '../chain/transaction-error.ts';
import { platformFee } from '../chain/swap-math.ts';
import { MAX_TRANSACTION_BYTES } from '../chain/transaction-bytes.ts';
import type { ServiceContext } from './context.ts';
import { EXECUTE_CODES, type Family } from './execute-codes.ts';
import { SIGNATURE_BYTES } from './message.ts';
import type { StoredOrder } from './orders.ts';
import { RequestError } from './request-error.ts';

const EXECUTE = { method: 'POST', path: '/swap/v2/execute' } as const;

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
  const transaction = Buffer.from(signedTransaction, 'base64');
  if (transaction.toString('base64') !== signedTransaction) throw refusal(EXECUTE_CODES.invalidTransaction);
  // Posting the same bytes again asks what became of them; nothing is sent twice.
  if (order.execution?.transaction.equals(transaction) === true) return { statusCode: 200, body: order.execution.answer };
  if (lastValidBlockHeight !== undefined && lastValidBlockHeight !== order.lastValidBlockHeight.toString()) {
    throw refusal(EXECUTE_CODES.invalidBlockHeight);
  }
  return send(context, order, completeSignatures(context, order, transaction), transaction);
}

function readBody(body: unknown): { requestId: string; signedTransaction: string; lastValidBlockHeight: string | undefined } {
  const fields: { requestId?: unknown; signedTransaction?: unknown; lastValidBlockHeight?: unknown } =
    typeof body === 'object' && body !== null ? body : {};
  const { requestId, signedTransaction, lastValidBlockHeight } = fields;
  if (typeof requestId !== 'string' || requestId === '') throw refusal(EXECUTE_CODES.missingRequestId);
  if (typeof signedTransaction !== 'string' || signedTransaction === '') throw refusal(EXECUTE_CODES.missingTransaction);
  if (lastValidBlockHeight === undefined) return { requestId, signedTransaction, lastValidBlockHeight };
  if (typeof lastValidBlockHeight !== 'string') throw refusal(EXECUTE_CODES.invalidBlockHeight);
  return { requestId, signedTransaction, lastValidBlockHeight };
}

/** Returns the transaction with the maker's signature where one is due. Throws a refusal when it is not the order's, or not signed. */
function completeSignatures(context: ServiceContext, order: StoredOrder, transaction: Buffer): Buffer {
  const places = order.signers.length;
  const messageStart = 1 + SIGNATURE_BYTES * places;
  const tooLong = transaction.length > MAX_TRANSACTION_BYTES;
  if (tooLong || transaction.length <= messageStart || transaction[0] !== places) throw refusal(EXECUTE_CODES.invalidTransaction);
  if (!transaction.subarray(messageStart).equals(order.message)) throw refusal(EXECUTE_CODES.changedMessage);
  const completed = Buffer.from(transaction);
  order.signers.forEach((signer, index) => {
    const place = completed.subarray(1 + SIGNATURE_BYTES * index, 1 + SIGNATURE_BYTES * (index + 1));
    if (signer === context.maker.key.address) context.maker.key.sign(order.message).copy(place);
    else if (place.every((byte) => byte === 0)) throw refusal(EXECUTE_CODES.notFullySigned);
  });
  return completed;
}

function send(context: ServiceContext, order: StoredOrder, completed: Buffer, asPosted: Buffer): Answer {
  const { chain, faults } = context;
  const family: Family = order.router === 'iris' ? 'pools' : 'maker';
  const signature = bs58.encode(completed.subarray(1, 1 + SIGNATURE_BYTES));
  const remember = (body: object): Answer => {
    context.orders.remember(order, { transaction: asPosted, answer: body });
    return { statusCode: 200, body };
  };
  const overdue = order.expireAtUnixSeconds !== undefined && context.nowMs() >= order.expireAtUnixSeconds * 1_000;
  if (overdue || faults.draw(EXECUTE, ['expire']) !== undefined) {
    return remember(failure(EXECUTE_CODES.expired[family], { signature }));
  }
  if (order.router === 'rfqz' && faults.draw(EXECUTE, ['reject']) !== undefined) {
    return remember(failure(EXECUTE_CODES.rejectedByMaker, { signature }));
  }
  const unknown = faults.draw(EXECUTE, ['unknown']);
  if (unknown?.landed === false) return uncertain(signature, family);

  const result = chain.land(completed);
  if (result.kind === 'rejected') {
    if (result.error === 'SignatureFailure') throw refusal(EXECUTE_CODES.badSignature);
    const reason = result.error === 'BlockhashNotFound' ? EXECUTE_CODES.expired[family] : EXECUTE_CODES.failedToLand[family];
    return remember(failure(reason, { signature, detail: rejectionText(result.error) }));
  }
  context.confirm();
  const landed = chain.transaction(result.signature);
  const answer = result.error === null && landed !== undefined
    ? success(context, order, landed)
    : failure(programFailure(result.error ?? 'Unknown'), { signature: result.signature, slot: result.slot });
  const remembered = remember(answer);
  return unknown === undefined ? remembered : uncertain(result.signature, family);
}

/** A 500 with a signature: whoever gets it knows nothing yet, and may post the same bytes again. */
function uncertain(signature: string, family: Family): Answer {
  return { statusCode: 500, body: { signature, ...EXECUTE_CODES.unknown[family] } };
}

function success(context: ServiceContext, order: StoredOrder, landed: LandedTransaction): object {
  const swapEvents = order.router === 'iris' ? poolEvents(order, landed) : [{
    inputMint: order.inputMint, inputAmount: order.inAmount, outputMint: order.outputMint, outputAmount: order.makerOutAmount ?? 0n,
  }];
  const routeOutput = swapEvents.at(-1)?.outputAmount ?? 0n;
  const received = routeOutput - platformFee(routeOutput, order.feeBps);
  context.market.recordTrade({ inputMint: order.inputMint, outputMint: order.outputMint, usd: order.inUsd });
  return {
    status: 'Success',
    signature: landed.signature,
    slot: landed.slot.toString(),
    code: 0,
    totalInputAmount: order.inAmount.toString(),
    totalOutputAmount: received.toString(),
    inputAmountResult: order.inAmount.toString(),
    outputAmountResult: routeOutput.toString(),
    swapEvents: swapEvents.map((event) => ({
      ...event, inputAmount: event.inputAmount.toString(), outputAmount: event.outputAmount.toString(),
    })),
  };
}

interface SwapEvent {
  readonly inputMint: string;
  readonly inputAmount: bigint;
  readonly outputMint: string;
  readonly outputAmount: bigint;
}

/** Returns what went into and out of each pool's vaults, as the chain saw it. */
function poolEvents(order: StoredOrder, landed: LandedTransaction): SwapEvent[] {
  return order.path.map(({ pool, inputMint, outputMint }) => {
    const change = (mint: string): bigint =>
      held(landed.postTokenBalances, { owner: pool.address, mint }) - held(landed.preTokenBalances, { owner: pool.address, mint });
    return { inputMint, inputAmount: change(inputMint), outputMint, outputAmount: -change(outputMint) };
  });
}

function held(balances: readonly TokenBalance[], { owner, mint }: { owner: string; mint: string }): bigint {
  return balances.find((balance) => balance.owner === owner && balance.mint === mint)?.amount ?? 0n;
}

function failure(reason: { code: number; error: string }, at: { signature: string; slot?: number; detail?: string | undefined }): object {
  const error = at.detail === undefined ? reason.error : `${reason.error}: ${at.detail}`;
  return { status: 'Failed', signature: at.signature, slot: (at.slot ?? 0).toString(), code: reason.code, error };
}

/** A program's own code goes through as it is; anything else that failed on chain has none. */
function programFailure(error: TransactionError): { code: number; error: string } {
  const code = customErrorCode(error);
  if (code === EXECUTE_CODES.slippage.code) return EXECUTE_CODES.slippage;
  return { code: code ?? EXECUTE_CODES.unknown.pools.code, error: describeTransactionError(error) };
}

/** An expired blockhash needs no second sentence. */
function rejectionText(error: TransactionError): string | undefined {
  return error === 'BlockhashNotFound' ? undefined : describeTransactionError(error);
}

function refusal(reason: { code: number; error: string }): RequestError {
  return new RequestError(400, reason);
}
