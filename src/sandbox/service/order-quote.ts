import { associatedTokenAddress } from '../chain/addresses.ts';
import type { GenesisToken } from '../genesis.ts';
import type { ServiceContext } from './context.ts';
import { automaticSlippageBps, platformFeeBps } from './fees.ts';
import type { MakerQuote } from './maker.ts';
import type { OrderRequest } from './order-request.ts';
import { priceRoute, type PricedRoute } from './quoting.ts';
import { badRequest } from './request-error.ts';

/** The quote that won an order. */
export type OrderQuote =
  | {
      readonly router: 'iris';
      readonly input: GenesisToken;
      readonly output: GenesisToken;
      readonly priced: PricedRoute;
      /** Collects the fee. */
      readonly feeAccount: string;
    }
  | { readonly router: 'rfqz'; readonly input: GenesisToken; readonly output: GenesisToken; readonly firm: MakerQuote };

/** Returns the better of the pools' and the maker's quote. Throws a RequestError (400) when nobody quotes. */
export function quoteOrder(context: ServiceContext, request: OrderRequest): OrderQuote {
  const input = context.tokens.get(request.inputMint);
  const output = context.tokens.get(request.outputMint);
  if (input === undefined || output === undefined) throw noQuotes();
  const pooled = quotePools(context, request, { input, output });
  const firm = makerMayQuote(request) ? context.maker.quote({ input, output, amount: request.amount }) : undefined;
  if (firm !== undefined && (pooled === undefined || firm.outAmount > pooled.priced.outAmount)) return { router: 'rfqz', input, output, firm };
  if (pooled === undefined) throw noQuotes();
  return pooled;
}

function quotePools(
  context: ServiceContext, request: OrderRequest, { input, output }: { input: GenesisToken; output: GenesisToken },
): Extract<OrderQuote, { router: 'iris' }> | undefined {
  if (request.excludedRouters.has('iris')) return undefined;
  const route = context.router.bestRoute({
    inputMint: input.mint,
    outputMint: output.mint,
    amount: request.amount,
    accepts: (path) => path.every(({ pool }) => !request.excludedLabels.has(pool.label)),
  });
  if (route === undefined) return undefined;
  const feeOwner = request.referral?.account ?? context.feeOwner;
  const feeAccount = associatedTokenAddress(feeOwner, output.mint, output.tokenProgram);
  if (request.referral !== undefined && !context.chain.accountExists(feeAccount)) {
    throw badRequest(`referralAccount: expected an owner of a token account for ${output.mint}, ${feeAccount} does not exist`);
  }
  const priced = priceRoute({
    route,
    feeBps: request.referral?.feeBps ?? platformFeeBps(input, output),
    slippageBps: request.slippageBps ?? automaticSlippageBps(input, output),
  });
  return priced.outAmount === 0n ? undefined : { router: 'iris', input, output, priced, feeAccount };
}

/** The maker signs plain two-party swaps only: nobody else may pay, receive or earn. */
function makerMayQuote(request: OrderRequest): boolean {
  const hasThirdParty = request.receiver !== undefined || request.referral !== undefined || isForeignPayer(request);
  return !hasThirdParty && !request.excludedRouters.has('rfqz') && request.bundleTipLamports === undefined;
}

/** Returns whether somebody else than the taker pays. */
export function isForeignPayer({ payer, taker }: Pick<OrderRequest, 'payer' | 'taker'>): boolean {
  return payer !== undefined && payer !== taker;
}

function noQuotes(): Error {
  return badRequest('Failed to get quotes');
}
