import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstDifference } from '../../../src/research/lookahead/difference.ts';
import type { PerturbationKind } from '../../../src/research/lookahead/perturbation.ts';
import { perturbed, PERTURBATIONS } from '../../../src/research/lookahead/perturbation.ts';
import { sampleTimes } from '../../../src/research/lookahead/instants.ts';
import { seededRandom } from '../../../src/core/random.ts';
import type { Quote } from '../../../src/market/quote.ts';
import type { Decision } from '../../../src/trading/step.ts';
import type { Input } from '../../../src/trading/step.ts';
import { book, buyingSol, sellingSol, stats } from '../../market/events.ts';
import { FISH } from '../../market/tokens.ts';
import { cursorOver } from '../../backtest/recordings.ts';

const ROWS = Array.from({ length: 40 }, (_, n): { at: number; input: Input } => {
  const at = 1_000 * (n + 1);
  const input = [
    buyingSol(125_000 + n, at), sellingSol(124_000 + n, at), book([[40 + (n % 9), 100]], [[50, 90 + n]], at),
    stats(FISH, 3 + n, at),
  ][n % 4]!;
  return { at, input };
});

function spoil(kind: PerturbationKind, from: number, seed = 1): { at: number; input: Input }[] {
  const cursor = perturbed(cursorOver(ROWS), { kind, from, seed });
  const rows = [];
  while (cursor.next()) rows.push({ at: cursor.at, input: cursor.input });
  return rows;
}

const before = (rows: readonly { at: number; input: Input }[], from: number): unknown[] =>
  rows.filter(({ at }) => at < from);

describe('a perturbed future', () => {
  it.each(PERTURBATIONS)('leaves all before its beginning as it was, and spoils the same way again: %s', (kind) => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 41_000 }), (from) => {
      const rows = spoil(kind, from);
      expect(before(rows, from)).toEqual(before(ROWS, from));
      expect(spoil(kind, from)).toEqual(rows);
      expect(rows.every(({ at }, n) => n === 0 || at >= rows[n - 1]!.at)).toBe(true);
    }), { numRuns: 50 });
  });

  it('of noise has the same rows at the same times with other values, different for each seed', () => {
    const rows = spoil('noise', 10_000);
    expect(rows.map(({ at, input }) => [at, input.kind])).toEqual(ROWS.map(({ at, input }) => [at, input.kind]));
    for (const [n, { at, input }] of rows.entries()) if (at >= 10_000) expect(input).not.toEqual(ROWS[n]!.input);
    const quote = rows.find(({ at, input }) => at >= 10_000 && input.kind === 'quote')!.input as Quote;
    expect(quote.rate).toBe(Number(quote.outAmount) / Number(quote.inAmount));
    expect(spoil('noise', 10_000, 2)).not.toEqual(rows);
  });

  it('that is truncated ends at its beginning with a row that no strategy receives', () => {
    const rows = spoil('truncation', 10_500);
    expect(rows).toHaveLength(11);
    expect(rows.at(-1)).toMatchObject({ at: 10_500, input: { kind: 'feed-health', status: 'healthy' } });
  });

  it('that is truncated after a command alone ends with such a row too, so that timers fire', () => {
    const command: Input = { kind: 'command', name: 'set-trading-state', state: 'active', reason: 'a test' };
    const cursor = perturbed(
      cursorOver([{ at: 999, input: command }, ...ROWS]), { kind: 'truncation', from: 1_000, seed: 1 });
    expect([cursor.next(), cursor.input.kind, cursor.next()]).toEqual([true, 'command', true]);
    expect(cursor).toMatchObject({ at: 1_000, input: { kind: 'feed-health', status: 'healthy' } });
    expect(cursor.next()).toBe(false);
  });

  it.each(
    [['noise', 3], ['reversal', 3], ['truncation', 1]] as const,
  )('is gone through as far as is asked for: %s', (kind, most) => {
    const cursor = perturbed(cursorOver(ROWS), { kind, from: 10_000, seed: 1 }, most);
    const times = [];
    while (cursor.next()) times.push(cursor.at);
    expect(times).toEqual([...ROWS.slice(0, 9).map(({ at }) => at), ...ROWS.slice(9, 9 + most).map(({ at }) => at)]);
  });

  it('that is reversed has each feed’s values in reverse order at the same times', () => {
    const rows = spoil('reversal', 20_000);
    expect(rows.map(({ at, input }) => [at, input.kind])).toEqual(ROWS.map(({ at, input }) => [at, input.kind]));
    const prices = (of: typeof rows): unknown[] =>
      of.filter(({ at, input }) => at >= 20_000 && input.kind === 'token-stats')
        .map(({ input }) => ('values' in input ? input.values : undefined));
    expect(prices(rows)).toEqual(prices(ROWS).toReversed());
    expect(rows.every(({ at, input }) => !('receivedAt' in input) || input.receivedAt === at)).toBe(true);
  });
});

