import { describe, expect, it } from 'vitest';
import bookWatch from '../../strategies/book-watch.ts';
import type { MarketValue } from '../../src/testing/index.ts';
import { paramErrors, testStrategy } from '../../src/testing/index.ts';

const PARAMS = { market: 'M', level: 0.6, rearm: 0.55, confirm: 2, max_spread: 0.1 };

/** A book two cents wide around a probability in percent. */
const around = (percent: number): MarketValue => percent / 100;

/** Returns the alerts about books shown one a second, each with the number of its book, from 0. */
function watch(books: readonly MarketValue[], params: object = {}): string[] {
  const run = testStrategy(bookWatch, { params: { ...PARAMS, ...params } }).series('1s', { book: books });
  return run.alerts.map(({ at, message }) => `${parseInt(at, 10)}: ${message}`);
}

const ROSE = 'M: YES rose to';
const FELL = 'M: YES fell to';

describe('book watch', () => {
  it('alerts when the probability rises above the level, and when it falls below the rearm level', () => {
    expect(watch([50, 50, 62, 63, 64, 54, 54].map(around))).toEqual([
      `3: ${ROSE} 63.0 %, above 60 %`, `6: ${FELL} 54.0 %, below 55 %`,
    ]);
  });

  it('does not alert twice before the probability has fallen back', () => {
    expect(watch([50, 50, 61, 61, 59, 61, 57, 62, 59, 61, 61].map(around))).toEqual([`3: ${ROSE} 61.0 %, above 60 %`]);
    expect(watch([50, 50, 61, 61, 54, 54, 61, 61].map(around)).map((text) => text.slice(0, 2)))
      .toEqual(['3:', '5:', '7:']);
  });

  it('treats exactly the level as reached and exactly the rearm level as fallen back', () => {
    expect(watch([50, 50, 60, 60, 55, 55].map(around))).toHaveLength(2);
    expect(watch([50, 50, 59.99, 59.99].map(around))).toEqual([]);
  });

  it('waits until the configured number of polls agree', () => {
    expect(watch([50, 50, 62, 50, 62, 50, 62].map(around))).toEqual([]);
    expect(watch([50, 50, 50, 62, 62, 62].map(around), { confirm: 3 })).toEqual([`5: ${ROSE} 62.0 %, above 60 %`]);
    expect(watch([50, 62].map(around), { confirm: 1 })).toEqual([`1: ${ROSE} 62.0 %, above 60 %`]);
  });

  it('does not treat a start on either side as a crossing', () => {
    expect(watch([70, 70, 70, 71].map(around))).toEqual([]);
    expect(watch([50, 50, 50].map(around))).toEqual([]);
    expect(watch([57, 58, 57, 70, 70, 70].map(around))).toEqual([]);
  });

  it('requires confirmation of the first side too', () => {
    // Above once, then below once: neither side was read twice in a row, so the two above that follow are the start.
    expect(watch([70, 50, 70, 70].map(around))).toEqual([]);
  });

  it('ignores a one-sided, empty, crossed or too wide book', () => {
    const silent: MarketValue[] = [
      { bid: 0.7 }, { ask: 0.7 }, {}, { bid: 0.7, ask: 0.6 }, { bid: 0.56, ask: 0.68 },
    ];
    for (const odd of silent) expect(watch([around(50), around(50), odd, odd, odd])).toEqual([]);
    expect(watch([around(50), around(50), around(62), {}, around(62)])).toHaveLength(1);
  });

  it('reads the best prices whatever the order of levels', () => {
    const rising = {
      yes: [[0.1, 5], [0.61, 100], [0.4, 7]], no: [[0.01, 5], [0.37, 100], [0.2, 7]],
    };
    expect(watch([around(50), around(50), rising, rising])).toEqual([`3: ${ROSE} 62.0 %, above 60 %`]);
  });

  it('includes the numbers in the alert', () => {
    const run = testStrategy(bookWatch, { params: PARAMS }).series('1s', { book: [0.5, 0.5, 0.62, 0.62] });
    expect(run.alerts).toMatchObject([{ level: 'info', data: { market: 'M', probability: 0.62, level: 0.6 } }]);
  });

  it('refuses invalid parameters', () => {
    expect(paramErrors(bookWatch, PARAMS)).toEqual([]);
    expect(paramErrors(bookWatch, { ...PARAMS, rearm: 0.6 }))
      .toEqual(['rearm: expected less than level, so that noise around it is not news']);
    expect(paramErrors(bookWatch, { ...PARAMS, level: 60 })[0]).toMatch(/^level: /);
    expect(paramErrors(bookWatch, { ...PARAMS, confirm: 0 })[0]).toMatch(/^confirm: /);
  });
});
