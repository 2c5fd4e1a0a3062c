import type { Millis } from '../../core/time.ts';
import { roundTrips } from '../metrics/round-trips.ts';
import type { RoundTrip } from '../metrics/round-trips.ts';
import { amountText } from '../page/value-text.ts';
import { tradeFills } from '../record/run-figures.ts';
import type { InstrumentRecord, RunRecord } from '../record/run-record.ts';

/** A part of a run that is looked at from near. */
export interface CloseUp {
  readonly title: string;
  readonly from: Millis;
  readonly until: Millis;
}

/** So many swaps are told apart in a chart of all of them. */
export const MOST_MARKS = 40;
const MOST_INSTRUMENTS = 4;
const LEAST_ROOM_MS = 600_000;

/** Returns what of an instrument's swaps is to be seen from near: the last ones, and the round trips that lost and gained most; nothing where all of them can be told apart. */
export function closeUpsOf(record: RunRecord, { symbol }: Pick<InstrumentRecord, 'symbol'>): CloseUp[] {
  const { fills, times, instruments, currency } = record;
  const swaps = fills.filter(({ input, output }) => input === symbol || output === symbol);
  const [begin, end] = [times[0], times.at(-1)];
  if (swaps.length <= MOST_MARKS || instruments.length > MOST_INSTRUMENTS || begin === undefined || end === undefined) return [];
  const around = (title: string, from: Millis, until: Millis, room: Millis): CloseUp => ({ title, from: Math.max(begin, from - room), until: Math.min(end, until + room) });
  const [first, last] = [swaps.at(-MOST_MARKS)!, swaps.at(-1)!];
  const trips = roundTrips(tradeFills(record)).trips.filter(({ instrument }) => instrument.startsWith(`${symbol} of `));
  const ofTrip = (title: string, { openedAt, closedAt }: RoundTrip): CloseUp => around(title, openedAt, closedAt, Math.max(LEAST_ROOM_MS, 2 * (closedAt - openedAt)));
  const byProfit = trips.toSorted((a, b) => a.profit - b.profit);
  const [worst, best] = [byProfit[0], byProfit.at(-1)];
  return [
    around(`the last ${MOST_MARKS} swaps`, first.at, last.at, (last.at - first.at) / 50),
    ...(worst === undefined || worst === best ? [] : [ofTrip(`the worst round trip, ${amountText(worst.profit)} ${currency}`, worst)]),
    ...(best === undefined ? [] : [ofTrip(`the best round trip, ${amountText(best.profit)} ${currency}`, best)]),
  ];
}
