import type { Millis } from '../../core/time.ts';
import type { Mint } from '../../market/token.ts';
import type { RecordedSwap, SimulationModel } from '../../trading/simulation-model.ts';
import type { QuoteLadder } from './quote-ladder.ts';
import { outputBetween, outputOf } from './quote-ladder.ts';

/** What own swaps have taken out of a recorded market, which knows nothing of them, and which others fill up again. */
export interface OwnImpact {
  /** Remembers a swap that landed at `at`; instants may not fall. */
  add(inputMint: Mint, outputMint: Mint, inAmount: bigint, at: Millis): void;
  /** Returns how much of earlier swaps in this direction the market still has in it, smallest units, rounded. */
  left(inputMint: Mint, outputMint: Mint, at: Millis): bigint;
}

/** An amount that landed at an instant, as far as it has no counterpart yet. */
interface Lot {
  readonly at: Millis;
  amount: bigint;
}

interface Trace {
  /** What is left of everything before `at`, as of `at`. */
  faded: number;
  /** What landed at `at` itself. */
  fresh: bigint;
  at: Millis;
  /** Swaps of the simulation without a counterpart in the recording, and the reverse; oldest first. */
  readonly simulated: Lot[];
  readonly recorded: Lot[];
  /** Swaps that the recording's run landed in this direction, in order of time, and how many of them are known by now. */
  readonly history: readonly RecordedSwap[];
  known: number;
}

/**
 * Returns the memory of own swaps: λ of each, fading by e^(-Δt/θ). Swaps of one instant do not see one another, so that it
 * does not matter in which order they are carried out. What is sold does not undo what was bought: that would be too kind.
 *
 * `recorded` are swaps that the recording's own run landed: its quotes have their impact already. A simulated swap that has
 * such a counterpart within `pairingMs`, before or after it, is left out; of the two the same amount counts once. A recorded
 * swap is known from its own instant on, never before it.
 */
export function createOwnImpact({ share, decayMs }: SimulationModel['ownImpact'], { recorded = [], pairingMs = decayMs }: {
  readonly recorded?: readonly RecordedSwap[] | undefined;
  readonly pairingMs?: Millis;
} = {}): OwnImpact {
  const traces = new Map<Mint, Map<Mint, Trace>>();
  const fade = (since: Millis, now: Millis): number => Math.exp((since - now) / decayMs);
  const fadedAt = ({ faded, fresh, at }: Trace, now: Millis): number => (now <= at ? faded : (faded + Number(fresh)) * fade(at, now));

  const traceOf = (inputMint: Mint, outputMint: Mint): Trace => {
    const outputs = traces.get(inputMint) ?? new Map<Mint, Trace>();
    traces.set(inputMint, outputs);
    const known = outputs.get(outputMint);
    if (known !== undefined) return known;
    const history = recorded.filter((swap) => swap.inputMint === inputMint && swap.outputMint === outputMint);
    const trace: Trace = { faded: 0, fresh: 0n, at: -Infinity, simulated: [], recorded: [], history, known: 0 };
    outputs.set(outputMint, trace);
    return trace;
  };
  /** Takes what has a counterpart out of the trace; swaps of the trace's own instant are apart. */
  const leaveOut = (trace: Trace, amount: bigint, landedAt: Millis): void => {
    if (landedAt === trace.at) trace.fresh -= amount;
    else trace.faded = Math.max(0, trace.faded - Number(amount) * fade(landedAt, trace.at));
  };
  /** Takes note of what the recording's run had landed by then. */
  const learn = (trace: Trace, now: Millis): void => {
    for (let swap = trace.history[trace.known]; swap !== undefined && swap.at <= now; swap = trace.history[trace.known]) {
      trace.known += 1;
      const { at, inAmount } = swap;
      const rest = pair(trace.simulated, { amount: inAmount, at, pairingMs }, (amount, landedAt) => { leaveOut(trace, amount, landedAt); });
      if (rest > 0n) trace.recorded.push({ at, amount: rest });
    }
  };

  return {
    add(inputMint, outputMint, inAmount, at) {
      const trace = traceOf(inputMint, outputMint);
      learn(trace, at);
      const rest = pair(trace.recorded, { amount: inAmount, at, pairingMs });
      if (rest === 0n) return;
      if (trace.at === at) trace.fresh += rest;
      else {
        trace.faded = fadedAt(trace, at);
        trace.fresh = rest;
        trace.at = at;
      }
      if (trace.history.length > 0) trace.simulated.push({ at, amount: rest });
    },
    left(inputMint, outputMint, at) {
      if (share === 0) return 0n;
      const trace = traces.get(inputMint)?.get(outputMint);
      if (trace === undefined) return 0n;
      learn(trace, at);
      return BigInt(Math.round(share * fadedAt(trace, at)));
    },
  };
}

/** Takes an amount from the lots of the other side that are near enough, oldest first; returns what no lot covers. Lots that are too old are forgotten. */
function pair(lots: Lot[], { amount, at, pairingMs }: Lot & { readonly pairingMs: Millis }, taken?: (amount: bigint, landedAt: Millis) => void): bigint {
  let rest = amount;
  while (lots[0] !== undefined && rest > 0n) {
    const [lot] = lots;
    if (at - lot.at <= pairingMs) {
      const part = lot.amount < rest ? lot.amount : rest;
      taken?.(part, lot.at);
      rest -= part;
      lot.amount -= part;
    } else lot.amount = 0n;
    if (lot.amount === 0n) lots.shift();
  }
  return rest;
}

/**
 * Returns what a size brings where `taken` is in the market already: out(taken + size) - out(taken), exact for a
 * constant-product pool; never more than it would bring by itself. Beyond the largest rung the ladder goes on as it does
 * anywhere (`outputOf`), and below the smallest as `outputBetween` has it; both are for the caller to mark.
 */
export function outputAfter(ladder: QuoteLadder, taken: bigint, size: bigint): bigint {
  const alone = outputOf(ladder, size);
  if (taken === 0n) return alone;
  const after = outputBetween(ladder, taken, taken + size);
  return after < 0n ? 0n : after < alone ? after : alone;
}
