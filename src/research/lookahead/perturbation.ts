import type { InputCursor } from '../../backtest/driver.ts';
import type { Amount } from '../../core/amount.ts';
import type { Random } from '../../core/random.ts';
import { normal, seededRandom } from '../../core/random.ts';
import type { Millis } from '../../core/time.ts';
import type { FeedKey } from '../../market/event-base.ts';
import type { FeedHealth } from '../../market/event.ts';
import type { BookLevel } from '../../market/order-book.ts';
import { ONE_USD } from '../../market/order-book.ts';
import type { Quote } from '../../market/quote.ts';
import { rateOf } from '../../market/quote.ts';
import type { Input } from '../../trading/step.ts';

/**
 * How the future is perturbed. `noise`: the same rows at the same times with other values. `truncation`: no future at
 * all. `reversal`: the values of each feed in reverse order at the same times.
 */
export const PERTURBATIONS = ['noise', 'truncation', 'reversal'] as const;
export type PerturbationKind = (typeof PERTURBATIONS)[number];

/** A perturbation of everything from an instant on. */
export interface Perturbation {
  readonly kind: PerturbationKind;
  /** The first instant of the future. */
  readonly from: Millis;
  readonly seed: number;
}

const NOTHING_YET: Input = {
  kind: 'command', name: 'set-trading-state', state: 'active', reason: 'the cursor has not moved yet',
};

/** The feed of the row that ends a recording in which no feed has been seen yet. */
const NO_FEED: FeedKey = 'feed-health:none';

/** A longer future is reversed in pieces, to limit memory. */
const REVERSED_MAX = 500_000;

/** A row of a recording, as a cursor yields it. */
interface Row {
  readonly at: Millis;
  readonly input: Input;
}

/**
 * Returns a cursor over the same rows before the perturbation's instant, and over at most `most` perturbed rows after
 * it.
 */
export function perturbed(cursor: InputCursor, perturbation: Perturbation, most = Infinity): InputCursor {
  return new PerturbedCursor(cursor, perturbation, most);
}

/** Most rows of most passes come before the perturbation: they are passed on unchanged. */
class PerturbedCursor implements InputCursor {
  at: Millis = 0;
  input: Input = NOTHING_YET;
  readonly #cursor: InputCursor;
  readonly #perturbation: Perturbation;
  readonly #most: number;
  #future: Iterator<Row> | undefined;
  #feed: FeedKey | undefined;

  constructor(cursor: InputCursor, perturbation: Perturbation, most: number) {
    this.#cursor = cursor;
    this.#perturbation = perturbation;
    this.#most = most;
  }