function sample(seed: number): number[] {
  return sampleTimes({
    decidedAt: [5_000, 5_000, 9_000], startAt: 0, endAt: 60_000, count: 6, random: seededRandom(seed),
  });
}

describe('the perturbed instants', () => {
  it('come after and at decisions first, then anywhere in the recording; each once, the same for a seed', () => {
    expect(sample(1).slice(0, 4)).toEqual([5_001, 5_000, 9_001, 9_000]);
    expect(new Set(sample(1)).size).toBe(6);
    expect(sample(1)).toEqual(sample(1));
    expect(sample(1)).not.toEqual(sample(2));
    expect(sampleTimes({ decidedAt: [], startAt: 0, endAt: 60_000, count: 6, random: seededRandom(1) }))
      .toHaveLength(6);
    expect(sampleTimes({ decidedAt: [], startAt: 7, endAt: 8, count: 6, random: seededRandom(1) })).toEqual([8]);
  });
});

function said(at: number, message: string, seq = at): Decision {
  return {
    seq, at, strategy: 'diver', proposal: { kind: 'alert', level: 'info', message }, verdict: 'approved', code: null,
  };
}

describe('the first difference', () => {
  it('is none between equal decisions with other sequence numbers', () => {
    expect(firstDifference([said(1, 'a'), said(2, 'b')], [said(1, 'a', 7), said(2, 'b', 9)])).toBeUndefined();
  });

  it('shows both decisions at one instant, and the earlier one of two instants', () => {
    expect(firstDifference([said(1, 'a'), said(2, 'b')], [said(1, 'a'), said(2, 'c')]))
      .toMatchObject({ at: 2, expected: said(2, 'b'), found: said(2, 'c') });
    expect(firstDifference([said(3, 'b')], [said(2, 'b')]))
      .toMatchObject({ at: 2, expected: null, found: said(2, 'b') });
    expect(firstDifference([said(3, 'b')], [])).toMatchObject({ at: 3, expected: said(3, 'b'), found: null });
  });

  it('compares nested values of proposals', () => {
    const about = (level: number): Decision =>
      ({ ...said(1, 'a'), proposal: { kind: 'alert', level: 'info', message: 'a', data: { level } } });
    expect(firstDifference([about(2)], [about(2)])).toBeUndefined();
    expect(firstDifference([about(2)], [about(3)])).toMatchObject({ at: 1 });
    expect(firstDifference([said(1, 'a')], [about(0)])).toMatchObject({ at: 1 });
  });

  it('ignores decisions outside the span', () => {
    expect(firstDifference([said(1, 'a')], [said(1, 'x'), said(5, 'y')], { from: 2, until: 5 })).toBeUndefined();
    expect(firstDifference([], [said(5, 'y')], { from: 2, until: 6 })).toMatchObject({ at: 5 });
  });
});
