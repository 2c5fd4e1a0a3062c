import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Amount } from '../../../src/core/amount.ts';
import { snapshotState } from '../../../src/trading/engine-state.ts';
import { buyingSol, sellingSol } from '../../market/events.ts';
import { SOL, USDC } from '../../market/tokens.ts';
import { approve, buy, confirm } from '../../trading/states.ts';
import { startControl, TOKENS } from '../control-fixture.ts';

type Control = Awaited<ReturnType<typeof startControl>>;

const VIEWER = { authorization: `Bearer ${TOKENS.viewer}` };
const KEY = 'a-key-of-the-page';

/** Returns a control API of "diver", which holds 2 SOL, and "wader", at 150 USDC for one SOL. */
async function control(options: Parameters<typeof startControl>[0] = {}): Promise<Control> {
  const api = await startControl(options);
  const { engine, state } = api;
  for (const quoted of [buyingSol(150_000, 1_000), sellingSol(150_000, 1_000)]) engine.accept(quoted, 1_000);
  confirm(state, approve(state, buy({ amount: 300_000_000n as Amount })), 2_000_000_000n);
  return api;
}

const codeOf = ({ body }: { readonly body: Readonly<Record<string, unknown>> }): unknown =>
  (body['error'] as { code: string } | undefined)?.code ?? body['code'];

const orders = ({ inputs }: Control): unknown[] =>
  inputs.filter((input) => input.kind === 'command' && input.name === 'order-swap');

const audit = ({ stateDir }: Control): Record<string, unknown>[] =>
  readFileSync(`${stateDir}/orders.ndjson`, 'utf8').trim().split('\n').map((line) => JSON.parse(line) as never);

