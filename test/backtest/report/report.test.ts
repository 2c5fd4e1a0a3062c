import { createHash } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import { beforeAll, describe, expect, it } from 'vitest';
import { costBreakdown } from '../../../src/backtest/cost-breakdown.ts';
import type { MeasuredRun } from '../../../src/backtest/measured-run.ts';
import { monthlyReturns } from '../../../src/backtest/metrics/monthly.ts';
import { benchmarksOf } from '../../../src/backtest/record/run-figures.ts';
import { figuresOf, mismatches, packRecord, unpackRecord } from '../../../src/backtest/report/embedded.ts';
import { renderReport } from '../../../src/backtest/report/report.ts';
import { verdictOf } from '../../../src/backtest/verdict.ts';
import { TOKENS } from '../../market/tokens.ts';
import { bothSides, CALM, inAndOut, measured } from '../measured.ts';

const HOSTILE = '</script><img src=x onerror=alert(1)>"\'&';
const SECTIONS = [
  'Warnings', 'What it says', 'Figures', 'Equity and drawdown', 'Exposure', 'Prices with entries and exits', 'Results of trades', 'Months', 'Costs', 'Denials', 'What became of swaps', 'Not simulated',
  'Sensitivity', 'Strategies and benchmarks', 'Swaps', 'Parameters', 'Hashes',
];

/** Some hours of a market that goes up and down, seen each minute. */
const MARKET = bothSides(Array.from({ length: 240 }, (_, n) => {
  const price = Math.round((150 + 5 * Math.sin(n / 9) + 2 * Math.sin(n)) * 10) / 10;
  return [price + 0.1, price - 0.1] as const;
}), 60_000);

function pageOf(run: MeasuredRun, change: Partial<Parameters<typeof renderReport>[0]> = {}): string {
  const settings = { optimistic: run, base: run, pessimistic: run };
  const benchmarks = benchmarksOf(run.record);
  return renderReport({
    runId: 'backtest-1', subject: 'in-and-out', warnings: run.warnings, verdict: verdictOf(run, settings, benchmarks), run, settings, benchmarks,
    months: monthlyReturns(run.series), costs: costBreakdown(run, TOKENS), parameters: [['seed', '7']], hashes: [['decisions', run.result.decisionHash]], ...change,
  });
}

const dataOf = (page: string): string => /<script type="application\/json" id="data">([^<]*)<\/script>/.exec(page)![1]!;
const scriptOf = (page: string): string => /<script>([\s\S]*?)<\/script>/.exec(page)![1]!;

/** Runs a page's own script and returns what it says in the page. */
function checked(page: string, data = dataOf(page)): { readonly text: string; readonly kind: string } {
  const place = { textContent: '', className: '' };
  const elements: Readonly<Record<string, unknown>> = { check: place, data: { textContent: data } };
  runInNewContext(scriptOf(page), { document: { getElementById: (id: string) => elements[id] ?? null } });
  return { text: place.textContent, kind: place.className };
}

let run: MeasuredRun;
let page: string;
beforeAll(() => {
  run = measured(MARKET, { strategies: [inAndOut('in-and-out', HOSTILE), { ...inAndOut('second'), name: `second ${HOSTILE}` }], model: CALM, everyMs: 60_000 });
  page = pageOf(run, { warnings: [HOSTILE, ...run.warnings], subject: HOSTILE, parameters: [[HOSTILE, HOSTILE]] });
});

