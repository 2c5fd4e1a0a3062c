import type { Decoded, SeededAccount, TokenTransfer } from '../instruction.ts';
import {
  NATIVE_MINT, TOKEN_2022_PROGRAM, TOKEN_ACCOUNT_BYTES, TOKEN_ACCOUNT_RENT, TOKEN_PROGRAM,
} from '../../../solana/constants.ts';
import type { Review } from '../review.ts';
import { tokenAccountRent } from '../review.ts';
import { MOST_TIP_LAMPORTS } from '../expectation.ts';
import { sol } from '../verdict.ts';
import { mulDiv } from '../../../core/amount.ts';

type LamportTransfer = Extract<Decoded, { kind: 'transfer-lamports' }>;

/** Judges a transfer of SOL: the wallet's may go where the swap needs it; transfers of co-signers are theirs. */
export function judgeLamportTransfer(review: Review, index: number, transfer: LamportTransfer): void {
  const { expectation, ledger } = review;
  const { from, to, lamports } = transfer;
  if (from === expectation.wallet) {
    judgeOwnLamports(review, index, transfer);
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

function judgeOwnLamports(review: Review, index: number, { to, lamports }: LamportTransfer): void {
  const { expectation, ledger, feePayer } = review;
  const paysSol = expectation.inputMint === NATIVE_MINT;
  if (review.isAssociated(to, expectation.wallet, NATIVE_MINT)) {
    ledger.wrappedLamports += lamports;
    const most = paysSol ? expectation.amountIn : 0n;
    if (ledger.wrappedLamports > most) review.deny(
      'TRANSFER_EXCEEDS', index, `wraps ${ledger.wrappedLamports} lamports, expected at most ${most} lamports`,
    );
    return;
  }
  if (paysSol && to === expectation.maker) {
    payMaker(review, index, lamports);
    return;
  }
  if (feePayer !== expectation.wallet && to === feePayer) {
    ledger.repaidLamports += lamports;
    if (ledger.repaidLamports > ledger.lentLamports) {
      review.deny(
        'TRANSFER_EXCEEDS', index,
        `pays ${ledger.repaidLamports} lamports back to ${to}, who lent ${ledger.lentLamports} lamports by then`,
      );
    }
    return;
  }
  tip(review, index, { to, lamports });
}

function tip(
  { expectation, ledger, deny }: Review, index: number, { to, lamports }: { to: string; lamports: bigint },
): void {
  const { maxTipLamports = 0n, tipAccounts } = expectation;
  const tips = ledger.tipLamports + lamports;
  const stranger = `${lamports} lamports to ${to}, which is no expected receiver`;
  if (tipAccounts?.includes(to) === false || (tips > maxTipLamports && tips > MOST_TIP_LAMPORTS)) {
    deny('TRANSFER_DESTINATION', index, stranger);
    return;
  }
  if (maxTipLamports === 0n) {
    deny('TRANSFER_DESTINATION', index, `${stranger}; ${tipHint(tips)}`);
    return;
  }
  ledger.tipLamports = tips;
  if (tips > maxTipLamports) deny(
    'TIP_EXCEEDS', index,
    `${tips} lamports of tips, expected at most ${maxTipLamports} lamports; ${tipHint(tips)}`,
  );
}

function tipHint(lamports: bigint): string {
  return `this looks like a tip: signer.max_tip allows it where it is "${sol(lamports)}" or more`;
}

/** Counts the input that goes to the maker. */
function payMaker({ expectation, ledger, deny }: Review, index: number, amount: bigint): void {
  ledger.inputToMaker += amount;
  ledger.inputSpent += amount;
  if (ledger.inputSpent > expectation.amountIn) {
    deny('TRANSFER_EXCEEDS', index, `${ledger.inputSpent} of ${expectation.inputMint} leave the wallet, expected at `
      + `most ${expectation.amountIn} of ${expectation.inputMint}`);
  }
}

/** Judges the creation of an account by seed: only the wallet's temporary account for wrapped SOL, at its rent. */
export function judgeSeededAccount(review: Review, index: number, opened: SeededAccount): void {
  const { expectation, ledger, deny } = review;
  const { account, base, payer, owner, space, lamports } = opened;
  if (base !== expectation.wallet || owner !== TOKEN_PROGRAM || space !== BigInt(TOKEN_ACCOUNT_BYTES)
      || !review.hasNative) {
    deny('SYSTEM_FORBIDDEN', index, `makes ${account} of ${space} bytes for ${owner} by a seed of ${base}, which is no `
      + 'temporary account of this swap');
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
  if (lamports > TOKEN_ACCOUNT_RENT) deny(
    'RENT_EXCEEDS', index,
    `${lamports} lamports of rent for ${account}, expected at most ${TOKEN_ACCOUNT_RENT} lamports`,
  );
  if (payer === expectation.wallet) ledger.rentLamports += lamports;
  else ledger.foreignRent.set(account, lamports);
  ledger.temporary.set(account, {
    index, lamports, payer, isInitialized: false, isSwapDestination: false, takenOut: 0n, takenIn: 0n,
    closedTo: undefined,
  });
}

type Opening = Extract<Decoded, { kind: 'open-associated' }>;

type Initializing = Extract<Decoded, { kind: 'initialize-token' }>;

/** Judges a transfer of tokens: the wallet's may go to maker and fees, the maker's to the receiver of the output. */
export function judgeTokenTransfer(review: Review, index: number, transfer: TokenTransfer): void {
  const { wallet } = review.expectation;
  const { source, authority } = transfer;
  const ownMint = review.ownMint(source);
  if (authority === wallet) {
    judgeOwnTokens(review, index, transfer, ownMint);
  } else if (ownMint !== undefined) {
    // By a delegate, or by an authority of the mint.
    review.deny('TRANSFER_SOURCE', index, `${transfer.amount} out of the wallet’s ${source}, moved by ${authority}`);
  } else if (authority === review.expectation.maker && review.isCoSigner(authority)) {
    judgeMakerTransfer(review, index, transfer);
  } else {
    review.deny(
      'TRANSFER_SOURCE', index,
      `${transfer.amount} out of ${source}, moved by ${authority}, who has no part in this swap`,
    );
  }
}

function judgeOwnTokens(review: Review, index: number, transfer: TokenTransfer, ownMint: string | undefined): void {
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
  if (maker !== undefined && review.isAssociated(destination, maker, expectation.inputMint))
    payMaker(review, index, amount);
  else payFee(review, index, { destination, amount });
}

function payFee(
  { expectation, ledger, deny, maxPlatformFeeBps, ownFeeBps }: Review, index: number,
  { destination, amount }: { destination: string; amount: bigint },
): void {
  const { amountIn, feeAccounts } = expectation;
  const ownBps = ownFeeBps(destination);
  if (ownBps !== undefined) {
    payOwnFee({ expectation, ledger, deny }, index, { destination, amount, mostBps: ownBps });
    return;
  }
  if (maxPlatformFeeBps === 0 || feeAccounts?.includes(destination) === false) {
    deny(
      'TRANSFER_DESTINATION', index,
      `${amount} of ${expectation.inputMint} to ${destination}, which is no expected receiver`,
    );
    return;
  }
  ledger.inputSpent += amount;
  ledger.inputFee += amount;
  const most = mulDiv(amountIn, BigInt(maxPlatformFeeBps), 10_000n, 'ceil');
  if (ledger.inputSpent > amountIn) deny('TRANSFER_EXCEEDS', index, `${ledger.inputSpent} of ${expectation.inputMint} `
    + `leave the wallet, expected at most ${amountIn} of ${expectation.inputMint}`);
  else if (ledger.inputFee > most) deny('PLATFORM_FEE_EXCEEDS', index, `${ledger.inputFee} of ${expectation.inputMint} `
    + `to third parties, expected at most ${most} of ${expectation.inputMint}, ${maxPlatformFeeBps} bps`);
}

/** Counts a fee of the operator's own, whose largest share is that of its account. */
function payOwnFee(
  { expectation, ledger, deny }: Pick<Review, 'expectation' | 'ledger' | 'deny'>, index: number,
  { destination, amount, mostBps }: {
    readonly destination: string; readonly amount: bigint; readonly mostBps: number;
  },
): void {
  const { amountIn, inputMint } = expectation;
  const paid = (ledger.ownFees.get(destination) ?? 0n) + amount;
  ledger.ownFees.set(destination, paid);
  ledger.inputSpent += amount;
  const most = mulDiv(amountIn, BigInt(mostBps), 10_000n, 'ceil');
  if (ledger.inputSpent > amountIn) deny('TRANSFER_EXCEEDS', index, `${ledger.inputSpent} of ${inputMint} leave the `
    + `wallet, expected at most ${amountIn} of ${inputMint}`);
  else if (paid > most) deny('PLATFORM_FEE_EXCEEDS', index, `${paid} of ${inputMint} to ${destination}, expected at `
    + `most ${most} of ${inputMint}, ${mostBps} bps`);
}

/** The maker pays out of its own account; only payments into the output account count. */
function judgeMakerTransfer(
  review: Review, index: number, { source, destination, amount, mint, authority, tokenProgram }: TokenTransfer,
): void {
  const { outputMint } = review.expectation;
  if (mint !== undefined && mint !== outputMint) {
    review.deny('MINT_UNEXPECTED', index, `the maker pays ${amount} of ${mint}, expected ${outputMint}`);
    return;
  }
  if (review.addresses.associated(authority, outputMint, tokenProgram) !== source) {
    review.deny('TRANSFER_SOURCE', index, `the maker pays out of ${source}, which is not the maker's account`);
    return;
  }
  if (!review.isOutputAccount(destination)) return;
  review.ledger.outputMinimum += amount;
  review.ledger.paidAt = index;
  // Less may arrive than is sent: only the mint knows what it withholds.
  if (tokenProgram === TOKEN_2022_PROGRAM) review.ledger.unproven.push({
    index, why: `the maker pays ${amount} of a token whose mint may withhold part of it`,
  });
}

/** Judges the closing of a token account: its lamports go to the wallet, or as the output to the receiver. */
export function judgeClose(
  review: Review, index: number, { account, destination, authority }: Extract<Decoded, { kind: 'close-token' }>,
): void {
  const { expectation, ledger, deny } = review;
  const { wallet, receiver, outputMint } = expectation;
  const temporary = ledger.temporary.get(account);
  const isDelivery = temporary?.isSwapDestination === true && receiver !== undefined && destination === receiver
    && outputMint === NATIVE_MINT;
  if (destination !== wallet && !isDelivery) {
    deny('CLOSE_DESTINATION', index, `closes ${account} in favour of ${destination}`);
    return;
  }
  if (authority !== wallet || review.ownMint(account) === undefined) {
    deny(
      'CLOSE_FORBIDDEN', index, `closes ${account} by ${authority}, expected an account of this swap, by its wallet`,
    );
    return;
  }
  if (temporary !== undefined) temporary.closedTo = destination;
  if (temporary !== undefined && isDelivery) {
    // Closing pays out the rent with the output: exactly the rent must have been taken out before.
    const kept = temporary.takenOut - temporary.takenIn;
    if (kept < temporary.lamports)
      deny('RENT_EXCEEDS', index, `hands ${temporary.lamports - kept} lamports of rent over to ${destination}`);
    if (kept > temporary.lamports) deny(
      'SWAP_MINIMUM_BELOW', index, `keeps ${kept - temporary.lamports} lamports of the output back from ${destination}`,
    );
  }
  // The lent rent came back to the wallet, through this account or the one that it moved into.
  ledger.lentLamports += ledger.foreignRent.get(account) ?? 0n;
  ledger.foreignRent.delete(account);
}

/** Judges the opening of an associated account: for wallet and receiver, at others' cost for maker and payer too. */
export function judgeOpening(
  review: Review, index: number, { payer, account, owner, mint, tokenProgram }: Opening,
): void {
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

/** Judges the initialisation of a token account: only of the wallet's temporary one. */
export function judgeInitializing(
  { expectation, ledger, deny }: Review, index: number, { account, owner, mint, tokenProgram }: Initializing,
): void {
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
