import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { controlTokensOf } from '../../src/daemon/control/control-tokens.ts';
import { runDaemon } from '../../src/daemon/run/daemon.ts';
import { newRunId } from '../../src/daemon/files/find-run.ts';
import { createJsonReporter } from '../../src/daemon/reporting/json-reporter.ts';
import { openConnections } from '../../src/daemon/run/connections.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { configOf } from '../config/load-text.ts';
import { impatientClock } from '../execution/impatient-clock.ts';
import type { Ended, JsonLine, Playground } from './gannet.ts';
import { createPlayground, document, filesIn, jsonLines } from './gannet.ts';

const KEY = 'a-key-that-is-refused-for-a-while';
const WAIT = { timeout: 60_000, interval: 20 };
const EVERY_MS = 2_000;

let playground: Playground;
let sandbox: Sandbox;
let yaml: string;

beforeAll(async () => {
  playground = createPlayground();
  sandbox = await startSandbox({ speed: 0 });
  const { base_url: url, wallet } = sandbox.addresses;
  yaml = `mode: paper
service: { base_url: "${url}", api_key: "\${GANNET_API_KEY}", requests_per_second: 100 }
wallet: { address: ${wallet.address} }
control: { port: 0 }
backtest: { balances: { USDC: "1000" }, latency: { quote: 10ms, land: 10ms } }
risk: { max_swaps: { per_minute: 1000, per_hour: 10000, per_day: 100000 } }
strategies:
  - { use: dca, budget: "500 USDC", params: { buy: SOL, spend: "1 USDC", every: 5s, watch: 2s } }
  - { use: book-watch, params: { market: SPRINGTIDE-26DEC31, level: 0.6, rearm: 0.5, every: 2s } }
`;
});
afterAll(async () => {
  await sandbox.close();
  await playground.close();
});

/** Makes the service refuse every key, or take them again. */
async function refuseKeys(refused: boolean): Promise<void> {
  const rule = JSON.stringify({ match: { path: '/*' }, fault: { kind: 'status', status: 401 } });
  const { statusCode, body } = await request(`${sandbox.addresses.base_url}/sandbox/faults`, refused
    ? { method: 'POST', headers: { 'content-type': 'application/json' }, body: rule } : { method: 'DELETE' });
  expect(statusCode).toBe(200);
  await body.dump();
}

/** Makes token search answer 503 so many times. */
async function trouble(times: number): Promise<void> {
  const rule = { match: { path: '/ultra/v1/search' }, fault: { kind: 'status', status: 503 }, times };
  const { statusCode, body } = await request(`${sandbox.addresses.base_url}/sandbox/faults`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(rule),
  });
  expect(statusCode).toBe(200);
  await body.dump();
}

describe('a key that is refused from the start', () => {
  it('keeps the daemon from starting, with exit code 2 and a message that says what to check', async () => {
    await refuseKeys(true);
    try {
      // The chain is there already: it need not be made first.
      const config = playground.write('refused.yaml', `${yaml}chain: { rpc_url: "${sandbox.addresses.rpc_url}" }\n`);
      const environment = { GANNET_API_KEY: KEY };
      const [json, words] = await Promise.all([
        playground.run(
          ['run', '--json', '--config', config, '--state-dir', playground.path('refused')], { environment },
        ),
        playground.ask(['run', '--config', config, '--state-dir', playground.path('refused-too')], { environment }),
      ]);
      expect([json.code, words.code]).toStrictEqual([2, 2]);
      expect(document(json)['error'])
        .toMatchObject({ code: 'SERVICE_UNAUTHORIZED', message: expect.stringContaining('check service.api_key') });
      expect(words.stderr).toContain('refused the API key');
      for (const said of [json, words]) expect(said.stdout + said.stderr).not.toContain(KEY);
      // What was asked is remembered, so that a supervisor that tries again and again stays within the rate; nothing
      // else is begun.
      expect(filesIn(playground.path('refused')).filter((file) => file !== 'service-rate.json')).toStrictEqual([]);
    } finally {
      await refuseKeys(false);
    }
  });
});

