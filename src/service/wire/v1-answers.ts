import { z } from 'zod';
import type { Amount, Lamports } from '../../core/amount.ts';
import { printable } from '../../core/text.ts';
import type { Mint } from '../../market/token.ts';
import type { SwapInstruction } from '../../trading/swap-terms.ts';
import { blockhashWithMetadata, instruction, instructions, lookupTables } from './build-answer.ts';
import {
  decisive, lenientNumber, optional, wireAddress, wireAmount, wireBytes, wireInteger, wireLamports, wireList, wireMint,
  wirePositiveAmount, wireText, wireU64,
} from './fields.ts';
import { readPriceImpact } from './price-impact.ts';
import type { ReportUnread } from './read.ts';
import { malformed, readNoting, readWire } from './read.ts';
import type { PlatformFee, RoutePlanEntry } from './swap-terms.ts';
import { platformFee, routePlan } from './swap-terms.ts';

const WHAT = 'quote';

/** What a quote of V1 says. */
export interface QuoteTerms {
  readonly inputMint: Mint;
  readonly inAmount: Amount;
  readonly outputMint: Mint;
  /** After fees, before slippage. */
  readonly outAmount: Amount;
  /**
   * With ExactIn the least output after slippage, with ExactOut the most input. `/swap` makes its own of the slippage.
   */
  readonly threshold: Amount;
  readonly swapMode: string;
  readonly slippageBps: number;
  /**
   * Signed fraction, negative is worse. V1 tells no sign that could be trusted: whatever is lost or won counts as lost.
   */
  readonly priceImpact?: number | undefined;
  /** As it came. */
  readonly priceImpactPct?: number | undefined;
  readonly routePlan: readonly RoutePlanEntry[];
  readonly platformFee?: PlatformFee | undefined;
  readonly contextSlot?: bigint | undefined;
  /** In the service's unit, which the reference does not name; seconds where it was seen. */
  readonly timeTaken?: number | undefined;
  /** Market → the output it alone would give. */
  readonly mostReliableAmmsQuoteReport?: Readonly<Record<string, Amount>> | undefined;
  /** Optional members that came in a form that cannot be read, by name; they are missing above. */
  readonly unread: readonly string[];
}

/** The question that a quote has to answer. */
interface QuoteQuestion {
  readonly inputMint: Mint;
  readonly outputMint: Mint;
  readonly amount: Amount;
  readonly swapMode?: 'ExactIn' | 'ExactOut' | undefined;
}

const amountsByMarket = z.record(wireAddress, wireAmount);

const WireQuote = z.object({
  inputMint: wireMint,
  inAmount: wirePositiveAmount,
  outputMint: wireMint,
  outAmount: wirePositiveAmount,
  otherAmountThreshold: wireAmount,
  swapMode: wireText,
  slippageBps: wireInteger.refine((value) => value >= 0 && value <= 65_535, {
    error: 'expected 0 to 65535 basis points',
  }),
  priceImpactPct: lenientNumber,
  routePlan,
  platformFee,
  contextSlot: optional(wireU64),
  timeTaken: lenientNumber,
  // Hosts of later days put the map one level deeper.
  mostReliableAmmsQuoteReport: optional(
    z.union([amountsByMarket, z.object({ info: amountsByMarket }).transform(({ info }) => info)]),
  ),
});

/**
 * Returns the quote in an answer of V1. Throws SERVICE_MALFORMED where it contradicts itself or answers another
 * question.
 */
export function readQuote(
  answer: unknown, question: QuoteQuestion | undefined, report?: ReportUnread,
): QuoteTerms {
  const { value: wire, unread } = readNoting(WireQuote, answer, WHAT, report);
  const { otherAmountThreshold: threshold, ...terms } = wire;
  if (question !== undefined) checkAnswers(terms, question);
  if (wire.swapMode === 'ExactIn' && threshold > wire.outAmount) {
    throw malformed(`${WHAT}, otherAmountThreshold: expected at most the outAmount of ${wire.outAmount}`, threshold);
  }
  if (wire.swapMode === 'ExactOut' && threshold < wire.inAmount) {
    throw malformed(`${WHAT}, otherAmountThreshold: expected at least the inAmount of ${wire.inAmount}`, threshold);
  }
  return {
    ...terms, threshold, priceImpact: readPriceImpact({ priceImpactPct: wire.priceImpactPct })?.fraction, unread,
  };
}

