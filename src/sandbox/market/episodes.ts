import { indexedRandom } from './indexed-random.ts';
import type { PredictionBook, PredictionLevel } from './prediction-market.ts';
import { DOLLAR } from './prediction-market.ts';

// What is rare on a quiet market and yet what strategies wait for. Each is a function of seed, name and time, so that
// any step can be asked for. They exist in recordings that are generated for a configuration, and nowhere else.

/** A span in a period that repeats: each name has a phase of its own, so that not all begin together. */
interface Span {
  readonly period: number;
  readonly from: number;
  readonly until: number;
}

/** Slots of a book's period: ten minutes. */
const BOOK_PERIOD = 1_500;
const STALE: Span = { period: BOOK_PERIOD, from: 0, until: 20 };
const LEANING_YES: Span = { period: BOOK_PERIOD, from: 300, until: 400 };
const LEANING_NO: Span = { period: BOOK_PERIOD, from: 800, until: 900 };
/** Large orders far from the price, which are no interest in it. */
const SPOOFED: Span = { period: BOOK_PERIOD, from: 1_200, until: 1_300 };
/** How far a stale side is off, in ten-thousandths of a dollar. */
const STALE_BY = 1_000;
const HEAVY = 12;
const HUGE = 200;
/** A cent. */
const SPOOF_PRICE = 100;

/** Slots of a token's period: an hour and a half, of which ten minutes are a rush. */
const RUSH: Span = { period: 13_500, from: 0, until: 1_500 };

/** What a rush does to the trades of a token. */
export interface Rush {
  /** The volume, as a multiple of the usual one. */
  readonly volume: number;
  /** The least share of purchases in it. */
  readonly buyShare: number;
  /** The share by which the holders grow with each slot. */
  readonly holders: number;
}

const IN_RUSH: Rush = { volume: 6, buyShare: 0.8, holders: 3e-6 };

/** The episodes of a seed. */
export interface Episodes {
  /** Returns a book as it is shown at a slot: a side may be stale, heavy near its price, or heavy far from it. */
  book(marketId: string, book: PredictionBook, slot: number): PredictionBook;
  /** Returns the rush that a token is in at a slot; undefined at most times. */
  rush(mint: string, slot: number): Rush | undefined;
}

const stale = ({ price, size }: PredictionLevel): PredictionLevel =>
  ({ price: Math.min(price + STALE_BY, DOLLAR - 1), size });
const heavy = ({ price, size }: PredictionLevel): PredictionLevel => ({ price, size: size * HEAVY });

/** Returns the episodes of a seed. */
export function createEpisodes(seed: number): Episodes {
  const phases = new Map<string, number>();
  const phaseOf = (name: string): number => {
    const known = phases.get(name) ?? indexedRandom(`${seed}:episodes:${name}`)(0);
    phases.set(name, known);
    return known;
  };
  const isWithin = (name: string, slot: number, { period, from, until }: Span): boolean => {
    const place = (((slot + Math.floor(phaseOf(name) * period)) % period) + period) % period;
    return place >= from && place < until;
  };
  return {
    book(marketId, book, slot) {
      if (book.yes.length === 0 || book.no.length === 0) return book;
      const now = (span: Span): boolean => isWithin(marketId, slot, span);
      if (now(STALE)) return { ...book, no: book.no.map(stale) };
      if (now(LEANING_YES)) return { ...book, yes: book.yes.map(heavy) };
      if (now(LEANING_NO)) return { ...book, no: book.no.map(heavy) };
      if (now(SPOOFED)) return { ...book, no: [...book.no, { price: SPOOF_PRICE, size: HUGE * book.no[0]!.size }] };
      return book;
    },
    rush: (mint, slot) => (isWithin(mint, slot, RUSH) ? IN_RUSH : undefined),
  };
}
