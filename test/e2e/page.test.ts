import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Keypair, SystemProgram, Transaction } from '@solana/web3.js';
import bs58 from 'bs58';
import type { Browser, Locator, Page, Request } from 'playwright-core';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Amount } from '../../src/core/amount.ts';
import type { SandboxAddresses } from '../../src/sandbox/sandbox.ts';
import { openJournal } from '../../src/store/journal.ts';
import { openBrowser, WITHOUT_BROWSER } from '../browser/browser.ts';
import { layoutOf } from '../browser/probes.ts';
import { attemptOf, intentOf, outcomeOf, wallClock } from '../store/sample-intents.ts';
import type { JsonLine, Playground, Running } from './gannet.ts';
import { createPlayground, document as answerOf, startSandbox } from './gannet.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
declare const axe: {
  run(options: object): Promise<{ readonly violations: readonly { readonly id: string }[] }>;
};
const TOKEN = '3f9c1e5a7b0d2468ace1357902468bdf';
const DESKTOP = { width: 1_280, height: 900 };
const PHONE = { width: 390, height: 844 };
/** So many blocks from the start of the chain, the lost transaction may still land. */
const BLOCKS_LEFT = 5_000;
const LOST = 'two-900';

let playground: Playground;
let service: SandboxAddresses;
let daemon: Running;
let browser: Browser;
let page: Page;
let state: string;
let url: string;
const finished: Request[] = [];
const consoleErrors: string[] = [];

async function lever(path: string, body?: object): Promise<JsonLine> {
  const answer = await request(`${service.base_url}/sandbox/${path}`, body === undefined ? {}
    : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  expect(answer.statusCode).toBe(200);
  return await answer.body.json() as JsonLine;
}

/** Leaves a journal as of a run that ended before it was known whether a signed swap had landed. */
async function leaveUnknownSwap(): Promise<void> {
  const { block_height: height } = await lever('state');
  const wallet = Keypair.fromSecretKey(bs58.decode(service.wallet.private_key));
  const blockhash = Keypair.generate().publicKey.toBase58();
  const transaction = new Transaction({ feePayer: wallet.publicKey, recentBlockhash: blockhash });
  transaction.add(SystemProgram.transfer({ fromPubkey: wallet.publicKey, toPubkey: wallet.publicKey, lamports: 1 }));
  transaction.sign(wallet);
  const attempt = attemptOf(LOST, {
    route: 'build', router: 'build', blockhash, feePayer: wallet.publicKey.toBase58(),
    lastValidBlockHeight: BigInt(Number(height) + BLOCKS_LEFT), signature: bs58.encode(transaction.signature!),
    messageHash: createHash('sha256').update(transaction.serializeMessage()).digest('hex'),
    signedTransaction: transaction.serialize(), inputBalance: 10_000_000_000n as Amount,
    inputSlots: { from: 0n, to: 0n },
  });
  const journal = openJournal({ path: `${state}/journal.sqlite`, clock: wallClock });
  journal.intentApproved(intentOf(1, { id: LOST, strategy: 'two', amountIn: 5_000_000n as Amount, route: 'build' }));
  journal.transition(outcomeOf(LOST, 'building'));
  journal.attemptSigned(attempt);
  for (const reached of ['signed', 'unknown'] as const) journal.transition(outcomeOf(LOST, reached));
  journal.keepProof(attempt, { watchedMs: 200_000 });
  journal.close();
}

const button = (name: string | RegExp): Locator => page.getByRole('button', { name });
const sentence = (text: string | RegExp): Locator => page.locator('.sentence').filter({ hasText: text });
const told = (text: RegExp): Locator => page.locator('.stories > li').filter({ hasText: text });
const strategy = (name: string): Locator =>
  page.locator('.strategies > li').filter({ has: page.locator(`[data-key=strategy-${name}]`) });
const confirm = async (name: string): Promise<void> => {
  await page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
};
const stateOf = async (): Promise<JsonLine> => {
  const { body } = await request(`${url}/api/state`, { headers: { authorization: `Bearer ${TOKEN}` } });
  return await body.json() as JsonLine;
};
/** The violations of accessibility in both schemes. */
const violations = async (): Promise<readonly string[]> => {
  await page.evaluate(AXE);
  const ids: string[] = [];
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    const { violations: found } = await page.evaluate(() => axe.run({ resultTypes: ['violations'] }));
    ids.push(...found.map(({ id }) => `${colorScheme}: ${id}`));
  }
  return ids;
};

