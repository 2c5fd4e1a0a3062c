import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { costBreakdown } from '../../src/research/metrics/cost-breakdown.ts';
import { factOf } from '../../src/research/metrics/metric-warnings.ts';
import { runStatistics } from '../../src/research/metrics/run-statistics.ts';
import { markup } from '../../src/web/markup.ts';
import { assessmentsOf, figuresOf, mismatches, packRecord, unpackRecord } from '../../src/report/embedded-records.ts';
import type { PackedChart } from '../../src/report/packed-columns.ts';
import { packRuns, unpackChart, unpackRuns } from '../../src/report/packed-columns.ts';
import { embeddedData } from '../../src/report/embedded-data.ts';
import { printedFigures } from '../../src/report/printed-figures.ts';
import { unpackData } from '../../src/report/page-script.ts';
import { TOKENS } from '../market/tokens.ts';
import { measured } from '../backtest/measured.ts';
import { GRID, HOSTILE, pageOf, tradingRun, tradingSettings } from './reports.ts';

const SECTIONS = [
  'Equity', 'Summary', 'Prices', 'Trades', 'Returns', 'Statistics', 'Costs', 'Denials', 'Sensitivity', 'Comparison',
  'All figures', 'Swaps', 'Parameters', 'Provenance',
];

const settings = tradingSettings({ names: ['in-and-out', HOSTILE] });
const run = settings.base;
const page = pageOf(run, {
  settings, warnings: [HOSTILE, ...run.warnings], subject: HOSTILE, parameters: [[HOSTILE, HOSTILE]], grid: GRID,
});

const dataOf = (html: string): string => /<script type="text\/plain" id="data">([^<]*)<\/script>/.exec(html)![1]!;
const scriptsOf = (html: string): string[] =>
  [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text]) => text!);
const sentenceOf = (html: string): string =>
  /<p class="sentence">(.*?)<\/p>/.exec(html)![1]!.replace(/<[^>]*>/g, '');
const chartsOf = (html: string): Promise<ReturnType<typeof unpackChart>[]> =>
  Promise.all([...html.matchAll(/class="chart-data">([^<]*)</g)].map(async ([, data]) =>
    unpackChart(await unpackData(data!) as PackedChart)));
const headingsOf = (html: string): string[] =>
  [...html.matchAll(/<h2[^>]*>([^<]*)<\/h2>/g)].map(([, heading]) => heading!);
const printedIn = (html: string): string[] => [...html.matchAll(/data-figure="([^"]*)"/g)].map(([, name]) => name!);

const isKnown = (_: unknown, i: number): boolean => i % 10 !== 5;
/** Returns the source of a script or a style as a policy names it. */
function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** Returns how often the first line of the first chart is interrupted. */
async function gapsIn(html: string): Promise<number> {
  return (await chartsOf(html))[0]!.lines[0]!.points.filter(([, value]) => value === null).length;
}

