import { describe, expect, it } from 'vitest';
import type { Silence } from '../../../src/recording/check/silence.ts';
import { watchGroups, watchSilence } from '../../../src/recording/check/silence.ts';

const MINUTE = 60_000;

/** Each of so many moments from the epoch on. */
const each = (everyMs: number, count: number, late = 0): number[] =>
  Array.from({ length: count }, (_, i) => i * everyMs + late);

/** Returns when feeds that were heard at such times were silent together. */
function silencesOf(feeds: Readonly<Record<string, readonly number[]>>, group = 'all'): readonly Silence[] {
  const watch = watchGroups(({ feed }: { readonly feed: string }) => ['all', feed.slice(0, 3)]);
  const heard = Object.entries(feeds).flatMap(([feed, times]) => times.map((at) => ({ feed, at })));
  for (const { feed, at } of heard.toSorted((a, b) => a.at - b.at)) watch.hear({ feed }, at);
  return watch.silences(group);
}

describe('the silences of one feed', () => {
  it('count events at one instant once', () => {
    const watch = watchSilence(0);
    for (const at of each(5 * MINUTE, 12).flatMap((each) => [each, each]).slice(1)) watch.hear(at);
    expect([watch.count, watch.usualMs(), watch.silences()]).toEqual([24, 5 * MINUTE, []]);
  });

  it('have no usual interval when all events are at one instant', () => {
    const watch = watchSilence(0);
    watch.hear(0);
    expect([watch.count, watch.usualMs(), watch.silences()]).toEqual([2, null, []]);
  });
});

describe('the silences of a group of feeds', () => {
  it.each([
    ['at the same instants', 0], ['some moments after each other', 8], ['a second after each other', 1_000],
  ])('are none between candles or polls that come %s', (_, late) => {
    for (const everyMs of [5 * MINUTE, 60 * MINUTE])
      expect(silencesOf({ 'SOL 100': each(everyMs, 300), 'SOL 1': each(everyMs, 300, late) })).toEqual([]);
  });

  it('are found where candles or polls are missing', () => {
    const times = each(5 * MINUTE, 300).filter((at) => at <= 500 * MINUTE || at >= 600 * MINUTE);
    for (const late of [0, 8]) expect(silencesOf({ 'SOL 100': times, 'SOL 1': times.map((at) => at + late) }))
      .toEqual([{ from: 500 * MINUTE + late, until: 600 * MINUTE }]);
  });

  it('are found when all feeds are silent, even if a slow one would not have been polled yet', () => {
    const lively = each(1_000, 3_600).filter((at) => at <= 20 * MINUTE || at >= 34 * MINUTE);
    expect(silencesOf({ 'SOL 100': lively, 'SOL 1': each(15 * MINUTE, 4, 4 * MINUTE) }))
      .toEqual([{ from: 20 * MINUTE, until: 34 * MINUTE }]);
  });

  it('are none for a feed that continues after another one ended', () => {
    expect(silencesOf({ 'SOL 100': each(1_000, 600), 'SOL 1': each(5 * MINUTE, 300) })).toEqual([]);
  });

  it('are none between polls of many rare feeds in turns', () => {
    const inTurns = Object.fromEntries(Array.from({ length: 40 }, (_, feed) =>
      [`SOL ${feed}`, [0, 1, 40].map((turn) => (turn * 40 + feed) * 2 * MINUTE)]));
    const between = { 'SOL all': each(2 * MINUTE, 41 * 40) };
    expect(silencesOf({ ...inTurns, ...between })).toEqual([]);
  });

  it('are found for each group apart: events of one token do not count for another', () => {
    const gone = each(10_000, 600).filter((at) => at <= 20 * MINUTE || at >= 40 * MINUTE);
    const feeds = { 'SOL 100': gone, 'WIF 100': each(10_000, 600) };
    expect(silencesOf(feeds, 'SOL')).toEqual([{ from: 20 * MINUTE, until: 40 * MINUTE }]);
    expect([silencesOf(feeds, 'WIF'), silencesOf(feeds), silencesOf(feeds, 'none')]).toEqual([[], [], []]);
  });
});
