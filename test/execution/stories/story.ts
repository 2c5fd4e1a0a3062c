import * as fc from 'fast-check';
import type { Resolution } from '../../../src/execution/operator-resolution.ts';
import type { Fate } from './model-chain.ts';
import type { NodeLie } from './lying-node.ts';
import { NODE_LIES } from './lying-node.ts';
import type { Trick } from './model-service.ts';
import type { Weather } from './weather.ts';

/** What happens to a daemon and its fixture; from it and the code everything else follows. */
export interface Story {
  readonly seed: number;
  readonly swaps: readonly SwapPlan[];
  readonly weathers: readonly Weather[];
  readonly fates: readonly Fate[];
  readonly tricks: readonly Trick[];
  readonly crashes: readonly Crash[];
  readonly words: readonly Word[];
  readonly jumps: readonly { readonly at: number; readonly byMs: number }[];
  readonly deposits: readonly { readonly at: number; readonly token: number; readonly amount: number }[];
  /** Of slots without a block. */
  readonly skipped: number;
  /** Where it is there, there is a second node, which lies for a while at a time. */
  readonly secondNode?: readonly NodeLies[] | undefined;
}

/** What the second node says for a while; nothing is true. */
export interface NodeLies {
  readonly forMs: number;
  readonly lies: readonly NodeLie[];
}

/** What a strategy wants. */
export interface SwapPlan {
  readonly at: number;
  readonly strategy: number;
  readonly exits: boolean;
  readonly token: number;
  readonly route: 'order' | 'build';
  /** Of the budget. */
  readonly percent: number;
  readonly key?: string | undefined;
}

/** A process ends at its nth crash point, or after some time, and the next one begins a while later. */
export interface Crash {
  readonly after: { readonly points: number } | { readonly ms: number };
  readonly downMs: number;
  /** A strategy that the next process does not have. */
  readonly retires?: number | undefined;
}

/** What an operator says of the oldest open swap, to the daemon or, where none runs, to its journal. */
export interface Word {
  readonly at: number;
  readonly as: Resolution['as'];
}

const TOKENS = 3;
const STORY_MS = 240_000;
const at = fc.nat({ max: STORY_MS });
const share = fc.constantFrom(0, 0, 0, 0.05, 0.1, 0.4);

const swap: fc.Arbitrary<SwapPlan> = fc.record({
  at: fc.oneof(fc.nat({ max: 5_000 }), fc.nat({ max: 60_000 }), at),
  strategy: fc.nat({ max: TOKENS - 1 }),
  exits: fc.boolean(),
  token: fc.nat({ max: TOKENS - 1 }),
  route: fc.constantFrom('order', 'build'),
  percent: fc.constantFrom(10, 30, 90),
  key: fc.constantFrom(undefined, 'first', 'second'),
});

const weather: fc.Arbitrary<Weather> = fc.record({
  forMs: fc.integer({ min: 500, max: 120_000 }),
  faults: share,
  lost: share,
  slow: share,
  slowMs: fc.constantFrom(300, 3_000, 20_000),
  lies: share,
  leaps: fc.constantFrom(0, 0, 0, 0.02, 0.3),
  holes: fc.constantFrom(false, false, false, true),
  node: fc.constantFrom<Pick<Weather, 'lags' | 'wrongHeights'>>(
    ...[[0], [0, 3], [0, 40], [0, 200], [200], [3, 0, 60]].map((lags) => ({ lags, wrongHeights: 0 })),
    // A node that is minutes behind and whose heights are wrong too is not one that can prove anything.
    ...[[0], [40], [0, 40]].flatMap((lags) => [{ lags, wrongHeights: 0.3 }, { lags, wrongHeights: 1 }]),
  ),
}).map(({ node, ...rest }) => ({ ...rest, ...node }));

const fate: fc.Arbitrary<Fate> = fc.record({
  drops: fc.constantFrom(0, 0, 0, 1, 3, 20),
  lands: fc.oneof(fc.constantFrom('last' as const, 'never' as const, 1), fc.integer({ min: 0, max: 150 })),
  error: fc.constantFrom(undefined, undefined, undefined, '6001', '42'),
  forks: fc.constantFrom(false, false, false, true),
  tipLamports: fc.constantFrom(0n, 0n, 70_000n),
  indexLateMs: fc.constantFrom(0, 0, 1_000, 5_000),
  givenLateMs: fc.constantFrom(0, 0, 2_000, 90_000),
});

const often = <T>(usual: T, ...odd: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: fc.constant(usual), weight: 7 }, { arbitrary: fc.constantFrom(...odd), weight: 1 });

const trick: fc.Arbitrary<Trick> = fc.record({
  ageBlocks: often(0, 10, 31, 100, 148, 152, 180, 400),
  offBlocks: often(0, 1, 100, 220, 1_000, -1, -30, -149),
  repeats: often(false, true),
  payer: fc.constantFrom('us', 'us', 'sponsor'),
  breaks: often<Trick['breaks']>(undefined, 'taker', 'amount', 'nothing'),
});

const crash: fc.Arbitrary<Crash> = fc.record({
  after: fc.oneof(
    fc.record({ points: fc.nat({ max: 60 }) }), fc.record({ points: fc.nat({ max: 60 }) }),
    fc.record({ points: fc.nat({ max: 900 }) }), fc.record({ ms: fc.nat({ max: 150_000 }) }),
  ),
  downMs: fc.oneof(fc.nat({ max: 2_000 }), fc.nat({ max: 200_000 })),
  retires: fc.constantFrom(undefined, undefined, undefined, 0, 1, 2),
});

/** Stories of all kinds; they shrink towards a daemon that swaps once on a good day. */
export const story: fc.Arbitrary<Story> = fc.record({
  seed: fc.nat(),
  swaps: fc.array(swap, { minLength: 1, maxLength: 8 }),
  weathers: fc.array(weather, { maxLength: 4 }),
  fates: fc.array(fate, { maxLength: 8 }),
  tricks: fc.array(trick, { maxLength: 10 }),
  crashes: fc.array(crash, { maxLength: 5 }),
  words: fc.array(fc.record({ at, as: fc.constantFrom('landed', 'failed', 'expired', 'abandoned') }), { maxLength: 3 }),
  jumps: fc.array(
    fc.record({ at, byMs: fc.constantFrom(-28_800_000, -3_000, 4_000, 200_000, 28_800_000) }), { maxLength: 2 },
  ),
  deposits: fc.array(
    fc.record({ at, token: fc.nat({ max: TOKENS - 1 }), amount: fc.nat({ max: 100_000_000 }) }), { maxLength: 2 },
  ),
  skipped: fc.constantFrom(0, 0.05, 0.3),
})
  // Where the history lacks a swap, only the wallet's balance shows it, and a deposit hides what is
  // missing.
  .map((told) => (told.weathers.some(({ holes }) => holes) ? { ...told, deposits: [] } : told));

const nodeLies: fc.Arbitrary<NodeLies> = fc.record({
  forMs: fc.constantFrom(2_000, 20_000, 60_000, 120_000, 200_000), lies: fc.subarray([...NODE_LIES]),
});

/** Stories of two nodes: one lies; the other one lags, loses answers and finds things late, but does not lie. */
export const storyOfTwoNodes: fc.Arbitrary<Story> = fc.record({
  told: story, secondNode: fc.array(nodeLies, { minLength: 1, maxLength: 5 }),
}).map(({ told, secondNode }) => ({
  ...told, secondNode,
  // A resolution by an operator decides where nodes do not.
  words: [], weathers: told.weathers.map((weather) => ({ ...weather, holes: false, leaps: 0, wrongHeights: 0 })),
}));