describe('a report', () => {
  it('answers in a sentence first, then by key figures and the equity, then in every section', async () => {
    expect(run.record.fills.length).toBeGreaterThan(50);
    expect(headingsOf(page)).toEqual(SECTIONS);
    const places = [
      'class="sentence"', 'class="badge"', 'class="tiles"', 'id="equity"', 'class="chart"', 'id="summary"',
    ].map((part) => page.indexOf(part));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
    expect(page.match(/class="tile"/g)).toHaveLength(6);
    // The close-ups show the last swaps, the worst trade and the best one.
    expect((await chartsOf(page)).map(({ title }) => title)).toEqual([
      'Equity, USDC', 'SOL/USDC', 'SOL/USDC: the last 40 swaps', expect.stringMatching(/: the worst trade, -/),
      expect.stringMatching(/: the best trade, /), 'Share of equity held in tokens',
    ]);
    for (const said of [
      'optimistic', 'base (as configured)', 'pessimistic', 'buy and hold', 'DCA', 'cash', run.result.decisionHash,
      GRID.title,
    ]) expect(page).toContain(said);
  });

  it('says in its sentence what was earned, against holding, and what changes its meaning', () => {
    const { assessment, record, result } = run;
    const withMetrics = (change: object, more: object = {}): string => sentenceOf(pageOf({
      ...run, assessment: { ...assessment, metrics: { ...assessment.metrics, ...change } }, ...more,
    }));
    expect(sentenceOf(pageOf(run))).toMatch(
      /^[-+]\d+\.\d\d % in 4h after costs, \d+\.\d\d points (?:better|worse) than holding, max drawdown \d+\.\d\d %\.$/,
    );
    const ends = (startAt: number, endAt: number): object => ({ result: { ...result, startAt, endAt } });
    expect(withMetrics({}, ends(0, 30 * 86_400_000 - 1_000))).toMatch(/ % in 30 days after costs, /);
    expect(withMetrics({ sharpe: 7 })).toMatch(/%\. Its Sharpe ratio is more than real markets pay\.$/);
    expect(withMetrics({ sharpe: 7 }, { record: { ...record, isMadeUp: true } }))
      .toMatch(/%\. The market is generated, and its Sharpe ratio is more than real markets pay\.$/);
    const stopped = { ...result, denials: { TRADING_HALTED: 3 }, endAt: 4 * result.endAt };
    expect(withMetrics({}, { result: stopped }))
      .toMatch(/%\. Nothing was traded in the last 75 % of the time, mostly by TRADING_HALTED \(.*\)\.$/);
    expect(withMetrics({}, { result: { ...result, denials: { RATE_PER_DAY: 5_000 } } }))
      .toMatch(/%\. The risk limits refused at least as many swaps as were made, mostly by RATE_PER_DAY \(.*\)\.$/);
    expect(sentenceOf(pageOf(measured([], { everyMs: 60_000 }))))
      .toBe('No swap in 0s: this run says nothing about the strategy.');
    expect(withMetrics({ total_return: null }))
      .toBe('The holdings could not be valued: this run says nothing about the strategy.');
  });

  it('loads nothing, and supports phones, dark mode and paper', () => {
    const [library, own] = scriptsOf(page);
    const rest = page.replace(library!, '').replace(own!, '');
    expect(rest).not.toMatch(/(?:src|href)\s*=\s*["'](?!#)|url\(|@import|https?:/);
    // The one address is that of the library's makers, in a notice that its licence asks for.
    expect(own!.match(/https?:[^'"\s]*/g)).toEqual(['https://www.tradingview.com/']);
    expect(page).toContain('name="viewport" content="width=device-width, initial-scale=1"');
    expect(page).toContain('color-scheme:light dark');
    expect(page).toContain('@media print');
  });

  it('allows only its own scripts and its own style, by their hashes', () => {
    const [library, own] = scriptsOf(page);
    const style = /<style>([\s\S]*?)<\/style>/.exec(page)![1]!;
    expect(page).toContain(
      `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(library!)} ${hashOf(own!)}; base-uri 'none'`,
    );
    expect([...page.matchAll(/<script(?! type="text\/plain")/g)]).toHaveLength(2);
    expect(page.replace(library!, '').replace(own!, '')).not.toMatch(/ style="/);
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
    const [box] = /<details class="badge">[\s\S]*?<\/details>/.exec(whole)!;
    const missing = box.slice(box.indexOf('Why figures are missing'));
    expect(box.slice(0, -missing.length)).toContain('<li>not robust</li>');
    expect(missing).toContain('no trade was won or lost');
    for (const warning of idle.warnings) expect(box).toContain(markup`${warning}`.markup);
    const many = pageOf(run, { warnings: Array.from({ length: 30 }, (_, i) => `warning ${i}`) });
    expect(many).toContain('<summary>30 warnings</summary>');
    expect(many.match(/<li>warning \d+<\/li>/g)).toHaveLength(30);
    expect(pageOf(run, { warnings: [] })).toContain('<p class="badge calm">no warnings</p>');
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

  it('splits the trades by pair and by reason, and the parts add up', () => {
    const { trades, by_pair: pairs, by_exit_reason: exits } = runStatistics(run.record);
    expect(exits.map(({ name }) => name).toSorted()).toEqual(['the turn of in-and-out', `the turn of ${HOSTILE}`]
      .map((name) => name.replace('1', '…')).toSorted());
    for (const rows of [pairs, exits]) {
      expect(rows.reduce((sum, { trades: count }) => sum + count, 0)).toBe(trades.count);
      expect(page).toContain(`data-figure="${rows === pairs ? 'pair' : 'exit reason'} ${rows.length}.profit"`);
    }
    const bars = [...page.matchAll(/<progress class="(?:gain|loss)" max="\d+" value="(\d+)"/g)];
    expect(bars.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(trades.count);
  });

  it('lists the last trades for a page without scripts', () => {
    const [table] = /<div id="trade-table">[\s\S]*?<\/table>/.exec(page)!;
    expect(table.match(/<tr>/g)).toHaveLength(51);
    expect(table).toContain('The last 50 of');
    expect(table).toContain('the turn of in-and-out');
    for (const name of ['duration', 'MAE', 'MFE', 'entry reason', 'exit reason'])
      expect(table).toContain(`>${name}</th>`);
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
    // Of it, the scripts are a half.
    expect(html.length - dataOf(html).length).toBeLessThan(700_000);
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
    const figures = { assessments: assessmentsOf(records), statistics: runStatistics(run.record) };
    const carried = async (most?: number): Promise<object> =>
      await unpackData(embeddedData(records, figures, most)!.markup) as object;
    const most = embeddedData(records, figures)!.markup.length - 1;
    expect(await carried())
      .toMatchObject({ others: { pessimistic: {} }, figures: { 'setting pessimistic': {} }, trials: { count: 3 } });
    expect(await carried(most)).toMatchObject({ others: {}, figures: { total: {} }, record: { currency: 'USDC' } });
    expect(Object.keys((await carried(most) as { figures: object }).figures)).not.toContain('setting pessimistic');
    expect(embeddedData(records, figures, 1_000)).toBeUndefined();
  });

  it('is compared by name: a missing figure differs, rounding in the last digits does not', () => {
    const figures = figuresOf(assessmentsOf(records));
    expect(Object.keys(figures)).toEqual([
      'total', 'strategy 1', 'strategy 2', 'benchmark buy_and_hold', 'benchmark dca', 'benchmark cash',
      'setting pessimistic',
    ]);
    expect(mismatches(figures, figures)).toEqual([]);
    expect(mismatches(
      figures, { ...figures, total: { ...figures['total'], turnover: run.assessment.metrics.turnover! * (1 + 1e-12) } },
    )).toEqual([]);
    const { total, ...others } = figures;
    expect(mismatches(figures, others).map(({ of }) => of)).toEqual(Object.keys(total!).map(() => 'total'));
  });

  it('determines each printed figure, the deflated ones included', () => {
    const statistics = runStatistics(run.record);
    const printed = printedFigures(run.record, assessmentsOf(records), statistics);
    expect(printed.get('total.trials')).toBe('3');
    const whole = printedIn(pageOf(run, { settings }));
    const known = printedFigures(run.record, assessmentsOf({
      ...records, others: { optimistic: settings.optimistic.record, pessimistic: settings.pessimistic.record },
    }), statistics);
    expect(whole.filter((name) => !known.has(name))).toEqual([]);
    expect(new Set(whole.map((name) => name.split('.')[0]))).toEqual(new Set([
      'total', 'strategy 1', 'strategy 2', 'benchmark buy_and_hold', 'benchmark dca', 'benchmark cash',
      'setting optimistic', 'setting pessimistic', 'versus_holding', 'result', 'trips', 'month 1970-1', 'year 1970',
      'day 1970-01-01', 'statistic', 'pair 1', 'entry reason 1', 'entry reason 2', 'exit reason 1', 'exit reason 2',
      'drawdown 1', 'drawdown 2', 'drawdown 3', 'drawdown 4', 'drawdown 5', 'order',
    ]));
  });

  it('is drawn with gaps where a price is missing', async () => {
    const short = tradingRun({ quotes: 30 });
    const { times, values, held } = short.series;
    const series =
      { times: times.filter(isKnown), values: values.filter(isKnown), held: held.filter(isKnown), unpriced: 3 };
    expect(await gapsIn(pageOf(short))).toBe(0);
    expect(await gapsIn(pageOf({ ...short, series }))).toBe(times.length - series.times.length);
  });
});
