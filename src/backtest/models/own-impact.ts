import type { Millis } from '../../core/time.ts';
import type { Mint } from '../../market/token.ts';
import type { SimulationModel } from '../../trading/simulation-model.ts';
import type { QuoteLadder } from './quote-ladder.ts';
import { outputOf } from './quote-ladder.ts';

/** What own swaps have taken out of a recorded market, which knows nothing of them, and which others fill up again. */
export interface OwnImpact {
  /** Remembers a swap that landed at `at`; instants may not fall. */
  add(inputMint: Mint, outputMint: Mint, inAmount: bigint, at: Millis): void;
  /** Returns how much of earlier swaps in this direction the market still has in it, smallest units, rounded. */
  left(inputMint: Mint, outputMint: Mint, at: Millis): bigint;
}

interface Trace {
  /** What is left of everything before `at`, as of `at`. */
  faded: number;
  /** What landed at `at` itself. */
  fresh: bigint;
  at: Millis;
}

/**
 * Returns the memory of own swaps: λ of each, fading by e^(-Δt/θ). Swaps of one instant do not see one another, so that it
 * does not matter in which order they are carried out. What is sold does not undo what was bought: that would be too kind.
 */
export function createOwnImpact({ share, decayMs }: SimulationModel['ownImpact']): OwnImpact {
  const traces = new Map<Mint, Map<Mint, Trace>>();
  const fadedAt = ({ faded, fresh, at }: Trace, now: Millis): number =>
    (now <= at ? faded : (faded + Number(fresh)) * Math.exp((at - now) / decayMs));
  return {
    add(inputMint, outputMint, inAmount, at) {
      const outputs = traces.get(inputMint) ?? new Map<Mint, Trace>();
      traces.set(inputMint, outputs);
      const trace = outputs.get(outputMint);
      if (trace === undefined) outputs.set(outputMint, { faded: 0, fresh: inAmount, at });
      else if (at === trace.at) trace.fresh += inAmount;
      else outputs.set(outputMint, { faded: fadedAt(trace, at), fresh: inAmount, at });
    },
    left(inputMint, outputMint, at) {
      const trace = traces.get(inputMint)?.get(outputMint);
      return trace === undefined || share === 0 ? 0n : BigInt(Math.round(share * fadedAt(trace, at)));
    },
  };
}

/**
 * Returns what a size brings where `taken` is in the market already: out(taken + size) - out(taken), exact for a
 * constant-product pool; never more than it would bring by itself. Beyond the largest rung the ladder goes on as it does
 * anywhere (`outputOf`): only the size that is asked for is held to it.
 */
export function outputAfter(ladder: QuoteLadder, taken: bigint, size: bigint): bigint {
  const alone = outputOf(ladder, size);
  if (taken === 0n) return alone;
  const after = outputOf(ladder, taken + size) - outputOf(ladder, taken, 'ceil');
  return after < 0n ? 0n : after < alone ? after : alone;
}
