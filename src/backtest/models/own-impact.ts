import type { Millis } from '../../core/time.ts';
import type { Mint } from '../../market/token.ts';
import type { RecordedSwap, SimulationModel } from '../../trading/simulation-model.ts';
import type { QuoteLadder } from './quote-ladder.ts';
import { outputBetween, outputOf } from './quote-ladder.ts';

/**
 * What own swaps have taken out of a recorded market. The recording does not contain it, and other traders refill it.
 */
export interface OwnImpact {
  /** Remembers a swap that landed at `at`; instants may not decrease. */
  add(inputMint: Mint, outputMint: Mint, inAmount: bigint, at: Millis): void;
  /** Returns how much of earlier swaps in this direction still displaces the market, smallest units, rounded. */
  left(inputMint: Mint, outputMint: Mint, at: Millis): bigint;
}

interface Trace {
  /** The remainder of all swaps before `at`, as of `at`. */
  faded: number;
  /** The amount that landed at `at` itself. */
  fresh: bigint;
  at: Millis;
}

/** The swaps in one direction: of the simulation, and of the run that made the recording. */
interface Direction {
  readonly simulated: Trace;
  readonly recorded: Trace;
  /** The swaps that the run landed, in order of time, and how many of them are known by now. */
  readonly history: readonly RecordedSwap[];
  known: number;
}

/**
 * A recorded swap offsets twice its amount. A simulated run has other luck and other latencies: for a while it is a few
 * swaps ahead of the recorded run or behind it, and at one recorded size those few would cost it too much.
 */
const RECORDED_STAND_FOR = 2;

/**
 * Returns the memory of own swaps: λ of each, fading by e^(-Δt/θ). Swaps of one instant do not affect each other, so
 * that the order of execution does not matter. A sale does not undo the impact of a purchase: that would be too
 * optimistic.
 *
 * `recorded` are the swaps that the recorded run landed. Its quotes contain their impact already, so that only what the
 * simulation swaps beyond them counts. A recorded swap is known from its own instant on, never before it.
 */
export function createOwnImpact(
  { share, decayMs }: SimulationModel['ownImpact'], recorded: readonly RecordedSwap[] = [],
): OwnImpact {
  const directions = new Map<Mint, Map<Mint, Direction>>();
  const fadedAt = ({ faded, fresh, at }: Trace, now: Millis): number =>
    (now <= at ? faded : (faded + Number(fresh)) * Math.exp((at - now) / decayMs));
  const put = (trace: Trace, amount: bigint, at: Millis): void => {
    if (at === trace.at) trace.fresh += amount;
    else Object.assign(trace, { faded: fadedAt(trace, at), fresh: amount, at } satisfies Trace);
  };
  const directionOf = (inputMint: Mint, outputMint: Mint): Direction => {
    const outputs = directions.get(inputMint) ?? new Map<Mint, Direction>();
    directions.set(inputMint, outputs);
    const known = outputs.get(outputMint);
    if (known !== undefined) return known;
    const direction: Direction = {
      simulated: emptyTrace(), recorded: emptyTrace(), known: 0,
      history: recorded.filter((swap) => swap.inputMint === inputMint && swap.outputMint === outputMint),
    };
    outputs.set(outputMint, direction);
    return direction;
  };
  /** Returns what still displaces the market of the run's swaps until then, the swaps of that very instant included. */
  const recordedAt = (direction: Direction, now: Millis): number => {
    const { history, recorded: trace } = direction;
    if (history.length === 0) return 0;
    for (let swap = history[direction.known]; swap !== undefined && swap.at <= now; swap = history[direction.known]) {
      direction.known += 1;
      put(trace, swap.inAmount, swap.at);
    }
    return fadedAt(trace, now) + (now === trace.at ? Number(trace.fresh) : 0);
  };

  return {
    add(inputMint, outputMint, inAmount, at) {
      put(directionOf(inputMint, outputMint).simulated, inAmount, at);
    },
    left(inputMint, outputMint, at) {
      const direction = directions.get(inputMint)?.get(outputMint);
      if (direction === undefined || share === 0) return 0n;
      const beyond = fadedAt(direction.simulated, at) - RECORDED_STAND_FOR * recordedAt(direction, at);
      return beyond <= 0 ? 0n : BigInt(Math.round(share * beyond));
    },
  };
}

function emptyTrace(): Trace {
  return { faded: 0, fresh: 0n, at: -Infinity };
}

/**
 * Returns the output of a size where `taken` displaces the market already: out(taken + size) - out(taken), exact for a
 * constant-product pool, and never more than the output of the size alone. Beyond the largest rung it extrapolates as
 * `outputOf` does, below the smallest as `outputBetween` does; the caller marks both.
 */
export function outputAfter(ladder: QuoteLadder, taken: bigint, size: bigint): bigint {
  const alone = outputOf(ladder, size);
  if (taken === 0n) return alone;
  const after = outputBetween(ladder, taken, taken + size);
  return after < 0n ? 0n : after < alone ? after : alone;
}
