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

  it('show the last swaps, and the worst and best round trips, each whole and within the run', () => {
    expect(closeUps.map(({ title }) => title)).toEqual([
      'the last 40 swaps', expect.stringMatching(/^the worst round trip, -[\d.]+ USDC$/),
      expect.stringMatching(/^the best round trip, [\d.]+ USDC$/),
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
    expect(prices).toMatch(/class="spot entry[^]*class="spot exit/);
    expect(prices).not.toContain('from near');
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
    expect(fine.length).toBeGreaterThan(coarse.length + 5_000);
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
  it('states where its scale begins, and is compared with holding in another chart', () => {
    const equity = sectionOf(pageOf(run), 'equity');
    const charts = equity.split('<figcaption>').slice(1);
    expect(charts.map((chart) => chart.slice(0, chart.indexOf('<')))).toEqual([
      'Equity, USDC', 'Drawdown below the last peak', 'Change since the beginning, compared with buying and holding',
    ]);
    expect(charts[0]).toMatch(/Linear scale from [\d,.]+ to [\d,.]+: it does not begin at 0\./);
    expect(charts[0]).not.toContain('buy and hold');
    expect(charts[2]).toContain('buy and hold');
  });
});
