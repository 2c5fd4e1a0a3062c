import { describe, expect, it } from 'vitest';
import { swapWindows } from '../../src/report/price-samples.ts';
import type { ReportInput } from '../../src/report/report-input.ts';
import { landedSwaps, meanShortfall } from '../../src/report/swap-shortfalls.ts';
import { pageOf, reportInput, tradingRun } from './reports.ts';

const run = tradingRun();
const short = tradingRun({ quotes: 40 });
const sectionOf = (html: string, id: string): string => new RegExp(`<h2 id="${id}">[^]*?</section>`).exec(html)![0];
/** Rates for each swap at which the price at its decision was better than its quote by some bps. */
const decidedAt = (bps: number): ReportInput['decisionRates'] => new Map(run.result.fills.map(({ intent }, i) => {
  const { quotedOut, amountIn } = run.record.fills[i]!;
  return [intent.id, Number(quotedOut) / Number(amountIn) / (1 - bps / 10_000)];
}));

describe('price charts around swaps', () => {
  const closeUps = swapWindows(run.record, { symbol: 'SOL' });

  it('show the last swaps, and the worst and best trades, each whole and within the run', () => {
    expect(closeUps.map(({ title }) => title)).toEqual([
      'the last 40 swaps', expect.stringMatching(/^the worst trade, -[\d.]+ USDC$/),
      expect.stringMatching(/^the best trade, [\d.]+ USDC$/),
    ]);
    const { times, fills } = run.record;
    for (const { from, until } of closeUps) {
      expect(from).toBeGreaterThanOrEqual(times[0]!);
      expect(until).toBeLessThanOrEqual(times.at(-1)!);
      expect(fills.filter(({ at }) => at >= from && at <= until).length).toBeGreaterThanOrEqual(2);
    }
    const [last] = closeUps;
    expect(fills.filter(({ at }) => at >= last!.from && at <= last!.until)).toHaveLength(40);
  });

  it('are absent where one chart can show all swaps', () => {
    expect(short.record.fills.length).toBeGreaterThan(10);
    expect(swapWindows(short.record, { symbol: 'SOL' })).toEqual([]);
    const prices = sectionOf(pageOf(short), 'prices');
    const { fills } = short.record;
    expect(prices).toContain(`${Math.ceil(fills.length / 2)} buys, ${Math.floor(fills.length / 2)} sales marked.`);
    expect(prices.match(/class="chart"/g)).toHaveLength(1);
  });

  it('use the recorded prices where the report has them', () => {
    const { from, until } = closeUps[0]!;
    const times = Array.from({ length: 500 }, (_, i) => from + Math.floor(((until - from) * i) / 499));
    const prices = new Map([['SOL', {
      times, lines: [{ label: 'a purchase takes', values: times.map((_, i) => 150 + (i % 7)) }],
      source: 'As recorded: 25 USDC into SOL.',
    }]]);
    const [fine, coarse] = [sectionOf(pageOf(run, { prices }), 'prices'), sectionOf(pageOf(run), 'prices')];
    expect(fine).toContain('As recorded: 25 USDC into SOL.');
    expect(fine).toMatch(/a purchase takes .*lowest 150\.0* USDC, highest 156\.0* USDC\./);
    expect(coarse).toContain('The price as the figures use it');
  });
});

describe('the shortfall of swaps', () => {
  it('is measured against the price at the decision, in its parts', () => {
    const swaps = landedSwaps({ run, decisionRates: decidedAt(10) });
    expect(swaps).toHaveLength(run.record.fills.length);
    const mean = meanShortfall(swaps)!;
    expect(mean.swaps).toBe(run.record.fills.length);
    expect(mean.delay).toBeCloseTo(10, 6);
    expect(mean.total).toBeCloseTo(mean.delay + mean.slippage + mean.fees, 9);
    expect(mean.fees).toBeGreaterThan(0);
    expect(meanShortfall(landedSwaps({ run, decisionRates: decidedAt(-4) }))!.delay).toBeCloseTo(-4, 6);
  });

  it('is in the report and in the table of swaps, unless the price at the decision is unknown', () => {
    const known = pageOf(run, { decisionRates: decidedAt(10) });
    expect(sectionOf(known, 'costs'))
      .toMatch(/<th scope="row" class="text">entries<\/th><td>\d+<\/td><td>10\.00<\/td>/);
    expect(sectionOf(known, 'swaps')).toContain('shortfall, bps');
    const unknown = pageOf(run);
    expect(sectionOf(unknown, 'costs')).toContain('No landed swap has a known price at its decision.');
    expect(sectionOf(unknown, 'swaps')).not.toContain('shortfall, bps');
  });
});

describe('costs', () => {
  it('are shown as a share of the gain before them, or without a gain', () => {
    const costs = [{ what: 'base fees', paid: '1 SOL', value: 3, isApart: false }];
    const ending = (end: number): ReportInput => ({ ...reportInput(run), costs, run: {
      ...run,
      series: { ...run.series, values: run.series.values.map((_, i, all) => (i === all.length - 1 ? end : 100)) },
    } });
    expect(sectionOf(pageOf(run, ending(127)), 'costs'))
      .toContain('These costs are 10.00 % of the gain before them, 30.00 USDC.');
    expect(sectionOf(pageOf(run, ending(90)), 'costs'))
      .toContain('Before these costs the result was -7.00 USDC, which is no gain.');
  });
});

describe('equity', () => {
  it('is drawn in one chart with its drawdown, and with buying and holding from the same money on', () => {
    const equity = sectionOf(pageOf(run), 'equity');
    expect(equity.match(/class="chart"/g)).toHaveLength(1);
    expect(equity).toMatch(/strategy from 500\.00 USDC to [\d,.]+ USDC/);
    expect(equity).toMatch(/buy and hold from 500\.00 USDC to [\d,.]+ USDC/);
    expect(equity).toMatch(/drawdown at 0\.00 %, lowest −\d+\.\d\d %, highest 0\.00 %\./);
  });
});
