import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SandboxAddresses } from '../../src/sandbox/sandbox.ts';
import type { Ended, JsonLine, Playground, Running } from './gannet.ts';
import { configText, createPlayground, document, filesIn, startSandbox } from './gannet.ts';

let playground: Playground;
let sandbox: Running;
let addresses: SandboxAddresses;
let config: string;

beforeAll(async () => {
  playground = createPlayground();
  ({ running: sandbox, ...addresses } = await startSandbox(playground, 3, '--speed', '0'));
  // As a user has it who watches a service that runs elsewhere.
  config = playground.write('watch.yaml', configText('paper.yaml', [
    ['base_url: embedded', `base_url: ${addresses.base_url}\n`
      + `  api_key: \${GANNET_API_KEY}\n  requests_per_second: 100\n`
      + `chain: { rpc_url: "${addresses.rpc_url}" }\nwallet: { address: ${addresses.wallet.address} }`],
  ]));
});
afterAll(async () => {
  sandbox.signal('SIGTERM');
  expect((await sandbox.ended).code).toBe(0);
  await playground.close();
});

const environment = { GANNET_API_KEY: 'a-key-for-the-sandbox' };
const gannet = (...args: string[]): Promise<Ended> =>
  playground.ask([...args, '--config', config, '--state-dir', playground.path('state')], { environment });

describe('gannet sandbox', () => {
  it('prints its addresses and a funded wallet in its first line, and serves both', async () => {
    expect(Object.keys(addresses).sort()).toStrictEqual(['base_url', 'rpc_url', 'tokens', 'wallet', 'ws_url']);
    expect(addresses.tokens.length).toBeGreaterThanOrEqual(10);
    expect(addresses.tokens[0]).toMatchObject({
      mint: expect.any(String), symbol: 'SOL', name: expect.any(String), decimals: 9, token_program: expect.any(String),
    });
    const state = await request(`${addresses.base_url}/sandbox/state`);
    expect(state.statusCode).toBe(200);
    await state.body.dump();
    const health = await request(addresses.rpc_url, {
      method: 'POST', headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getHealth' }),
    });
    expect(await health.body.json()).toMatchObject({ result: 'ok' });
  });
});

describe('gannet quote', () => {
  it('shows the quoted amounts as JSON and as text', async () => {
    const [json, words] =
      await Promise.all([gannet('quote', 'SOL', 'USDC', '0.1', '--json'), gannet('quote', 'SOL', 'USDC', '0.1')]);
    const quote = document(json);
    expect(quote).toMatchObject({
      in_amount: '100000000', out_amount: expect.stringMatching(/^\d+$/), threshold: expect.stringMatching(/^\d+$/),
      router: expect.any(String),
    });
    expect(BigInt(String(quote['threshold']))).toBeLessThanOrEqual(BigInt(String(quote['out_amount'])));
    expect(words.stdout).toMatch(/you pay +0\.1 SOL\n +you get +\d+\.\d+ USDC\n/);
  });

  it('refuses an unknown token and an invalid amount with exit code 2', async () => {
    const [token, amount] = await Promise.all([
      gannet('quote', 'SOLL', 'USDC', '1', '--json'), gannet('quote', 'USDC', 'SOL', '0.0000001', '--json'),
    ]);
    expect([token.code, amount.code]).toStrictEqual([2, 2]);
    expect(document(token)['error'])
      .toMatchObject({ code: 'TOKEN_UNKNOWN', message: expect.stringContaining('did you mean SOL?') });
    expect(document(amount)['error'])
      .toMatchObject({ code: 'AMOUNT_INVALID', message: expect.stringContaining('at most 6 decimal places') });
  });
});

