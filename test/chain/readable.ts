import { isUnreadable, type UnreadableTransaction } from '../../src/trading/attempt.ts';

/** Returns an answer of a node on a transaction that it can give. */
export function readable<Value>(answer: Value | UnreadableTransaction): Exclude<Value, UnreadableTransaction> {
  if (isUnreadable(answer)) throw new Error(`${answer.signature} cannot be read: ${answer.reason}`);
  return answer as Exclude<Value, UnreadableTransaction>;
}
