import { deflateRawSync } from 'node:zlib';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MeasuredSettings } from '../../src/research/trials/measured-run.ts';
import type { EmbeddedReport } from '../../src/report/embedded-records.ts';
import { assessmentsOf, unpackRecord } from '../../src/report/embedded-records.ts';
import { assessRun, seriesOf } from '../../src/research/metrics/run-figures.ts';
import { runStatistics } from '../../src/research/metrics/run-statistics.ts';
import { tradesOf } from '../../src/research/metrics/trades.ts';
import { printedFigures } from '../../src/report/printed-figures.ts';
import { unpackData } from '../../src/report/page-script.ts';
import { chartFigure, lineOf, PLAIN } from '../../src/report/charts/chart-figure.ts';
import { heatMapFigure } from '../../src/report/charts/heat-map.ts';
import { columnsOf, dataTable, markup } from '../../src/web/markup.ts';
import { renderPage } from '../../src/report/page.ts';
import { amountText } from '../../src/research/metrics/value-text.ts';
import { unitText } from '../../src/web/number-text.ts';

import type { ReportInput } from '../../src/report/report-input.ts';
import { measured } from '../backtest/measured.ts';
import { ENDLESS, GRID, HOSTILE, pageOf, RIGHT_TO_LEFT, tradingRun, tradingSettings } from '../report/reports.ts';
import { openBrowser, WITHOUT_BROWSER } from './browser.ts';
import {
  accessOf, brokenWords, faintTexts, groundColour, layoutOf, printedTexts, textsOf,
} from './probes.ts';

const LARGE = { width: 1_200, height: 900 };
const PHONE = { width: 390, height: 844 };
const TABLET = { width: 768, height: 1_024 };
/** A4 without its margins, at 96 dots an inch. */
const PAPER = { width: 703, height: 1_030 };
const GAP = { from: 100 * 60_000, until: 130 * 60_000 };
const WHOLE: Partial<ReportInput> = {
  grid: GRID, trials: { count: 12, sharpeVariance: 2 }, silences: { all: [GAP], bySymbol: new Map([['SOL', [GAP]]]) },
};

const LONG_REASON = 'below the lower band: 179.459 against a mean of 181.715 (-2.5 deviations)';

/** A table of empty cells. */
function emptyTable(columns: number): ReturnType<typeof dataTable> {
  return dataTable({
    label: `of ${columns}`, columns: columnsOf('figure', ...Array.from({ length: columns }, (_, i) => `column ${i}`)),
    rows: [['', ...Array.from({ length: columns }, () => '')]],
  });
}

/** Returns a heat map by something of that name, over eight folds. */
function mapOf(name: string): ReturnType<typeof heatMapFigure> {
  const folds = [1, 2, 3, 4, 5, 6, 7, 8];
  return heatMapFigure({
    title: 'In-sample', measured: 'Sharpe ratio', kind: 'ratio', down: { name, labels: ['k: 2 (3)', 'k: 1 (0)'] },
    across: { name: 'fold', labels: folds.map(String) },
    values: [-1, 1].map((sign) => folds.map((fold) => sign * fold)),
  });
}

const dataOf = (html: string): Promise<unknown> => unpackData(/id="data">([^<]*)</.exec(html)![1]!);
const packData = (data: unknown): string => deflateRawSync(JSON.stringify(data)).toString('base64');
const withData = (html: string, data: unknown): string => html.replace(/(?<=id="data">)[^<]*/, packData(data));

if (WITHOUT_BROWSER !== undefined)
  process.stderr.write(`test/browser is skipped, no page was opened: ${WITHOUT_BROWSER}\n`);