describe('commands that read from a service elsewhere', () => {
  it('store the request rate across processes, so that a loop of them stays within it', async () => {
    const stateDir = playground.path('reading');
    const asked = async (): Promise<number> => {
      const ended = await playground.run(
        ['quote', 'SOL', 'USDC', '0.1', '--config', config, '--state-dir', stateDir], { environment },
      );
      expect(ended.code, ended.stderr).toBe(0);
      const { buckets } = JSON.parse(
        playground.read('reading', 'service-rate.json'),
      ) as { buckets: { main: { sends: { count: number }[] } } };
      return buckets.main.sends.reduce((sum, { count }) => sum + count, 0);
    };
    const first = await asked();
    expect(first).toBeGreaterThan(0);
    expect(await asked()).toBe(2 * first);
    expect(filesIn(stateDir)).toStrictEqual(['service-rate.json']);
    expect(playground.read('reading', 'service-rate.json')).not.toContain(environment.GANNET_API_KEY);
  });
});

describe('a state directory that cannot be created', () => {
  it('does not stop a reading command, but raises a warning', async () => {
    const stateDir = `${playground.write('a-file', '')}/state`;
    const ended = await playground.ask(
      ['quote', 'SOL', 'USDC', '0.1', '--json', '--config', config, '--state-dir', stateDir], { environment },
    );
    expect(ended.code, ended.stderr).toBe(0);
    expect(document(ended)).toMatchObject({ in_amount: '100000000' });
    expect(ended.stderr).toMatch(
      /^the state directory .*a-file\/state cannot be created: .* will not know the request rate of this one\n$/,
    );
  });
});

describe('gannet tokens', () => {
  it('finds records, marks impostors, and escapes names for the terminal', async () => {
    const [json, words] = await Promise.all([gannet('tokens', 'PEARL', '--json'), gannet('tokens', 'MURK')]);
    const records = JSON.parse(json.stdout) as JsonLine[];
    expect(records.length).toBeGreaterThanOrEqual(2);
    expect(json.stdout.trim().split('\n')).toHaveLength(1);
    expect(words.stdout).toContain('MURK');
    // oxlint-disable-next-line no-control-regex -- exactly these must not be there
    expect(words.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u202e\u200b]/);
  });
});

describe('gannet order-book', () => {
  it('shows a book by best price, asks derived from the other side’s bids', async () => {
    const [json, words] = await Promise.all([
      gannet('order-book', 'SPRINGTIDE-26DEC31', '--json'), gannet('order-book', 'SPRINGTIDE-26DEC31'),
    ]);
    const book = document(json) as JsonLine & { yes: Record<string, unknown>; no: Record<string, unknown> };
    expect(book).toMatchObject({ market_id: 'SPRINGTIDE-26DEC31', crossed: false, empty: false });
    for (const side of [book.yes, book.no]) {
      expect(Object.keys(side).sort())
        .toStrictEqual(['asks', 'best_ask', 'best_bid', 'bids', 'imbalance', 'microprice', 'mid', 'spread']);
      expect(Number(side['best_bid'])).toBeLessThan(Number(side['best_ask']));
    }
    expect(Number(book.yes['best_ask']) + Number(book.no['best_bid'])).toBeCloseTo(1, 9);
    expect(words.stdout).toContain('YES at');
  });

  it('reports a missing book', async () => {
    const answer = await gannet('order-book', 'NO-SUCH-MARKET', '--json');
    expect(answer.code).toBe(1);
    expect(document(answer)['error']).toMatchObject({ message: expect.stringContaining('NO-SUCH-MARKET') });
  });
});