describe('a report', () => {
  it('says everything it should, warnings first', () => {
    expect(run.record.fills.length).toBeGreaterThan(50);
    const headings = [...page.matchAll(/<h2>([^<]*)<\/h2>/g)].map(([, heading]) => heading);
    expect(headings).toEqual(SECTIONS);
    expect(page.indexOf('class="warnings"')).toBeLessThan(page.indexOf('class="verdict"'));
    expect([...page.matchAll(/<svg /g)]).toHaveLength(4);
    for (const setting of ['optimistic', 'base', 'pessimistic', 'buy and hold', 'bought step by step', 'cash', run.result.decisionHash]) expect(page).toContain(setting);
  });

  it('needs nothing from anywhere, for a phone, in the dark and on paper', () => {
    expect(page).not.toMatch(/(?:src|href)\s*=\s*["'](?!#)|url\(|@import|https?:/);
    expect(page).toContain('name="viewport" content="width=device-width, initial-scale=1"');
    expect(page).toContain('@media (prefers-color-scheme:dark)');
    expect(page).toContain('@media print');
  });

  it('lets its one script run and nothing else, by its hash', () => {
    expect(page).toContain(`default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${createHash('sha256').update(scriptOf(page)).digest('base64')}'`);
    expect([...page.matchAll(/<script/g)]).toHaveLength(2);
  });

  it('opens and closes its elements in pairs, whatever is in it', () => {
    const open: string[] = [];
    const body = page.replace(/<!doctype html>/, '').replace(/(<(script|style)[^>]*>)[\s\S]*?<\/\2>/g, '$1</$2>');
    for (const [, end, name, rest] of body.matchAll(/<(\/?)([a-z][a-z0-9]*)([^>]*)>/g)) {
      if (end === '/') expect(open.pop()).toBe(name);
      else if (!['meta', 'br'].includes(name!) && !rest!.endsWith('/')) open.push(name!);
    }
    expect(open).toEqual([]);
  });

  it('shows hostile names and reasons as text', () => {
    expect(page).not.toContain('<img');
    expect(page).not.toContain(HOSTILE);
    expect(page).toContain('&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;');
    expect(JSON.parse(dataOf(page))).toMatchObject({ record: { strategies: [{ name: 'in-and-out' }, { name: `second ${HOSTILE}` }] } });
  });

  it('computes its figures again by itself, and they agree', () => {
    const { text, kind } = checked(page);
    expect([kind, text]).toEqual(['check good', expect.stringMatching(/^All 162 figures were computed again in this page/)]);
  });

  it('shows it where a figure does not follow from the data, or the data are broken', () => {
    const data = JSON.parse(dataOf(page)) as { figures: Record<string, Record<string, unknown>>; record: { strategies: { equity: number[] }[] } };
    data.figures['total']!['sharpe'] = 9.99;
    const forged = checked(page, JSON.stringify(data));
    expect(forged.kind).toBe('check bad');
    expect(forged.text).toMatch(/^1 figures do not follow from the data in this file: do not believe it\. total: sharpe is 9\.99, the data lead to /);
    data.record.strategies[0]!.equity[20]! += 100;
    expect(Number.parseInt(checked(page, JSON.stringify(data)).text, 10)).toBeGreaterThan(3);
    expect(checked(page, '{').kind).toBe('check bad');
  });

  it('is there too where nothing was traded, and says so', () => {
    const idle = pageOf(measured([], { everyMs: 60_000 }));
    expect(idle).toContain('No swap was made: this run says nothing about the strategy.');
    expect([...idle.matchAll(/<h2>/g)]).toHaveLength(SECTIONS.length);
    expect(checked(idle).kind).toBe('check good');
  });

  it('stays small: of a long run it draws what can be seen, and beyond a limit it carries no data and says so', () => {
    const { record } = run;
    const times = Array.from({ length: 100_000 }, (_, i) => i * 60_000);
    const column = times.map((_, i) => 500 + Math.sin(i / 500) + (i === 77_777 ? 50 : 0));
    const long: MeasuredRun = {
      ...run, series: { times, values: column, held: column.map(() => 0), unpriced: 0 },
      record: { ...record, times, strategies: [{ ...record.strategies[0]!, equity: column, held: column.map(() => 0) }], instruments: [] },
    };
    const big = pageOf(long);
    expect(big.length).toBeLessThan(500_000);
    expect(big).toContain('too many to be carried in this file');
    expect(big).not.toContain('<script');
    // The one point that stands out is drawn.
    expect(big).toMatch(/551/);
  });
});

describe('what a report carries', () => {
  it('is unpacked as it was packed', () => {
    expect(unpackRecord(JSON.parse(JSON.stringify(packRecord(run.record))) as ReturnType<typeof packRecord>)).toEqual(run.record);
    expect(packRecord({ ...run.record, fills: [], times: [] })).toMatchObject({ steps: [], names: [], fills: [] });
  });

  it('is compared by name: a missing figure differs, the last digits do not', () => {
    const figures = figuresOf(run.record);
    expect(mismatches(figures, figures)).toEqual([]);
    expect(mismatches(figures, { ...figures, total: { ...figures['total']!, turnover: figures['total']!.turnover! * (1 + 1e-12) } })).toEqual([]);
    const { total, ...others } = figures;
    expect(mismatches(figures, others).map(({ of }) => of)).toEqual(Object.keys(total!).map(() => 'total'));
  });
});
