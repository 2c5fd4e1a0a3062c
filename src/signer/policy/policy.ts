import type { Addresses } from '../../solana/addresses.ts';
import { createAddresses } from '../../solana/addresses.ts';
import { decodeInstruction } from './decode-instruction.ts';
import type { Decoded } from './instruction.ts';
import type { SwapProgram } from './swap-programs.ts';
import { swapPrograms } from './swap-programs.ts';
import type { Expectation } from './expectation.ts';
import { USUAL_MAX_FEE_LAMPORTS } from './expectation.ts';
import { programName } from '../../solana/constants.ts';
import type { CheckedTransaction, LookupTables, ResolvedTransaction } from './lookup-tables.ts';
import { resolveTransaction } from './lookup-tables.ts';
import type { Review } from './review.ts';
import { createReview } from './review.ts';
import { configFault, judgeSigners, judgeTotals, judgeTableAccounts, networkFee } from './rules/totals.ts';
import type { SimulatedChanges } from './simulation.ts';
import { judgeSimulation } from './simulation.ts';
import type { Finding, Summary, Verdict } from './verdict.ts';
import { inWords, verdictOf } from './verdict.ts';
import {
  judgeClose, judgeInitializing, judgeLamportTransfer, judgeOpening, judgeSeededAccount, judgeTokenTransfer,
} from './rules/transfers.ts';
import { judgeSwap } from './rules/swap.ts';

/** Facts from the chain that complete the bytes. */
interface Knowledge {
  /** As the signer read them from the chain; statements of others prove nothing. */
  readonly tables: LookupTables;
  /** The result of a simulation of exactly these bytes; required for a swap without a decoder. */
  readonly simulation?: SimulatedChanges | undefined;
}

/** The allow-list, and address derivation with its cache. */
export interface PolicyTools {
  readonly addresses: Addresses;
  readonly programs: ReadonlyMap<string, SwapProgram>;
}

/** Judges transactions by their bytes. */
export interface Policy extends PolicyTools {
  /**
   * Returns whether a transaction may be signed, and every rule that it breaks. Pure except for the address cache;
   * never throws.
   */
  judge(given: Uint8Array | CheckedTransaction, expectation: Expectation, knowledge: Knowledge): Verdict;
}

/** The verdict on a transaction that closes accounts, and its cost for the wallet. */
interface ClosingVerdict extends Verdict {
  /** For signatures and priority; 0 where the bytes could not be read. */
  readonly feeLamports: bigint;
}

/** Returns a policy with an allow-list of swap programs; by default those with a decoder. */
export function createPolicy(programs: readonly SwapProgram[] = swapPrograms()): Policy {
  const tools: PolicyTools =
    { addresses: createAddresses(), programs: new Map(programs.map((entry) => [entry.program, entry])) };
  return {
    ...tools,
    judge(given, expectation, { tables, simulation }) {
      const resolved = resolveTransaction(given, { tables, addresses: tools.addresses });
      if ('finding' in resolved) return verdictOf([resolved.finding], undefined);
      const { transaction } = resolved;
      const review = createReview({ expectation, transaction, addresses: tools.addresses });
      const decoded = decodeAll(transaction, tools);
      judgeSigners(review);
      decoded.forEach((instruction, index) => { judgeInstruction(review, index, instruction); });
      judgeTotals(review);
      judgeTableAccounts(review, decoded);
      if (simulation !== undefined) judgeSimulation(review, simulation);
      else demandSimulation(review);
      return verdictOf(review.findings, summaryOf(review, decoded));
    },
  };
}

function demandSimulation({ ledger, deny }: Review): void {
  for (const { index, program } of ledger.opaque)
    deny('SWAP_UNREADABLE', index, `calls ${program}, which has no decoder, without a simulation`);
  for (const { index, why } of ledger.unproven) deny('SWAP_UNREADABLE', index, `${why}, without a simulation`);
}

/** Returns the effect of each instruction of a transaction. */
function decodeAll({ version, instructions }: ResolvedTransaction, tools: PolicyTools): readonly Decoded[] {
  return instructions.map((instruction) => decodeInstruction(instruction, { ...tools, version }));
}

function summaryOf({ expectation, transaction, ledger, feePayer }: Review, decoded: readonly Decoded[]): Summary {
  const { version, bytes, config, blockhash, signers, lookupTables, instructions } = transaction;
  return {
    version, bytes, config, blockhash, feePayer, signers, lookupTables,
    // Only people read the words; a signature does not wait for them.
    get instructions() {
      return instructions.map(({ index, program }) =>
        ({ index, program: programName(program), text: inWords(decoded[index]!, expectation.wallet) }));
    },
    costs: {
      ...networkFee(transaction, ledger.budget),
      paidByWallet: feePayer === expectation.wallet,
      tipLamports: ledger.tipLamports,
      repaidLamports: ledger.repaidLamports,
      rentLamports: ledger.rentLamports,
    },
    swap: {
      inputMint: expectation.inputMint, outputMint: expectation.outputMint,
      amountIn: ledger.inputSpent, minimumOut: ledger.outputMinimum, inputFee: ledger.inputFee,
    },
  };
}