describe('gannet config check', () => {
  it('shows the request rate of a valid file and every fault of an invalid one', async () => {
    const bad = playground.write('bad.yaml', 'mode: life\nchian: {}\nstrategies: []\n');
    const [good, words, faulty] = await Promise.all([
      gannet('config', 'check', config, '--json'), gannet('config', 'check', config),
      playground.ask(['config', 'check', bad, '--json']),
    ]);
    expect(good.code, good.stdout).toBe(0);
    expect(document(good)).toMatchObject({ valid: true, issues: [], requests_per_second: expect.any(Number) });
    expect(words.stdout).toContain('is valid');
    expect(faulty.code).toBe(2);
    const { valid, issues } = document(faulty) as unknown as { valid: boolean; issues: JsonLine[] };
    expect(valid).toBe(false);
    expect(issues.map(({ line, column, path }) => [line, column, path]))
      .toStrictEqual([[1, 7, 'mode'], [2, 1, 'chian'], [3, 13, 'strategies']]);
  });

  it('shows the rate left for feeds, and the real intervals where it is too low', async () => {
    const spread = playground.write('spread.yaml', `service: { plan: free }
strategies:
${[1, 2, 3].map((size) => `  - { use: mean-reversion, name: dip-${size}, budget: "9 USDC", max_age: 15s,
      params: { pair: SOL/USDC, size: "${size} USDC", every: 1s } }`).join('\n')}
  - { use: book-watch, max_age: 1h, params: { market: SPRINGTIDE-26DEC31, level: 0.6, rearm: 0.5, every: 60s } }
`);
    const [json, words] = await Promise.all([
      playground.ask(['config', 'check', spread, '--json']), playground.ask(['config', 'check', spread]),
    ]);
    expect([json.code, words.code], json.stdout).toStrictEqual([0, 0]);
    expect(document(json)).toMatchObject({
      valid: true, requests_per_second: 3.0167, allowed_per_second: 1, watch_per_second: expect.any(Number), feeds: 4,
      feed_intervals: [1, 2, 3].map((size) => ({
        feed: expect.stringMatching(`^quote:.*:${size}000000$`), every_ms: 1_000, expected_ms: expect.any(Number),
      })),
    });
    const { watch_per_second: watching, feed_intervals: intervals } =
      document(json) as unknown as { watch_per_second: number; feed_intervals: { expected_ms: number }[] };
    expect(watching).toBeLessThan(1);
    expect(intervals.reduce((sum, { expected_ms: ms }) => sum + 1_000 / ms, 1 / 60)).toBeCloseTo(watching, 2);
    expect(words.stdout)
      .toMatch(/needed +3\.02 requests a second\n +allowed +1 a second\n +for watching +0\.\d+ a second/);
    expect(words.stdout).toMatch(/watched +wanted every +polled every\n +the price of 1 USDC in SOL +1s +\d\.?\d?s\n/);
  });

  it('shows the rate of a refused file too', async () => {
    const greedy = playground.write(
      'greedy.yaml',
      'service: { plan: free }\n'
        + 'strategies: [{ use: book-watch, params: { market: TIDE, level: 0.6, rearm: 0.5, every: 100ms } }]\n',
    );
    const refused = await playground.ask(['config', 'check', greedy, '--json']);
    expect(refused.code).toBe(2);
    expect(document(refused)).toMatchObject({
      valid: false, issues: [{ path: 'service.plan' }], requests_per_second: 10, allowed_per_second: 1, feeds: 1,
      feed_intervals: [{ every_ms: 100 }],
    });
    const run = await playground.ask(['run', '--json', '--config', greedy, '--state-dir', playground.path('greedy')]);
    expect(run.code).toBe(2);
    expect(document(run)['error']).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('service.plan: what the strategies watch takes 10 requests a second'),
    });
  });

  it('prints a JSON schema for editors', async () => {
    expect(document(await playground.ask(['config', 'schema', '--json'])))
      .toMatchObject({ properties: { strategies: expect.anything() } });
  });
});

describe('a paper run on a service elsewhere', () => {
  it('is refused with the key’s name where the service refuses the key', async () => {
    const answer = await playground.ask(
      ['run', '--json', '--config', config, '--state-dir', playground.path('locked-out')],
      { environment: { GANNET_API_KEY: ' ' } },
    );
    expect(answer.code).toBe(2);
    expect(document(answer)['error']).toMatchObject({ message: expect.stringContaining('api_key') });
    expect(filesIn(playground.path('locked-out')).filter((file) => file !== 'service-rate.json')).toStrictEqual([]);
  });

  it('trades on its quotes without a wallet’s key', async () => {
    const run =
      playground.start(['run', '--json', '--config', config, '--state-dir', playground.path('state')], { environment });
    await run.until((stdout) => stdout.includes('"state":"confirmed"'));
    run.signal('SIGINT');
    expect((await run.ended).code).toBe(0);
    expect(run.lines()[0]).toMatchObject({ mode: 'paper', service: expect.stringContaining(addresses.base_url) });
  });
});