function checkAnswers(
  terms: Pick<QuoteTerms, 'inputMint' | 'outputMint' | 'inAmount' | 'outAmount' | 'swapMode'>, question: QuoteQuestion,
): void {
  const { inputMint, outputMint, amount, swapMode = 'ExactIn' } = question;
  if (terms.inputMint !== inputMint) throw malformed(`${WHAT}, inputMint: expected ${inputMint}`, terms.inputMint);
  if (terms.outputMint !== outputMint) throw malformed(`${WHAT}, outputMint: expected ${outputMint}`, terms.outputMint);
  if (terms.swapMode !== swapMode) throw malformed(`${WHAT}, swapMode: expected ${swapMode}`, terms.swapMode);
  if (swapMode === 'ExactIn' && terms.inAmount !== amount)
    throw malformed(`${WHAT}, inAmount: expected the ${amount} asked for`, terms.inAmount);
  if (swapMode === 'ExactOut' && terms.outAmount < amount)
    throw malformed(`${WHAT}, outAmount: expected at least the ${amount} asked for`, terms.outAmount);
}

/** Why the service expects a transaction to fail: its sender would pay fees for nothing. */
interface SimulationError {
  readonly code?: string | undefined;
  /** Safe to print. */
  readonly message: string;
}

/** The service's estimate, where it was asked to choose the slippage. */
interface DynamicSlippageReport {
  readonly slippageBps?: number | undefined;
  readonly otherAmount?: Amount | undefined;
  readonly simulatedIncurredSlippageBps?: number | undefined;
  readonly amplificationRatio?: string | undefined;
}

/** What the answers of `/swap` and `/swap-instructions` have in common. */
interface QuoteSwapFacts {
  readonly prioritizationFeeLamports?: Lamports | undefined;
  readonly dynamicSlippageReport?: DynamicSlippageReport | undefined;
  /** Undefined where the service simulated without fault or not at all. */
  readonly simulationError?: SimulationError | undefined;
  readonly simulationSlot?: bigint | undefined;
  readonly computeUnitLimit?: number | undefined;
  /** Optional members that came in a form that cannot be read, by name; they are missing above. */
  readonly unread: readonly string[];
}

// The presence of an error counts, whatever its form is.
const simulationError = z.unknown().optional().transform((value): SimulationError | undefined => {
  if (value === undefined || value === null || value === false) return undefined;
  if (typeof value === 'string') return { message: printable(value) };
  const { errorCode, error } =
    (typeof value === 'object' ? value : {}) as { readonly errorCode?: unknown; readonly error?: unknown };
  return {
    code: typeof errorCode === 'string' || typeof errorCode === 'number' ? printable(String(errorCode), 60) : undefined,
    message: typeof error === 'string' && error !== '' ? printable(error) : 'the service gave no reason',
  };
});

/** The members that carry these facts. */
const quoteSwapShape = {
  prioritizationFeeLamports: optional(wireLamports),
  dynamicSlippageReport: optional(z.object({
    slippageBps: optional(wireInteger),
    otherAmount: optional(wireAmount),
    simulatedIncurredSlippageBps: optional(wireInteger),
    amplificationRatio: optional(z.union([wireText, z.number().transform(String)])),
  }).transform((report): DynamicSlippageReport => report)),
  simulationError,
  simulationSlot: optional(wireU64),
  computeUnitLimit: optional(wireInteger),
};

/** Returns these facts out of an answer. */
function quoteSwapFacts(
  wire: z.output<z.ZodObject<typeof quoteSwapShape>>, unread: readonly string[],
): QuoteSwapFacts {
  const {
    prioritizationFeeLamports, dynamicSlippageReport, simulationError: error, simulationSlot, computeUnitLimit,
  } = wire;
  return {
    prioritizationFeeLamports, dynamicSlippageReport, simulationError: error, simulationSlot, computeUnitLimit, unread,
  };
}