/**
 * Returns the terms that a transaction itself states, as an expectation for `wallet`. They serve to inspect it, never
 * to sign it: a transaction always fits its own terms. Undefined without a readable swap.
 */
export function inferExpectation(
  bytes: Uint8Array, wallet: string, { tables, tools }: { readonly tables: LookupTables; readonly tools: PolicyTools },
): Expectation | undefined {
  const resolved = resolveTransaction(bytes, { tables, addresses: tools.addresses });
  if ('finding' in resolved) return undefined;
  const decoded = decodeAll(resolved.transaction, tools);
  const swap = decoded.find((instruction) => instruction.kind === 'swap');
  if (swap === undefined) return undefined;
  const { inputMint, outputMint, source } = swap;
  // Only the chain knows the mint of an account.
  if (inputMint === undefined) return undefined;
  const fees = decoded.reduce((sum, instruction) =>
    (instruction.kind === 'transfer-tokens' && instruction.source === source ? sum + instruction.amount : sum), 0n);
  return {
    wallet, inputMint, outputMint, amountIn: swap.amountIn + fees, minimumOut: swap.minimumOut,
    maxFeeLamports: USUAL_MAX_FEE_LAMPORTS, route: 'order',
  };
}

/**
 * Judges a transaction that may do nothing but close token accounts of the wallet. The token programs themselves refuse
 * to close an account with tokens; closing wrapped SOL returns it. Lookup tables are not accepted: they could hide the
 * owner of an account. Pure; never throws.
 */
export function judgeClosing(
  given: Uint8Array | CheckedTransaction, wallet: string, tools: PolicyTools,
): ClosingVerdict {
  const resolved = resolveTransaction(given, { tables: new Map(), addresses: tools.addresses });
  if ('finding' in resolved) return { ...verdictOf([resolved.finding], undefined), feeLamports: 0n };
  const { transaction } = resolved;
  const findings: Finding[] = [];
  const deny = (
    code: Finding['code'], instruction: number | undefined, message: string,
  ): void => { findings.push({ code, instruction, message }); };

  if (transaction.signers[0] !== wallet)
    deny('FEE_PAYER_FOREIGN', undefined, `${transaction.signers[0]} pays the fee, expected ${wallet}`);
  const stranger = transaction.signers.find((signer) => signer !== wallet);
  if (stranger !== undefined) deny('SIGNER_UNKNOWN', undefined, `${stranger} would sign too, but is not expected to`);

  const fault = configFault(transaction);
  if (fault !== undefined) deny('BUDGET_INVALID', undefined, fault);
  const budget = new Map<string, bigint>();
  let closes = 0;
  decodeAll(transaction, tools).forEach((decoded, index) => {
    if (decoded.kind === 'budget') {
      if (budget.has(decoded.setting)) deny('BUDGET_INVALID', index, `sets the ${decoded.setting} a second time`);
      budget.set(decoded.setting, decoded.value);
    } else if (decoded.kind === 'close-token') {
      closes += 1;
      if (decoded.authority !== wallet)
        deny('CLOSE_FORBIDDEN', index, `${decoded.authority} closes ${decoded.account}, expected ${wallet}`);
      if (decoded.destination !== wallet) deny(
        'CLOSE_DESTINATION', index,
        `the lamports of ${decoded.account} go to ${decoded.destination}, expected ${wallet}`,
      );
    } else if (decoded.kind === 'refused') deny(decoded.code, index, decoded.what);
    else deny('CLOSING_ONLY', index, `does more than close accounts: ${decoded.kind}`);
  });
  if (closes === 0) deny('CLOSING_ONLY', undefined, 'closes nothing');
  const { feeLamports } = networkFee(transaction, budget);
  if (feeLamports > USUAL_MAX_FEE_LAMPORTS) deny(
    'FEE_EXCEEDS', undefined,
    `${feeLamports} lamports for signatures and priority, expected at most ${USUAL_MAX_FEE_LAMPORTS} lamports`,
  );
  return { ...verdictOf(findings, undefined), feeLamports };
}

/** Judges one instruction after all earlier ones, and enters it into the ledger. */
function judgeInstruction(review: Review, index: number, decoded: Decoded): void {
  switch (decoded.kind) {
    case 'refused':
      review.deny(decoded.code, index, decoded.what);
      return;
    case 'budget':
      if (review.ledger.budget.has(decoded.setting))
        review.deny('BUDGET_INVALID', index, `sets the ${decoded.setting} a second time`);
      review.ledger.budget.set(decoded.setting, decoded.value);
      return;
    case 'transfer-lamports':
      judgeLamportTransfer(review, index, decoded);
      return;
    case 'open-seeded':
      judgeSeededAccount(review, index, decoded);
      return;
    case 'transfer-tokens':
      judgeTokenTransfer(review, index, decoded);
      return;
    case 'close-token':
      judgeClose(review, index, decoded);
      return;
    case 'open-associated':
      judgeOpening(review, index, decoded);
      return;
    case 'initialize-token':
      judgeInitializing(review, index, decoded);
      return;
    case 'swap':
      judgeSwap(review, index, decoded);
      return;
    case 'opaque':
      review.ledger.opaque.push({ index, program: decoded.program });
      return;
    // Neither instruction moves anything.
    case 'sync-native':
    case 'memo':
      return;
  }
}
