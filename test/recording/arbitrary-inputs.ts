import * as fc from 'fast-check';
import type { Amount, Bps, Lamports } from '../../src/core/amount.ts';
import { U64_MAX } from '../../src/core/amount.ts';
import { documentOf } from '../../src/core/document.ts';
import type { FeedHealth } from '../../src/market/event.ts';
import type { FeedEvent } from '../../src/market/feeds/registry.ts';
import type { OrderBook } from '../../src/market/order-book.ts';
import type { Quote } from '../../src/market/quote.ts';
import { rateOf } from '../../src/market/quote.ts';
import type { TokenStats } from '../../src/market/token-stats.ts';
import { TOKEN_STAT_NAMES } from '../../src/market/token-stats.ts';
import type { Mint } from '../../src/market/token.ts';
import type { Command } from '../../src/trading/engine-command.ts';
import type { Outcome } from '../../src/trading/intent.ts';
import type { Input } from '../../src/trading/step.ts';
import type { InputSource } from '../../src/recording/reader.ts';

/** Any text that UTF-8 can say, with controls, a leading byte order mark and characters beyond the first plane. */
const text =
  fc.oneof(fc.string({ unit: 'binary', maxLength: 12 }), fc.constantFrom('', '\ufeffmark', '💧', 'iris', 'a\u0000b'));
const mint = fc.constantFrom(
  'So11111111111111111111111111111111111111112', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  '9mintmintmintmintmintmintmintmint',
) as fc.Arbitrary<Mint>;
const amount = fc.oneof(
  fc.bigInt({ min: 0n, max: U64_MAX }), fc.constantFrom(0n, 1n, 2n ** 53n + 1n, U64_MAX),
) as fc.Arbitrary<Amount>;
const lamports = amount as fc.Arbitrary<unknown> as fc.Arbitrary<Lamports>;
const time = fc.integer({ min: 0, max: 4_000_000_000_000 });
const double = fc.double({ noNaN: true });
/** Events that are documents hold no other numbers. */
const jsonNumber = fc.double({ noNaN: true, noDefaultInfinity: true });
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });

/** `receivedAt` as a distance from the stamp: what is received waits, but not for weeks. */
const base = { feed: text, receivedAt: fc.integer({ min: -5_000, max: 5_000 }), eventAt: optional(time) };

const quote = fc.record({
  kind: fc.constant('quote' as const), ...base, inputMint: mint, outputMint: mint,
  inAmount: amount.filter((value) => value > 0n), outAmount: amount, threshold: amount,
  priceImpact: optional(double), contextSlot: optional(fc.bigInt({ min: 0n, max: U64_MAX })), router: text,
  feeBps: fc.integer({ min: 0, max: 10_000 }) as unknown as fc.Arbitrary<Bps>,
}).map((quote): Quote => ({ ...quote, rate: rateOf(quote.inAmount, quote.outAmount) }));

const levels = fc.array(
  fc.record({ priceMicroUsd: fc.integer({ min: 0, max: 1_000_000 }), size: double }, { noNullPrototype: true }),
  { maxLength: 5 },
);
const orderBook: fc.Arbitrary<OrderBook> =
  fc.record({ kind: fc.constant('order-book' as const), ...base, marketId: text, yes: levels, no: levels });

const tokenStats: fc.Arbitrary<TokenStats> = fc.record({
  kind: fc.constant('token-stats' as const), ...base, mint,
  values: fc.dictionary(fc.constantFrom(...TOKEN_STAT_NAMES), double, { noNullPrototype: true }),
});

/** Events without columns of their own: texts of any kind, cut and escaped, and amounts beyond 2^53. */
const document: fc.Arbitrary<FeedEvent> = fc.oneof(
  fc.record({
    kind: fc.constant('token-record' as const), ...base, mint,
    record: fc.record({
      id: mint, symbol: text, name: text, decimals: fc.nat(18), tags: fc.array(text, { maxLength: 3 }),
      audit: fc.record({ isSus: optional(fc.boolean()), topHoldersPercentage: optional(jsonNumber) }),
      values: fc.dictionary(fc.constantFrom(...TOKEN_STAT_NAMES), jsonNumber, { noNullPrototype: true }),
      stats7d: optional(fc.record({ priceChange: jsonNumber })),
    }),
  }),
  fc.record({
    kind: fc.constant('prediction-positions' as const), ...base, owner: text, total: fc.nat(),
    positions: fc.array(fc.record({ pubkey: text, isYes: fc.boolean(), contracts: amount, valueUsd: optional(amount) }),
      { maxLength: 3 }),
  }),
).map((event) => ({ ...documentOf(event), eventAt: event.eventAt }) as unknown as FeedEvent);

