import type { Decoded, SeededAccount } from '../decode/decoded.ts';
import { NATIVE_MINT, TOKEN_PROGRAM } from '../known-programs.ts';
import { TOKEN_ACCOUNT_BYTES, TOKEN_ACCOUNT_RENT, type Review } from '../review.ts';

type LamportTransfer = Extract<Decoded, { kind: 'transfer-lamports' }>;

/** Judges a transfer of SOL: the wallet's goes where the swap needs it, others' is theirs. */
export function judgeLamportTransfer(review: Review, index: number, transfer: LamportTransfer): void {
  const { expectation, ledger } = review;
  const { from, to, lamports } = transfer;
  if (from === expectation.wallet) {
    judgeOwnTransfer(review, index, transfer);
    return;
  }
  if (!review.isCoSigner(from)) {
    review.deny('TRANSFER_SOURCE', index, `${lamports} lamports of ${from}, who does not sign`);
    return;
  }
  if (from === expectation.maker && expectation.outputMint === NATIVE_MINT && to === review.beneficiary) {
    ledger.outputMinimum += lamports;
    ledger.paidAt = index;
  }
}

function judgeOwnTransfer(review: Review, index: number, { to, lamports }: LamportTransfer): void {
  const { expectation, ledger, feePayer } = review;
  const paysSol = expectation.inputMint === NATIVE_MINT;
  if (review.isAssociated(to, expectation.wallet, NATIVE_MINT)) {
    ledger.wrappedLamports += lamports;
    const most = paysSol ? expectation.amountIn : 0n;
    if (ledger.wrappedLamports > most) review.deny('TRANSFER_EXCEEDS', index, `wraps ${ledger.wrappedLamports} lamports, expected at most ${most} lamports`);
    return;
  }
  if (paysSol && to === expectation.maker) {
    payMaker(review, index, lamports);
    return;
  }
  if (feePayer !== expectation.wallet && to === feePayer) {
    ledger.repaidLamports += lamports;
    if (ledger.repaidLamports > ledger.lentLamports) {
      review.deny('TRANSFER_EXCEEDS', index, `pays ${ledger.repaidLamports} lamports back to ${to}, who lent ${ledger.lentLamports} lamports by then`);
    }
    return;
  }
  tip(review, index, { to, lamports });
}

function tip({ expectation, ledger, deny }: Review, index: number, { to, lamports }: { to: string; lamports: bigint }): void {
  const { maxTipLamports = 0n, tipAccounts } = expectation;
  if (maxTipLamports === 0n || tipAccounts?.includes(to) === false) {
    deny('TRANSFER_DESTINATION', index, `${lamports} lamports to ${to}, who has nothing to get`);
    return;
  }
  ledger.tipLamports += lamports;
  if (ledger.tipLamports > maxTipLamports) deny('TIP_EXCEEDS', index, `${ledger.tipLamports} lamports of tips, expected at most ${maxTipLamports} lamports`);
}

/** Counts what a maker gets of the input. */
export function payMaker({ expectation, ledger, deny }: Review, index: number, amount: bigint): void {
  ledger.inputToMaker += amount;
  ledger.inputSpent += amount;
  if (ledger.inputSpent > expectation.amountIn) {
    deny('TRANSFER_EXCEEDS', index, `${ledger.inputSpent} of ${expectation.inputMint} leave the wallet, expected at most ${expectation.amountIn} of ${expectation.inputMint}`);
  }
}

/** Judges the making of an account by seed: only the wallet's own, for wrapped SOL on its way, at its rent. */
export function judgeSeededAccount(review: Review, index: number, opened: SeededAccount): void {
  const { expectation, ledger, deny } = review;
  const { account, base, payer, owner, space, lamports } = opened;
  if (base !== expectation.wallet || owner !== TOKEN_PROGRAM || space !== TOKEN_ACCOUNT_BYTES || !review.hasNative) {
    deny('SYSTEM_FORBIDDEN', index, `makes ${account} of ${space} bytes for ${owner} by a seed of ${base}, which is no temporary account of this swap`);
    return;
  }
  if (payer !== expectation.wallet && !review.isCoSigner(payer)) {
    deny('TRANSFER_SOURCE', index, `rent paid by ${payer}, who does not sign`);
    return;
  }
  if (review.addresses.seeded(base, opened.seed, owner) !== account) {
    deny('ACCOUNT_SEED_MISMATCH', index, `${account} is not where the seed puts it`);
    return;
  }
  if (lamports > TOKEN_ACCOUNT_RENT) deny('RENT_EXCEEDS', index, `${lamports} lamports of rent for ${account}, expected at most ${TOKEN_ACCOUNT_RENT} lamports`);
  if (payer === expectation.wallet) ledger.rentLamports += lamports;
  else ledger.foreignRent.set(account, lamports);
  ledger.temporary.set(account, { index, lamports, payer, isInitialized: false, isSwapDestination: false, takenOut: 0n, takenIn: 0n, closedTo: undefined });
}
