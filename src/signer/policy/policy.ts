import { createAddresses, type Addresses } from './addresses.ts';
import { decodeInstruction } from './decode/decode.ts';
import type { Decoded } from './decode/decoded.ts';
import { swapPrograms, type SwapProgram } from './decode/swap-decoder.ts';
import type { Expectation } from './expectation.ts';
import { programName } from './known-programs.ts';
import { resolveTransaction, type LookupTables, type ResolvedTransaction } from './resolve.ts';
import { createReview, type Review } from './review.ts';
import { judgeInstruction } from './rules/instruction.ts';
import { judgeSigners, judgeTotals, networkFee } from './rules/totals.ts';
import { judgeWritten } from './rules/written.ts';
import { judgeSimulation, type SimulatedChanges } from './simulation.ts';
import { verdictOf, type Summary, type Verdict } from './verdict.ts';
import { inWords } from './words.ts';

/** What is known beside the bytes. */
export interface Knowledge {
  /** As read from the chain by whoever judges; what others say of them proves nothing. */
  readonly tables: LookupTables;
  /** What a simulation of exactly these bytes did; the only way to a swap that nobody here can read. */
  readonly simulation?: SimulatedChanges | undefined;
}

/** What is needed to read transactions: the allow-list, and address arithmetic that remembers. */
export interface PolicyTools {
  readonly addresses: Addresses;
  readonly programs: ReadonlyMap<string, SwapProgram>;
}

/** Judges transactions by their bytes. */
export interface Policy extends PolicyTools {
  /** Returns whether a transaction may be signed, and every rule that it breaks. Pure but for what it remembers of addresses; never throws. */
  judge(bytes: Uint8Array, expectation: Expectation, knowledge: Knowledge): Verdict;
}

/** Returns a policy with an allow-list of swap programs; by default those that can be read here. */
export function createPolicy(programs: readonly SwapProgram[] = swapPrograms()): Policy {
  const tools: PolicyTools = { addresses: createAddresses(), programs: new Map(programs.map((entry) => [entry.program, entry])) };
  return {
    ...tools,
    judge(bytes, expectation, { tables, simulation }) {
      const resolved = resolveTransaction(bytes, { tables, addresses: tools.addresses });
      if ('finding' in resolved) return verdictOf([resolved.finding], undefined);
      const { transaction } = resolved;
      const review = createReview({ expectation, transaction, addresses: tools.addresses });
      const decoded = decodeAll(transaction, tools);
      judgeSigners(review);
      decoded.forEach((instruction, index) => { judgeInstruction(review, index, instruction); });
      judgeTotals(review);
      judgeWritten(review, decoded);
      if (simulation !== undefined) judgeSimulation(review, simulation);
      else demandSimulation(review);
      return verdictOf(review.findings, summaryOf(review, decoded));
    },
  };
}

function demandSimulation({ ledger, deny }: Review): void {
  for (const { index, program } of ledger.opaque) deny('SWAP_UNREADABLE', index, `calls ${program}, which nobody here can read, without a simulation`);
  for (const { index, why } of ledger.unproven) deny('SWAP_UNREADABLE', index, `${why}, without a simulation`);
}

/** Returns what each instruction of a transaction does. */
export function decodeAll({ instructions }: ResolvedTransaction, tools: PolicyTools): readonly Decoded[] {
  return instructions.map((instruction) => decodeInstruction(instruction, tools));
}

function summaryOf({ expectation, transaction, ledger, feePayer }: Review, decoded: readonly Decoded[]): Summary {
  const { version, bytes, blockhash, signers, lookupTables, instructions } = transaction;
  return {
    version, bytes, blockhash, feePayer, signers, lookupTables,
    instructions: instructions.map(({ index, program }) => ({ index, program: programName(program), text: inWords(decoded[index]!, expectation.wallet) })),
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
