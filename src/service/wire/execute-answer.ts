import { z } from 'zod';
import type { Amount } from '../../core/amount.ts';
import type { Mint } from '../../market/token.ts';
import type { ExecuteAnswer } from '../../trading/swap-terms.ts';
import {
  decisive, decisiveText, lenientText, optional, shownList, wireAmount, wireInteger, wireMint, wireSignature, wireText,
  wireU64,
} from './fields.ts';
import type { ReportUnread } from './read.ts';
import { malformed, readNoting } from './read.ts';
import { MOST_STEPS } from './swap-terms.ts';

const WHAT = 'execute';

/** One market's part in a swap. */
interface SwapEvent {
  readonly inputMint: Mint;
  readonly inputAmount: Amount;
  readonly outputMint: Mint;
  readonly outputAmount: Amount;
}

/** The amounts in an answer of `/execute`, for people and reports. A failure may have amounts too. */
interface ExecuteAmounts {
  /** Where it landed; undefined where it never did. */
  readonly slot?: bigint | undefined;
  /** The amount that left the wallet, a fee in the input token included. */
  readonly totalInputAmount?: Amount | undefined;
  /** The amount that the wallet received, after a fee in the output token. */
  readonly totalOutputAmount?: Amount | undefined;
  /** The input of the route, after a fee in the input token. */
  readonly inputAmountResult?: Amount | undefined;
  /** The output of the route, before a fee in the output token. */
  readonly outputAmountResult?: Amount | undefined;
  readonly swapEvents: readonly SwapEvent[];
  /** Those of the above that came in a form that cannot be read. */
  readonly unread: readonly string[];
}

/** What the service reports of a transaction, with the amounts that it names. */
export type ExecuteReport = ExecuteAnswer & { readonly amounts?: ExecuteAmounts | undefined };

const swapEvent =
  z.object({ inputMint: wireMint, inputAmount: wireAmount, outputMint: wireMint, outputAmount: wireAmount });

const WireExecute = z.object({
  status: decisiveText(wireText),
  signature: decisiveText(wireSignature),
  code: decisive(wireInteger),
  error: lenientText,
  slot: optional(wireU64),
  totalInputAmount: optional(wireAmount),
  totalOutputAmount: optional(wireAmount),
  inputAmountResult: optional(wireAmount),
  outputAmountResult: optional(wireAmount),
  swapEvents: shownList(swapEvent, MOST_STEPS),
});

const AMOUNTS =
  ['slot', 'totalInputAmount', 'totalOutputAmount', 'inputAmountResult', 'outputAmountResult'] as const;

/**
 * Returns what an answer of `/execute` says became of the transaction.
 * Throws SERVICE_MALFORMED on any unclear answer: the outcome is then unknown.
 */
export function readExecuteAnswer(answer: unknown, report?: ReportUnread): ExecuteReport {
  const { value: wire, unread } = readNoting(WireExecute, answer, WHAT, report);
  const { status, signature, code, error } = wire;
  const amounts = readAmounts(wire, unread);
  if (status === 'Success' && (code ?? 0) === 0) {
    if (signature === undefined) throw malformed(`${WHAT}, signature: expected one with a success`, undefined);
    return { status: 'success', signature, amounts };
  }
  // Codes of the service itself are negative and may come without a status; positive ones are the chain's and never do.
  if (code !== undefined && ((status === 'Failed' && code !== 0) || (status === undefined && code < 0))) {
    return { status: 'failed', code, signature, error, amounts };
  }
  throw malformed(
    `${WHAT}: expected the status Success with code 0 or Failed with another`,
    `${status ?? 'no status'} with code ${code ?? 'missing'}`,
  );
}

function readAmounts(wire: z.output<typeof WireExecute>, unread: readonly string[]): ExecuteAmounts | undefined {
  if (unread.length === 0 && wire.swapEvents.length === 0 && AMOUNTS.every((name) => wire[name] === undefined))
    return undefined;
  return {
    slot: wire.slot === 0n ? undefined : wire.slot,
    totalInputAmount: wire.totalInputAmount,
    totalOutputAmount: wire.totalOutputAmount,
    inputAmountResult: wire.inputAmountResult,
    outputAmountResult: wire.outputAmountResult,
    swapEvents: wire.swapEvents,
    unread,
  };
}
