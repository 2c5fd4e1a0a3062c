import { associatedTokenAddress, NATIVE_MINT, TOKEN_PROGRAM } from '../../chain/addresses.ts';
import type { SandboxChain } from '../../chain/chain.ts';
import { swapInstruction } from '../../chain/pools.ts';
import type { GenesisToken } from '../../genesis.ts';
import { tokenAccountRent } from '../routing/network-fees.ts';
import type { SwapFee } from '../routing/platform-fee.ts';
import type { Route } from '../routing/routing.ts';
import { nativeDelivery } from './destinations.ts';
import { routedSwap, type SwapCaller } from './foreign-programs.ts';
import {
  closeTokenAccount, createTokenAccount, syncNative, transferLamports, transferTokens, type Instruction,
} from './instructions.ts';

/** The instructions of a swap through the pools. */
export interface SwapInstructions {
  readonly setup: readonly Instruction[];
  readonly swap: Instruction;
  /** After the swap, in this order. */
  readonly cleanup: readonly Instruction[];
  /** The number of token accounts that the setup creates if missing. */
  readonly tokenAccounts: number;
  /** Rent of accounts that do not exist yet and will stay. */
  readonly rentLamports: bigint;
  /** Rent of accounts that exist only during the swap; `payer` lends it, the taker gets it back. */
  readonly temporaryRentLamports: bigint;
}

/** Where a swap's output goes. */
export type Delivery =
  /** To the taker's own associated account; SOL is unwrapped where `wrapSol` says so. */
  | { readonly kind: 'taker' }
  /** To another owner's associated account, which is created when missing. */
  | { readonly kind: 'owner'; readonly owner: string }
  /** To a token account that exists. */
  | { readonly kind: 'account'; readonly account: string }
  /** SOL alone: as lamports to any account. The seed separates the temporary accounts from those of other swaps. */
  | { readonly kind: 'native'; readonly account: string; readonly seed: string };

/** A fee with the account that collects it, of the side's token. */
export interface CollectedFee extends SwapFee {
  /** The amount on the input's side. */
  readonly amount: bigint;
  readonly account: string;
}

interface SwapRequest {
  readonly chain: SandboxChain;
  readonly taker: string;
  /** Pays the rent of new accounts. */
  readonly payer: string;
  readonly input: GenesisToken;
  readonly output: GenesisToken;
  /** The route through the pools, without a fee on the input's side. */
  readonly route: Route;
  readonly threshold: bigint;
  readonly fee?: CollectedFee | undefined;
  /** Wraps SOL before and unwraps it after; otherwise the taker's wrapped-SOL account is used as it is. */
  readonly wrapSol: boolean;
  readonly delivery: Delivery;
  /**
   * Creates accounts of the taker for the intermediate tokens and closes the new ones, although this chain does not use
   * them.
   */
  readonly intermediateAccounts?: boolean;
  /** Leaves out the instructions that create existing accounts. */
  readonly omitExisting?: boolean;
  /** The program that calls the swap program; absent means that the transaction calls it. */
  readonly caller?: SwapCaller | undefined;
}

/** Collects instructions and what their accounts cost. */
interface Draft {
  readonly setup: Instruction[];
  readonly cleanup: Instruction[];
  tokenAccounts: number;
  rentLamports: bigint;
  temporaryRentLamports: bigint;
}

/** Returns the instructions of a swap through the pools of a route. */
export function swapInstructions(request: SwapRequest): SwapInstructions {
  const { chain, taker, input, output, route, fee, delivery } = request;
  const draft: Draft = { setup: [], cleanup: [], tokenAccounts: 0, rentLamports: 0n, temporaryRentLamports: 0n };
  const inputFee = fee?.side === 'input' ? fee.amount : 0n;
  wrapInput(draft, request, route.inAmount + inputFee);
  const destination = prepareOutput(draft, request);
  if (request.intermediateAccounts === true) addIntermediates(draft, request);
  if (fee !== undefined && inputFee > 0n) {
    const from = associatedTokenAddress(taker, input.mint, input.tokenProgram);
    draft.setup.push(transferTokens({ from, to: fee.account, owner: taker, token: input, amount: inputFee }));
  }
  const direct = swapInstruction({
    chain,
    user: taker,
    hops: route.hops.map(({ pool, inputMint, outputMint }) => ({ pool: pool.address, inputMint, outputMint })),
    amountIn: route.inAmount,
    minimumOut: request.threshold,
    destination,
    ...(fee?.side === 'output' && fee.bps > 0 ? { platformFee: { bps: fee.bps, account: fee.account } } : {}),
  });
  const swap = request.caller === undefined ? direct : routedSwap(request.caller, {
    direct, hops: route.hops.length, minimumOut: request.threshold,
    ownAccount: associatedTokenAddress(taker, output.mint, output.tokenProgram),
  });
  const unwraps = request.wrapSol
    && (input.mint === NATIVE_MINT || (output.mint === NATIVE_MINT && delivery.kind === 'taker'));
  if (unwraps) draft.cleanup.push(
    closeTokenAccount({ account: wrappedOf(taker), destination: taker, owner: taker, tokenProgram: TOKEN_PROGRAM }),
  );
  return { ...draft, swap };
}

