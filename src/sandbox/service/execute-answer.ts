import type { LandedTransaction, TokenBalance } from '../chain/chain.ts';
import { platformFee } from '../chain/swap-math.ts';
import { customErrorCode, describeTransactionError, type TransactionError } from '../chain/transaction-error.ts';
import type { Profile } from './context.ts';
import { EXECUTE_CODES, type ExecuteReason, type Family } from './execute-codes.ts';
import { familyOf, type StoredOrder } from './orders.ts';

/** Returns the answer of an order that landed and swapped: amounts as the chain moved them. */
export function successAnswer(order: StoredOrder, landed: LandedTransaction): object {
  return {
    status: 'Success', signature: landed.signature, slot: landed.slot.toString(), code: 0,
    ...amountsOf(order, eventsOf(order, landed)),
  };
}

/** Returns the answer of an order that landed and failed. Live, it still tells the amounts that should have moved. */
export function failureOnChain(
  order: StoredOrder, landed: { signature: string; slot: number; error: TransactionError }, profile: Profile,
): object {
  const reason = programFailure(landed.error, familyOf(order));
  const amounts = profile === 'live' && reason.code === EXECUTE_CODES.slippage.code
    ? amountsOf(order, plannedEvents(order)) : {};
  return { ...failureAnswer(reason, landed), ...amounts };
}

/** Returns the answer of an order that failed; without a signature where the service never gave its own. */
export function failureAnswer(
  reason: ExecuteReason, at: { signature?: string | undefined; slot?: number; detail?: string | undefined } = {},
): object {
  return {
    status: 'Failed',
    ...(at.signature === undefined ? {} : { signature: at.signature }),
    slot: (at.slot ?? 0).toString(),
    code: reason.code,
    error: at.detail === undefined ? reason.error : `${reason.error}: ${at.detail}`,
  };
}

interface SwapEvent {
  readonly inputMint: string;
  readonly inputAmount: bigint;
  readonly outputMint: string;
  readonly outputAmount: bigint;
}

/** Wallet level in the totals, route level in the results: the difference is the fee, on the side where it is taken. */
function amountsOf(order: StoredOrder, events: readonly SwapEvent[]): object {
  const routeInput = events[0]?.inputAmount ?? 0n;
  const routeOutput = events.at(-1)?.outputAmount ?? 0n;
  const received = order.fee.side === 'input' ? routeOutput : routeOutput - platformFee(routeOutput, order.fee.bps);
  return {
    totalInputAmount: order.inAmount.toString(),
    totalOutputAmount: received.toString(),
    inputAmountResult: routeInput.toString(),
    outputAmountResult: routeOutput.toString(),
    swapEvents: events.map((event) =>
      ({ ...event, inputAmount: event.inputAmount.toString(), outputAmount: event.outputAmount.toString() })),
  };
}

/** Returns what went into and out of each pool's vaults, as the chain saw it. */
function eventsOf(order: StoredOrder, landed: LandedTransaction): SwapEvent[] {
  if (order.firm !== undefined) return plannedEvents(order);
  return order.path.map(({ pool, inputMint, outputMint }) => {
    const change = (mint: string): bigint =>
      held(landed.postTokenBalances, { owner: pool.address, mint })
        - held(landed.preTokenBalances, { owner: pool.address, mint });
    return { inputMint, inputAmount: change(inputMint), outputMint, outputAmount: -change(outputMint) };
  });
}

/** Returns what was to go through each pool when the order was made, and what a maker fills to the unit. */
function plannedEvents(order: StoredOrder): SwapEvent[] {
  if (order.firm !== undefined) {
    return [{
      inputMint: order.inputMint, inputAmount: order.inAmount, outputMint: order.outputMint,
      outputAmount: order.firm.outAmount,
    }];
  }
  return order.path.map(({ inputMint, outputMint, inAmount, outAmount }) =>
    ({ inputMint, inputAmount: inAmount, outputMint, outputAmount: outAmount }));
}

function held(balances: readonly TokenBalance[], { owner, mint }: { owner: string; mint: string }): bigint {
  return balances.find((balance) => balance.owner === owner && balance.mint === mint)?.amount ?? 0n;
}

/** A program's own code goes through as it is; anything else that failed on chain has none. */
function programFailure(error: TransactionError, family: Family): ExecuteReason {
  const code = customErrorCode(error);
  if (code === EXECUTE_CODES.slippage.code) return EXECUTE_CODES.slippage;
  return { code: code ?? EXECUTE_CODES.unknown[family].code, error: describeTransactionError(error) };
}
