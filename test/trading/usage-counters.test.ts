import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { RateSpan } from '../../src/trading/usage-counters.ts';
import { RATE_SPANS, SwapRate } from '../../src/trading/usage-counters.ts';

const SPANS = Object.keys(RATE_SPANS) as RateSpan[];
const DAY = RATE_SPANS.perDay;

function naiveCount(times: readonly number[], span: RateSpan, at: number): number {
  return times.filter((time) => time > at - RATE_SPANS[span]).length;
}

it('the swap rate equals a naive count of approvals within the span', () => {
  const gaps =
    fc.oneof(fc.nat(5), fc.nat(70_000), fc.nat(2 * 3_600_000), fc.constantFrom(60_000, 3_600_000, DAY, 2 * DAY));
  const moves =
    fc.array(fc.record({ gap: gaps, add: fc.boolean(), span: fc.constantFrom(...SPANS) }), { maxLength: 80 });
  fc.assert(fc.property(fc.array(gaps, { maxLength: 10 }), moves, (before, later) => {
    let at = 0;
    const times = before.map((gap) => (at += gap));
    const rate = new SwapRate(times);
    for (const { gap, add, span } of later) {
      at += gap;
      if (add) {
        rate.add(at);
        times.push(at);
      }
      expect(rate.count(span, at)).toBe(naiveCount(times, span, at));
    }
    expect(rate.count('perDay', at)).toBe(rate.times.length);
    expect(rate.times).toEqual(times.filter((time) => time > at - DAY));
  }));
});

it('the swap rate stays correct over repeated compactions', () => {
  const rate = new SwapRate([]);
  const times: number[] = [];
  for (let at = 0; at < 5 * DAY; at += 20_000) {
    rate.add(at);
    times.push(at);
    if (at % 7_200_000 === 0) for (const span of SPANS) expect(rate.count(span, at)).toBe(naiveCount(times, span, at));
  }
  expect(rate.times).toHaveLength(DAY / 20_000);
});

it('the swap rate copies its input', () => {
  const times = [1, 2];
  new SwapRate(times).add(3);
  expect(times).toEqual([1, 2]);
});
