import { describe, expect, it } from 'vitest';
import bookWatch from '../../strategies/book-watch.ts';
import type { OrderBook } from '../../src/strategy/index.ts';
import { book } from '../market/events.ts';
import type { Run } from '../engine/runs.ts';
import { start } from '../engine/runs.ts';
import { schemaErrors, configured } from './instances.ts';

const PARAMS = { market: 'M', level: 0.6, rearm: 0.55, confirm: 2, max_spread: 0.1 };

/** A book two cents wide around a probability in percent. */
const around = (percent: number): OrderBook => book([[percent - 1, 100]], [[99 - percent, 100]]);

/** Returns the alerts about books shown one a second, each with the number of its book, from 0. */
function watch(books: readonly OrderBook[], params: object = {}): string[] {
  const run: Run = start([configured(bookWatch, { ...PARAMS, ...params })]);
  books.forEach((shown, n) => { run.engine.accept({ ...shown, receivedAt: n * 1_000 }, n * 1_000); });
  return run.logged.map(({ at, proposal }) =>
    `${at / 1_000}: ${proposal.kind === 'alert' ? proposal.message : 'a swap'}`);
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
    const silent = [
      book([[70, 100]], []), book([], [[30, 100]]), book([], []), book([[70, 1]], [[40, 1]]),
      book([[56, 1]], [[32, 1]]),
    ];
    for (const odd of silent) expect(watch([around(50), around(50), odd, odd, odd])).toEqual([]);
    expect(watch([around(50), around(50), around(62), book([], []), around(62)])).toHaveLength(1);
  });

  it('reads the best prices whatever the order of levels', () => {
    const rising = book([[10, 5], [61, 100], [40, 7]], [[1, 5], [37, 100], [20, 7]]);
    expect(watch([around(50), around(50), rising, rising])).toEqual([`3: ${ROSE} 62.0 %, above 60 %`]);
  });

  it('includes the numbers in the alert', () => {
    const run = start([configured(bookWatch, PARAMS)]);
    [50, 50, 62, 62].forEach((percent, n) => { run.engine.accept(around(percent), n); });
    expect(run.logged[0]!.proposal)
      .toMatchObject({ kind: 'alert', level: 'info', data: { market: 'M', probability: 0.62, level: 0.6 } });
  });

  it('refuses invalid parameters', () => {
    expect(schemaErrors(bookWatch, PARAMS)).toEqual([]);
    expect(schemaErrors(bookWatch, { ...PARAMS, rearm: 0.6 }))
      .toEqual(['rearm: expected less than level, so that noise around it is not news']);
    expect(schemaErrors(bookWatch, { ...PARAMS, level: 60 })[0]).toMatch(/^level: /);
    expect(schemaErrors(bookWatch, { ...PARAMS, confirm: 0 })[0]).toMatch(/^confirm: /);
  });
});
