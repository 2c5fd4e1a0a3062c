import {
  COMPUTE_BUDGET_PROGRAM, LAMPORTS_PER_SIGNATURE, MAX_COMPUTE_UNITS, MICRO_LAMPORTS_PER_LAMPORT, NATIVE_MINT,
  SYSTEM_PROGRAM,
} from '../../../solana/constants.ts';
import type { Review } from '../review.ts';
import type { ResolvedTransaction } from '../lookup-tables.ts';
import type { Decoded } from '../instruction.ts';

const MAX_UNITS = BigInt(MAX_COMPUTE_UNITS);
/** Without a limit a transaction is charged for this many units an instruction, and fewer for built-in programs. */
const DEFAULT_UNITS = 200_000n;
const DEFAULT_BUILTIN_UNITS = 3_000n;
/** The built-in programs that a transaction may call here. */
const BUILTINS: ReadonlySet<string> = new Set([SYSTEM_PROGRAM, COMPUTE_BUDGET_PROGRAM]);

/** Judges the signers and the fee payer. */
export function judgeSigners({ expectation, transaction, feePayer, deny }: Review): void {
  const { wallet, maker } = expectation;
  if (!transaction.signers.includes(wallet)) deny('SIGNER_MISSING', undefined, `${wallet} is not among those who sign`);
  const payers = expectation.feePayer === undefined ? [wallet, maker] : [expectation.feePayer];
  if (!payers.includes(feePayer)) deny(
    'FEE_PAYER_FOREIGN', undefined,
    `${feePayer} pays the fee, expected ${payers.filter((payer) => payer !== undefined).join(' or ')}`,
  );
  const known = [wallet, maker, expectation.feePayer];
  const stranger = transaction.signers.find((signer) => !known.includes(signer));
  if (stranger !== undefined) deny('SIGNER_UNKNOWN', undefined, `${stranger} would sign too, but is not expected to`);
}

/**
 * Returns the network's fee: 5,000 lamports a signature, and the priority. Version 1 states it as it is; earlier ones
 * state the price of a unit, times the limit, rounded up.
 */
export function networkFee(
  transaction: ResolvedTransaction, budget: ReadonlyMap<string, bigint>,
): { readonly feeLamports: bigint; readonly priorityFeeLamports: bigint } {
  const { config, signers } = transaction;
  const priorityFeeLamports = config === undefined ? pricedUnits(transaction, budget)
    : config.priorityFeeLamports ?? 0n;
  return { feeLamports: BigInt(signers.length) * LAMPORTS_PER_SIGNATURE + priorityFeeLamports, priorityFeeLamports };
}

function pricedUnits({ instructions }: ResolvedTransaction, budget: ReadonlyMap<string, bigint>): bigint {
  const usual = instructions.reduce(
    (units, { program }) => units + (BUILTINS.has(program) ? DEFAULT_BUILTIN_UNITS : DEFAULT_UNITS), 0n,
  );
  const wanted = budget.get('unit limit') ?? usual;
  const units = wanted < MAX_UNITS ? wanted : MAX_UNITS;
  const price = budget.get('unit price') ?? 0n;
  return (units * price + MICRO_LAMPORTS_PER_LAMPORT - 1n) / MICRO_LAMPORTS_PER_LAMPORT;
}

/**
 * Returns why a version 1 transaction can only fail, its fee paid: what it does not ask for, it does not get. Undefined
 * for earlier versions, which get a usual budget.
 */
export function configFault({ config }: Pick<ResolvedTransaction, 'config'>): string | undefined {
  if (config === undefined) return undefined;
  if ((config.unitLimit ?? 0) === 0) return 'asks for no compute units, which version 1 does not grant by itself';
  return (config.loadedBytes ?? 0) === 0 ? 'asks to load no accounts, which version 1 does not grant by itself'
    : undefined;
}

