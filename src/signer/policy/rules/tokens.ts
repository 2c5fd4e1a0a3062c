import { mulDiv } from '../../../core/amount.ts';
import type { Decoded, TokenTransfer } from '../decode/decoded.ts';
import { NATIVE_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../known-programs.ts';
import { tokenAccountRent, type Review } from '../review.ts';
import { payMaker } from './lamports.ts';

type Opening = Extract<Decoded, { kind: 'open-associated' }>;
type Initializing = Extract<Decoded, { kind: 'initialize-token' }>;

/** Judges a transfer of tokens: the wallet's to whom the swap pays, the maker's to whom the swap is for. */
export function judgeTokenTransfer(review: Review, index: number, transfer: TokenTransfer): void {
  const { wallet } = review.expectation;
  const { source, authority } = transfer;
  const ownMint = review.ownMint(source);
  if (authority === wallet) {
    judgeOwnTransfer(review, index, transfer, ownMint);
  } else if (ownMint !== undefined) {
    // Somebody who was once let to spend, or whom the mint itself lets.
    review.deny('TRANSFER_SOURCE', index, `${transfer.amount} out of the wallet’s ${source}, moved by ${authority}`);
  } else if (authority === review.expectation.maker && review.isCoSigner(authority)) {
    judgeMakerTransfer(review, index, transfer);
  } else {
    review.deny('TRANSFER_SOURCE', index, `${transfer.amount} out of ${source}, moved by ${authority}, who has no part in this swap`);
  }
}

function judgeOwnTransfer(review: Review, index: number, transfer: TokenTransfer, ownMint: string | undefined): void {
  const { expectation, ledger, deny } = review;
  const { source, destination, amount, mint } = transfer;
  if (mint !== undefined && mint !== expectation.inputMint && !(mint === NATIVE_MINT && ledger.temporary.has(source))) {
    deny('MINT_UNEXPECTED', index, `moves ${amount} of ${mint}, expected of ${expectation.inputMint} only`);
    return;
  }
  if (ownMint === undefined) {
    deny('TRANSFER_SOURCE', index, `${amount} out of ${source}, which is no account of this swap`);
    return;
  }
  const temporary = ledger.temporary.get(source);
  if (temporary !== undefined) {
    const into = destination === source ? undefined : ledger.temporary.get(destination);
    if (into === undefined) {
      deny('TRANSFER_DESTINATION', index, `${amount} out of the temporary account ${source} to ${destination}`);
      return;
    }
    temporary.takenOut += amount;
    into.takenIn += amount;
    return;
  }
  if (ownMint !== expectation.inputMint) {
    deny('MINT_UNEXPECTED', index, `moves ${amount} of ${ownMint}, expected of ${expectation.inputMint} only`);
    return;
  }
  const { maker } = expectation;
  if (maker !== undefined && review.isAssociated(destination, maker, expectation.inputMint)) payMaker(review, index, amount);
  else payFee(review, index, { destination, amount });
}

function payFee({ expectation, ledger, deny, maxPlatformFeeBps }: Review, index: number, { destination, amount }: { destination: string; amount: bigint }): void {
  const { amountIn, feeAccounts } = expectation;
  if (maxPlatformFeeBps === 0 || feeAccounts?.includes(destination) === false) {
    deny('TRANSFER_DESTINATION', index, `${amount} of ${expectation.inputMint} to ${destination}, who has nothing to get`);
    return;
  }
  ledger.inputSpent += amount;
  ledger.inputFee += amount;
  const most = mulDiv(amountIn, BigInt(maxPlatformFeeBps), 10_000n, 'ceil');
  if (ledger.inputSpent > amountIn) deny('TRANSFER_EXCEEDS', index, `${ledger.inputSpent} of ${expectation.inputMint} leave the wallet, expected at most ${amountIn} of ${expectation.inputMint}`);
  else if (ledger.inputFee > most) deny('PLATFORM_FEE_EXCEEDS', index, `${ledger.inputFee} of ${expectation.inputMint} to third parties, expected at most ${most} of ${expectation.inputMint}, ${maxPlatformFeeBps} bps`);
}

/** What the maker pays comes out of his own account: what counts is only what arrives at the right place. */
function judgeMakerTransfer(review: Review, index: number, { source, destination, amount, mint, authority, tokenProgram }: TokenTransfer): void {
  const { outputMint } = review.expectation;
  if (mint !== undefined && mint !== outputMint) {
    review.deny('MINT_UNEXPECTED', index, `the maker pays ${amount} of ${mint}, expected ${outputMint}`);
    return;
  }
  if (review.addresses.associated(authority, outputMint, tokenProgram) !== source) {
    review.deny('TRANSFER_SOURCE', index, `the maker pays out of ${source}, which is not his account`);
    return;
  }
  if (!review.isOutputAccount(destination)) return;
  review.ledger.outputMinimum += amount;
  review.ledger.paidAt = index;
  // What arrives may be less than what is sent: only the mint knows what it keeps back.
  if (tokenProgram === TOKEN_2022_PROGRAM) review.ledger.unproven.push({ index, why: `the maker pays ${amount} of a token whose mint may keep part of it back` });
}

/** Judges the closing of a token account: what it sets free is the wallet's, or the output for its receiver. */
export function judgeClose(review: Review, index: number, { account, destination, authority }: Extract<Decoded, { kind: 'close-token' }>): void {
  const { expectation, ledger, deny } = review;
  const { wallet, receiver, outputMint } = expectation;
  const temporary = ledger.temporary.get(account);
  const isDelivery = temporary?.isSwapDestination === true && receiver !== undefined && destination === receiver && outputMint === NATIVE_MINT;
  if (destination !== wallet && !isDelivery) {
    deny('CLOSE_DESTINATION', index, `closes ${account} in favour of ${destination}`);
    return;
  }
  if (authority !== wallet || review.ownMint(account) === undefined) {
    deny('CLOSE_FORBIDDEN', index, `closes ${account} by ${authority}, expected an account of this swap, by its wallet`);
    return;
  }
  if (temporary !== undefined) temporary.closedTo = destination;
  if (temporary !== undefined && isDelivery) {
    // Closing hands the rent over along with the output: as much must have been taken out before, no more and no less.
    const kept = temporary.takenOut - temporary.takenIn;
    if (kept < temporary.lamports) deny('RENT_EXCEEDS', index, `hands ${temporary.lamports - kept} lamports of rent over to ${destination}`);
    if (kept > temporary.lamports) deny('SWAP_MINIMUM_BELOW', index, `keeps ${kept - temporary.lamports} lamports of the output back from ${destination}`);
  }
  // What was lent came back to the wallet, through this account or the one it was taken out into.
  ledger.lentLamports += ledger.foreignRent.get(account) ?? 0n;
  ledger.foreignRent.delete(account);
}

/** Judges the opening of an associated account: for the wallet or the receiver, or at others' cost for those who take part. */
export function judgeOpening(review: Review, index: number, { payer, account, owner, mint, tokenProgram }: Opening): void {
  const { expectation, ledger, deny, hasNative } = review;
  const { wallet, receiver, maker, inputMint, outputMint } = expectation;
  if (payer !== wallet && !review.isCoSigner(payer)) {
    deny('TRANSFER_SOURCE', index, `rent paid by ${payer}, who does not sign`);
    return;
  }
  const owners = payer === wallet ? [wallet, receiver] : [wallet, receiver, maker, payer];
  if (!owners.includes(owner)) {
    deny('ATA_OWNER', index, `opens an account of ${owner} at the cost of ${payer}`);
    return;
  }
  const isTraded = mint === outputMint || (owner !== receiver && mint === inputMint);
  if (!isTraded && !(mint === NATIVE_MINT && hasNative)) {
    deny('MINT_UNEXPECTED', index, `opens an account for ${mint}`);
    return;
  }
  if (ledger.opened.has(account)) return;
  ledger.opened.add(account);
  const rent = tokenAccountRent(tokenProgram);
  if (payer === wallet) ledger.rentLamports += rent;
  else if (owner === wallet) ledger.foreignRent.set(account, rent);
}

/** Judges the start of a token account: only of a temporary one, as the wallet's own. */
export function judgeInitializing({ expectation, ledger, deny }: Review, index: number, { account, owner, mint, tokenProgram }: Initializing): void {
  const temporary = ledger.temporary.get(account);
  if (temporary === undefined || tokenProgram !== TOKEN_PROGRAM) {
    deny('TOKEN_FORBIDDEN', index, `starts ${account}, which is no temporary account of this transaction`);
  } else if (owner !== expectation.wallet) {
    deny('AUTHORITY_FORBIDDEN', index, `gives the temporary account ${account} to ${owner}`);
  } else if (mint !== NATIVE_MINT) {
    deny('MINT_UNEXPECTED', index, `starts ${account} for ${mint}, expected wrapped SOL`);
  } else {
    temporary.isInitialized = true;
  }
}