describe.skipIf(
  WITHOUT_BROWSER !== undefined,
)(`a report in a browser${WITHOUT_BROWSER === undefined ? '' : ` (skipped: ${WITHOUT_BROWSER})`}`, () => {
  const requested: string[] = [];
  const consoleErrors: string[] = [];
  let folder: string;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let settings: MeasuredSettings;
  let whole: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gannet-browser-'));
    settings = tradingSettings({ names: ['in-and-out', 'second'] });
    whole = pageOf(settings.base, { settings, ...WHOLE });
    browser = await openBrowser();
    context = await browser.newContext({ viewport: LARGE, colorScheme: 'light', hasTouch: true });
    page = await context.newPage();
    page.on('request', (request) => { requested.push(request.url()); });
    page.on('console', (message) => { consoleErrors.push(message.text()); });
    page.on('pageerror', (error) => { consoleErrors.push(error.message); });
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  /** Opens a page from its file, at one of its sizes. */
  async function open(html: string, name = 'report'): Promise<string> {
    const file = join(folder, `${name}.html`);
    writeFileSync(file, html);
    await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
    await page.setViewportSize(LARGE);
    await page.goto(pathToFileURL(file).href);
    return pathToFileURL(file).href;
  }
  const openWhole = (): Promise<string> => open(whole);
  /** Returns the text and the class of the check, once it is done. */
  const checkText = async (): Promise<readonly [string | null, string | null]> => {
    await page.waitForSelector('#check.good, #check.bad');
    return [await page.getAttribute('#check', 'class'), await page.textContent('#check')];
  };

  /** Checks the layout of any report at every size and on paper. */
  async function expectSound(): Promise<void> {
    await page.waitForSelector('.chart-text', { state: 'detached' });
    for (const size of [LARGE, TABLET, PHONE]) {
      await page.setViewportSize(size);
      expect(await page.evaluate(layoutOf), `${size.width}`)
        .toMatchObject({ sideways: 0, beyond: [], touching: [], empty: [] });
    }
    await page.emulateMedia({ media: 'print' });
    await page.setViewportSize(PAPER);
    expect(await page.evaluate(layoutOf), 'paper')
      .toEqual({ sideways: 0, beyond: [], touching: [], clipped: [], empty: [] });
    await page.emulateMedia({ media: 'screen' });
    expect((await checkText())[0]).toBe('check good');
  }

  /** Opens the report after a forbidden change of it, or of its data, and returns what it says. */
  async function forged(from: RegExp, to: string, isData = false): Promise<string> {
    const text = isData ? JSON.stringify(await dataOf(whole)) : whole;
    expect(text).toMatch(from);
    const changed = text.replace(from, to);
    await open(isData ? withData(whole, JSON.parse(changed)) : changed);
    const [kind, said] = await checkText();
    expect(kind).toBe('check bad');
    return said!;
  }

  it('makes no request, and its policy blocks requests', async () => {
    const asked: string[] = [];
    const server = createServer(({ url = '' }, response) => { asked.push(url); response.end(); })
      .listen(0, '127.0.0.1');
    await new Promise((resolve) => { server.once('listening', resolve); });
    const elsewhere = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const before = requested.length;
    const url = await openWhole();
    expect(requested.slice(before)).toEqual([url]);
    const said = [requested.length, consoleErrors.length] as const;
    await page.evaluate(`(async () => {
      document.body.insertAdjacentHTML('beforeend', '<img src="${elsewhere}/image">'
        + '<iframe src="${elsewhere}/frame"></iframe><link rel="stylesheet" href="${elsewhere}/style">');
      const script = document.createElement('script');
      script.textContent = 'document.title = "run"';
      document.body.append(script);
      await fetch('${elsewhere}/fetch').catch(() => {});
    })()`);
    expect(await page.title()).toBe('Backtest of in-and-out, second');
    expect(asked).toEqual([]);
    [requested.length, consoleErrors.length] = said;
    server.close();
  });

  it('recomputes its printed figures with the same results', async () => {
    await openWhole();
    const { record, others, trials } = await dataOf(whole) as EmbeddedReport;
    const records = {
      record: unpackRecord(record),
      others: Object.fromEntries(Object.entries(others).map(([name, other]) => [name, unpackRecord(other)])), trials,
    };
    expect(Object.keys(others)).toEqual(['optimistic', 'pessimistic']);
    const expected = printedFigures(records.record, assessmentsOf(records), runStatistics(records.record));
    const printed = await page.evaluate(printedTexts);
    // A run of four hours has no yearly figures to compare.
    expect(Object.keys(printed).length).toBeGreaterThan(90);
    expect(printed).toEqual(Object.fromEntries(Object.keys(printed).map((name) => [name, expected.get(name)])));
    expect(await checkText()).toEqual(['check good', expect.stringMatching(
      /^\d{3} figures were computed again in this page from the data in this file, and are equal to the printed/,
    )]);
  });

  it('reports printed or embedded figures that do not follow from the data, and damaged data', async () => {
    expect(await forged(/(?<=data-figure="total\.total_return">)[^<]*/, '99.00 %')).toMatch(
      /^1 figure does not follow .* total\.total_return is printed as “99\.00 %”, the data give “-?\d+\.\d\d/,
    );
    expect(await forged(/"total_return":[^,]*/, '"total_return":9.99', true)).toMatch(
      /^1 figure does not follow from the data in this file: do not trust this report\. total: total_return is 9\.99/,
    );
    expect(Number.parseInt(await forged(/(?<="equity":\[\d+,)/, '999999,', true), 10)).toBeGreaterThan(3);
    expect(await forged(/(?<=id="data">)[^<]{40}/, '')).toMatch(/cannot be read/);
  });

  it('reports the figures that it cannot recompute', async () => {
    const data = await dataOf(whole) as { others: object; figures: Record<string, unknown> };
    const figures = Object.fromEntries(Object.entries(data.figures).filter(([of]) => !of.startsWith('setting ')));
    await open(withData(whole, { ...data, others: {}, figures }));
    expect(await checkText()).toEqual(['check good', expect.stringMatching(
      /The data of the other settings are too large for this file: their \d\d figures are not checked\.$/,
    )]);
    await open(whole.replace(/<script type="text\/plain" id="data">[^<]*<\/script>/, ''));
    expect(await page.getAttribute('#check', 'class')).toBe('check');
  });

  it('is laid out for a large screen, a phone and paper', async () => {
    await openWhole();
    await expectSound();
    // The three settings stand side by side on a phone too.
    await page.setViewportSize(PHONE);
    expect(await page.locator('[aria-label="The three settings"].wide').evaluate((
      { scrollWidth, clientWidth }: { readonly scrollWidth: number; readonly clientWidth: number },
    ) => scrollWidth - clientWidth)).toBe(0);
    await page.emulateMedia({ media: 'print' });
    const paper = await page.pdf({ format: 'A4' });
    expect(paper.toString('latin1').match(/\/Type \/Page\b/g)!.length).toBeGreaterThan(3);
  });

  it('uses the device’s colours or the reader’s choice, with enough contrast in both', async () => {
    await openWhole();
    const [white, black] = ['rgb(255, 255, 255)', 'rgb(15, 20, 24)'];
    for (const [scheme, choice, ground] of [
      ['light', 'auto', white], ['dark', 'auto', black], ['dark', 'light', white], ['light', 'dark', black],
    ] as const) {
      await page.emulateMedia({ media: 'screen', colorScheme: scheme });
      await page.check(`[value=${choice}]`);
      expect(await page.evaluate(groundColour), `${scheme}, ${choice}`).toBe(ground);
      const { count, faint } = await page.evaluate(faintTexts);
      expect([count > 300, faint], `${scheme}, ${choice}`).toEqual([true, []]);
    }
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    expect(await page.evaluate(groundColour)).toBe(white);
    expect((await page.evaluate(faintTexts)).faint).toEqual([]);
  });

  it('supports screen readers: ordered headings, table headers, named drawings and controls', async () => {
    await openWhole();
    await checkText();
    const { headings, ...faults } = await page.evaluate(accessOf);
    expect(faults).toEqual({ tables: [], nameless: [], broken: [] });
    expect(headings[0]).toEqual({ level: 1, text: 'Backtest of in-and-out, second' });
    expect(headings.filter(({ level }) => level === 1)).toHaveLength(1);
    for (const [i, { level, text }] of headings.entries())
      expect(level - (headings[i - 1]?.level ?? 0), text).toBeLessThanOrEqual(1);
    expect(headings.slice(1, 4).map(({ text }) => text)).toEqual(['Equity', 'Summary', 'Prices']);
    expect((await page.evaluate(textsOf, '.time-chart .unseen'))[0])
      .toMatch(/^strategies from 1,000\.00 USDC to [\d.,]+ USDC .*, lowest .* buy and hold from .* drawdown /);
    expect(await page.evaluate(textsOf, '.heat-map td.configured .unseen')).toEqual([' (as configured)']);
  });

  it('has no violation of accessibility rules, on a phone and on a large screen, in both schemes', async () => {
    await openWhole();
    await checkText();
    const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    await page.evaluate(source);
    for (const size of [PHONE, { width: 1_280, height: 900 }]) for (const scheme of ['light', 'dark'] as const) {
      await page.setViewportSize(size);
      await page.emulateMedia({ media: 'screen', colorScheme: scheme });
      const found = await page.evaluate(`axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) =>
        id + ': ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)).join('; ')))`);
      expect(found, `${size.width}, ${scheme}`).toEqual([]);
    }
  });

  it('shows the sentence, the key figures and the equity chart on the first screen of a phone', async () => {
    await page.setViewportSize(PHONE);
    const file = join(folder, 'first-screen.html');
    writeFileSync(file, whole);
    await page.goto(pathToFileURL(file).href);
    await page.waitForSelector('.time-chart canvas');
    const bottom = async (selector: string): Promise<number> => {
      const box = (await page.locator(selector).first().boundingBox())!;
      return box.y + box.height;
    };
    expect(await page.textContent('.sentence')).toMatch(/^[-+]\d+\.\d\d % in 4h after costs, .*, max drawdown/);
    for (const part of ['.sentence', '.badge', '.tiles', '.canvas'])
      expect(await bottom(part), part).toBeLessThan(PHONE.height);
  });

  it('has charts for mouse and keyboard', async () => {
    await openWhole();
    await checkText();
    const chart = page.locator('.time-chart').first();
    const reader = chart.locator('.chart-reader');
    const { series } = settings.base;
    const read = async (): Promise<string> => (await reader.getAttribute('aria-valuetext'))!;
    const last = unitText(series.values.at(-1)!, { kind: 'amount', symbol: 'USDC' });
    expect(await read()).toMatch(new RegExp(`^latest, strategies ${last}, buy and hold .* USDC, drawdown`));
    await reader.focus();
    await page.keyboard.press('Home');
    expect(await read()).toBe('1 Jan 00:00:00, strategies 1,000.00 USDC, buy and hold 1,000.00 USDC, drawdown 0.00 %');
    await page.keyboard.press('End');
    expect(await read()).toContain(`strategies ${last}`);
    const box = (await chart.locator('.canvas').boundingBox())!;
    await page.mouse.move(box.x + box.width / 3, box.y + 60);
    await page.waitForFunction(() => /01:\d\d/.test(document.querySelector('.legend')!.textContent));
    expect(await page.locator('.time-chart').nth(1).locator('button:visible').allTextContents())
      .toEqual(['1h', 'all', 'Candles', 'Log', 'Fit']);
  });

  it('lists its trades in a table that sorts and filters', async () => {
    await openWhole();
    await checkText();
    const trades = tradesOf(settings.base.record);
    const table = page.locator('#trade-table');
    expect(await table.locator('.count').textContent()).toBe(`${trades.length} rows`);
    expect(await table.locator('tbody tr').count()).toBe(25);
    await table.getByRole('button', { name: 'profit, USDC' }).click();
    const profits = trades.map(({ profit }) => profit).toSorted((a, b) => b - a);
    const shown = await table.locator('tbody tr td:nth-child(4)').allTextContents();
    expect(shown).toEqual(profits.slice(0, 25).map((profit) => `${profit > 0 ? '+' : ''}${amountText(profit)}`));
    await table.getByRole('searchbox').fill('second');
    const own = trades.filter(({ strategy }) => strategy === 'second').length;
    expect(await table.locator('.count').textContent()).toBe(`${own} of ${trades.length} rows`);
  });

  it('opens to its warnings, and keeps its sections reachable', async () => {
    await open(pageOf(settings.base, { settings, ...WHOLE, warnings: ['the first warning', 'the second one'] }));
    await checkText();
    await page.setViewportSize(PHONE);
    expect(await page.isVisible('text=the second one')).toBe(false);
    await page.click('text=2 warnings');
    expect(await page.isVisible('text=the second one')).toBe(true);
    await page.click('nav a >> text=Costs');
    await page.waitForSelector('nav a[aria-current] >> text=Costs');
    const box = (await page.locator('nav').boundingBox())!;
    expect([box.y, (await page.locator('#costs').boundingBox())!.y > box.height]).toEqual([0, true]);
    await page.click('.tile >> nth=2');
    expect(await page.isVisible('text=the largest fall of equity below its last peak')).toBe(true);
  });

  it('is readable without scripts', async () => {
    const still = await browser.newContext({ viewport: LARGE, javaScriptEnabled: false });
    const text = await still.newPage();
    const file = join(folder, 'still.html');
    writeFileSync(file, whole);
    await text.goto(pathToFileURL(file).href);
    const said = await text.locator('main').innerText();
    expect(said).toMatch(/strategies from 1,000\.00 USDC to [\d.,]+ USDC/);
    expect(said).toContain('The last 50 of');
    expect(said).toContain('scripts do not run here');
    await still.close();
  });

  it('shows hostile names, symbols and reasons as text, and keeps its layout', async () => {
    const run = tradingRun({ names: [HOSTILE, RIGHT_TO_LEFT, ENDLESS], quotes: 120 });
    const symbol = `${HOSTILE}${RIGHT_TO_LEFT}`;
    const { record } = run;
    await open(pageOf({
      ...run, record: { ...record, instruments: [...record.instruments, { ...record.instruments[0]!, symbol }] },
    }, {
      subject: `${HOSTILE} ${RIGHT_TO_LEFT} ${ENDLESS}`, warnings: [HOSTILE, ENDLESS, RIGHT_TO_LEFT],
      verdict: [HOSTILE, ENDLESS],
      parameters: [[ENDLESS, [ENDLESS, HOSTILE]], ['configuration', `${HOSTILE}.yaml`]], hashes: [[HOSTILE, ENDLESS]],
      grid: { ...GRID, title: HOSTILE, measured: ENDLESS, down: {
        name: ENDLESS, labels: [HOSTILE, RIGHT_TO_LEFT, ENDLESS, ''],
      }, across: { name: HOSTILE, labels: ['× 0', RIGHT_TO_LEFT, '× 2', HOSTILE, ENDLESS] } },
    }), 'a <b>&amp; name');
    await expectSound();
    expect(await page.evaluate(textsOf, 'img, main script:not([type="text/plain"])')).toEqual([]);
    expect(await page.title()).toContain('</script><img src=x onerror="document.title=1">\'&amp;\\u202e');
    // The direction of one name does not affect the text beside it.
    expect(await page.evaluate(textsOf, '#comparison ~ .wide bdi'))
      .toEqual(expect.arrayContaining([RIGHT_TO_LEFT, ENDLESS]));
  });

  it('is valid without trades, without duration, and without a price', async () => {
    await open(pageOf(measured([], { everyMs: 60_000 })));
    await expectSound();
    expect(await page.evaluate(textsOf, '.chart .none'))
      .toEqual(['The run has no duration.', 'The run has no duration.', 'The run has no duration.']);
    expect(await page.textContent('.sentence')).toMatch(/^No swap in /);
    const { record, ...rest } = tradingRun({ quotes: 60 });
    const nothing = record.times.map(() => null);
    await open(pageOf({ ...rest, record: {
      ...record, instruments: [...record.instruments, { symbol: 'FISH', decimals: 5, bids: nothing, asks: nothing }],
    } }));
    await expectSound();
    expect(await page.evaluate(textsOf, '.chart .none')).toEqual(['It never had a price in this recording.']);
    await open(pageOf(tradingRun({ names: [], quotes: 60 })));
    await expectSound();
    // An equity of zero, and numbers too large for their column.
    for (const value of [0, 1e21]) {
      const values = record.times.map((_, i) => (i === 0 ? 500 : value));
      const broke = {
        ...record, strategies: [{ ...record.strategies[0]!, equity: values, held: values.map(() => 0) }],
      };
      const series = seriesOf(broke, broke.strategies);
      await open(pageOf({ ...rest, record: broke, series, assessment: assessRun(broke) }));
      await expectSound();
      expect(await page.textContent('.sentence')).toMatch(value === 0 ? /^-100\.00 % in / : /^\+[\d,]+\.\d\d % in /);
    }
  });

  it('is valid with twenty strategies, over ten minutes, and over thirty days', async () => {
    await open(pageOf(
      tradingRun({ names: Array.from({ length: 20 }, (_, i) => `a-strategy-with-number-${i + 1}`), quotes: 60 }),
    ));
    await expectSound();
    expect((await page.evaluate(textsOf, '[data-figure^="strategy 20."]')).length).toBeGreaterThan(5);
    await open(pageOf(tradingRun({ quotes: 120, everyMs: 5_000 })));
    await expectSound();
    await open(pageOf(tradingRun({ quotes: 240, everyMs: 10_800_000 })));
    await expectSound();
    expect(await page.textContent('.sentence')).toContain('% in 30 days after costs');
  });

  it('provides frame, tables, heat maps and lines to other pages', async () => {
    await open(renderPage({
      title: 'Sweep', lead: markup`<p class="soft">40 trials</p>`, warnings: [],
      sentence: markup`Nothing. <span id="check" class="check good"></span>`,
      sections: [
        { id: 'map', title: 'Map', body: heatMapFigure({ ...GRID, middle: null }) },
        { id: 'folds', title: 'Folds', body: chartFigure({
          ...PLAIN, title: 'Equity, USDC', units: [{ kind: 'amount', symbol: 'USDC' }], empty: 'None.',
          lines: [lineOf('out of sample', [[0, 100], [86_400_000, null], [172_800_000, 103]], { form: 'steps' })],
        }) },
        { id: 'trials', title: 'Trials', body: markup`<div class="sortable">${dataTable({
          label: 'Trials', columns: columnsOf('fast', ...Array.from({ length: 8 }, (_, i) => `a figure ${i}`)),
          rows: Array.from({ length: 60 }, (_, row) => [row, ...Array.from({ length: 8 }, () => '123.45 %')]),
        })}</div>` },
        { id: 'reasons', title: 'Reasons', body: dataTable({ label: 'Reasons', columns: [
          { name: 'time', isText: true }, ...['one', 'two', 'three', 'four'].map((name) => ({ name })),
          { name: 'reason', isText: true, isLong: true },
        ], rows: [['2026-01-30 15:42:21', 1_000, 2_000, 3_000, 4_000, LONG_REASON]] }) },
      ],
    }));
    await expectSound();
    await page.setViewportSize(LARGE);
    expect((await page.evaluate(faintTexts)).faint).toEqual([]);
    expect(await page.evaluate(accessOf)).toMatchObject({ tables: [], nameless: [], broken: [] });
    await page.getByRole('button', { name: 'fast' }).click();
    await page.getByRole('button', { name: 'fast' }).click();
    expect((await page.locator('[aria-label=Trials] tbody th').allTextContents()).slice(0, 2)).toEqual(['59', '58']);
    // A sentence beside numbers is wide enough: a row stays a few lines high on a phone.
    await page.setViewportSize(PHONE);
    expect((await page.locator('[aria-label=Reasons] tbody tr').boundingBox())!.height).toBeLessThan(100);
  });

  it('wraps no label of a heat map within a word, and shortens endless ones', async () => {
    await open(renderPage({ title: 'Walk', lead: markup`<p>Two.</p>`, warnings: [],
      sentence: markup`None. <span id="check" class="check good"></span>`, sections: [
        { id: 'map', title: 'Map', body: mapOf('parameters (times chosen)') },
        { id: 'endless', title: 'Endless', body: mapOf('x'.repeat(200)) },
      ] }), 'heat-maps');
    await expectSound();
    await page.setViewportSize(PHONE);
    expect(await page.evaluate(brokenWords, 'section:has(#map) th')).toEqual([]);
    expect(await page.evaluate(brokenWords, 'section:has(#endless) th')).toEqual(['x'.repeat(200)]);
    expect((await page.locator('section:has(#endless) th.side.text').boundingBox())!.width)
      .toBeLessThan(PHONE.width / 2);
  });

  it('shows on a phone on which side a table continues', async () => {
    await open(renderPage({
      title: 'Tables', lead: markup`<p>Two.</p>`, warnings: [], sentence: markup`None.`,
      sections: [{ id: 'tables', title: 'Tables', body: markup`${emptyTable(14)}${emptyTable(2)}` }],
    }), 'tables');
    await page.setViewportSize(PHONE);
    // What is at that edge in an empty row: the shadow, or the background alone.
    const edge = async (label: string): Promise<string> => {
      const box = (await page.locator(`[aria-label="${label}"]:has(table), .wide:has(> table[aria-label="${label}"])`)
        .first().boundingBox())!;
      const row = (await page.locator(`table[aria-label="${label}"] tbody tr`).boundingBox())!;
      return (await page.screenshot({ clip: { x: box.x + box.width - 8, y: row.y + 2, width: 8, height: 3 } }))
        .toString('base64');
    };
    const bare = await edge('of 2');
    expect(await edge('of 14')).not.toBe(bare);
    await page.locator('table[aria-label="of 14"]')
      .evaluate((table) => { table.parentElement!.scrollLeft = table.scrollWidth; });
    expect(await edge('of 14')).toBe(bare);
  });

  it('made no request and logged no error in any test', () => {
    expect(requested.length).toBeGreaterThan(10);
    expect(requested.filter((url) => !url.startsWith(pathToFileURL(folder).href))).toEqual([]);
    expect(consoleErrors).toEqual([]);
  });
});