/** Judges the transaction as a whole: the fee, accounts that stay open, and the output. */
export function judgeTotals(review: Review): void {
  const { expectation, ledger, transaction, feePayer, deny } = review;
  const fault = configFault(transaction);
  if (fault !== undefined) deny('BUDGET_INVALID', undefined, fault);
  const { feeLamports } = networkFee(transaction, ledger.budget);
  if (feePayer === expectation.wallet && feeLamports > expectation.maxFeeLamports) {
    const index = transaction.instructions.findIndex(({ program, data }) =>
      program === COMPUTE_BUDGET_PROGRAM && data[0] === 3);
    deny(
      'FEE_EXCEEDS', index < 0 ? undefined : index,
      `${feeLamports} lamports for signatures and priority, expected at most ${expectation.maxFeeLamports} lamports`,
    );
  }
  for (const [account, { index, isInitialized, isSwapDestination, closedTo }] of ledger.temporary) {
    if (!isInitialized || closedTo === undefined) deny(
      'ACCOUNT_UNFINISHED', index,
      `leaves the temporary account ${account} ${isInitialized ? 'open' : 'uninitialised'}`,
    );
    else if (isSwapDestination && closedTo !== review.beneficiary)
      deny('SWAP_DESTINATION', index, `the output ends with ${closedTo}, expected ${review.beneficiary}`);
  }
  judgeOutput(review);
}

function judgeOutput({ expectation, ledger, deny }: Review): void {
  // Calls without a decoder are judged by the simulation.
  if (ledger.opaque.length > 0) return;
  if (ledger.paidAt === undefined) {
    deny('SWAP_MISSING', undefined, `no instruction pays ${expectation.outputMint} to its receiver`);
    return;
  }
  if (ledger.outputMinimum < expectation.minimumOut) {
    deny('SWAP_MINIMUM_BELOW', ledger.paidAt, `${ledger.outputMinimum} of ${expectation.outputMint} at least, expected `
      + `${expectation.minimumOut} of ${expectation.outputMint}`);
  }
  if (ledger.inputToMaker > 0n && ledger.inputSpent < expectation.amountIn) {
    deny('MAKER_AMOUNT_MISMATCH', undefined, `${ledger.inputSpent} of ${expectation.inputMint} for the maker, expected `
      + `exactly ${expectation.amountIn} of ${expectation.inputMint}`);
  }
}

/**
 * Judges whether the accounts that decide who gets the money stand in the message itself. A table is known only from a
 * node: a lie about a pool makes the transaction fail, but a lie about a receiver would make the wallet pay a stranger.
 */
export function judgeTableAccounts(review: Review, decoded: readonly Decoded[]): void {
  const { loaded } = review.transaction;
  if (loaded.size === 0) return;
  for (const [index, instruction] of decoded.entries()) {
    const hidden = reliedOn(review, instruction).find((account) => loaded.has(account));
    if (hidden !== undefined)
      review.deny('ACCOUNT_IN_TABLE', index, `${hidden} stands in a lookup table, which is known only from a node`);
  }
}

/** The accounts of an instruction that the rules rely on; its program checks all others by itself. */
function reliedOn(review: Review, instruction: Decoded): readonly string[] {
  const { expectation, beneficiary, ledger, isAssociated } = review;
  // An account of the operator may get more than a stranger.
  const ownFee = (account: string | undefined): readonly string[] =>
    (account !== undefined && review.ownFeeBps(account) !== undefined ? [account] : []);
  const { wallet, maker } = expectation;
  switch (instruction.kind) {
    case 'swap':
      return [instruction.user, instruction.source, instruction.destination, ...ownFee(instruction.feeAccount)];
    case 'transfer-tokens': {
      const { source, destination, authority } = instruction;
      // For payments of others only the receiver matters. A fee of the wallet may go anywhere: its amount is limited.
      if (authority !== wallet) return [destination];
      return ledger.temporary.has(destination) ? [source, destination] : [source, ...ownFee(destination)];
    }
    case 'transfer-lamports': {
      const { to } = instruction;
      return to === beneficiary || to === maker || isAssociated(to, wallet, NATIVE_MINT) ? [to] : [];
    }
    case 'close-token': return [instruction.account, instruction.destination];
    case 'open-associated': return [instruction.owner];
    case 'open-seeded':
    case 'initialize-token': return [instruction.account];
    case 'budget':
    case 'memo':
    case 'opaque':
    case 'refused':
    case 'sync-native': return [];
  }
}
