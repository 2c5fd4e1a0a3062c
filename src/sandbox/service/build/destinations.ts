import { NATIVE_MINT, TOKEN_PROGRAM, seededAddress } from '../../chain/addresses.ts';
import type { SandboxChain } from '../../chain/chain.ts';
import { TOKEN_ACCOUNT_BYTES, decodeTokenAccount, isTokenProgram } from '../../chain/token-layout.ts';
import type { GenesisToken } from '../../genesis.ts';
import { badRequest } from '../http/request-error.ts';
import { tokenAccountRent } from '../routing/network-fees.ts';
import type { Instruction } from './instructions.ts';
import { closeTokenAccount, createSeededAccount, initializeTokenAccount, transferTokens } from './instructions.ts';

/** How a swap's SOL reaches another account as lamports. */
interface NativeDelivery {
  /** The wrapped-SOL account that the swap must pay into. */
  readonly account: string;
  readonly setup: readonly Instruction[];
  /** After the swap, in this order. */
  readonly cleanup: readonly Instruction[];
  /** The lamports that `payer` lends; the taker has them at the end. */
  readonly lentLamports: bigint;
}

const WRAPPED_SOL = { mint: NATIVE_MINT, decimals: 9, tokenProgram: TOKEN_PROGRAM } as const;

/** The least that can be delivered: closing an account pays out its rent, which must be complete. */
export const LEAST_NATIVE_LAMPORTS = tokenAccountRent(TOKEN_PROGRAM);

/**
 * Returns the instructions that pay `destination` exactly the output of the swap, which is not known beforehand. Only
 * closing an account moves an unknown amount, and it moves the account's rent too. So the rent is moved out before,
 * into a second account that is closed to the taker. No account of the taker is used.
 */
export function nativeDelivery(
  options: { taker: string; payer: string; destination: string; seed: string },
): NativeDelivery {
  const { taker, payer } = options;
  const paidInto = temporaryAccount({ taker, payer, seed: `${options.seed}a` });
  const rentBack = temporaryAccount({ taker, payer, seed: `${options.seed}b` });
  return {
    account: paidInto.account,
    setup: [...paidInto.setup, ...rentBack.setup],
    cleanup: [
      transferTokens({
        from: paidInto.account, to: rentBack.account, owner: taker, token: WRAPPED_SOL, amount: LEAST_NATIVE_LAMPORTS,
      }),
      closeTokenAccount({
        account: paidInto.account, destination: options.destination, owner: taker, tokenProgram: TOKEN_PROGRAM,
      }),
      closeTokenAccount({ account: rentBack.account, destination: taker, owner: taker, tokenProgram: TOKEN_PROGRAM }),
    ],
    lentLamports: 2n * LEAST_NATIVE_LAMPORTS,
  };
}

function temporaryAccount(
  { taker, payer, seed }: { taker: string; payer: string; seed: string },
): { account: string; setup: Instruction[] } {
  const account = seededAddress(taker, seed, TOKEN_PROGRAM);
  return {
    account,
    setup: [
      createSeededAccount({
        payer, base: taker, seed, account, lamports: LEAST_NATIVE_LAMPORTS, bytes: TOKEN_ACCOUNT_BYTES,
        owner: TOKEN_PROGRAM,
      }),
      initializeTokenAccount({ account, owner: taker, mint: NATIVE_MINT, tokenProgram: TOKEN_PROGRAM }),
    ],
  };
}

/**
 * Returns which of some tokens an existing token account is for. Throws a RequestError (400) that names the parameter
 * where it is for none of them.
 */
export function requireTokenAccount(
  chain: SandboxChain, { name, account, tokens }: { name: string; account: string; tokens: readonly GenesisToken[] },
): GenesisToken {
  const found = chain.account(account);
  const mint = found !== undefined && isTokenProgram(found.owner) ? decodeTokenAccount(found.data)?.mint : undefined;
  const token = tokens.find((candidate) => candidate.mint === mint);
  if (token === undefined) {
    throw badRequest(`${name}: expected an initialised token account of `
      + `${tokens.map((candidate) => candidate.mint).join(' or ')} at ${account}`);
  }
  return token;
}

/**
 * Throws a RequestError (400) where an account cannot receive a swap's SOL as lamports: the output is another token, a
 * token program owns the account, or the output is below the minimum of a wrapped account (which is more than a new
 * account's rent). If the chain pays less after all, the transaction fails.
 */
export function requireNativeDestination(
  chain: SandboxChain, { account, outputMint, outAmount }: { account: string; outputMint: string; outAmount: bigint },
): void {
  const name = 'nativeDestinationAccount';
  if (outputMint !== NATIVE_MINT) throw badRequest(`${name}: expected SOL as outputMint`);
  const owner = chain.account(account)?.owner;
  if (owner !== undefined && isTokenProgram(owner))
    throw badRequest(`${name}: expected an account that no token program owns, ${owner} owns ${account}`);
  if (outAmount < LEAST_NATIVE_LAMPORTS) {
    throw badRequest(`${name}: expected an output of at least ${LEAST_NATIVE_LAMPORTS} lamports, got ${outAmount}`);
  }
}