const finite = fc.nat();
const feedHealth: fc.Arbitrary<FeedHealth> = fc.record({
  kind: fc.constant('feed-health' as const), ...base, status: fc.constantFrom('healthy', 'degraded', 'down'),
  code: optional(text), message: optional(text), consecutiveFailures: finite,
});

const outcome: fc.Arbitrary<Outcome> = fc.record({
  kind: fc.constant('outcome' as const), intentId: text, attempt: finite,
  state: fc.constantFrom('building', 'signed', 'submitted', 'unknown', 'confirmed', 'failed', 'expired', 'abandoned'),
  router: optional(text), quotedOut: optional(amount), signature: optional(text), messageHash: optional(text),
  lastValidBlockHeight: optional(amount), feePayer: optional(text), code: optional(text), reason: optional(text),
  fill: optional(fc.record({
    inputMint: mint, outputMint: mint, amountIn: amount, amountOut: amount, feeLamports: lamports,
    rentLamports: lamports,
  }, { noNullPrototype: true })),
  feeLamports: optional(lamports),
});

const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    kind: fc.constant('command' as const), name: fc.constant('set-trading-state' as const),
    state: fc.constantFrom('active', 'reduce-only', 'halted'), reason: text,
  }),
  fc.record({
    kind: fc.constant('command' as const), name: fc.constant('set-service-access' as const),
    access: fc.constantFrom('granted', 'refused'), reason: text,
  }),
  fc.record({
    kind: fc.constant('command' as const), name: fc.constant('leap-time' as const), from: fc.nat(), reason: text,
  }),
);

/** An input with its stamp. */
export interface Stamped {
  readonly seq: number;
  readonly at: number;
  readonly input: Input;
}

/** Mostly within the hour: each file takes its time. */
const wait = fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0, max: 120_000 }) }, {
  weight: 1, arbitrary: fc.integer({ min: 0, max: 5_000_000 }),
});

/** Any inputs in the order of their stamps; numbers may leave gaps, for decisions have numbers of their own. */
export const stampedInputs: fc.Arbitrary<Stamped[]> = fc.array(
  fc.record({
    gap: fc.integer({ min: 1, max: 3 }), wait,
    input: fc.oneof(quote, orderBook, tokenStats, document, feedHealth, outcome, command),
  }),
  { maxLength: 40 },
).map((rows) => {
  let seq = 0;
  let at = 1_790_000_000_000;
  return rows.map(({ gap, wait, input }) => {
    seq += gap;
    at += wait;
    return { seq, at, input: 'receivedAt' in input ? { ...input, receivedAt: at - input.receivedAt } : input };
  });
});

/** Returns the member names of a union of inputs as plain data, absent members left out. */
export function plain(input: Input): unknown {
  const data = 'toJSON' in input && typeof input.toJSON === 'function' ? (input.toJSON as () => object)() : input;
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined));
}

/** An input with its stamp, as plain data. */
export interface PlainStamped {
  readonly seq: number;
  readonly at: number;
  readonly input: unknown;
}

/** Returns a stamped input as plain data. */
export function asPlain({ seq, at, input }: Stamped): PlainStamped {
  return { seq, at, input: plain(input) };
}

/** Returns all that a cursor comes by, as plain data. */
export function readBack(recording: InputSource, kinds?: Parameters<InputSource['cursor']>[0]): PlainStamped[] {
  const cursor = recording.cursor(kinds);
  const rows: PlainStamped[] = [];
  while (cursor.next()) rows.push({ seq: cursor.seq, at: cursor.at, input: plain(cursor.input) });
  return rows;
}
