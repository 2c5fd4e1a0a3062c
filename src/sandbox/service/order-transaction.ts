import { formatDecimal } from '../../core/amount.ts';
import { associatedTokenAddress, NATIVE_MINT, TOKEN_PROGRAM } from '../chain/addresses.ts';
import type { GenesisToken } from '../genesis.ts';
import type { ServiceContext } from './context.ts';
import {
  automaticUnitPrice, computeUnitsFor, distinguishing, priorityLamports, SIGNATURE_LAMPORTS, SYSTEM_ACCOUNT_RENT_LAMPORTS, tokenAccountRent, unitPriceFor,
} from './fees.ts';
import {
  closeTokenAccount, computeUnitLimit, computeUnitPrice, createTokenAccount, syncNative, transferLamports, transferTokens, type Instruction,
} from './instructions.ts';
import { compileMessage, type CompiledMessage } from './message.ts';
import { isForeignPayer, type OrderQuote } from './order-quote.ts';
import type { OrderRequest } from './order-request.ts';
import { swapInstructions } from './swap-instructions.ts';

/** What an order costs beside the swap, and who pays it. */
export interface OrderCosts {
  readonly payer: string;
  readonly signatureLamports: bigint;
  /** Priority fee and tip. */
  readonly prioritizationLamports: bigint;
  readonly rentLamports: bigint;
}

/** An order's transaction, or why there is none. */
export type OrderTransaction =
  | { readonly kind: 'built'; readonly message: CompiledMessage; readonly costs: OrderCosts; readonly lastValidBlockHeight: number }
  | { readonly kind: 'refused'; readonly code: number; readonly message: string; readonly costs: OrderCosts };

type PooledQuote = Extract<OrderQuote, { router: 'iris' }>;
type FirmQuote = Extract<OrderQuote, { router: 'rfqz' }>;

const INSUFFICIENT_FUNDS = 1;
const INSUFFICIENT_SOL = 2;
/** What a builder gets without being told, when `bundleTipLamports` is only a limit. */
const USUAL_TIP_LAMPORTS = 10_000n;
const MAKER_UNITS = 120_000;

/** Returns the transaction of a quote for `taker`. */
export function orderTransaction(context: ServiceContext, request: OrderRequest & { readonly taker: string }, quote: OrderQuote): OrderTransaction {
  return quote.router === 'iris' ? pooledTransaction(context, request, quote) : firmTransaction(context, request, quote);
}

function pooledTransaction(context: ServiceContext, request: OrderRequest & { readonly taker: string }, quote: PooledQuote): OrderTransaction {
  const { chain } = context;
  const { taker, amount } = request;
  const { input, output, priced } = quote;
  const payer = request.payer ?? taker;
  const parts = swapInstructions({
    chain, taker, payer, input, output, route: priced.route, amount, threshold: priced.threshold, wrapSol: true, receiver: request.receiver,
    ...(priced.feeBps === 0 ? {} : { platformFee: { bps: priced.feeBps, account: quote.feeAccount } }),
  });
  const units = computeUnitsFor({ hops: priced.route.hops.length, tokenAccounts: parts.tokenAccounts }) + distinguishing(context.nextNumber());
  const bids = bidsOf(request, { slot: chain.slot, units });
  const lent = isForeignPayer(request) ? parts.temporaryRentLamports : 0n;
  const instructions = [
    computeUnitLimit(units),
    computeUnitPrice(bids.unitPrice),
    ...parts.setup,
    parts.swap,
    ...(parts.cleanup === undefined ? [] : [parts.cleanup]),
    // Closing the wrapped-SOL account gave the taker the rent that the payer had lent.
    ...(lent > 0n ? [transferLamports({ from: taker, to: payer, lamports: lent })] : []),
    ...(bids.tipLamports > 0n ? [transferLamports({ from: payer, to: context.tipAccount, lamports: bids.tipLamports })] : []),
  ];
  const { blockhash, lastValidBlockHeight } = chain.latestBlockhash();
  const message = compileMessage({ payer, instructions, blockhash, table: context.table });
  const costs: OrderCosts = {
    payer,
    signatureLamports: SIGNATURE_LAMPORTS * BigInt(message.signers.length),
    prioritizationLamports: priorityLamports({ unitPrice: bids.unitPrice, units }) + bids.tipLamports,
    rentLamports: parts.rentLamports,
  };
  const gasLamports = costs.signatureLamports + costs.prioritizationLamports + costs.rentLamports + parts.temporaryRentLamports;
  const refusal = fundsRefusal(context, { taker, payer, input, amount, gasLamports });
  return refusal === undefined ? { kind: 'built', message, costs, lastValidBlockHeight } : { kind: 'refused', ...refusal, costs };
}

