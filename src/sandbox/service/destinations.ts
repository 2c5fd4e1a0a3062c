import { NATIVE_MINT } from '../chain/addresses.ts';
import type { SandboxChain } from '../chain/chain.ts';
import { decodeTokenAccount, isTokenProgram } from '../chain/token-layout.ts';
import type { GenesisToken } from '../genesis.ts';
import { LEAST_NATIVE_LAMPORTS } from './native-delivery.ts';
import { badRequest } from './request-error.ts';

/**
 * Returns which of some tokens an existing token account is for. Throws a RequestError (400) that names the parameter
 * where it is none of them.
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
 * Throws a RequestError (400) where an account cannot receive a swap's SOL as lamports: another token comes out, a
 * token program owns it, or what comes out is less than what passes through a wrapped account at least (which is more
 * than a new account's rent). Should less come out on the chain after all, the transaction fails.
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
