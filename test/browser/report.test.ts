import { deflateRawSync } from 'node:zlib';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
import { printedFigures } from '../../src/report/printed-figures.ts';
import { unpackData } from '../../src/report/page-script.ts';
import { heatMapFigure } from '../../src/report/charts/heat-map.ts';
import { lineChart } from '../../src/report/charts/line-chart.ts';
import { columnsOf, dataTable, markup } from '../../src/web/markup.ts';
import { renderPage } from '../../src/report/page.ts';
import { amountText } from '../../src/research/metrics/value-text.ts';
import type { ReportInput } from '../../src/report/report-input.ts';
import { measured } from '../backtest/measured.ts';
import { ENDLESS, GRID, HOSTILE, pageOf, RIGHT_TO_LEFT, tradingRun, tradingSettings } from '../report/reports.ts';
import { openBrowser, WITHOUT_BROWSER } from './browser.ts';
import {
  accessOf, brokenWords, faintTexts, groundColour, layoutOf, printedTexts, swatchesOf, textsOf,
} from './probes.ts';

const LARGE = { width: 1_200, height: 900 };
const PHONE = { width: 375, height: 812 };
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
    for (const size of [LARGE, PHONE]) {
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
    const expected = printedFigures(records.record, assessmentsOf(records));
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
    const [white, black] = ['rgb(255, 255, 255)', 'rgb(18, 22, 27)'];
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
    const { headings, ...faults } = await page.evaluate(accessOf);
    expect(faults).toEqual({ tables: [], nameless: [], broken: [] });
    expect(headings[0]).toEqual({ level: 1, text: 'Backtest of in-and-out, second' });
    expect(headings.filter(({ level }) => level === 1)).toHaveLength(1);
    for (const [i, { level, text }] of headings.entries())
      expect(level - (headings[i - 1]?.level ?? 0), text).toBeLessThanOrEqual(1);
    expect(headings.slice(1, 4).map(({ text }) => text)).toEqual(['Warnings', 'Summary', 'Key figures']);
    expect(await page.getAttribute('svg >> nth=0', 'aria-label')).toMatch(
      /^Equity, USDC: 1970-01-01 00:00:00 to .* 04:\d\d:\d\d UTC\. strategies from 1,000\.00 to [\d.,]+, lowest/,
    );
    expect(await page.getAttribute('svg >> nth=2', 'aria-label')).toMatch(
      /^Change since the beginning, .* UTC\. buy and hold from 0\.00 % to [-\d.]+ %, .*; strategies from 0\.00 % to /,
    );
    expect(await page.evaluate(textsOf, '.heat-map td.configured .unseen')).toEqual([' (as configured)']);
  });

  it('has read-outs for mouse, touch and keyboard', async () => {
    await openWhole();
    const chart = page.locator('.chart').first();
    const reader = chart.locator('.reader');
    const read = async (): Promise<readonly string[]> =>
      [await chart.locator('.when').textContent() ?? '', ...await chart.locator('.value').allTextContents()];
    const { record: { times }, series } = settings.base;
    const last = await read();
    expect(last.slice(0, 1).concat(last.slice(-1))).toEqual(['last', amountText(series.values.at(-1)!)]);

    await reader.scrollIntoViewIfNeeded();
    const box = (await reader.boundingBox())!;
    await page.mouse.move(box.x + box.width / 4, box.y + 20);
    const middle = Math.round((times.at(-1)! - times[0]!) / 4);
    const [at, ...values] = await read();
    expect(Math.abs(Date.parse(`${at!.replace(' ', 'T')}Z`) - times[0]! - middle)).toBeLessThan(60_000);
    const place = series.times.findIndex((time) =>
      Math.floor(time / 1_000) * 1_000 === Date.parse(`${at!.replace(' ', 'T')}Z`));
    expect(values.at(-1)).toBe(amountText(series.values[place]!));
    await page.mouse.move(box.x + (box.width * 115) / 240, box.y + 20);
    // Where nothing was recorded, the read-out has no value.
    expect((await read()).slice(1)).toEqual(['–']);
    await page.mouse.move(box.x - 50, box.y);
    expect(await read()).toEqual(last);

    await page.setViewportSize(PHONE);
    await reader.scrollIntoViewIfNeeded();
    const narrow = (await reader.boundingBox())!;
    await page.touchscreen.tap(narrow.x + narrow.width / 2 + 60, narrow.y + narrow.height / 2);
    expect((await read())[0]).toMatch(/^1970-01-01 02:/);

    await reader.focus();
    await page.keyboard.press('Home');
    expect(await read()).toEqual(['1970-01-01 00:00:00', '1,000.00']);
    expect(await reader.getAttribute('aria-valuetext')).toBe('1970-01-01 00:00:00: strategies 1,000.00');
    const beside = page.locator('.chart').nth(2).locator('.reader');
    await beside.focus();
    await page.keyboard.press('Home');
    expect(await beside.getAttribute('aria-valuetext'))
      .toBe('1970-01-01 00:00:00: buy and hold 0.00 %, DCA 0.00 %, strategies 0.00 %');
    await reader.focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    expect(await reader.getAttribute('aria-valuenow')).toBe('1');
    await page.keyboard.press('End');
    expect((await read()).slice(1)).toEqual(last.slice(1));
  });

  it('reads out each bar of the distribution with its range', async () => {
    await openWhole();
    const reader = page.getByRole('slider', { name: 'Round trips by result' });
    await reader.focus();
    await page.keyboard.press('Home');
    const counted: number[] = [];
    for (;;) {
      const [, range, count] =
        /^(-?[\d.]+ to -?[\d.]+): round trips (\d+)$/.exec((await reader.getAttribute('aria-valuetext'))!)!;
      expect(range).toBeTruthy();
      counted.push(Number(count));
      if (await reader.getAttribute('aria-valuenow') === await reader.getAttribute('aria-valuemax')) break;
      await page.keyboard.press('ArrowRight');
    }
    expect(counted.reduce((sum, count) => sum + count, 0))
      .toBe(Number((await page.evaluate(printedTexts))['trips.all']));
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
    expect(await page.evaluate(textsOf, 'img, main script:not([type="application/json"])')).toEqual([]);
    expect(await page.title()).toContain('</script><img src=x onerror="document.title=1">\'&amp;\\u202e');
    // The direction of one name does not affect the text beside it.
    expect(await page.evaluate(textsOf, '#comparison ~ .wide bdi'))
      .toEqual(expect.arrayContaining([RIGHT_TO_LEFT, ENDLESS]));
  });

  it('is valid without trades, without duration, and without a price', async () => {
    await open(pageOf(measured([], { everyMs: 60_000 })));
    await expectSound();
    expect(await page.evaluate(textsOf, '.chart .none')).toEqual([
      'The run has no duration.', 'The run has no duration.', 'The run has no duration.', 'The run has no duration.',
      'No round trip was completed.',
    ]);
    const { record, ...rest } = tradingRun({ quotes: 60 });
    const nothing = record.times.map(() => null);
    await open(pageOf({ ...rest, record: {
      ...record, instruments: [...record.instruments, { symbol: 'FISH', decimals: 5, bids: nothing, asks: nothing }],
    } }));
    await expectSound();
    expect(await page.evaluate(textsOf, '.chart .none')).toEqual(['It never had a price in this recording.']);
    await open(pageOf(tradingRun({ names: [], quotes: 60 })));
    await expectSound();
  });

  it('is valid with twenty strategies, over ten minutes, and over thirty days', async () => {
    await open(pageOf(
      tradingRun({ names: Array.from({ length: 20 }, (_, i) => `a-strategy-with-number-${i + 1}`), quotes: 60 }),
    ));
    await expectSound();
    expect((await page.evaluate(textsOf, '[data-figure^="strategy 20."]')).length).toBeGreaterThan(5);
    await open(pageOf(tradingRun({ quotes: 120, everyMs: 5_000 })));
    await expectSound();
    expect(await page.evaluate(textsOf, '.chart:first-of-type .tick'))
      .toEqual(expect.arrayContaining(['00:02', '00:04']));
    await open(pageOf(tradingRun({ quotes: 240, everyMs: 10_800_000 })));
    await expectSound();
    expect(await page.evaluate(textsOf, '.chart:first-of-type .tick'))
      .toEqual(expect.arrayContaining(['Jan 6', 'Jan 11']));
  });

  it('provides frame, tables, heat maps and lines to other pages', async () => {
    await open(renderPage({
      title: 'Sweep', lead: markup`<p class="soft">40 trials</p>`, warnings: [],
      verdict: markup`<p id="check" class="check good">Nothing.</p>`,
      sections: [
        { id: 'map', title: 'Map', body: heatMapFigure({ ...GRID, middle: null }) },
        { id: 'folds', title: 'Folds', body: lineChart({
          title: 'Equity, USDC', times: [0, 86_400_000, 172_800_000], kind: 'amount',
          lines: [{ label: 'out of sample', style: 'main', form: 'steps', values: [100, null, 103] }],
        }) },
        { id: 'trials', title: 'Trials', body: dataTable({
          label: 'Trials', columns: columnsOf('fast', ...Array.from({ length: 8 }, (_, i) => `a figure ${i}`)),
          rows: [[1, ...Array.from({ length: 8 }, () => '123.45 %')]],
        }) },
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
    // A sentence beside numbers is wide enough: a row stays a few lines high on a phone.
    await page.setViewportSize(PHONE);
    expect((await page.locator('[aria-label=Reasons] tbody tr').boundingBox())!.height).toBeLessThan(100);
  });

  it('wraps no label of a heat map within a word, and shortens endless ones', async () => {
    await open(renderPage({ title: 'Walk', lead: markup`<p>Two.</p>`, warnings: [],
      verdict: markup`<p id="check" class="check good">None.</p>`, sections: [
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

  it('gives a colour in a legend to the items drawn in it only', async () => {
    await openWhole();
    expect(await page.evaluate(swatchesOf, 'Round trips by result, USDC')).toEqual(['lost', 'won or even']);
  });

  it('shows on a phone on which side a table continues', async () => {
    await open(renderPage({
      title: 'Tables', lead: markup`<p>Two.</p>`, warnings: [], verdict: markup`<p>None.</p>`,
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