describe('issue 13.18: a token search with temporary trouble', () => {
  it('delays the start of a run, and is not needed to read an order book', async () => {
    const other = sandbox.addresses.tokens.find(({ symbol }) => symbol !== 'SOL' && symbol !== 'USDC')!;
    const config = playground.write('trouble.yaml', `${yaml}tokens: { OTHER: ${other.mint} }\n`);
    const args = ['--config', config, '--state-dir', playground.path('trouble')];
    const environment = { GANNET_API_KEY: KEY };
    await trouble(1);
    const ended = await playground.run(['run', '--json', '--duration', '300ms', ...args], { environment });
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).toMatch(/waiting for the service: .*503.*; the next attempt is in 1 s/);
    expect(jsonLines(ended.stdout).map(({ type }) => type)).toContain('summary');
    await trouble(1);
    const book = await playground.ask(['order-book', 'SPRINGTIDE-26DEC31', '--json', ...args], { environment });
    expect(book.code, book.stderr).toBe(0);
    await refuseKeys(false);
  });
});

describe('a key that is refused during a run, and accepted again', () => {
  let lines: JsonLine[];
  let runId: string;
  let during: { readonly json: JsonLine; readonly words: string; readonly feeds: readonly JsonLine[] };
  let replayed: Ended;
  let stateDir: string;

  beforeAll(async () => {
    stateDir = playground.path('state');
    let told = '';
    const config = await configOf(yaml, { environment: { GANNET_API_KEY: KEY }, stateDir });
    // Twenty times as fast, so that the next attempt with a refused key need not be waited for.
    const clock = impatientClock(20);
    const connections = await openConnections({ ...config.service, rpcUrl: undefined, apiKey: KEY, seed: 7, clock });
    const interrupt = new AbortController();
    runId = newRunId(clock);
    const run = runDaemon({
      config, connections, stateDir, countersDir: stateDir, clock, runId,
      reporter: createJsonReporter((line) => { told += line; }),
      controlTokens: controlTokensOf({}), log: () => undefined, durationMs: undefined, maxIntents: undefined,
      interrupt: interrupt.signal,
    });
    const count = (text: string): number => told.split(text).length - 1;
    try {
      await vi.waitFor(() => { expect(count('"state":"confirmed"')).toBeGreaterThan(1); }, WAIT);
      await refuseKeys(true);
      await vi.waitFor(() => { expect(count('"code":"SERVICE_UNAUTHORIZED"')).toBeGreaterThan(2); }, WAIT);
      during = await readDaemon();
      await refuseKeys(false);
      await vi.waitFor(() => { expect(count('"service_access":"granted"')).toBe(1); }, WAIT);
      const before = count('"state":"confirmed"');
      await vi.waitFor(() => { expect(count('"state":"confirmed"') - before).toBeGreaterThan(1); }, WAIT);
    } finally {
      interrupt.abort();
      await run;
      await connections.close();
    }
    lines = jsonLines(told);
    replayed = await playground.ask(['replay', runId, '--json', '--state-dir', stateDir]);
  });

  async function readDaemon(): Promise<typeof during> {
    const { url, token } = JSON.parse(playground.read('state', 'control.json')) as { url: string; token: string };
    // How soon a feed is older than its interval depends on when it was refused within it.
    const feeds = await vi.waitFor(async () => {
      const { body } = await request(`${url}/api/feeds`, { headers: { authorization: `Bearer ${token}` } });
      const seen = await body.json() as JsonLine[];
      for (const feed of seen) {
        expect(Number(feed['age_ms'])).toBeGreaterThan(EVERY_MS);
        expect(Number(feed['failures'])).toBeGreaterThan(0);
      }
      return seen;
    }, WAIT);
    const [json, words] = await Promise.all([
      playground.ask(['status', '--json', '--state-dir', stateDir]),
      playground.ask(['status', '--state-dir', stateDir]),
    ]);
    return { json: document(json), words: words.stdout, feeds };
  }

  it('stops trading: no swap is approved until it is accepted, then they go on automatically', () => {
    const alertAt = (access: string): number => lines.findIndex(({ type, data }) =>
      type === 'alert' && (data as { service_access?: string }).service_access === access);
    const [refused, granted] = [alertAt('refused'), alertAt('granted')];
    expect([refused > 0, granted > refused]).toStrictEqual([true, true]);
    const between = lines.slice(refused, granted);
    expect(between.filter(({ type }) => type === 'decision')).toStrictEqual([]);
    expect(new Set(between.filter(({ type }) => type === 'denial').map(({ code }) => code)))
      .toStrictEqual(new Set(['SERVICE_UNAUTHORIZED']));
    for (const part of [lines.slice(0, refused), lines.slice(granted)])
      expect(part.some(({ type }) => type === 'decision')).toBe(true);
    expect(lines.slice(granted).filter(({ code }) => code === 'SERVICE_UNAUTHORIZED')).toStrictEqual([]);
  });

  it('raises one critical alert for each change, with instructions and without the key', () => {
    // The run's clock is not the service's, which is told too.
    const alerts = lines.filter(({ type, data }) =>
      type === 'alert' && Object.hasOwn(data as object, 'service_access'));
    expect(alerts).toStrictEqual([
      {
        type: 'alert', at: expect.any(Number), seq: expect.any(Number), level: 'critical',
        message: expect.stringMatching(/refused the API key.*check service\.api_key.*a new key needs a restart/),
        data: { service_access: 'refused', code: 'SERVICE_UNAUTHORIZED' },
      },
      {
        type: 'alert', at: expect.any(Number), seq: expect.any(Number), level: 'info',
        message: expect.stringContaining('trading goes on'),
        data: { service_access: 'granted', code: 'SERVICE_ACCESS' },
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain(KEY);
  });

  it('is visible in the daemon’s state, apart from a halt of the operator', () => {
    expect(during.json).toMatchObject({ trading: 'active', service_access: {
      state: 'refused', since: expect.any(Number), reason: expect.stringContaining('refused the API key'),
    } });
    expect(during.words).toMatch(
      /state +waiting for the service\n +because +the service refuses the API key since .*check service\.api_key/,
    );
    expect(during.words + JSON.stringify(during.json)).not.toContain(KEY);
  });

  it('lets the ages of feeds grow visibly', () => {
    expect(during.feeds.map(({ feed }) => String(feed).split(':')[0])).toStrictEqual(['quote', 'order-book']);
    for (const feed of during.feeds) {
      expect(feed).toMatchObject({
        watches: expect.stringMatching(/^the /), polls: expect.any(Number), answers: expect.any(Number),
        every_ms: EVERY_MS, weight: 1, last_answer_at: expect.any(Number), mean_age_ms: expect.any(Number),
      });
      expect(Number(feed['failures'])).toBeGreaterThan(0);
      expect(Number(feed['age_ms'])).toBeGreaterThan(EVERY_MS);
      expect(Number(feed['max_age_ms'])).toBeGreaterThanOrEqual(Number(feed['age_ms']));
      expect(Number(feed['mean_age_ms'])).toBeLessThanOrEqual(Number(feed['max_age_ms']));
    }
    expect(during.words).toMatch(
      /watched +age +mean age +wanted every +state .*\n +the price of 1 USDC in SOL +\S+ +\S+ +2s +(?:degraded|down) /,
    );
  });

  it('is part of the run: its replay makes the same decisions', () => {
    const summary = lines.at(-1)!;
    expect(document(replayed)).toMatchObject({ match: true, decision_hash: summary['decision_hash'] });
    expect(summary).toMatchObject({ denials: { SERVICE_UNAUTHORIZED: expect.any(Number) }, open: [] });
  });
});