  next(): boolean {
    const cursor = this.#cursor;
    if (this.#future === undefined) {
      const stands = cursor.next();
      if (stands && cursor.at < this.#perturbation.from) {
        this.at = cursor.at;
        const input = this.input = cursor.input;
        if (this.#feed === undefined && 'feed' in input) this.#feed = input.feed;
        return true;
      }
      this.#future = futureOf(cursor, { ...this.#perturbation, stands, feed: this.#feed, most: this.#most });
    }
    const { done, value } = this.#future.next();
    if (done === true) return false;
    this.at = value.at;
    this.input = value.input;
    return true;
  }
}

/** The perturbed rows from the cursor's current row on; `stands` says whether it has one. */
function* futureOf(cursor: InputCursor, { kind, from, seed, stands, feed, most }: Perturbation & {
  readonly stands: boolean;
  readonly feed: FeedKey | undefined;
  readonly most: number;
}): Generator<Row> {
  if (kind === 'truncation') {
    // A row that no strategy receives advances the time, so that timers due before the end still fire.
    const input: FeedHealth = {
      kind: 'feed-health', feed: feed ?? NO_FEED, receivedAt: from, status: 'healthy', consecutiveFailures: 0,
    };
    yield { at: from, input };
    return;
  }
  const random = seededRandom(`${seed}:${kind}:${from}`);
  const future: Row[] = [];
  let rows = 0;
  for (let more = stands; more && rows < most; more = cursor.next()) {
    rows += 1;
    const { at, input } = cursor;
    if (kind === 'noise') yield { at, input: noisy(input, random) };
    else if (future.push({ at, input }) === REVERSED_MAX) yield* reversed(future.splice(0));
  }
  yield* reversed(future);
}

/** Each feed keeps its times, so that no row comes twice or at a new time. */
function* reversed(future: readonly Row[]): Generator<Row> {
  const byFeed = new Map<string, Input[]>();
  for (const { input } of future) {
    const own = byFeed.get(feedOf(input));
    if (own === undefined) byFeed.set(feedOf(input), [input]);
    else own.push(input);
  }
  for (const { at, input } of future) yield { at, input: placedAt(byFeed.get(feedOf(input))!.pop()!, input) };
}

function feedOf(input: Input): string {
  return 'feed' in input ? `${input.kind} ${input.feed}` : input.kind;
}

/** Standard deviation of the logarithm of the factors: far more than a market moves from row to row. */
const NOISE = 0.7;

/** Returns an input of the same feed at the same time with other values. */
function noisy(input: Input, random: Random): Input {
  if (input.kind === 'quote') return scaledQuote(plainQuote(input), factor(random));
  if (input.kind === 'order-book') {
    const [yes, no] = [input.yes, input.no].map((levels) => levels.map((level) => noisyLevel(level, random)));
    return { ...input, yes: yes!, no: no! };
  }
  if (input.kind === 'command') {
    if (input.name !== 'judge-token') return input;
    return { ...input, findings: input.findings.length > 0 ? [] : ['PERTURBED'] };
  }
  return input.kind === 'feed-health' || input.kind === 'outcome' ? input : noisyDocument(input, random);
}

/** Returns an input's values at the time of another input of its feed. */
function placedAt(input: Input, place: Input): Input {
  if (!('receivedAt' in input && 'receivedAt' in place)) return input;
  const { receivedAt, eventAt } = place;
  if (input.kind === 'quote' && place.kind === 'quote') {
    return { ...plainQuote(input), receivedAt, eventAt, contextSlot: place.contextSlot };
  }
  return { ...input, receivedAt, eventAt };
}

/** A recorded quote has accessors, which a spread would not copy. */
function plainQuote({
  kind, feed, receivedAt, eventAt, inputMint, outputMint, inAmount, outAmount, threshold, priceImpact, contextSlot,
  router, feeBps, rate,
}: Quote): Quote {
  return {
    kind, feed, receivedAt, eventAt, inputMint, outputMint, inAmount, outAmount, threshold, priceImpact, contextSlot,
    router, feeBps, rate,
  };
}

function scaledQuote(quote: Quote, by: number): Quote {
  const outAmount = scaled(quote.outAmount, by);
  return { ...quote, outAmount, threshold: scaled(quote.threshold, by), rate: rateOf(quote.inAmount, outAmount) };
}

function scaled(amount: Amount, by: number): Amount {
  const product = BigInt(Math.round(Number(amount) * by));
  return (product > 0n ? product : 1n) as Amount;
}

function noisyLevel({ size }: BookLevel, random: Random): BookLevel {
  return { priceMicroUsd: Math.round((0.02 + 0.47 * random()) * ONE_USD), size: size * factor(random) };
}

/** The members of an event that say when and of what it is. */
const STAMPED: ReadonlySet<string> = new Set(['kind', 'feed', 'receivedAt', 'eventAt']);

/** Returns an event of any feed with other numbers; its texts, which are ids and names, stay. */
function noisyDocument<T extends object>(event: T, random: Random): T {
  return Object.fromEntries(Object.entries(event).map(([name, value]) =>
    [name, STAMPED.has(name) ? value : noisyValue(value, random)])) as T;
}

function noisyValue(value: unknown, random: Random): unknown {
  if (typeof value === 'number') return value * factor(random);
  if (typeof value === 'bigint') return BigInt(Math.round(Number(value) * factor(random)));
  if (typeof value === 'boolean') return random() < 0.5;
  if (Array.isArray(value)) return value.map((item: unknown) => noisyValue(item, random));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, noisyValue(member, random)]));
}

function factor(random: Random): number {
  return Math.exp(NOISE * normal(random));
}
