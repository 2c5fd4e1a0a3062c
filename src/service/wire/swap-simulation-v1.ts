import { z } from 'zod';
import type { Amount, Lamports } from '../../core/amount.ts';
import { printable } from '../../core/text.ts';
import { optional, optionalText, wireAmount, wireInteger, wireLamports, wireText, wireU64 } from './fields.ts';

/** Why the service expects a transaction to fail: whoever sends it pays for nothing. */
export interface SimulationError {
  readonly code?: string | undefined;
  /** Safe to print. */
  readonly message: string;
}

/** What the service estimated where it was asked for a slippage of its own choice. */
export interface DynamicSlippageReport {
  readonly slippageBps?: number | undefined;
  readonly otherAmount?: Amount | undefined;
  readonly simulatedIncurredSlippageBps?: number | undefined;
  readonly amplificationRatio?: string | undefined;
}

/** What the answers of `/swap` and `/swap-instructions` have in common. */
export interface QuoteSwapFacts {
  readonly prioritizationFeeLamports?: Lamports | undefined;
  readonly dynamicSlippageReport?: DynamicSlippageReport | undefined;
  /** Undefined where the service simulated without fault or not at all. */
  readonly simulationError?: SimulationError | undefined;
  readonly simulationSlot?: bigint | undefined;
  readonly computeUnitLimit?: number | undefined;
  /** Members for people that came in a form that cannot be read; they are missing above. */
  readonly unread: readonly string[];
}

// That there is an error counts, whatever form it has.
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
export const quoteSwapShape = {
  prioritizationFeeLamports: optional(wireLamports),
  dynamicSlippageReport: optional(z.object({
    slippageBps: optional(wireInteger),
    otherAmount: optional(wireAmount),
    simulatedIncurredSlippageBps: optional(wireInteger),
    amplificationRatio: optionalText(z.union([wireText, z.number().transform(String)])),
  }).transform((report): DynamicSlippageReport => report)),
  simulationError,
  simulationSlot: optional(wireU64),
  computeUnitLimit: optional(wireInteger),
};

/** The members of these that nothing is decided by. */
export const SHOWN_FACTS: ReadonlySet<string> =
  new Set(['prioritizationFeeLamports', 'dynamicSlippageReport', 'simulationSlot', 'computeUnitLimit']);

/** Returns these facts out of an answer. */
export function quoteSwapFacts(
  wire: z.output<z.ZodObject<typeof quoteSwapShape>>, unread: readonly string[],
): QuoteSwapFacts {
  const {
    prioritizationFeeLamports, dynamicSlippageReport, simulationError: error, simulationSlot, computeUnitLimit,
  } = wire;
  return {
    prioritizationFeeLamports, dynamicSlippageReport, simulationError: error, simulationSlot, computeUnitLimit, unread,
  };
}
