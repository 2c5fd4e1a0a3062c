import { z } from 'zod';
import type { SwapRequest, SwapTerms } from '../../trading/swap-order.ts';
import { optional, optionalText, wireAmount, wireMint, wireNumber, wirePositiveAmount, wireText, wireU64 } from './fields.ts';
import { malformed } from './read.ts';

const bps = wireNumber.refine((value) => value >= 0 && value <= 10_000, { error: 'expected 0 to 10000 basis points' });

/** What the answers of `/order` and `/build` have in common. */
export const termsShape = {
  inputMint: wireMint,
  outputMint: wireMint,
  inAmount: wirePositiveAmount,
  outAmount: wirePositiveAmount,
  otherAmountThreshold: wireAmount,
  // A word instead of a number means that the service chooses it later; it is then unknown.
  slippageBps: optionalText(z.union([bps, z.string().regex(/^[a-z]+$/i).transform(() => undefined)])),
  priceImpact: optionalText(wireNumber.refine((value) => value >= -1 && value <= 1, { error: 'expected a fraction of -1 to 1' })),
  // Rounded up: it is something that we owe.
  feeBps: optional(bps.transform(Math.ceil)),
  router: optionalText(wireText),
  contextSlot: optional(wireU64),
};

type WireTerms = z.output<z.ZodObject<typeof termsShape>>;

/** Returns the terms of an answer. Throws SERVICE_MALFORMED where they contradict themselves or are not what was asked for. */
export function readTerms(wire: WireTerms, request: SwapRequest, router: string, what: string): SwapTerms {
  if (wire.inputMint !== request.inputMint) throw malformed(`${what}, inputMint: expected ${request.inputMint}`, wire.inputMint);
  if (wire.outputMint !== request.outputMint) throw malformed(`${what}, outputMint: expected ${request.outputMint}`, wire.outputMint);
  if (wire.inAmount !== request.amount) throw malformed(`${what}, inAmount: expected the ${request.amount} asked for`, wire.inAmount);
  if (wire.otherAmountThreshold > wire.outAmount) {
    throw malformed(`${what}, otherAmountThreshold: expected at most the outAmount of ${wire.outAmount}`, wire.otherAmountThreshold);
  }
  return {
    inputMint: wire.inputMint,
    outputMint: wire.outputMint,
    inAmount: wire.inAmount,
    outAmount: wire.outAmount,
    threshold: wire.otherAmountThreshold,
    slippageBps: wire.slippageBps,
    priceImpact: wire.priceImpact,
    feeBps: wire.feeBps ?? 0,
    router,
    contextSlot: wire.contextSlot,
  };
}
