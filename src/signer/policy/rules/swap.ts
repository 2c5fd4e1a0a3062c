import type { SwapTerms } from '../instruction.ts';
import { NATIVE_MINT } from '../../../solana/constants.ts';
import type { Review } from '../review.ts';

/** Judges a swap with known terms. */
export function judgeSwap(review: Review, index: number, terms: SwapTerms): void {
  const { program } = review.transaction.instructions[index]!;
  const { expectation, ledger, deny, maxPlatformFeeBps } = review;
  const { wallet, inputMint, outputMint, amountIn, feeAccounts } = expectation;
  ledger.swaps.push({ index, terms });
  ledger.paidAt = index;
  if (terms.unproven !== undefined) ledger.unproven.push({ index, why: `calls ${program} ${terms.unproven}` });
  if (terms.user !== wallet) {
    deny('SWAP_USER', index, `swaps for ${terms.user}`);
    return;
  }
  const swapped = terms.inputMint ?? inputMint;
  if (swapped !== inputMint || terms.outputMint !== outputMint) {
    deny('MINT_UNEXPECTED', index, `swaps ${swapped} to ${terms.outputMint}, expected ${inputMint} to ${outputMint}`);
    return;
  }
  if (!isSource(review, terms))
    deny('SWAP_SOURCE', index, `pays out of ${terms.source}, which is not the wallet’s account for ${inputMint}`);
  judgeDestination(review, index, terms);
  ledger.inputSpent += terms.amountIn;
  ledger.outputMinimum += terms.minimumOut;
  if (ledger.inputSpent > amountIn) deny(
    'SWAP_AMOUNT_EXCEEDS', index,
    `${ledger.inputSpent} of ${inputMint} leave the wallet, expected at most ${amountIn} of ${inputMint}`,
  );
  const ownBps = terms.feeAccount === undefined ? undefined : review.ownFeeBps(terms.feeAccount);
  const mostBps = ownBps ?? maxPlatformFeeBps;
  if (terms.platformFeeBps > mostBps) {
    deny(
      'PLATFORM_FEE_EXCEEDS', index,
      `${terms.platformFeeBps} bps of the output to ${ownBps === undefined ? 'third parties' : terms.feeAccount}, `
        + `expected at most ${mostBps}`,
    );
  }
  if (ownBps === undefined && terms.feeAccount !== undefined && feeAccounts?.includes(terms.feeAccount) === false) {
    deny('PLATFORM_FEE_EXCEEDS', index, `a fee to ${terms.feeAccount}, which is no expected receiver`);
  }
}

function isSource(review: Review, { source, inputProgram }: SwapTerms): boolean {
  const { wallet, inputMint } = review.expectation;
  if (source === wallet) return inputMint === NATIVE_MINT;
  return inputProgram === undefined ? review.isAssociated(source, wallet, inputMint)
    : review.addresses.associated(wallet, inputMint, inputProgram) === source;
}

function judgeDestination(review: Review, index: number, { destination }: SwapTerms): void {
  const { expectation, ledger } = review;
  const temporary = ledger.temporary.get(destination);
  if (temporary !== undefined && expectation.outputMint === NATIVE_MINT) temporary.isSwapDestination = true;
  else if (expectation.outputMint === NATIVE_MINT && destination === review.beneficiary) return;
  else if (!review.isOutputAccount(destination)) review.deny('SWAP_DESTINATION', index, `pays into ${destination}`);
}
