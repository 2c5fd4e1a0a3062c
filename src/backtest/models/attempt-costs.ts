import type { Lamports } from '../../core/amount.ts';
import { mulDiv } from '../../core/amount.ts';
import { BASE_FEE } from '../../trading/simulated-landing.ts';
import type { AttemptCostModel } from '../../trading/simulation-model.ts';

const MICRO_LAMPORTS_PER_LAMPORT = 1_000_000n;

/** What an attempt costs in SOL, by what it is for. */
export interface AttemptCosts {
  readonly baseLamports: Lamports;
  readonly priorityLamports: Lamports;
  readonly tipLamports: Lamports;
  /** All of it. */
  readonly feeLamports: Lamports;
}

/**
 * Returns what an attempt costs, landed or failed: 5,000 lamports a signature, ceil(unit limit × price / 10^6) for
 * priority, by limit and not by use, and the tip; the latter two `priorityFactor` times, a whole number.
 */
export function attemptCosts(model: AttemptCostModel, priorityFactor = 1): AttemptCosts {
  const baseLamports = (BigInt(model.signatures) * BASE_FEE) as Lamports;
  const price = model.microLamportsPerUnit * BigInt(priorityFactor);
  const priorityLamports = mulDiv(BigInt(model.computeUnitLimit), price, MICRO_LAMPORTS_PER_LAMPORT, 'ceil') as Lamports;
  const tipLamports = (model.tipLamports * BigInt(priorityFactor)) as Lamports;
  return { baseLamports, priorityLamports, tipLamports, feeLamports: (baseLamports + priorityLamports + tipLamports) as Lamports };
}
