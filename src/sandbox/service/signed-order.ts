import { MAX_TRANSACTION_BYTES } from '../chain/transaction-bytes.ts';
import type { ServiceContext } from './context.ts';
import { EXECUTE_CODES, type ExecuteReason } from './execute-codes.ts';
import { SIGNATURE_BYTES } from './message.ts';
import { familyOf, type StoredOrder } from './orders.ts';
import { RequestError } from './request-error.ts';

/** Returns the refusal of what was never sent: HTTP 400, without a status. */
export function refusal({ code, error }: ExecuteReason): RequestError {
  return new RequestError(400, { code, error });
}

/**
 * Returns the bytes of an order's signed transaction, with the service's own signatures where they are due: the
 * maker's, or that of the account that pays the gas. Throws a refusal when they are not the order's, or not signed by
 * everybody else.
 */
export function completeSignatures(context: ServiceContext, order: StoredOrder, signedTransaction: string): Buffer {
  const transaction = Buffer.from(signedTransaction, 'base64');
  const malformed = refusal(EXECUTE_CODES.invalidTransaction[familyOf(order)]);
  if (transaction.toString('base64') !== signedTransaction || transaction.length > MAX_TRANSACTION_BYTES)
    throw malformed;
  const places = order.signers.length;
  const messageStart = 1 + SIGNATURE_BYTES * places;
  if (transaction.length <= messageStart || transaction[0] !== places) throw malformed;
  if (!transaction.subarray(messageStart).equals(order.message)) throw refusal(EXECUTE_CODES.changedMessage);
  const placeOf = (index: number): Buffer =>
    transaction.subarray(1 + SIGNATURE_BYTES * index, 1 + SIGNATURE_BYTES * (index + 1));
  const isEmpty = (index: number): boolean => placeOf(index).every((byte) => byte === 0);
  const missing = order.signers.some((signer, index) => signer !== order.cosigner && isEmpty(index));
  // A wallet that knows no second signer puts its signature where the payer's belongs.
  const isMisplaced = missing && order.cosigner === context.gas.address && !isEmpty(0);
  if (missing) throw refusal(isMisplaced ? EXECUTE_CODES.unsupportedWallet : EXECUTE_CODES.notFullySigned);
  // Everybody knows the service's addresses and may name them as taker or payer: it signs where the order calls for it,
  // and nowhere else.
  const key = [context.maker.key, context.gas].find(({ address }) => address === order.cosigner);
  if (key !== undefined) key.sign(order.message).copy(placeOf(order.signers.indexOf(key.address)));
  return transaction;
}