describe('an order of a person', () => {
  it('becomes one swap under its key, however often and however closely it is asked for', async () => {
    const api = await control();
    const order = { in: 'USDC', out: 'SOL', amount: '25', key: KEY };
    const answers = await Promise.all([1, 2, 3].map(() => api.post('/api/swap', order)));
    answers.push(await api.post('/api/swap', order), await api.get(`/api/orders/${KEY}`));
    for (const { status, body } of answers)
      expect([status, body['state'], body['strategy'], body['over']]).toEqual([200, 'working', 'manual.USDC', false]);
    expect(orders(api)).toHaveLength(1);
    expect([...api.state.intents.values()].map(({ intent: { id, key } }) => [id, key]))
      .toEqual([['manual.USDC-1', `order.${KEY}`]]);
    const other = await api.post('/api/swap', { ...order, in: 'SOL', out: 'USDC', amount: '1' });
    expect(codeOf(other)).toBe('ORDER_KEY_USED');
  });

  it('is refused where its key is of another order, also while that one waits for its price', async () => {
    const api = await control();
    const buying = { in: 'USDC', out: 'SOL', amount: '25', key: KEY };
    const others = [
      ['/api/swap', { ...buying, amount: '26' }], ['/api/swap', { ...buying, slippage_bps: 1 }],
      ['/api/sell', { token: 'SOL', key: KEY }],
    ] as const;
    const answers = await Promise.all([api.post('/api/swap', buying), ...others.map(([path, body]) =>
      api.post(path, body))]);
    for (const [path, body] of others) answers.push(await api.post(path, body));
    const [first, ...refused] = answers;
    expect(first.body['state']).toBe('working');
    for (const answer of refused) expect([answer.status, codeOf(answer)]).toEqual([409, 'ORDER_KEY_USED']);
    // The worst case is that of the last preview.
    expect((await api.post('/api/swap', { ...buying, at_least: '7' })).status).toBe(200);
    expect(orders(api)).toHaveLength(1);
  });

  it('of a sale keeps its key from a sale of another token', async () => {
    const api = await control();
    const sale = { token: 'SOL', part: '50%', key: KEY };
    await api.post('/api/sell', sale);
    expect((await api.post('/api/sell', sale)).body).toMatchObject({ state: 'working', strategy: 'diver' });
    for (const other of [{ ...sale, part: '51%' }, { ...sale, token: 'USDC' }, { ...sale, strategy: 'wader' }])
      expect(codeOf(await api.post('/api/sell', other))).toBe('ORDER_KEY_USED');
    expect(orders(api)).toHaveLength(1);
  });

  it('is not mixed up with a key that a strategy chooses', async () => {
    const api = await control();
    const proposal = buy({ key: `order.${KEY}` });
    const code = 'BUDGET_EXCEEDED';
    const decision = { seq: 1, at: 1, strategy: 'diver', proposal, verdict: 'denied', code } as const;
    api.controlPort.manual.ruled({ ...decision, h: '' }, { decision, denial: { code, reason: 'by a strategy' } });
    expect(codeOf(await api.get(`/api/orders/${KEY}`))).toBe('ORDER_UNKNOWN');
  });

  it('is in the file of orders with its origin, and a denied one says what to do', async () => {
    const api = await control({ limits: { maxTrade: { mint: USDC.mint, amount: 300_000_000n as Amount } } });
    const { body } = await api.post('/api/swap', { in: 'USDC', out: 'SOL', amount: '301', key: KEY });
    expect(body).toMatchObject({
      state: 'denied', over: true, code: 'TRADE_EXCEEDS_MAX', reason: expect.stringContaining('ask for less'),
    });
    expect(audit(api).at(-1)).toMatchObject({
      action: 'swap', strategy: 'manual.USDC', key: KEY, amount: '301000000', origin: { role: 'operator' },
    });
    // The same key answers with the same refusal.
    expect((await api.post('/api/swap', { in: 'USDC', out: 'SOL', amount: '301', key: KEY })).body).toEqual(body);
    expect(orders(api)).toHaveLength(1);
  });

  it('sells a part of a position exactly, and all of it', async () => {
    const api = await control();
    await api.post('/api/sell', { token: 'SOL', part: '33.3333%', key: 'the-first-part' });
    const [first] = [...api.state.intents.values()];
    expect(first!.intent).toMatchObject({ strategy: 'diver', purpose: 'exit', amountIn: 666_666_000n });
    confirm(api.state, first!.intent, 100_000_000n);
    await api.post('/api/sell', { token: 'SOL', strategy: 'diver', key: 'the-other-part' });
    expect([...api.state.intents.values()][0]!.intent.amountIn).toBe(2_000_000_000n - 666_666_000n);
  });

  it.each([
    ['an unknown token', '/api/swap', { in: 'USDC', out: 'BONK', amount: '1' }, 404, 'TOKEN_UNKNOWN'],
    ['one token twice', '/api/swap', { in: 'USDC', out: 'USDC', amount: '1' }, 400, 'USAGE'],
    ['an amount of zero', '/api/swap', { in: 'USDC', out: 'SOL', amount: '0' }, 400, 'AMOUNT_INVALID'],
    ['an unknown strategy', '/api/swap', { in: 'USDC', out: 'SOL', amount: '1', strategy: 'x' }, 404,
      'STRATEGY_UNKNOWN'],
    ['an unknown member', '/api/swap', { in: 'USDC', out: 'SOL', amount: '1', force: true }, 400, 'BAD_REQUEST'],
    ['a key with markup', '/api/sell', { token: 'SOL', key: '<b>12345678' }, 400, 'BAD_REQUEST'],
    ['a sale of an unknown token', '/api/sell', { token: 'BONK' }, 404, 'TOKEN_UNKNOWN'],
    ['no position', '/api/sell', { token: 'SOL', strategy: 'wader' }, 409, 'NO_POSITION'],
    ['the token of the budget', '/api/sell', { token: 'USDC', strategy: 'diver' }, 409, 'NO_POSITION'],
    ['more than held', '/api/sell', { token: 'SOL', amount: '2.1' }, 409, 'MORE_THAN_HELD'],
    ['0 %', '/api/sell', { token: 'SOL', part: '0%' }, 400, 'PART_INVALID'],
    ['101 %', '/api/sell', { token: 'SOL', part: '101%' }, 400, 'PART_INVALID'],
    ['a part and an amount', '/api/sell', { token: 'SOL', part: '1%', amount: '1' }, 400, 'BAD_REQUEST'],
    ['a pause of nothing', '/api/pause', { what: 'x' }, 404, 'STRATEGY_UNKNOWN'],
    ['a pause of half a pair', '/api/pause', { what: 'SOL/' }, 404, 'TOKEN_UNKNOWN'],
    ['a pause for no time', '/api/pause', { what: 'diver', for: '0s' }, 400, 'DURATION_INVALID'],
    ['a pause whose end no date can name', '/api/pause', { what: 'diver', for: '99999999d' }, 400, 'DURATION_INVALID'],
    ['the end of no pause', '/api/unpause', { what: 'SOL/USDC' }, 409, 'NOT_PAUSED'],
  ])('with %s is refused with what to do, and nothing changes', async (_what, path, body, status, code) => {
    const api = await control();
    const before = snapshotState(api.state);
    const answer = await api.post(path, body);
    expect([answer.status, codeOf(answer)], JSON.stringify(answer.body)).toEqual([status, code]);
    expect(snapshotState(api.state)).toEqual(before);
  });

  it('needs the operator’s token, and a run that trades', async () => {
    const api = await control({ phase: () => 'draining' });
    for (const path of ['/api/swap', '/api/sell', '/api/pause', '/api/unpause', '/api/preview'])
      expect([(await api.post(path, {}, VIEWER)).status, path]).toEqual([403, path]);
    const answer = await api.post('/api/sell', { token: 'SOL' });
    expect([answer.status, codeOf(answer)]).toEqual([503, 'NOT_TRADING']);
    expect(orders(api)).toEqual([]);
  });

  it('names the holders where several strategies hold the token', async () => {
    const api = await control();
    confirm(api.state, approve(api.state, buy(), { strategy: 'wader' }), 100_000_000n);
    const answer = await api.post('/api/sell', { token: 'SOL' });
    expect([codeOf(answer), JSON.stringify(answer.body)])
      .toEqual(['STRATEGY_NEEDED', expect.stringContaining('diver and wader hold SOL: say whose with --strategy')]);
  });
});

