import type { WalletContents } from '../../chain/wallet-contents.ts';
import type { RunConfig } from '../../config/run-config.ts';
import { showAmount } from '../../market/market-text.ts';
import { SOL_MINT } from '../../market/token.ts';
import { LAMPORTS_PER_SIGNATURE, TOKEN_ACCOUNT_RENT } from '../../solana/constants.ts';
import type { RouteRefusal } from './refusal-settings.ts';
import { refusalOf } from './refusal-settings.ts';
import type { RehearsedSwap } from './rehearsed-swaps.ts';

/** What the network takes of a swap beside its input, lamports. */
interface SwapCosts {
  readonly feeLamports: bigint;
  readonly tipLamports: bigint;
}

/** The costs of a transaction that is not known yet: one signature. */
export const LEAST_COSTS: SwapCosts = { feeLamports: LAMPORTS_PER_SIGNATURE, tipLamports: 0n };

/**
 * Returns why a wallet cannot carry out a swap; undefined where it can. Fees and deposits come from SOL that is not
 * wrapped.
 */
export function walletRefusal(
  { tokens, wallet: { solReserve } }: Pick<RunConfig, 'tokens' | 'wallet'>,
  { inputMint, outputMint, amount, purpose }: RehearsedSwap,
  { lamports, accounts }: WalletContents, { feeLamports, tipLamports }: SwapCosts,
): RouteRefusal | undefined {
  const shown = (units: bigint): string => showAmount(tokens, SOL_MINT, units);
  for (const mint of [inputMint, outputMint]) {
    const frozen = accounts.find((account) => account.mint === mint && account.isFrozen);
    if (frozen !== undefined) return refusalOf('ACCOUNT_FROZEN', `the issuer has frozen the wallet’s token account `
      + `${frozen.address} of ${tokens.byMint(mint)?.symbol ?? mint}: leave the token out, or use another wallet`);
  }
  const held = accounts.filter((account) => account.mint === inputMint)
    .reduce((sum, account) => sum + account.amount, 0n);
  const isSol = inputMint === SOL_MINT;
  if (!isSol && held < amount) return refusalOf('INPUT_INSUFFICIENT', `the wallet has `
    + `${showAmount(tokens, inputMint, held)}, and ${showAmount(tokens, inputMint, amount)} are to be swapped: not `
    + 'enough, fund the wallet');
  const needsAccount = outputMint !== SOL_MINT && !accounts.some((account) => account.mint === outputMint);
  // SOL is swapped through a token account, which is closed again.
  const wraps = isSol || outputMint === SOL_MINT;
  const deposit = (needsAccount ? TOKEN_ACCOUNT_RENT : 0n)
    + (wraps && !accounts.some((account) => account.mint === SOL_MINT) ? TOKEN_ACCOUNT_RENT : 0n);
  const needed = (isSol ? amount : 0n) + feeLamports + tipLamports + deposit;
  const wrapped = accounts.filter((account) => account.mint === SOL_MINT)
    .reduce((sum, account) => sum + account.amount, 0n);
  if (lamports < needed) {
    const text = `the wallet has ${shown(lamports)}, and ${shown(needed)} are needed`
      + `${isSol ? `, ${shown(amount)} of it to be swapped` : ''}, ${shown(feeLamports + tipLamports)} for fees and `
      + `${shown(deposit)} for the rent of token accounts`;
    return lamports + wrapped < needed || wrapped === 0n
      ? refusalOf('SOL_INSUFFICIENT', `${text}: not enough, fund the wallet`)
      : refusalOf('WRAPPED_SOL_ONLY', `${text}; ${shown(wrapped)} more are wrapped, and wrapped SOL pays neither fees `
        + 'nor rent: unwrap it');
  }
  // The reserve pays for exits.
  if (purpose === 'exit' && !isSol) return undefined;
  const left = lamports + wrapped - (isSol ? amount : 0n) - (needsAccount ? TOKEN_ACCOUNT_RENT : 0n);
  return left >= solReserve ? undefined : refusalOf('SOL_RESERVE', `${shown(left < 0n ? 0n : left)} would be left, and `
    + `${shown(solReserve)} stay untouched: fund the wallet, or lower the reserve`);
}
