import { describe, expect, it } from 'vitest';
import type { Amount } from '../../../src/core/amount.ts';
import type { MarketEvent } from '../../../src/market/event.ts';
import { recordingWarnings } from '../../../src/recording/check/warnings.ts';
import { SOL_MINT, USDC_MINT } from '../../../src/market/token.ts';
import { openRecording } from '../../../src/recording/reader.ts';
import { runToEnd } from '../../../src/core/chunked-work.ts';
import { book, buyingSol, PURCHASE, sellingSol, stats } from '../../market/events.ts';
import { SOL } from '../../market/tokens.ts';
import { openWriter, temporaryFolder } from '../temporary.ts';

const MINUTE = 60_000;

/** Returns what there is to warn of in events, of buying SOL alone. */
async function warningsOf(events: readonly MarketEvent[]): Promise<string[]> {
  const writer = openWriter(temporaryFolder());
  events.forEach((event, index) => { writer.append(index + 1, event.receivedAt, event); });
  await writer.close();
  const { warnings } = runToEnd(recordingWarnings(openRecording(writer.directory), {
    kinds: ['quote', 'token-stats', 'order-book', 'feed-health'], describe: () => 'the price of SOL',
    feeds: [1, 2].map((seconds) => ({
      kind: 'quote', inputMint: USDC_MINT, outputMint: SOL_MINT, amount: PURCHASE as Amount, everyMs: seconds * 1_000,
    })),
  }));
  return [...warnings];
}

/** A price a second over so many minutes, from the epoch on. */
const prices = (minutes: number, of: (second: number) => number = () => 150_000): MarketEvent[] =>
  Array.from({ length: minutes * 60 }, (_, second) => buyingSol(of(second), second * 1_000));

