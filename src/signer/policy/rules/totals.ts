import { COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM } from '../known-programs.ts';
import type { Review } from '../review.ts';
import type { ResolvedTransaction } from '../resolve.ts';

const LAMPORTS_PER_SIGNATURE = 5_000n;
const MICRO_LAMPORTS_PER_LAMPORT = 1_000_000n;
const MAX_UNITS = 1_400_000n;
/** Without a limit of its own a transaction is charged for so many units an instruction, fewer for the runtime's own programs. */
const DEFAULT_UNITS = 200_000n;
const DEFAULT_BUILTIN_UNITS = 3_000n;
/** Of those that a transaction may call here. */
const BUILTINS: ReadonlySet<string> = new Set([SYSTEM_PROGRAM, COMPUTE_BUDGET_PROGRAM]);

/** Judges who signs and who pays. */
export function judgeSigners({ expectation, transaction, feePayer, deny }: Review): void {
  const { wallet, maker } = expectation;
  if (!transaction.signers.includes(wallet)) deny('SIGNER_MISSING', undefined, `${wallet} is not among those who sign`);
  const payers = expectation.feePayer === undefined ? [wallet, maker] : [expectation.feePayer];
  if (!payers.includes(feePayer)) deny('FEE_PAYER_FOREIGN', undefined, `${feePayer} pays the fee, expected ${payers.filter((payer) => payer !== undefined).join(' or ')}`);
  const known = [wallet, maker, expectation.feePayer];
  const stranger = transaction.signers.find((signer) => !known.includes(signer));
  if (stranger !== undefined) deny('SIGNER_UNKNOWN', undefined, `${stranger} is to sign too, whom nobody named`);
}

/** Returns what the network charges for a transaction: 5,000 lamports a signature, and the price of a unit times the limit, rounded up. */
export function networkFee({ signers, instructions }: ResolvedTransaction, budget: ReadonlyMap<string, bigint>): { readonly feeLamports: bigint; readonly priorityFeeLamports: bigint } {
  const usual = instructions.reduce((units, { program }) => units + (BUILTINS.has(program) ? DEFAULT_BUILTIN_UNITS : DEFAULT_UNITS), 0n);
  const wanted = budget.get('unit limit') ?? usual;
  const units = wanted < MAX_UNITS ? wanted : MAX_UNITS;
  const price = budget.get('unit price') ?? 0n;
  const priorityFeeLamports = (units * price + MICRO_LAMPORTS_PER_LAMPORT - 1n) / MICRO_LAMPORTS_PER_LAMPORT;
  return { feeLamports: BigInt(signers.length) * LAMPORTS_PER_SIGNATURE + priorityFeeLamports, priorityFeeLamports };
}

/** Judges what only the whole shows: the fee, accounts that stay behind, and whether the output comes. */
export function judgeTotals(review: Review): void {
  const { expectation, ledger, transaction, feePayer, deny } = review;
  const { feeLamports } = networkFee(transaction, ledger.budget);
  if (feePayer === expectation.wallet && feeLamports > expectation.maxFeeLamports) {
    const index = transaction.instructions.findIndex(({ program, data }) => program === COMPUTE_BUDGET_PROGRAM && data[0] === 3);
    deny('FEE_EXCEEDS', index < 0 ? undefined : index, `${feeLamports} lamports for signatures and priority, expected at most ${expectation.maxFeeLamports} lamports`);
  }
  for (const [account, { index, isInitialized, isSwapDestination, closedTo }] of ledger.temporary) {
    if (!isInitialized || closedTo === undefined) deny('ACCOUNT_UNFINISHED', index, `leaves the temporary account ${account} ${isInitialized ? 'open' : 'to whoever takes it'}`);
    else if (isSwapDestination && closedTo !== review.beneficiary) deny('SWAP_DESTINATION', index, `the output ends with ${closedTo}, expected ${review.beneficiary}`);
  }
  judgeOutput(review);
}

function judgeOutput({ expectation, ledger, deny }: Review): void {
  // What nobody can read is for the simulation to show.
  if (ledger.opaque.length > 0) return;
  if (ledger.paidAt === undefined) {
    deny('SWAP_MISSING', undefined, `nothing pays ${expectation.outputMint} to where it belongs`);
    return;
  }
  if (ledger.outputMinimum < expectation.minimumOut) {
    deny('SWAP_MINIMUM_BELOW', ledger.paidAt, `${ledger.outputMinimum} of ${expectation.outputMint} at least, expected ${expectation.minimumOut} of ${expectation.outputMint}`);
  }
  if (ledger.inputToMaker > 0n && ledger.inputSpent < expectation.amountIn) {
    deny('MAKER_AMOUNT_MISMATCH', undefined, `${ledger.inputSpent} of ${expectation.inputMint} for the maker, expected exactly ${expectation.amountIn} of ${expectation.inputMint}`);
  }
}
