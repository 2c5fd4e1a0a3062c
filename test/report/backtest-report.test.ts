import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { costBreakdown } from '../../src/research/metrics/cost-breakdown.ts';
import { factOf } from '../../src/research/metrics/metric-warnings.ts';
import { roundTrips } from '../../src/research/metrics/round-trips.ts';
import { markup } from '../../src/web/markup.ts';
import { tradeFills } from '../../src/research/metrics/run-figures.ts';
import { assessmentsOf, figuresOf, mismatches, packRecord, unpackRecord } from '../../src/report/embedded-records.ts';
import { packRuns, unpackRuns } from '../../src/report/packed-columns.ts';
import { embeddedData } from '../../src/report/embedded-data.ts';
import { marketResults, printedFigures } from '../../src/report/printed-figures.ts';
import { unpackData } from '../../src/report/page-script.ts';
import { TOKENS } from '../market/tokens.ts';
import { measured } from '../backtest/measured.ts';
import { GRID, HOSTILE, pageOf, tradingRun, tradingSettings } from './reports.ts';

const SECTIONS = [
  'Warnings', 'Summary', 'Key figures', 'Equity and drawdown', 'Prices with entries and exits', 'Exposure',
  'Results of trades', 'Months', 'Costs', 'Denials',
  'Sensitivity', 'Strategies and benchmarks', 'All figures', 'Swaps', 'Parameters', 'Hashes',
];

const settings = tradingSettings({ names: ['in-and-out', HOSTILE] });
const run = settings.base;
const page = pageOf(run, {
  settings, warnings: [HOSTILE, ...run.warnings], subject: HOSTILE, parameters: [[HOSTILE, HOSTILE]], grid: GRID,
});

const dataOf = (html: string): string => /<script type="text\/plain" id="data">([^<]*)<\/script>/.exec(html)![1]!;
const scriptOf = (html: string): string => /<script>([\s\S]*?)<\/script>/.exec(html)![1]!;
const headingsOf = (html: string): string[] =>
  [...html.matchAll(/<h2[^>]*>([^<]*)<\/h2>/g)].map(([, heading]) => heading!);
const printedIn = (html: string): string[] => [...html.matchAll(/data-figure="([^"]*)"/g)].map(([, name]) => name!);

const isKnown = (_: unknown, i: number): boolean => i % 10 !== 5;
/** The number of parts in which the first line of a page is drawn. */
const piecesIn = (html: string): number => /class="line main" d="([^"]*)"/.exec(html)![1]!.match(/M/g)!.length;