describe('the warnings of a recording', () => {
  it('are none for an intact recording', async () => {
    expect(await warningsOf(prices(10, (second) => 150_000 + second))).toStrictEqual([]);
    expect(await warningsOf([])).toStrictEqual([]);
    expect(await warningsOf([buyingSol(150_000, 0)])).toStrictEqual([]);
  });

  it('name silences of watched feeds, in the middle and at the ends, and none of other feeds', async () => {
    const quiet = prices(30)
      .filter(({ receivedAt: at }) => at >= 3 * MINUTE && (at < 10 * MINUTE || at >= 15 * MINUTE) && at < 25 * MINUTE);
    const others = [
      ...Array.from({ length: 30 }, (_, minute) => sellingSol(150_000, minute * MINUTE)), stats(SOL, 150, 0),
      stats(SOL, 150, 29 * MINUTE),
    ];
    expect(await warningsOf([...quiet, ...others].toSorted((a, b) => a.receivedAt - b.receivedAt))).toStrictEqual([
      'nothing was recorded of the price of SOL from 1970-01-01T00:00:00.000Z to 1970-01-01T00:03:00.000Z, for 3m',
      'nothing was recorded of the price of SOL from 1970-01-01T00:09:59.000Z to 1970-01-01T00:15:00.000Z, for 5m1s',
      'nothing was recorded of the price of SOL from 1970-01-01T00:24:59.000Z to 1970-01-01T00:29:00.000Z, for 4m1s',
    ]);
  });

  it('list the first of many, and count the others', async () => {
    const warnings = await warningsOf(prices(300).filter(({ receivedAt }) =>
      Math.floor(receivedAt / (10 * MINUTE)) % 2 === 0));
    expect(warnings).toHaveLength(4);
    expect(warnings[3]).toBe('feeds were silent 11 times more: "gannet recording verify" and "info" name them');
  });

  it('name a feed recorded at longer intervals than live', async () => {
    expect(await warningsOf(prices(10).filter((_, second) => second % 3 === 0)))
      .toStrictEqual(['the price of SOL was recorded every 3s, and is polled every 1s live: decisions here see '
        + 'fewer prices']);
  });

  it('name a leaping price by file, row and time', async () => {
    expect(await warningsOf(prices(2, (second) => (second === 70 ? 150 : 150_000)))).toStrictEqual([
      expect.stringMatching(
        /^quote\/1970-01-01T00\.arrows\.zst:71 \(1970-01-01T00:01:10\.000Z\): the price in .* leaps from .*; it is/,
      ),
      expect.stringContaining(':72 (1970-01-01T00:01:11.000Z)'),
    ]);
  });

  it('name a price ten times those before and after it, and not a lasting one', async () => {
    expect(await warningsOf(prices(2, (second) => (second === 70 ? 15_000 : 150_000)))).toStrictEqual([
      expect.stringMatching(
        /T00\.arrows\.zst:71 \(1970-01-01T00:01:10\.000Z\): the price in .* leaps from \S+ to \S+, and back to \S+;/,
      ),
    ]);
    expect(await warningsOf(prices(2, (second) => (second === 70 ? 1_500_000 : 150_000))))
      .toStrictEqual([expect.stringContaining(':71 (1970-01-01T00:01:10.000Z)')]);
    expect(await warningsOf(prices(2, (second) => (second === 70 ? 16_000 : 150_000)))).toStrictEqual([]);
    expect(await warningsOf(prices(2, (second) => (second >= 70 ? 15_000 : 150_000)))).toStrictEqual([]);
    expect(await warningsOf(prices(2, (second) => (second >= 70 && second < 90 ? 15_000 : 150_000)))).toStrictEqual([]);
  });

  it('name statistics and books without a valid price', async () => {
    const odd = [stats(SOL, -1, 1_000), stats(SOL, Number.NaN, 2_000), stats(SOL, 0, 3_000), stats(SOL, 150, 4_000),
      stats(SOL, 15, 5_000), stats(SOL, 150, 6_000),
        book([[101, 5]], [], 7_000), book([], [[40, -5]], 8_000), book([[40, Infinity]], [], 9_000),
        book([[0, 5], [100, 0]], [[50, 2]], 10_000)];
    expect(
      (await warningsOf(odd.slice(0, 4)))
        .map((warning) => /\d+ \(1970-01-01T00:00:0\d\.000Z\): .*(?=;)/.exec(warning)?.[0]),
    ).toStrictEqual([
      expect.stringMatching(/^1 .*:01\.000Z\): usdPrice of -1 in /),
      expect.stringMatching(/^2 .*:02\.000Z\): usdPrice of NaN in /),
    ]);
    expect(await warningsOf(odd.slice(3, 6))).toStrictEqual([expect.stringMatching(
      /^token-stats\/.*:2 \(1970-01-01T00:00:05\.000Z\): the price in .* leaps from 150 to 15, and back to 150;/,
    )]);
    expect(await warningsOf(odd.slice(6))).toStrictEqual([
      expect.stringMatching(/^order-book\/.*:1 .*5 contracts at 1010000 micro-dollars/),
      expect.stringMatching(/:2 .*-5 contracts/), expect.stringMatching(/:3 .*Infinity contracts/),
    ]);
  });

  it.each<[string, (events: MarketEvent[]) => void, string]>([
    [
      'a price is none', (events) => { events[5] = { ...buyingSol(150_000, 5_000), outAmount: 0n as never, rate: 0 }; },
      'quote/1970-01-01T00.arrows.zst:6 (1970-01-01T00:00:05.000Z): a price of 0 for 25000000',
    ],
    ['there is nothing to pay for it with', (events) => {
      events[5] = { ...buyingSol(150_000, 5_000), inAmount: 0n as never, rate: Infinity };
    }, ':6 (1970-01-01T00:00:05.000Z): a price of'],
    [
      'time goes backwards', (events) => { events[5] = buyingSol(150_000, 3_000); },
      'quote/1970-01-01T00.arrows.zst:6: time goes backwards: 1970-01-01T00:00:03.000Z comes after '
        + '1970-01-01T00:00:04.000Z',
    ],
  ])('are an error where %s', async (_, spoil, words) => {
    const events = prices(1);
    spoil(events);
    await expect(warningsOf(events))
      .rejects.toMatchObject({ code: 'RECORDING_CORRUPT', message: expect.stringContaining(words) });
  });

  it('count further errors', async () => {
    const events = prices(1);
    for (const index of [5, 7, 9])
      events[index] = { ...buyingSol(150_000, index * 1_000), outAmount: 0n as never, rate: 0 };
    await expect(warningsOf(events))
      .rejects.toMatchObject({ message: expect.stringContaining('and 2 more of the kind') });
  });
});
