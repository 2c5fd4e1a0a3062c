import * as fc from 'fast-check';

/** The tokens of a story. */
export const SYMBOLS = ['SOL', 'USDC', 'PEARL', 'KELP', 'TIDE', 'BUOY', 'LHSOL'] as const;
/** About what a dollar buys, in smallest units, of each but SOL. */
export const UNITS_PER_USD = [1_000_000, 400_000, 5_000_000_000, 1_500, 1_300_000, 5_000_000] as const;
export const ROUTERS = ['iris', 'rfqz', 'routerA', 'routerB'] as const;

/** What may be asked of a sandbox, or happen to it. */
export type Step =
  | {
    readonly kind: 'order'; readonly trader: number; readonly pair: readonly [number, number]; readonly share: number;
    readonly extras: Extras;
  }
  | { readonly kind: 'execute'; readonly age: number; readonly signs: 'all' | 'none' | 'another' }
  | { readonly kind: 'send'; readonly age: number }
  | {
    readonly kind: 'quote'; readonly trader: number; readonly pair: readonly [number, number]; readonly share: number;
    readonly swapMode: 'ExactIn' | 'ExactOut';
  }
  | { readonly kind: 'swap'; readonly age: number; readonly dynamicSlippage: boolean }
  | { readonly kind: 'price'; readonly symbol: number; readonly factor: number }
  | { readonly kind: 'time'; readonly slots: number };

export interface Extras {
  readonly slippageBps?: number | undefined;
  readonly payer?: true | undefined;
  readonly receiver?: true | undefined;
  readonly referralFee?: number | undefined;
  readonly priorityFeeLamports?: number | undefined;
  readonly bundleTipLamports?: number | undefined;
  readonly only?: (typeof ROUTERS)[number] | undefined;
}

const pair = fc.uniqueArray(fc.nat(SYMBOLS.length - 1), { minLength: 2, maxLength: 2 })
  .map(([a, b]) => [a!, b!] as const);
const rarely = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });
const extras: fc.Arbitrary<Extras> = fc.record({
  slippageBps: fc.option(fc.constantFrom(0, 5, 300, 10_000), { nil: undefined }),
  payer: rarely(fc.constant(true)), receiver: rarely(fc.constant(true)),
  referralFee: rarely(fc.integer({ min: 50, max: 255 })),
  priorityFeeLamports: rarely(fc.nat(300_000)), bundleTipLamports: rarely(fc.nat(300_000)),
  only: rarely(fc.constantFrom(...ROUTERS)),
});
/** The newest mostly, and at times one that others have overtaken. */
const AGE = fc.constantFrom(0, 0, 0, 1, 2, 5);
/** Any step, those that move money mostly. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({
    kind: fc.constant('order' as const), trader: fc.nat(2), pair, share: fc.integer({ min: 1, max: 100 }), extras,
  }) },
  { weight: 6, arbitrary: fc.record({
    kind: fc.constant('execute' as const), age: AGE,
    signs: fc.constantFrom('all' as const, 'all' as const, 'all' as const, 'none' as const, 'another' as const),
  }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('send' as const), age: AGE }) },
  { weight: 2, arbitrary: fc.record({
    kind: fc.constant('quote' as const), trader: fc.nat(1), pair, share: fc.integer({ min: 1, max: 100 }),
    swapMode: fc.constantFrom('ExactIn' as const, 'ExactOut' as const),
  }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('swap' as const), age: AGE, dynamicSlippage: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({
    kind: fc.constant('price' as const), symbol: fc.integer({ min: 2, max: SYMBOLS.length - 1 }),
    factor: fc.double({ min: 0.97, max: 1.03, noNaN: true }),
  }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('time' as const), slots: fc.constantFrom(1, 3, 155) }) },
);
