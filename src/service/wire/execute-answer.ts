import { z } from 'zod';
import type { ExecuteAnswer } from '../../trading/swap-order.ts';
import { optional, optionalText, wireInteger, wireSignature, wireText } from './fields.ts';
import { malformed, readWire } from './read.ts';

const WHAT = 'execute';

const WireExecute = z.object({
  status: optionalText(wireText),
  signature: optionalText(wireSignature),
  code: optional(wireInteger),
  error: optionalText(wireText),
});

/**
 * Returns what an answer of `/execute` says became of the transaction.
 * Throws SERVICE_MALFORMED on anything that is no clear word: the outcome is then unknown.
 */
export function readExecuteAnswer(answer: unknown): ExecuteAnswer {
  const { status, signature, code, error } = readWire(WireExecute, answer, WHAT);
  if (status === 'Success' && (code ?? 0) === 0) {
    if (signature === undefined) throw malformed(`${WHAT}, signature: expected one with a success`, undefined);
    return { status: 'success', signature };
  }
  // Codes of the service itself are negative and may come without a status; positive ones are the chain's and never do.
  if (code !== undefined && ((status === 'Failed' && code !== 0) || (status === undefined && code < 0))) {
    return { status: 'failed', code, signature, error };
  }
  throw malformed(`${WHAT}: expected the status Success with code 0 or Failed with another`, `${status ?? 'no status'} with code ${code ?? 'missing'}`);
}