/** Returns what is bid for priority: the request's own figures, or the service's where they are missing or only limits. */
function bidsOf(request: OrderRequest, { slot, units }: { slot: number; units: number }): { unitPrice: bigint; tipLamports: bigint } {
  const automatic = automaticUnitPrice({ slot });
  const asked = request.priorityFeeLamports === undefined ? undefined : unitPriceFor({ lamports: request.priorityFeeLamports, units });
  const tip = request.bundleTipLamports ?? 0n;
  if (!request.feesAreLimits) return { unitPrice: asked ?? automatic, tipLamports: tip };
  return {
    unitPrice: asked === undefined || automatic < asked ? automatic : asked,
    tipLamports: tip < USUAL_TIP_LAMPORTS ? tip : USUAL_TIP_LAMPORTS,
  };
}

function fundsRefusal(
  { chain }: ServiceContext, need: { taker: string; payer: string; input: GenesisToken; amount: bigint; gasLamports: bigint },
): { code: number; message: string } | undefined {
  const paysSol = need.input.mint === NATIVE_MINT;
  const funds = paysSol ? chain.balance(need.taker) : chain.tokenBalance({ owner: need.taker, mint: need.input.mint });
  if (funds < need.amount) return { code: INSUFFICIENT_FUNDS, message: 'Insufficient funds' };
  const payerSpends = need.gasLamports + (paysSol && need.payer === need.taker ? need.amount : 0n);
  const left = chain.balance(need.payer) - payerSpends;
  if (left < SYSTEM_ACCOUNT_RENT_LAMPORTS) {
    const missing = formatDecimal(SYSTEM_ACCOUNT_RENT_LAMPORTS - left, 9);
    return { code: INSUFFICIENT_SOL, message: `Top up ${missing} SOL for gas` };
  }
  return undefined;
}

/**
 * The maker pays fees and rent and signs in /execute. SOL that the taker pays goes through a wrapped-SOL account,
 * whose rent the taker lends himself; SOL that he receives is sent to him as it is.
 */
function firmTransaction(context: ServiceContext, { taker, amount }: { taker: string; amount: bigint }, quote: FirmQuote): OrderTransaction {
  const { chain } = context;
  const { input, output, firm } = quote;
  const { maker } = firm;
  const paysSol = input.mint === NATIVE_MINT;
  const wrapped = associatedTokenAddress(taker, NATIVE_MINT, TOKEN_PROGRAM);
  const temporaryRent = paysSol && !chain.accountExists(wrapped) ? tokenAccountRent(TOKEN_PROGRAM) : 0n;
  const outputAccount = associatedTokenAddress(taker, output.mint, output.tokenProgram);
  const receivesSol = output.mint === NATIVE_MINT;
  const unitPrice = automaticUnitPrice({ slot: chain.slot });
  const units = MAKER_UNITS + distinguishing(context.nextNumber());
  const instructions: Instruction[] = [computeUnitLimit(units), computeUnitPrice(unitPrice)];
  if (paysSol) {
    instructions.push(
      createTokenAccount({ payer: taker, owner: taker, mint: NATIVE_MINT, tokenProgram: TOKEN_PROGRAM }),
      transferLamports({ from: taker, to: wrapped, lamports: amount }),
      syncNative({ account: wrapped, tokenProgram: TOKEN_PROGRAM }),
    );
  }
  if (!receivesSol) {
    instructions.push(createTokenAccount({ payer: maker, owner: taker, mint: output.mint, tokenProgram: output.tokenProgram }));
  }
  instructions.push(tokenTransfer({ from: taker, to: maker, token: input, amount }));
  instructions.push(receivesSol
    ? transferLamports({ from: maker, to: taker, lamports: firm.outAmount })
    : tokenTransfer({ from: maker, to: taker, token: output, amount: firm.outAmount }));
  if (paysSol) instructions.push(closeTokenAccount({ account: wrapped, destination: taker, owner: taker, tokenProgram: TOKEN_PROGRAM }));

  const { blockhash, lastValidBlockHeight } = chain.latestBlockhash();
  const message = compileMessage({ payer: maker, instructions, blockhash, table: context.table });
  const costs: OrderCosts = {
    payer: maker,
    signatureLamports: SIGNATURE_LAMPORTS * BigInt(message.signers.length),
    prioritizationLamports: priorityLamports({ unitPrice, units }),
    rentLamports: !receivesSol && !chain.accountExists(outputAccount) ? tokenAccountRent(output.tokenProgram) : 0n,
  };
  const funds = paysSol ? chain.balance(taker) - temporaryRent : chain.tokenBalance({ owner: taker, mint: input.mint });
  // SOL is either spent to the last lamport or leaves at least an account's rent behind.
  const left = funds - amount;
  const leavesDust = paysSol && left > 0n && left + temporaryRent < SYSTEM_ACCOUNT_RENT_LAMPORTS;
  if (left < 0n || leavesDust) return { kind: 'refused', code: INSUFFICIENT_FUNDS, message: 'Insufficient balance', costs };
  return { kind: 'built', message, costs, lastValidBlockHeight };
}

function tokenTransfer(options: { from: string; to: string; token: GenesisToken; amount: bigint }): Instruction {
  const { mint, decimals, tokenProgram } = options.token;
  return transferTokens({ from: options.from, to: options.to, mint, decimals, tokenProgram, amount: options.amount });
}