describe.skipIf(
  WITHOUT_BROWSER !== undefined,
)(`the page of a daemon${WITHOUT_BROWSER === undefined ? '' : ` (skipped: ${WITHOUT_BROWSER})`}`, () => {
  beforeAll(async () => {
    playground = createPlayground();
    state = playground.path('state');
    const opened = openBrowser();
    service = await startSandbox(playground, 18, '--speed', '0');
    await leaveUnknownSwap();
    const config = playground.write('page.yaml', `
mode: live
service: { base_url: "${service.base_url}", api_key: "\${GANNET_API_KEY}", plan: pro }
chain: { rpc_url: "${service.rpc_url}" }
wallet: { key_from: env:GANNET_WALLET_KEY, address: ${service.wallet.address} }
tokens: { SOL: So11111111111111111111111111111111111111112, USDC: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v }
risk:
  max_trade: "50 USDC"
  max_open_intents: 3
  max_swaps: { per_minute: 200, per_hour: 600, per_day: 600 }
  protections: [{ kind: daily_loss, limit: "50 USDC", action: halt }]
signer:
  caps: { USDC: { per_trade: "50", per_hour: "1000", per_day: "1000" }, SOL: { per_trade: "2", per_hour: "9",
      per_day: "9" } }
control: { port: 0 }
strategies:
  - { use: dca, name: one, budget: "300 USDC", params: { buy: SOL, spend: "2 USDC", every: 2s, watch: 1s } }
  - { use: dca, name: two, budget: "300 USDC", params: { buy: SOL, spend: "3 USDC", every: 2s, offset: 1s, watch: 1s } }
`);
    daemon = playground.start([
      'run', '--live', '--accept-new-journal', '--accept-new-counters', '--config', config, '--state-dir', state,
    ], { environment: {
      GANNET_API_KEY: 'a-key-of-my-own', GANNET_WALLET_KEY: service.wallet.private_key, GANNET_CONTROL_TOKEN: TOKEN,
    } });
    await daemon.until((stdout) => /^ +page +http/m.test(stdout));
    url = /^ +page +(http\S+)\//m.exec(daemon.stdout())![1]!;
    browser = await opened;
    page = await (await browser.newContext({ viewport: DESKTOP, timezoneId: 'UTC' })).newPage();
    page.setDefaultTimeout(15_000);
    page.on('console', (message) => {
      // Chromium logs each refusal by its status: one case provokes one, and before a login there is no session.
      if (!/status of (?:401|409)/.test(message.text())) consoleErrors.push(message.text());
    });
    page.on('pageerror', (error) => { consoleErrors.push(error.stack ?? error.message); });
    page.on('requestfinished', (each) => { finished.push(each); });
  });
  afterAll(async () => {
    await browser.close();
    await playground.close();
  });

  it('is at the printed address, and opens by a link that logs in once', async () => {
    const { login_url: link } = answerOf(await playground.ask(['page', '--json', '--state-dir', state]));
    expect(String(link)).toContain(url);
    await page.goto(String(link));
    await sentence(/^Recovering/).waitFor();
    expect(page.url()).not.toContain('login=');
    const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]!.startTime);
    expect(paint).toBeLessThan(1_000);
  });

  it('resolves a swap with an unknown outcome once the chain agrees', async () => {
    const need = page.locator('.need').filter({ hasText: LOST });
    await need.getByRole('button', { name: 'Resolve…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It expired').click();
    await dialog.getByLabel('How you know it').fill('the explorer has nothing');
    await dialog.getByRole('button', { name: 'Resolve', exact: true }).click();
    await dialog.getByRole('alert').filter({ hasText: 'may still land' }).waitFor();
    await lever('time', { advance_slots: BLOCKS_LEFT + 200 });
    await confirm('Resolve');
    await need.waitFor({ state: 'detached' });
    await told(/the transaction never landed and never can/).waitFor();
    expect(answerOf(await playground.ask(['journal', 'show', LOST, '--json', '--state-dir', state])))
      .toMatchObject({ state: 'expired' });
  });

  it('shows a swap as one entry from its approval until it has landed', async () => {
    const seen = await page.evaluate(() => new Promise<readonly string[]>((resolve) => {
      const steps: string[] = [];
      let watched: Element | undefined;
      const check = (): void => {
        watched ??= document.querySelector('.stories > li:has(.progress.is-open:not(.is-off))') ?? undefined;
        const step = watched?.querySelector('.progress')?.textContent;
        if (step !== undefined && step !== steps.at(-1)) steps.push(step);
        if (step !== 'landed') return;
        observer.disconnect();
        resolve(steps);
      };
      const observer = new MutationObserver(check);
      observer.observe(document.querySelector('.stories')!, { subtree: true, childList: true });
    }));
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.at(-1)).toBe('landed');
    await told(/Bought [\d.]+ SOL for \d USDC/).first().waitFor();
    await expect.poll(() => page.locator('.equity canvas').count()).toBeGreaterThan(0);
    const sizes = await Promise.all(finished.map((each) => each.sizes()));
    expect(sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0)).toBeLessThan(400_000);
    expect(await violations()).toEqual([]);
    await page.setViewportSize(PHONE);
    expect(await violations()).toEqual([]);
    expect((await page.evaluate(layoutOf)).sideways).toBe(0);
    await page.setViewportSize(DESKTOP);
  });

  it('halts on one press, in the page and in the daemon', async () => {
    await button(/^Halt$/).click();
    await sentence(/^Halted/).waitFor();
    expect(await stateOf()).toMatchObject({ trading: 'halted' });
    expect(await button(/^Halt$/).isDisabled()).toBe(true);
  });

  it('resumes after a confirmation, and stays logged in when the browser reloads', async () => {
    await button('Resume…').first().click();
    await confirm('Resume');
    await sentence(/^Trading/).waitFor();
    expect(await stateOf()).toMatchObject({ trading: 'active' });
    await page.reload();
    await sentence(/^Trading/).waitFor();
  });

  it('stops one strategy, and sells one position', async () => {
    await strategy('one').locator('.strategy-head').click();
    await strategy('one').getByRole('button', { name: 'Stop…' }).click();
    await confirm('Stop');
    await strategy('one').locator('.pill').filter({ hasText: 'halted' }).waitFor();
    await strategy('two').locator('.strategy-head').click();
    await button('Sell SOL of two').first().click();
    await page.getByRole('dialog').getByText(/^Sells/).waitFor();
    await confirm('Sell');
    await told(/Sold [\d.]+ SOL for [\d.]+ USDC/).first().waitFor();
  });

  it('sells everything', async () => {
    await button('Sell everything…').click();
    await page.getByRole('dialog').getByText(/^Sells/).waitFor();
    await confirm('Sell');
    await page.getByRole('tab', { name: 'Positions' }).click();
    await page.getByText('There is no position').waitFor();
    expect(await violations()).toEqual([]);
  });

  it('logs out, and in again by the token', async () => {
    await button('Log out').click();
    await page.getByLabel('Token').fill(TOKEN);
    await page.keyboard.press('Enter');
    await sentence(/USDC today/).waitFor();
    expect(consoleErrors).toEqual([]);
  });
});
