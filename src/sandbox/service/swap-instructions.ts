import { associatedTokenAddress, NATIVE_MINT, TOKEN_PROGRAM } from '../chain/addresses.ts';
import type { SandboxChain } from '../chain/chain.ts';
import { swapInstruction } from '../chain/swap-instruction.ts';
import type { GenesisToken } from '../genesis.ts';
import { tokenAccountRent } from './fees.ts';
import { closeTokenAccount, createTokenAccount, fromWeb3, syncNative, transferLamports, type Instruction } from './instructions.ts';
import type { Route } from './routing.ts';

/** What a swap through the pools is made of. */
export interface SwapInstructions {
  readonly setup: readonly Instruction[];
  readonly swap: Instruction;
  readonly cleanup: Instruction | undefined;
  /** Token accounts that the setup makes sure of. */
  readonly tokenAccounts: number;
  /** Rent of accounts that do not exist yet and will stay. */
  readonly rentLamports: bigint;
  /** Rent of a wrapped-SOL account that exists only during the swap; `payer` lends it, the taker gets it back. */
  readonly temporaryRentLamports: bigint;
}

interface SwapRequest {
  readonly chain: SandboxChain;
  readonly taker: string;
  /** Pays the rent of new accounts. */
  readonly payer: string;
  readonly input: GenesisToken;
  readonly output: GenesisToken;
  readonly route: Route;
  readonly amount: bigint;
  readonly threshold: bigint;
  readonly platformFee?: { readonly bps: number; readonly account: string };
  /** Wraps SOL before and unwraps it after; otherwise the taker's wrapped-SOL account is used as it is. */
  readonly wrapSol: boolean;
  /** An existing token account that receives the output instead of the taker's own. */
  readonly destination?: string | undefined;
  /** Another owner, whose associated account receives the output and is created when missing. */
  readonly receiver?: string | undefined;
}

/** Returns the instructions of a swap through the pools of a route. */
export function swapInstructions(request: SwapRequest): SwapInstructions {
  const { chain, taker, payer, input, output, wrapSol } = request;
  const wrapped = associatedTokenAddress(taker, NATIVE_MINT, TOKEN_PROGRAM);
  const paysSol = wrapSol && input.mint === NATIVE_MINT;
  const receivesSol = wrapSol && output.mint === NATIVE_MINT && request.destination === undefined;
  const setup: Instruction[] = [];
  let rentLamports = 0n;
  let tokenAccounts = 0;
  if (paysSol || receivesSol) {
    setup.push(createTokenAccount({ payer, owner: taker, mint: NATIVE_MINT, tokenProgram: TOKEN_PROGRAM }));
    tokenAccounts++;
  }
  if (paysSol) {
    setup.push(transferLamports({ from: taker, to: wrapped, lamports: request.amount }));
    setup.push(syncNative({ account: wrapped, tokenProgram: TOKEN_PROGRAM }));
  }
  const outputOwner = request.receiver ?? taker;
  const outputAccount = associatedTokenAddress(outputOwner, output.mint, output.tokenProgram);
  if (!receivesSol && request.destination === undefined) {
    setup.push(createTokenAccount({ payer, owner: outputOwner, mint: output.mint, tokenProgram: output.tokenProgram }));
    tokenAccounts++;
    if (!chain.accountExists(outputAccount)) rentLamports += tokenAccountRent(output.tokenProgram);
  }
  const destination = request.destination ?? (request.receiver === undefined ? undefined : outputAccount);
  const swap = fromWeb3(swapInstruction({
    chain,
    user: taker,
    hops: request.route.hops.map(({ pool, inputMint, outputMint }) => ({ pool: pool.address, inputMint, outputMint })),
    amountIn: request.amount,
    minimumOut: request.threshold,
    ...(request.platformFee === undefined ? {} : { platformFee: request.platformFee }),
    ...(destination === undefined ? {} : { destination }),
  }));
  const unwraps = paysSol || receivesSol;
  return {
    setup,
    swap,
    cleanup: unwraps ? closeTokenAccount({ account: wrapped, destination: taker, owner: taker, tokenProgram: TOKEN_PROGRAM }) : undefined,
    tokenAccounts,
    rentLamports,
    temporaryRentLamports: unwraps && !chain.accountExists(wrapped) ? tokenAccountRent(TOKEN_PROGRAM) : 0n,
  };
}
