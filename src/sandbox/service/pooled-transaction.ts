import { formatDecimal } from '../../core/amount.ts';
import { NATIVE_MINT } from '../chain/addresses.ts';
import { isTokenProgram } from '../chain/token-layout.ts';
import { bidsOf } from './bids.ts';
import type { OrderCosts, OrderTransaction, Refusal, TakerRequest } from './built-order.ts';
import type { ServiceContext } from './context.ts';
import {
  computeUnitsFor, distinguishing, priorityLamports, SIGNATURE_LAMPORTS, SYSTEM_ACCOUNT_RENT_LAMPORTS,
} from './fees.ts';
import { computeUnitLimit, computeUnitPrice, transferLamports } from './instructions.ts';
import { compileMessage } from './message.ts';
import { LEAST_NATIVE_LAMPORTS } from './native-delivery.ts';
import type { PooledQuote } from './order-quote.ts';
import type { OrderRequest } from './order-request.ts';
import { badRequest } from './request-error.ts';
import { swapInstructions, type Delivery } from './swap-instructions.ts';

const INSUFFICIENT_FUNDS = 1;
const INSUFFICIENT_SOL = 2;
const BELOW_GASLESS_MINIMUM = 3;

/** Returns the transaction of a swap through pools. Throws a RequestError (400) where the receiver cannot be paid. */
export function pooledTransaction(
  context: ServiceContext, request: TakerRequest, quote: PooledQuote,
): OrderTransaction {
  const { chain } = context;
  const { taker } = request;
  const { input, output, priced } = quote;
  const isGasless = quote.gasless?.isCovered === true;
  const payer = isGasless ? context.gas.address : (request.payer ?? taker);
  const number = context.nextNumber();
  const parts = swapInstructions({
    chain, taker, payer, input, output, route: priced.route, threshold: priced.threshold, wrapSol: true,
    // What stands open now is not opened once more at another's cost: its owner could have taken its rent home by then.
    omitExisting: payer !== taker,
    delivery: deliveryOf(request, quote, number),
    fee: { ...priced.fee, amount: priced.feeAmount, account: quote.feeAccount },
  });
  const units = computeUnitsFor({ hops: priced.route.hops.length, tokenAccounts: parts.tokenAccounts })
    + distinguishing(number);
  const bids = bidsOf(request, { slot: chain.slot, units });
  const lent = payer === taker ? 0n : parts.temporaryRentLamports;
  const instructions = [
    computeUnitLimit(units),
    computeUnitPrice(bids.unitPrice),
    ...parts.setup,
    parts.swap,
    ...parts.cleanup,
    // Closing accounts of wrapped SOL gave the taker the rent that the payer had lent.
    ...(lent > 0n ? [transferLamports({ from: taker, to: payer, lamports: lent })] : []),
    ...(bids.tipLamports > 0n
      ? [transferLamports({ from: payer, to: context.tipAccount, lamports: bids.tipLamports })] : []),
  ];
  const { blockhash, lastValidBlockHeight } = chain.latestBlockhash();
  const message = compileMessage({ payer, instructions, blockhash, table: context.table });
  const costs: OrderCosts = {
    payer,
    signatureLamports: SIGNATURE_LAMPORTS * BigInt(message.signers.length),
    prioritizationLamports: priorityLamports({ unitPrice: bids.unitPrice, units }) + bids.tipLamports,
    rentLamports: parts.rentLamports,
  };
  const gasLamports = costs.signatureLamports + costs.prioritizationLamports + costs.rentLamports
    + parts.temporaryRentLamports;
  const refusal = fundsRefusal(context, { taker, payer, quote, gasLamports });
  return refusal === undefined
    ? { kind: 'built', message, costs, lastValidBlockHeight, cosigner: isGasless ? payer : undefined }
    : { kind: 'refused', ...refusal, costs };
}

function deliveryOf({ receiver }: OrderRequest, { output, priced }: PooledQuote, number: number): Delivery {
  if (receiver === undefined) return { kind: 'taker' };
  if (output.mint !== NATIVE_MINT) return { kind: 'owner', owner: receiver };
  if (priced.outAmount < LEAST_NATIVE_LAMPORTS) {
    throw badRequest(`receiver: expected an output of at least ${LEAST_NATIVE_LAMPORTS} lamports where SOL goes to `
      + `another wallet, got ${priced.outAmount}`);
  }
  return { kind: 'native', account: receiver, seed: `r${number}` };
}

/** Throws a RequestError (400) where the receiver is no wallet but an account that holds tokens itself. */
export function requireWallet({ chain }: ServiceContext, receiver: string): void {
  const owner = chain.account(receiver)?.owner;
  if (owner !== undefined && isTokenProgram(owner))
    throw badRequest(`receiver: expected a wallet, ${receiver} is an account of a token program`);
}

function fundsRefusal(
  { chain }: ServiceContext,
  { taker, payer, quote, gasLamports }: { taker: string; payer: string; quote: PooledQuote; gasLamports: bigint },
): Refusal | undefined {
  const { input, priced, gasless } = quote;
  const paysSol = input.mint === NATIVE_MINT;
  const funds = paysSol ? chain.balance(taker) : chain.tokenBalance({ owner: taker, mint: input.mint });
  if (funds < priced.inAmount) return { code: INSUFFICIENT_FUNDS, message: 'Insufficient funds' };
  if (gasless?.isCovered === true) return undefined;
  const payerSpends = gasLamports + (paysSol && payer === taker ? priced.inAmount : 0n);
  const left = chain.balance(payer) - payerSpends;
  if (left < SYSTEM_ACCOUNT_RENT_LAMPORTS) {
    return gasless === undefined ? topUp(left)
      : { code: BELOW_GASLESS_MINIMUM, message: `Minimum $${gasless.minimumUsd.toFixed(2)} for gasless` };
  }
  // Of what he sells himself while another pays: nothing may stay, or what an account must keep.
  const takerKeeps = paysSol && payer !== taker ? funds - priced.inAmount : 0n;
  return takerKeeps > 0n && takerKeeps < SYSTEM_ACCOUNT_RENT_LAMPORTS ? topUp(takerKeeps) : undefined;
}

function topUp(lamports: bigint): Refusal {
  return {
    code: INSUFFICIENT_SOL, message: `Top up ${formatDecimal(SYSTEM_ACCOUNT_RENT_LAMPORTS - lamports, 9)} SOL for gas`,
  };
}