/** SOL that the taker pays goes through the taker's wrapped-SOL account. */
function wrapInput(draft: Draft, request: SwapRequest, lamports: bigint): void {
  const { taker, input } = request;
  if (!request.wrapSol || input.mint !== NATIVE_MINT) return;
  addTemporaryWrapped(draft, request);
  draft.setup.push(transferLamports({ from: taker, to: wrappedOf(taker), lamports }));
  draft.setup.push(syncNative({ account: wrappedOf(taker), tokenProgram: TOKEN_PROGRAM }));
}

/** Returns the token account that the swap pays into, after adding its creation. */
function prepareOutput(draft: Draft, request: SwapRequest): string {
  const { taker, payer, output, delivery } = request;
  const { mint, tokenProgram } = output;
  switch (delivery.kind) {
    case 'account':
      return delivery.account;
    case 'owner':
      return addAccount(draft, request, { owner: delivery.owner, mint, tokenProgram });
    case 'native': {
      const native = nativeDelivery({ taker, payer, destination: delivery.account, seed: delivery.seed });
      draft.setup.push(...native.setup);
      draft.cleanup.push(...native.cleanup);
      draft.tokenAccounts += 2;
      draft.temporaryRentLamports += native.lentLamports;
      return native.account;
    }
    case 'taker':
      if (request.wrapSol && mint === NATIVE_MINT) return addTemporaryWrapped(draft, request);
      return addAccount(draft, request, { owner: taker, mint, tokenProgram });
  }
}

function addIntermediates(draft: Draft, request: SwapRequest): void {
  const { chain, taker } = request;
  for (const { outputMint: mint } of request.route.hops.slice(0, -1)) {
    const { tokenProgram, withholds } = chain.mint(mint);
    const { account, isNew } = makeSure(draft, request, { owner: taker, mint, tokenProgram });
    if (!isNew) continue;
    draft.temporaryRentLamports += tokenAccountRent(tokenProgram, withholds);
    draft.cleanup.push(closeTokenAccount({ account, destination: taker, owner: taker, tokenProgram }));
  }
}

function addTemporaryWrapped(draft: Draft, request: SwapRequest): string {
  const { account, isNew } =
    makeSure(draft, request, { owner: request.taker, mint: NATIVE_MINT, tokenProgram: TOKEN_PROGRAM });
  if (isNew) draft.temporaryRentLamports += tokenAccountRent(TOKEN_PROGRAM);
  return account;
}

function addAccount(draft: Draft, request: SwapRequest, whose: TokenOwner): string {
  const { account, isNew } = makeSure(draft, request, whose);
  if (isNew) draft.rentLamports += tokenAccountRent(whose.tokenProgram, request.chain.mint(whose.mint).withholds);
  return account;
}

interface TokenOwner {
  readonly owner: string;
  readonly mint: string;
  readonly tokenProgram: string;
}

function makeSure(
  draft: Draft, { chain, payer, omitExisting }: SwapRequest, whose: TokenOwner,
): { account: string; isNew: boolean } {
  const account = associatedTokenAddress(whose.owner, whose.mint, whose.tokenProgram);
  const isNew = !chain.accountExists(account);
  if (isNew || omitExisting !== true) {
    draft.setup.push(createTokenAccount({ payer, ...whose }));
    draft.tokenAccounts++;
  }
  return { account, isNew };
}

function wrappedOf(owner: string): string {
  return associatedTokenAddress(owner, NATIVE_MINT, TOKEN_PROGRAM);
}
