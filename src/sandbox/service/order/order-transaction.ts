import { formatDecimal } from '../../../core/amount.ts';
import { NATIVE_MINT, TOKEN_PROGRAM, associatedTokenAddress } from '../../chain/addresses.ts';
import { isTokenProgram } from '../../chain/token-layout.ts';
import type { GenesisToken } from '../../genesis.ts';
import { LEAST_NATIVE_LAMPORTS } from '../build/destinations.ts';
import type { Instruction } from '../build/instructions.ts';
import {
  closeTokenAccount, computeUnitLimit, computeUnitPrice, createTokenAccount, syncNative, transferLamports,
  transferTokens,
} from '../build/instructions.ts';
import type { CompiledMessage } from '../../chain/message.ts';
import { compileMessage } from '../../chain/message.ts';
import type { Delivery } from '../build/swap-instructions.ts';
import type { SwapCaller } from '../build/foreign-programs.ts';
import { swapInstructions } from '../build/swap-instructions.ts';
import type { ServiceContext } from '../context.ts';
import { badRequest } from '../http/request-error.ts';
import {
  SIGNATURE_LAMPORTS, SYSTEM_ACCOUNT_RENT_LAMPORTS, automaticUnitPrice, computeUnitsFor, distinguishing,
  priorityLamports, tokenAccountRent,
} from '../routing/network-fees.ts';
import { bidsOf, ownTip } from './gasless.ts';
import type { FirmQuote, OrderQuote, PooledQuote } from './order-quote.ts';
import type { OrderRequest } from './order-request.ts';

/** The costs of an order beside the swap, and their payer. */
interface OrderCosts {
  readonly payer: string;
  readonly signatureLamports: bigint;
  /** Priority fee and tip. */
  readonly prioritizationLamports: bigint;
  readonly rentLamports: bigint;
}

/** Why there is no transaction; the meaning of the code depends on the winning router. */
interface Refusal {
  readonly code: number;
  readonly message: string;
}

/** A transaction that waits for its signatures. */
export interface BuiltOrder {
  readonly kind: 'built';
  readonly message: CompiledMessage;
  readonly costs: OrderCosts;
  readonly lastValidBlockHeight: number;
  /** The one account of the service that signs this order, if any. */
  readonly cosigner: string | undefined;
}

/** An order's transaction, or why there is none. */
export type OrderTransaction = BuiltOrder | ({ readonly kind: 'refused'; readonly costs: OrderCosts } & Refusal);

/** An order request with a taker, who signs. */
type TakerRequest = OrderRequest & { readonly taker: string };

const INSUFFICIENT_FUNDS = 1;
const INSUFFICIENT_SOL = 2;
const BELOW_GASLESS_MINIMUM = 3;

const INSUFFICIENT_BALANCE = 1;
const ACCOUNT_MISSING = 2;
const NOT_BUILDABLE = 3;
const MAKER_UNITS = 120_000;

const INSUFFICIENT: Refusal = { code: INSUFFICIENT_BALANCE, message: 'Insufficient balance' };

/**
 * Returns the transaction of a quote for its taker, or why there is none. Throws a RequestError (400) where the
 * receiver cannot be paid.
 */
export function orderTransaction(context: ServiceContext, request: TakerRequest, quote: OrderQuote): OrderTransaction {
  return quote.router === 'rfqz' ? firmTransaction(context, request, quote)
    : pooledTransaction(context, request, quote);
}

/** Returns the transaction of a swap through pools. Throws a RequestError (400) where the receiver cannot be paid. */
function pooledTransaction(
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
    // An account that exists now is not created again at another's cost: its owner could close it and keep the new
    // rent.
    omitExisting: payer !== taker,
    delivery: deliveryOf(request, quote, number),
    fee: { ...priced.fee, amount: priced.feeAmount, account: quote.feeAccount },
    caller: callerOf(context, quote),
  });
  // The service pays no tip for a taker whose gas it pays.
  const tip = isGasless ? undefined : ownTip(context, request, number);
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
    // Closing wrapped-SOL accounts pays the taker the rent that the payer lent.
    ...(lent > 0n ? [transferLamports({ from: taker, to: payer, lamports: lent })] : []),
    ...(bids.tipLamports > 0n
      ? [transferLamports({ from: payer, to: context.tipAccount, lamports: bids.tipLamports })] : []),
    ...(tip === undefined ? [] : [transferLamports({ from: payer, to: tip.receiver, lamports: tip.lamports })]),
  ];
  const { blockhash, lastValidBlockHeight } = chain.latestBlockhash();
  const message = compileMessage({ payer, instructions, blockhash, table: context.table });
  const costs: OrderCosts = {
    payer,
    signatureLamports: SIGNATURE_LAMPORTS * BigInt(message.signers.length),
    prioritizationLamports: priorityLamports({ unitPrice: bids.unitPrice, units }) + bids.tipLamports
      + (tip?.lamports ?? 0n),
    rentLamports: parts.rentLamports,
  };
  const gasLamports = costs.signatureLamports + costs.prioritizationLamports + costs.rentLamports
    + parts.temporaryRentLamports;
  const refusal = fundsRefusal(context, { taker, payer, quote, gasLamports });
  return refusal === undefined
    ? { kind: 'built', message, costs, lastValidBlockHeight, cosigner: isGasless ? payer : undefined }
    : { kind: 'refused', ...refusal, costs };
}

