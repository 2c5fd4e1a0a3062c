import { z } from 'zod';
import type { SwapInstruction } from '../../trading/swap-order.ts';
import { optional, wireAddress, wireList } from './fields.ts';
import { readShown } from './read-shown.ts';
import { blockhashWithMetadata } from './build-answer.ts';
import { instruction, instructions, lookupTables } from './swap-instruction.ts';
import type { QuoteSwapFacts } from './swap-simulation-v1.ts';
import { quoteSwapFacts, quoteSwapShape, SHOWN_FACTS } from './swap-simulation-v1.ts';

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
  tokenLedgerInstruction: optional(instruction),
  computeBudgetInstructions: instructions,
  setupInstructions: instructions,
  swapInstruction: instruction,
  cleanupInstruction: optional(instruction),
  otherInstructions: instructions,
  addressLookupTableAddresses: optional(wireList(wireAddress, 256)),
  addressesByLookupTableAddress: lookupTables,
  blockhashWithMetadata: optional(blockhashWithMetadata),
});

/** Returns the instructions in an answer of V1's `/swap-instructions`. Throws SERVICE_MALFORMED. */
export function readQuoteInstructions(answer: unknown): QuoteInstructionsAnswer {
  const { value: wire, unread } =
    readShown(WireInstructions, answer, { what: 'swap-instructions', shown: SHOWN_FACTS });
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