describe('the preview of a sale', () => {
  it('says in one sentence what a sale and a flatten would do, and a viewer may ask', async () => {
    const caps = new Map([[SOL.mint, { perTrade: 500_000_000n as Amount, perHour: 1_000_000_000n as Amount }]]);
    const api = await control({ limits: { caps } });
    const sell = await api.get('/api/preview?action=sell&token=SOL&part=25%25', VIEWER);
    expect([sell.status, sell.body]).toEqual([200, {
      action: 'sell', refused: null, ends_in_ms: 5_000, value: { text: '75', units: '75000000', symbol: 'USDC' },
      sentence: 'Sells 0.5 SOL of diver, about 75 USDC, in about 5 seconds.',
      sales: [{
        strategy: 'diver', mint: SOL.mint, amount: { text: '0.5', units: '500000000', symbol: 'SOL' }, into: 'USDC',
        value: { text: '75', units: '75000000', symbol: 'USDC' }, swaps: 1, ends_in_ms: 5_000, refused: null,
      }],
    }]);
    const { body: flatten } = await api.get('/api/preview?action=flatten', VIEWER);
    expect(flatten['sentence']).toBe('Sells 2 SOL of diver, about 300 USDC, in about 1h (caps: 0.5 SOL a swap; '
      + '1 SOL an hour).');
    const { body: nothing } = await api.get('/api/preview?action=flatten&strategy=wader');
    expect([nothing['sales'], nothing['refused']]).toMatchObject([[], { code: 'NO_POSITION' }]);
    expect(orders(api)).toEqual([]);
  });

  it('says why nothing would be sold while trading is halted', async () => {
    const api = await control();
    await api.post('/api/halt', {});
    const { body } = await api.get('/api/preview?action=sell&token=SOL');
    expect(body).toMatchObject({
      refused: { code: 'TRADING_HALTED' }, sentence: expect.stringContaining('reduce-only'),
    });
    const { body: order } = await api.post('/api/sell', { token: 'SOL' });
    expect(order).toMatchObject({ state: 'denied', code: 'TRADING_HALTED' });
    await api.post('/api/reduce-only', {});
    expect((await api.post('/api/sell', { token: 'SOL' })).body).toMatchObject({ state: 'working' });
  });
});

describe('a pause', () => {
  it('is in the state with its end, is saved, and its end is an order that allows more', async () => {
    const api = await control();
    const { status, body } = await api.post('/api/pause', { what: 'SOL/USDC', for: '2h', reason: 'news' });
    const pause = {
      what: 'SOL/USDC', strategy: null, pair: [SOL.mint, USDC.mint], since: 1_000, until: 7_201_000, reason: 'news',
    };
    expect([status, body['pauses']]).toEqual([200, [pause]]);
    expect(api.saved()).toMatchObject({ pauses: [{ until: 7_201_000 }] });
    expect(codeOf(await api.post('/api/swap', { in: 'USDC', out: 'SOL', amount: '25' }))).toBe('PAIR_PAUSED');
    // Sooner is more than before, later is not.
    for (const [span, widens] of [['3h', null], ['1h', 'the pause of SOL/USDC ends sooner']] as const) {
      await api.post('/api/pause', { what: 'USDC/SOL', for: span });
      expect(audit(api).at(-1)).toMatchObject({ action: 'pause', what: 'USDC/SOL' });
      expect(audit(api).at(-1)!['widens']).toEqual(widens?.replace('SOL/USDC', 'USDC/SOL') ?? null);
    }
    await api.post('/api/unpause', { what: 'SOL/USDC' });
    expect(audit(api).at(-1)).toMatchObject({ action: 'unpause', widens: 'SOL/USDC may be entered again' });
    expect((await api.get('/api/state')).body['pauses']).toEqual([]);
  });
});