describe('a report', () => {
  it('contains every section, warnings first', () => {
    expect(run.record.fills.length).toBeGreaterThan(50);
    expect(headingsOf(page)).toEqual(SECTIONS);
    expect(page.indexOf('class="warnings"')).toBeLessThan(page.indexOf('class="verdict"'));
    // Equity, drawdown, both compared with holding, the price, the number of swaps, three charts around swaps,
    // exposure, and round trips.
    expect([...page.matchAll(/<svg /g)]).toHaveLength(10);
    for (const said of [
      'optimistic', 'base (as configured)', 'pessimistic', 'buy and hold', 'DCA', 'cash', run.result.decisionHash,
      GRID.title,
    ]) expect(page).toContain(said);
  });

  it('loads nothing, and supports phones, dark mode and paper', () => {
    expect(page).not.toMatch(/(?:src|href)\s*=\s*["'](?!#)|url\(|@import|https?:/);
    expect(page).toContain('name="viewport" content="width=device-width, initial-scale=1"');
    expect(page).toContain('color-scheme:light dark');
    expect(page).toContain('@media print');
  });

  it('allows only its own script, by its hash', () => {
    expect(page).toContain(`default-src 'none'; style-src 'unsafe-inline'; script-src `
      + `'sha256-${createHash('sha256').update(scriptOf(page)).digest('base64')}'`);
    expect([...page.matchAll(/<script(?! type="(?:application\/json|text\/plain)")/g)]).toHaveLength(1);
  });

  it('is well-formed with hostile text in it', () => {
    const open: string[] = [];
    const body = page.replace(/<!doctype html>/, '').replace(/(<(script|style)[^>]*>)[\s\S]*?<\/\2>/g, '$1</$2>');
    for (const [, end, name, rest] of body.matchAll(/<(\/?)([a-z][a-z0-9]*)([^>]*)>/g)) {
      if (end === '/') expect(open.pop()).toBe(name);
      else if (!['meta', 'br', 'input'].includes(name!) && !rest!.endsWith('/')) open.push(name!);
    }
    expect(open).toEqual([]);
  });

  it('shows hostile names and reasons as text', async () => {
    expect(page).not.toContain('<img');
    expect(page).not.toContain(HOSTILE);
    expect(page)
      .toContain('&lt;/script&gt;&lt;img src=x onerror=&quot;document.title=1&quot;&gt;&#39;&amp;amp;\\u202e');
    expect(await unpackData(dataOf(page)))
      .toMatchObject({ record: { strategies: [{ name: 'in-and-out' }, { name: HOSTILE }] } });
  });

  it('explains each missing figure', () => {
    const { metrics, warnings } = run.assessment;
    for (const [name, value] of Object.entries(metrics)) {
      if (value !== null) continue;
      const warning = warnings.find(({ figures }) => figures.includes(name));
      expect(warning, name).toBeDefined();
      if (printedIn(page).includes(`total.${name}`))
        expect(page.slice(page.indexOf('id="all-figures"'))).toContain(markup`${factOf(warning!)}`.markup);
    }
  });

  it('is complete for a run without a trade, and says so', () => {
    const idle = pageOf(measured([], { everyMs: 60_000 }));
    expect(idle).toContain('No swap was made: this run says nothing about the strategy.');
    expect(headingsOf(idle)).toEqual(SECTIONS);
  });

  it('separates warnings about the result from reasons for missing figures', () => {
    const idle = measured([], { everyMs: 60_000 });
    const whole = pageOf(idle, { warnings: ['not robust', ...idle.warnings] });
    const [box] = /<section class="warnings"[\s\S]*?<\/section>/.exec(whole)!;
    const closed = box.slice(box.indexOf('<details>'));
    expect(box.slice(0, -closed.length)).toContain('<li>not robust</li>');
    expect(closed).toContain('no round trip was won or lost');
    for (const warning of idle.warnings) expect(box).toContain(markup`${warning}`.markup);
    const many = pageOf(run, { warnings: Array.from({ length: 30 }, (_, i) => `warning ${i}`) });
    expect(many).toContain('and 22 more');
    expect(many.match(/<li>warning \d+<\/li>/g)).toHaveLength(30);
  });

  it('contains the cost of the spread', () => {
    const { bids, asks } = run.record.instruments[0]!;
    const half = Math.max(...bids.flatMap((bid, i) => (bid === null ? [] : [1 - Math.sqrt(bid / asks[i]!)])));
    const traded = run.record.fills.reduce((sum, { value }) => sum + (value ?? 0), 0);
    const [row] = costBreakdown(run, TOKENS).filter(({ what }) => what.startsWith('half of the recorded spread'));
    expect(row).toMatchObject({ isApart: true });
    expect(row!.value).toBeGreaterThan(0);
    expect(row!.value).toBeLessThanOrEqual(half * traded);
  });

  it('splits the result by strategy, and the parts add up', () => {
    const paired = roundTrips(tradeFills(run.record));
    const results = marketResults(paired);
    expect(results.map(({ name }) => name).toSorted()).toEqual(['SOL of in-and-out', `SOL of ${HOSTILE}`].toSorted());
    expect(results.reduce((sum, { profit }) => sum + profit, 0))
      .toBeCloseTo(paired.trips.reduce((sum, { profit }) => sum + profit, 0), 9);
    expect(results.reduce((sum, { won }) => sum + won, 0)).toBe(run.assessment.trades!.wins);
    expect(page).toContain('By token and strategy');
  });

  it('draws a long run with a limited number of points', () => {
    const { record } = run;
    const times = Array.from({ length: 30_000 }, (_, i) => i * 60_000);
    const column = times.map((_, i) => 500 + Math.sin(i / 500) + (i === 22_222 ? 50 : 0));
    const held = column.map((value) => value / 3);
    const html = pageOf({
      ...run, series: { times, values: column, held, unpriced: 0 },
      record: { ...record, times, strategies: [{ ...record.strategies[0]!, equity: column, held }], instruments: [] },
    });
    expect(html.length - dataOf(html).length).toBeLessThan(500_000);
    // The one outlier is drawn.
    expect(/highest (?:549|550|551)/.test(html)).toBe(true);
  });
});

describe('the data in a report', () => {
  const records = {
    record: run.record, others: { pessimistic: settings.pessimistic.record }, trials: { count: 3, sharpeVariance: 1 },
  };

  it('is unpacked as it was packed', () => {
    expect(unpackRecord(JSON.parse(JSON.stringify(packRecord(run.record))) as ReturnType<typeof packRecord>))
      .toEqual(run.record);
    expect(packRecord({ ...run.record, fills: [], times: [] })).toMatchObject({ steps: [], names: [], fills: [] });
  });

  it('stores a repeated value once', () => {
    expect(packRuns([500, 500, 500, 496.8, null, null])).toEqual([500, [2], 496.8, null, [1]]);
    fc.assert(fc.property(fc.array(
      fc.oneof(fc.constantFrom(0, -0, 1, null), fc.double({ noNaN: true, noDefaultInfinity: true })),
    ), (column) => {
      expect(unpackRuns(packRuns(column))).toEqual(column);
    }));
  });

  it('is limited in size: the run alone where all is too much, or nothing', async () => {
    const assessments = assessmentsOf(records);
    const carried = async (most?: number): Promise<object> =>
      await unpackData(embeddedData(records, assessments, most)!.markup) as object;
    const most = embeddedData(records, assessments)!.markup.length - 1;
    expect(await carried())
      .toMatchObject({ others: { pessimistic: {} }, figures: { 'setting pessimistic': {} }, trials: { count: 3 } });
    expect(await carried(most)).toMatchObject({ others: {}, figures: { total: {} }, record: { currency: 'USDC' } });
    expect(Object.keys((await carried(most) as { figures: object }).figures)).not.toContain('setting pessimistic');
    expect(embeddedData(records, assessments, 1_000)).toBeUndefined();
  });

  it('is compared by name: a missing figure differs, rounding in the last digits does not', () => {
    const figures = figuresOf(assessmentsOf(records));
    expect(Object.keys(figures)).toEqual([
      'total', 'strategy 1', 'strategy 2', 'benchmark buy_and_hold', 'benchmark dca', 'benchmark cash',
      'setting pessimistic',
    ]);
    expect(mismatches(figures, figures)).toEqual([]);
    expect(mismatches(
      figures, { ...figures, total: { ...figures['total']!, turnover: figures['total']!.turnover! * (1 + 1e-12) } },
    )).toEqual([]);
    const { total, ...others } = figures;
    expect(mismatches(figures, others).map(({ of }) => of)).toEqual(Object.keys(total!).map(() => 'total'));
  });

  it('determines each printed figure, the deflated ones included', () => {
    const printed = printedFigures(run.record, assessmentsOf(records));
    expect(printed.get('total.trials')).toBe('3');
    const whole = printedIn(pageOf(run, { settings }));
    const known = printedFigures(run.record, assessmentsOf({
      ...records, others: { optimistic: settings.optimistic.record, pessimistic: settings.pessimistic.record },
    }));
    expect(whole.filter((name) => !known.has(name))).toEqual([]);
    expect(new Set(whole.map((name) => name.split('.')[0]))).toEqual(new Set([
      'total', 'strategy 1', 'strategy 2', 'benchmark buy_and_hold', 'benchmark dca', 'benchmark cash',
      'setting optimistic', 'setting pessimistic', 'versus_holding', 'trips', 'market 1', 'market 2', 'month 1970-1',
      'year 1970',
    ]));
  });

  it('is drawn with gaps where a price is missing', () => {
    const short = tradingRun({ quotes: 30 });
    const { times, values, held } = short.series;
    const series =
      { times: times.filter(isKnown), values: values.filter(isKnown), held: held.filter(isKnown), unpriced: 3 };
    expect(piecesIn(pageOf(short))).toBe(1);
    expect(piecesIn(pageOf({ ...short, series })))
      .toBe(1 + times.filter((time, i) => !isKnown(time, i) && i < times.length - 1).length);
  });
});
