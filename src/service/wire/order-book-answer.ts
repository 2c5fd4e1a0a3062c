import { z } from 'zod';
import { parseDecimal } from '../../core/amount.ts';
import type { Json } from '../../core/json.ts';
import type { BookLevel } from '../../market/order-book.ts';
import { ONE_USD } from '../../market/order-book.ts';
import { optional, wireList, wireNumber } from './fields.ts';
import type { ReportUnread } from './read.ts';
import { malformed, membersOf, readWire } from './read.ts';

/** Both sides of a book, as bids. */
export interface BookLevels {
  readonly yes: readonly BookLevel[];
  readonly no: readonly BookLevel[];
}

const WHAT = 'order book';
const USD_DECIMALS = 6;
const MICRO_USD_PER_CENT = 10_000;
/**
 * By how much a price in cents may differ from the exact one: it is the same price, rounded or cut off, which is less
 * than a cent.
 */
const CENT_TOLERANCE = MICRO_USD_PER_CENT - 1;

/** More than there are distinct prices. */
const MOST_LEVELS = 10_000;

/** Larger ones are no contracts, and their sums no numbers. */
const size = wireNumber.refine((value) => value >= 0 && value <= Number.MAX_SAFE_INTEGER, {
  error: `expected a size of 0 to ${Number.MAX_SAFE_INTEGER}`,
});

/** Exact: from the digits themselves, never through a double. */
const dollars = z.union([z.string(), z.number()]).transform((value, context): number => {
  const micro = /^\d(\.\d{1,6})?$/.test(String(value)) ? Number(parseDecimal(String(value), USD_DECIMALS)) : Number.NaN;
  if (micro <= ONE_USD) return micro;
  context.issues.push({ code: 'custom', message: 'expected 0 to 1 dollar with at most 6 decimals', input: value });
  return z.NEVER;
});

/** Whole cents: a broken one is a price in another unit that strayed in here. */
const cents = wireNumber
  .refine((value) => Number.isInteger(value) && value >= 0 && value <= 100, { error: 'expected 0 to 100 whole cents' })
  .transform((value) => value * MICRO_USD_PER_CENT);

const WireBook = z.object({
  // Beside the exact form it is only a check: it may be unreadable.
  yes: optional(wireList(z.tuple([cents, size]), MOST_LEVELS)),
  no: optional(wireList(z.tuple([cents, size]), MOST_LEVELS)),
  yes_dollars: wireList(z.tuple([dollars, size]), MOST_LEVELS).nullish(),
  no_dollars: wireList(z.tuple([dollars, size]), MOST_LEVELS).nullish(),
});

type Levels = readonly (readonly [priceMicroUsd: number, size: number])[];

/** Returns the levels of an answer, undefined where the service has no book. Throws SERVICE_MALFORMED. */
export function readOrderBook(answer: Json, unread?: ReportUnread): BookLevels | undefined {
  if (answer === null) return undefined;
  const wire = readWire(WireBook, answer, WHAT, unread);
  const { yes, no } = membersOf(answer);
  return {
    yes: readSide('yes', { exact: wire.yes_dollars, rounded: yes === null ? null : wire.yes }),
    no: readSide('no', { exact: wire.no_dollars, rounded: no === null ? null : wire.no }),
  };
}

/** Null on a side without bids, undefined where the answer does not mention the side. */
type Side = Levels | null | undefined;

function readSide(side: string, { exact, rounded }: { readonly exact: Side; readonly rounded: Side }): BookLevel[] {
  if (exact === undefined && rounded === undefined)
    throw malformed(`${WHAT}, ${side}: expected a list of levels`, undefined);
  const levels = resting(exact ?? rounded ?? []);
  if (Array.isArray(exact) && Array.isArray(rounded)) checkAgreement(side, levels, resting(rounded as Levels));
  // A price of zero was rounded away, and is unknown.
  return levels.filter(([price]) => price > 0)
    .map(([priceMicroUsd, contracts]) => ({ priceMicroUsd, size: contracts }));
}

/** A level without size was taken. */
function resting(levels: Levels): Levels {
  return levels.filter(([, contracts]) => contracts > 0);
}

/** Levels may come in any order, and rounding may merge two, so each price must have a match among the other prices. */
function checkAgreement(side: string, exact: Levels, rounded: Levels): void {
  const [exactPrices, roundedPrices] = [sortedPrices(exact), sortedPrices(rounded)];
  const stray = strayPrice(exactPrices, roundedPrices) ?? strayPrice(roundedPrices, exactPrices);
  if (stray === undefined) return;
  throw malformed(
    `${WHAT}, ${side}: expected prices in cents and in dollars to differ by less than a cent`,
    `${stray / ONE_USD} dollars on one side only`,
  );
}

function sortedPrices(levels: Levels): Float64Array {
  return Float64Array.from(levels, ([price]) => price).sort();
}

/** Returns the first price that has no neighbour within a cent; one pass over two ascending lists. */
function strayPrice(prices: Float64Array, neighbours: Float64Array): number | undefined {
  let place = 0;
  return prices.find((price) => {
    while (place < neighbours.length && neighbours[place]! < price - CENT_TOLERANCE) place += 1;
    return place === neighbours.length || neighbours[place]! > price + CENT_TOLERANCE;
  });
}
