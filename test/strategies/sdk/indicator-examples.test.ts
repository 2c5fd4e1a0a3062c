import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Observable } from 'rxjs';
import { from } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { PROJECT_DIR } from '../../../src/core/code-files.ts';
import type { Bar, StrategyContext } from '../../../src/strategy/index.ts';
import { PricedQuote } from '../../../src/strategy/index.ts';
import { StateParts } from '../../../src/strategy/stateful.ts';
import { book, buyingSol } from '../../market/events.ts';
import { breakouts, crosses, distances, progress, restartSafe, stakes, turns } from './indicator-examples.ts';

const page = readFileSync(join(PROJECT_DIR, 'docs/indicators.md'), 'utf8');
const examples = readFileSync(join(import.meta.dirname, 'indicator-examples.ts'), 'utf8');
const blocks = [...page.matchAll(/```ts\n([\s\S]+?)```/g)].map(([, code]) => code!);

function all<T>(stream: Observable<T>): T[] {
  const values: T[] = [];
  stream.subscribe((value) => { values.push(value); });
  return values;
}

const wave = Array.from({ length: 200 }, (_, i) => 100 + 10 * Math.sin(i / 15));
const prices = (): Observable<PricedQuote> =>
  from(wave.map((price, at) => new PricedQuote(buyingSol(150_000, at), price)));
const bars = (range = 1): Observable<Bar> => from(wave.map((close, i): Bar => ({
  openAt: i * 60_000, closeAt: (i + 1) * 60_000, open: close, high: close + range, low: close - range, close,
})));

describe('the page about indicators', () => {
  it('shows examples that are tested, word for word', () => {
    expect(blocks.length).toBeGreaterThanOrEqual(6);
    expect(blocks.filter((code) => !examples.includes(code))).toEqual([]);
  });
});

describe('an example of the page', () => {
  it('finds the crosses of two means', () => {
    const found = all(crosses(prices()));
    expect(found.length).toBeGreaterThan(2);
    expect(found.every((above, i) => i === 0 || above !== found[i - 1])).toBe(true);
  });

  it('finds breakouts above the channel of earlier bars', () => {
    // The price moves by up to 0.67 a bar: more than the shadows of the narrow bars, less than those of the wide ones.
    const found = all(breakouts(bars(0.1)));
    expect(found.length).toBeGreaterThan(5);
    expect(found[0]).toMatch(/^above \d+\.\d+, with a stop \d/);
    expect(all(breakouts(bars(1)))).toEqual([]);
  });

  it('finds turns from a low', () => {
    const found = all(turns(bars()));
    expect(found.length).toBeGreaterThan(0);
    expect(found.every(({ close }) => close < 100)).toBe(true);
  });

  it('measures the distance from a mean', () => {
    expect(all(distances(prices()))).toHaveLength(181);
  });

  it('counts the values before the first result', () => {
    const context = { alert: (level: string, message: string) => ({ kind: 'alert', level, message }) };
    const [first] = all(progress(prices(), context as unknown as StrategyContext));
    expect(first).toMatchObject({ message: expect.stringMatching(/^15 prices, an index of \d/) });
  });

  it('keeps its inputs', () => {
    const parts = new StateParts(undefined, () => undefined);
    expect(all(restartSafe(bars(), { stateful: parts.open.bind(parts) }))).toHaveLength(187);
    expect(parts.isChanged).toBe(true);
  });

  it('stakes a part of the capital where the book agrees', () => {
    const agreeing = book([[52, 400]], [[46, 200]]);
    // Half of a dollar and four cents, and the fee of 0.0175: (0.7 - 0.5575) / 0.4425, a quarter of it.
    expect(all(stakes(from([agreeing, book([[52, 50]], [[46, 200]]), book([[40, 400]], [[46, 200]])]), 0.7)))
      .toEqual([expect.closeTo(0.25 * 0.1425 / 0.4425, 10)]);
  });
});