/** The first router goes through the aggregator, another through a program without a description. */
function callerOf({ foreign }: ServiceContext, { router, priced }: PooledQuote): SwapCaller | undefined {
  if (foreign === undefined || router === 'routerB') return undefined;
  const terms = { quotedOut: priced.outAmount, slippageBps: priced.slippageBps };
  return router === 'iris' ? { program: foreign.routeV2, layout: 'route_v2', ...terms }
    : { program: foreign.undocumented, layout: 'undocumented', ...terms };
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
  // Of SOL that the taker sells while another account pays, either nothing or the rent minimum must remain.
  const takerKeeps = paysSol && payer !== taker ? funds - priced.inAmount : 0n;
  return takerKeeps > 0n && takerKeeps < SYSTEM_ACCOUNT_RENT_LAMPORTS ? topUp(takerKeeps) : undefined;
}

function topUp(lamports: bigint): Refusal {
  return {
    code: INSUFFICIENT_SOL, message: `Top up ${formatDecimal(SYSTEM_ACCOUNT_RENT_LAMPORTS - lamports, 9)} SOL for gas`,
  };
}

/**
 * Returns the transaction of a maker's quote. The maker pays fees and rent and signs in /execute. SOL that the taker
 * pays goes through a wrapped-SOL account, whose rent the taker lends; SOL that the maker pays is not wrapped.
 */
function firmTransaction(context: ServiceContext, request: TakerRequest, quote: FirmQuote): OrderTransaction {
  const { chain } = context;
  const { taker, amount } = request;
  const { input, output, firm } = quote;
  const { maker } = firm;
  const unitPrice = automaticUnitPrice({ slot: chain.slot });
  const units = MAKER_UNITS + distinguishing(context.nextNumber());
  const beneficiary = request.receiver ?? taker;
  const opensAccount = output.mint !== NATIVE_MINT && !chain.accountExists(accountOf(beneficiary, output));
  const instructions = [
    computeUnitLimit(units),
    computeUnitPrice(unitPrice),
    ...fromTaker(quote, { taker, amount }),
    ...fromMaker(quote, beneficiary),
  ];
  const { blockhash, lastValidBlockHeight } = chain.latestBlockhash();
  const message = compileMessage({ payer: maker, instructions, blockhash, table: context.table });
  const costs: OrderCosts = {
    payer: maker,
    signatureLamports: SIGNATURE_LAMPORTS * BigInt(message.signers.length),
    prioritizationLamports: priorityLamports({ unitPrice, units }),
    rentLamports: opensAccount ? tokenAccountRent(output.tokenProgram) : 0n,
  };
  const refusal = refusalOf(context, { taker, input, amount });
  return refusal === undefined ? { kind: 'built', message, costs, lastValidBlockHeight, cosigner: maker }
    : { kind: 'refused', ...refusal, costs };
}

function fromTaker({ input, firm }: FirmQuote, { taker, amount }: { taker: string; amount: bigint }): Instruction[] {
  const source = accountOf(taker, input);
  const transfer =
    transferTokens({ from: source, to: accountOf(firm.maker, input), owner: taker, token: input, amount });
  if (input.mint !== NATIVE_MINT) return [transfer];
  return [
    createTokenAccount({ payer: taker, owner: taker, mint: NATIVE_MINT, tokenProgram: TOKEN_PROGRAM }),
    transferLamports({ from: taker, to: source, lamports: amount }),
    syncNative({ account: source, tokenProgram: TOKEN_PROGRAM }),
    transfer,
    closeTokenAccount({ account: source, destination: taker, owner: taker, tokenProgram: TOKEN_PROGRAM }),
  ];
}

function fromMaker({ output, firm, outAmount, feeAmount, feeAccount }: FirmQuote, beneficiary: string): Instruction[] {
  const { maker } = firm;
  const pays = feeAccount !== undefined && feeAmount > 0n;
  if (output.mint === NATIVE_MINT) {
    return [
      transferLamports({ from: maker, to: beneficiary, lamports: outAmount }),
      ...(pays ? [
        transferLamports({ from: maker, to: feeAccount, lamports: feeAmount }),
        syncNative({ account: feeAccount, tokenProgram: TOKEN_PROGRAM }),
      ] : []),
    ];
  }
  const from = accountOf(maker, output);
  return [
    createTokenAccount({ payer: maker, owner: beneficiary, mint: output.mint, tokenProgram: output.tokenProgram }),
    transferTokens({ from, to: accountOf(beneficiary, output), owner: maker, token: output, amount: outAmount }),
    ...(pays ? [transferTokens({ from, to: feeAccount, owner: maker, token: output, amount: feeAmount })] : []),
  ];
}

function refusalOf(
  { chain }: ServiceContext, { taker, input, amount }: { taker: string; input: GenesisToken; amount: bigint },
): Refusal | undefined {
  const source = accountOf(taker, input);
  const isOpen = chain.accountExists(source);
  if (input.mint !== NATIVE_MINT) {
    if (!isOpen) return { code: ACCOUNT_MISSING, message: `Missing associated token account for ${input.mint}` };
    return chain.tokenBalance({ owner: taker, mint: input.mint }) < amount ? INSUFFICIENT : undefined;
  }
  const left = chain.balance(taker) - amount;
  if (left < 0n) return INSUFFICIENT;
  // The rent of the wrapped-SOL account is missing until it closes; the rest must still cover the rent minimum.
  const canLendRent = isOpen || left >= tokenAccountRent(TOKEN_PROGRAM);
  return canLendRent ? undefined : { code: NOT_BUILDABLE, message: 'The quote could not be built into a transaction' };
}

function accountOf(owner: string, { mint, tokenProgram }: GenesisToken): string {
  return associatedTokenAddress(owner, mint, tokenProgram);
}

/** Throws a RequestError (400) where the receiver is a token account instead of a wallet. */
export function requireWallet({ chain }: ServiceContext, receiver: string): void {
  const owner = chain.account(receiver)?.owner;
  if (owner !== undefined && isTokenProgram(owner))
    throw badRequest(`receiver: expected a wallet, ${receiver} is an account of a token program`);
}