/** A transaction made of a quote of V1; with a `simulationError` it is not worth sending. */
export interface QuoteSwapAnswer extends QuoteSwapFacts {
  readonly transaction: Uint8Array;
  readonly lastValidBlockHeight: bigint;
}

const WireQuoteSwap = z.object({
  ...quoteSwapShape,
  swapTransaction: wireBytes.refine((bytes) => bytes.length > 0, { error: 'expected a transaction' }),
  lastValidBlockHeight: wireU64.refine((height) => height > 0n, { error: 'expected a positive block height' }),
});

/** Returns the transaction in an answer of V1's `/swap`. Throws SERVICE_MALFORMED. */
export function readQuoteSwap(answer: unknown, report?: ReportUnread): QuoteSwapAnswer {
  const { value: wire, unread } = readNoting(WireQuoteSwap, answer, 'swap', report);
  return {
    transaction: wire.swapTransaction, lastValidBlockHeight: wire.lastValidBlockHeight, ...quoteSwapFacts(wire, unread),
  };
}

/** The instructions of a quote of V1. */
export interface QuoteInstructionsAnswer extends QuoteSwapFacts {
  readonly tokenLedgerInstruction?: SwapInstruction | undefined;
  readonly computeBudgetInstructions: readonly SwapInstruction[];
  readonly setupInstructions: readonly SwapInstruction[];
  readonly swapInstruction: SwapInstruction;
  readonly cleanupInstruction?: SwapInstruction | undefined;
  readonly otherInstructions: readonly SwapInstruction[];
  /** Tables whose addresses have to be read from the chain. */
  readonly lookupTableAddresses: readonly string[];
  /** Table → the addresses it holds; on hosts of later days only. */
  readonly lookupTables?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Base58; on hosts of later days only. */
  readonly blockhash?: string | undefined;
  readonly lastValidBlockHeight?: bigint | undefined;
}

const WireInstructions = z.object({
  ...quoteSwapShape,
  tokenLedgerInstruction: decisive(instruction),
  computeBudgetInstructions: instructions,
  setupInstructions: instructions,
  swapInstruction: instruction,
  cleanupInstruction: decisive(instruction),
  otherInstructions: instructions,
  addressLookupTableAddresses: decisive(wireList(wireAddress, 256)),
  addressesByLookupTableAddress: lookupTables,
  blockhashWithMetadata: optional(blockhashWithMetadata),
});

/** Returns the instructions in an answer of V1's `/swap-instructions`. Throws SERVICE_MALFORMED. */
export function readQuoteInstructions(answer: unknown, report?: ReportUnread): QuoteInstructionsAnswer {
  const { value: wire, unread } = readNoting(WireInstructions, answer, 'swap-instructions', report);
  const tables = wire.addressesByLookupTableAddress;
  return {
    tokenLedgerInstruction: wire.tokenLedgerInstruction,
    computeBudgetInstructions: wire.computeBudgetInstructions,
    setupInstructions: wire.setupInstructions,
    swapInstruction: wire.swapInstruction,
    cleanupInstruction: wire.cleanupInstruction,
    otherInstructions: wire.otherInstructions,
    lookupTableAddresses: wire.addressLookupTableAddresses ?? Object.keys(tables ?? {}),
    lookupTables: tables,
    blockhash: wire.blockhashWithMetadata?.blockhash,
    lastValidBlockHeight: wire.blockhashWithMetadata?.lastValidBlockHeight,
    ...quoteSwapFacts(wire, unread),
  };
}

const WireLabels = z.record(wireAddress, wireText);

/**
 * Returns the names of markets by their program: the words for `dexes` and `excludeDexes`. Two programs may share one.
 * Throws SERVICE_MALFORMED.
 */
export function readLabels(answer: unknown): ReadonlyMap<string, string> {
  return new Map(Object.entries(readWire(WireLabels, answer, 'program-id-to-label')));
}
