import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openBrowser, WITHOUT_BROWSER } from './browser.ts';
import { PageDaemon } from './page-daemon.ts';
import {
  BASE, HOSTILE, hostileState, pageState, SIGNATURE, SOL_POSITION, STORIES, story, swap,
} from './page-states.ts';
import { layoutOf } from './probes.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const DESKTOP = { width: 1_280, height: 900 };
const PHONE = { width: 390, height: 844 };
const BUDGET_BYTES = 400_000;

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** Returns a story of a swap that has come as far as some steps. */
function told(reached: number, sentence: string): object {
  return story('s10', 0, sentence, { kind: 'swap', strategy: 'sol-dip', swap: swap('i-8', reached) });
}

declare const axe: { run(options: object): Promise<{ readonly violations: readonly Violation[] }> };

describe.skipIf(
  WITHOUT_BROWSER !== undefined,
)(`the page in a browser${WITHOUT_BROWSER === undefined ? '' : ` (skipped: ${WITHOUT_BROWSER})`}`, () => {
  const consoleErrors: string[] = [];
  const outside: string[] = [];
  const daemon = new PageDaemon();
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    await daemon.open();
    browser = await openBrowser();
    page = await (await browser.newContext({ viewport: DESKTOP, colorScheme: 'light' })).newPage();
    page.on('console', (message) => {
      // Chromium logs each request without an answer, which some cases make on purpose.
      if (!message.text().startsWith('Failed to load resource')) consoleErrors.push(message.text());
    });
    page.on('pageerror', (error) => { consoleErrors.push(error.stack ?? error.message); });
    page.on('request', (request) => { if (!request.url().startsWith(daemon.url)) outside.push(request.url()); });
  });
  afterAll(async () => {
    await browser.close();
    await daemon.close();
  });
  beforeEach(() => {
    Object.assign(daemon, { isLoggedIn: true, role: 'operator', isEmpty: false, stories: STORIES, state: pageState() });
    daemon.orders.length = 0;
  });

  async function open(size = DESKTOP): Promise<void> {
    await page.setViewportSize(size);
    await page.goto(daemon.url);
    await page.locator('.sentence').filter({ hasNotText: 'Connecting' }).waitFor();
  }
  const button = (name: string | RegExp): ReturnType<Page['getByRole']> => page.getByRole('button', { name });
  const dialog = (): ReturnType<Page['getByRole']> => page.getByRole('dialog');
  const confirm = async (name: string): Promise<void> => {
    await dialog().getByRole('button', { name, exact: true }).click();
    await expect.poll(() => dialog().count()).toBe(0);
  };
  const violations = async (): Promise<readonly string[]> => {
    await page.evaluate(AXE);
    const { violations: found } = await page.evaluate(() => axe.run({ resultTypes: ['violations'] }));
    return found.flatMap(({ id, nodes }) => nodes.slice(0, 3).map(({ html }) => `${id}: ${html.slice(0, 160)}`));
  };

  it('asks for the token, says when it is wrong, and logs in by it and by a login link', async () => {
    daemon.isLoggedIn = false;
    await page.goto(daemon.url);
    await page.getByLabel('Token').fill('wrong');
    await button('Log in').click();
    await page.getByRole('alert').filter({ hasText: 'not the token of the operator' }).waitFor();
    expect(await violations()).toEqual([]);
    await page.getByLabel('Token').fill('right-token');
    await page.keyboard.press('Enter');
    await page.getByText('Trading on paper · 4 strategies').first().waitFor();

    daemon.isLoggedIn = false;
    await page.goto('about:blank');
    await page.goto(`${daemon.url}#login=CODE-1`);
    await page.getByText('Trading on paper · 4 strategies').first().waitFor();
    expect(page.url()).not.toContain('CODE-1');

    await button('Log out').click();
    await page.getByLabel('Token').waitFor();
  });

  it('has no accessibility violation and nothing outside its width, at two sizes in both schemes', async () => {
    await open();
    await page.locator('.strategy-head').first().click();
    await page.getByText('Its last decisions').waitFor();
    for (const size of [DESKTOP, PHONE]) {
      await page.setViewportSize(size);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await violations(), `${size.width} ${colorScheme}`).toEqual([]);
      }
      expect((await page.evaluate(layoutOf)).sideways, `${size.width}`).toBe(0);
    }
    await page.emulateMedia({ colorScheme: 'light' });
  });

  it('shows sentence, key figures and equity chart on the first screen of a phone, soon and in few bytes', async () => {
    daemon.sentBytes = 0;
    await open(PHONE);
    await expect.poll(() => page.locator('.equity canvas').count()).toBeGreaterThan(0);
    const bottom = async (selector: string): Promise<number> => {
      const box = (await page.locator(selector).first().boundingBox())!;
      return box.y + box.height;
    };
    const bar = (await page.locator('.actions').boundingBox())!.y;
    expect(await page.locator('.sentence').textContent()).toContain('+12.40 USDC today');
    expect(await page.locator('.figures .tile').count()).toBe(6);
    expect(await bottom('.figures')).toBeLessThan(bar);
    expect(await bottom('.equity .canvas')).toBeLessThan(bar);
    expect(await page.locator('.equity .legend').textContent()).toMatch(/Equity [\d,.]+ USDC.*Drawdown/);
    expect(daemon.sentBytes).toBeLessThan(BUDGET_BYTES);
    const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]!.startTime);
    expect(paint).toBeLessThan(1_000);
  });

  it('halts on one press, and says first what each other action will do', async () => {
    await open();
    await button('Halt').click();
    await page.locator('.action-notice').filter({ hasText: 'Halted.' }).waitFor();
    daemon.setState(pageState({ sentence: { text: 'Halted (paper) · 4 strategies', level: 'act', standing: 'halted',
      reasons: [], needs: [{ what: 'Trading is halted by the operator: resume when you are ready', since: BASE - 9_000,
        remedy: { kind: 'resume', strategy: null } }] } }));
    await page.getByText('Halted (paper)').first().waitFor();
    expect(await button('Halt').isDisabled()).toBe(true);
    await page.locator('.need').getByRole('button', { name: 'Resume…' }).click();
    await dialog().getByText('All 4 strategies may buy and sell again at once').waitFor();
    expect(await violations()).toEqual([]);
    await confirm('Resume');
    await button('Sell everything…').click();
    await dialog().getByText('Sells 2 positions, about 197.71 USDC now').waitFor();
    await confirm('Sell');
    await button('Reduce only…').click();
    await confirm('Reduce only');
    await page.locator('.strategy-head').first().click();
    await button('Stop…').click();
    await confirm('Stop');
    await page.locator('.strategy-body').getByRole('button', { name: 'Sell SOL of sol-dip' }).click();
    await dialog().getByText('Sells 1 position, about 100.31 USDC now').waitFor();
    await confirm('Sell');
    // A sheet that is closed orders nothing.
    await button('Sell everything…').click();
    await page.keyboard.press('Escape');
    expect(daemon.orders).toEqual([
      { path: '/api/halt', body: { reason: 'from the page' } },
      { path: '/api/resume', body: { reason: 'from the page' } },
      { path: '/api/flatten', body: { reason: 'from the page' } },
      { path: '/api/reduce-only', body: { reason: 'from the page' } },
      { path: '/api/strategies/sol-dip/stop', body: { reason: 'from the page' } },
      { path: '/api/sell', body: { strategy: 'sol-dip', token: SOL_POSITION.amount.mint } },
    ]);
    expect(daemon.refusals).toEqual([]);
  });

  it('resolves a swap with an unknown outcome, and says why the daemon refuses', async () => {
    const unknown = swap('i-refused', 4, { state: 'unknown', needs_operator: true, signature: null });
    daemon.state = pageState({ swaps: [unknown], sentence: { text: 'Trading · 1 swap unknown', level: 'act',
      standing: 'trading', reasons: [], needs: [{ what: 'The outcome of i-refused is unknown', since: BASE,
        remedy: { kind: 'resolve', intent_id: 'i-refused' } }] } });
    await open();
    await button('Resolve…').click();
    expect(await violations()).toEqual([]);
    await dialog().getByLabel('Signature of the transaction').fill(SIGNATURE);
    await dialog().getByLabel('How you know it').fill('seen in an explorer');
    await dialog().getByRole('button', { name: 'Resolve', exact: true }).click();
    await dialog().getByText('The chain says that this transaction landed').waitFor();
    await dialog().getByText('It expired').click();
    await dialog().getByRole('button', { name: 'Resolve', exact: true }).click();
    await expect.poll(() => daemon.orders.length).toBe(2);
    expect(daemon.orders.map(({ body }) => body)).toEqual([
      { as: 'landed', reason: 'seen in an explorer', signature: SIGNATURE },
      { as: 'expired', reason: 'seen in an explorer' },
    ]);
  });

  it('offers a viewer no action', async () => {
    daemon.role = 'viewer';
    daemon.state = pageState({ role: 'viewer' });
    await open();
    await page.locator('.strategy-head').first().click();
    await page.getByText('Its last decisions').waitFor();
    expect(await page.getByRole('button', { name: /^(?:Halt|Sell|Stop|Resume|Reduce)/ }).count()).toBe(0);
  });

  it('keeps a swap one entry that changes, and the focus where it is', async () => {
    await open();
    const entries = page.locator('.stories > li');
    await expect.poll(() => entries.count()).toBe(STORIES.length);
    daemon.send('story', told(2, 'buys SOL for 100 USDC'));
    await expect.poll(() => entries.first().textContent()).toContain('quoted');
    await entries.first().getByRole('button').focus();
    daemon.send('story', told(5, 'bought 0.549 SOL for 100 USDC'));
    await expect.poll(() => entries.first().textContent()).toContain('landed');
    expect(await entries.count()).toBe(STORIES.length + 1);
    await page.keyboard.press('Enter');
    await dialog().getByText('0.5491 SOL by iris').first().waitFor();
    expect(await dialog().locator('.steps .done').count()).toBe(5);
    await page.keyboard.press('Escape');
    expect(await page.evaluate(() => document.activeElement?.className)).toContain('story');
  });

  it('explains each figure, with its exact amount', async () => {
    await open();
    await page.locator('.tile').first().click();
    await dialog().getByText('Cash of all strategies and positions').waitFor();
    expect(await dialog().textContent()).toContain('10,412.86');
    expect(await dialog().textContent()).toContain('23 Nov 2026');
    await dialog().getByRole('button', { name: 'Close' }).click();
    expect(await page.locator('.tile').first().textContent()).toContain('10,412.86 USDC');
    expect(await page.locator('.tile').nth(2).textContent()).toContain('−3.18');
  });

  it('says that it is not connected and how old its figures are, and comes back by itself', async () => {
    await open();
    await daemon.close();
    await page.locator('.connection').filter({ hasText: /Not connected. What you see is \d+ s old/ }).waitFor();
    expect(await page.locator('body').getAttribute('class')).toContain('is-old');
    daemon.state = pageState({ sentence: { ...pageState().sentence, text: 'Trading again' } });
    await daemon.open();
    await button('Try now').click();
    await page.getByText('Trading again').first().waitFor();
    await page.locator('.connection').waitFor({ state: 'hidden' });
    expect(await page.locator('body').getAttribute('class')).not.toContain('is-old');
    expect(daemon.streams).toBe(1);
  });

  it('shows a daemon that starts, and one without anything, as what they are', async () => {
    Object.assign(daemon, { isEmpty: true, stories: [],
      state: { role: 'operator', at: BASE, run_id: 'r', phase: 'starting' } });
    await open();
    await page.getByText('Starting. The first prices come in a moment.').waitFor();
    await page.getByText('Nothing has happened yet').waitFor();
    const base = pageState();
    daemon.setState(pageState({ strategies: [], markets: [], swaps: [], alerts: [], limits: [], profit: [],
      figures: { ...base.figures, equity: null, today: null, since_start: null, drawdown: null, open_swaps: 0 } }));
    await page.getByText('No strategy is configured.').waitFor();
    await page.getByText('There is no equity in this range yet').first().waitFor();
    await page.getByText('There is no position').waitFor();
    expect(await violations()).toEqual([]);
  });

  it('shows hostile texts and endless numbers as harmless text within their columns', async () => {
    Object.assign(daemon, { state: hostileState(), stories: [story('h', 0, HOSTILE, { strategy: HOSTILE, kind: 'swap',
      swap: hostileState().swaps[0]! })] });
    await open();
    await page.locator('.strategy-head').first().click();
    for (const name of ['Swaps', 'Decisions', 'Markets', 'Limits and caps', 'Requests', 'Log', 'Positions'])
      await page.getByRole('tab', { name }).click();
    expect(await page.title()).toBe('Gannet');
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.locator('body').textContent()).not.toContain('\u202E');
    expect(await page.locator('.sentence').textContent()).toContain('<img src=x');
    expect(await page.locator('.tile-value').first().textContent()).toContain('1.23e29');
    for (const size of [DESKTOP, PHONE]) {
      await page.setViewportSize(size);
      expect((await page.evaluate(layoutOf)).sideways, `${size.width}`).toBe(0);
    }
  });

  it('has charts that keys move, zoom and read as a table, and that change with the scheme', async () => {
    await open();
    const reader = page.getByRole('slider', { name: 'Equity: read the values' });
    await expect.poll(() => reader.getAttribute('aria-valuetext')).toContain('Equity 10,');
    const latest = await reader.getAttribute('aria-valuenow');
    await reader.focus();
    for (const key of ['Home', 'ArrowRight', '+', '-', '0']) await page.keyboard.press(key);
    expect(Number(await reader.getAttribute('aria-valuenow'))).toBe(1);
    expect(await reader.getAttribute('aria-valuetext')).toMatch(/Equity [\d,]+\.\d\d USDC, Just holding .*, Drawdown/);
    await page.keyboard.press('End');
    expect(await reader.getAttribute('aria-valuenow')).toBe(latest);
    await page.locator('.equity summary').click();
    await expect.poll(() => page.getByRole('table', { name: 'Equity' }).locator('tbody tr').count())
      .toBeGreaterThan(50);
    expect(await page.locator('.equity .unseen').last().textContent()).toContain('1 deposit marked.');
    const before = await page.locator('.equity .canvas').screenshot();
    await button('Dark').click();
    expect((await page.locator('.equity .canvas').screenshot()).equals(before)).toBe(false);
    await button('As the device').click();
    await button('Log').first().click();
    await button('7d').first().click();
    await expect.poll(() => page.locator('.equity [data-range="7d"]').getAttribute('aria-pressed')).toBe('true');
    await page.getByRole('link', { name: /Lightweight Charts/ }).waitFor();
  });

  it('sorts, filters and pages its tables', async () => {
    await open();
    await page.getByRole('tab', { name: 'Decisions' }).click();
    const rows = page.getByRole('table', { name: 'Decisions' }).locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(120);
    await page.getByText('page 1 of 3').waitFor();
    await button('Next').click();
    await page.getByText('page 2 of 3').waitFor();
    await button('Number').click();
    expect(await rows.first().textContent()).toContain('812');
    await button('Number').click();
    expect(await rows.first().textContent()).toContain('513');
    await page.locator('#panel-2').getByLabel('Filter rows').fill('179.107');
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByText('1 of 300 rows').waitFor();
  });

  it('asked nothing of another server, and logged no error in any test', () => {
    expect(outside).toEqual([]);
    expect(consoleErrors).toEqual([]);
  });
});
