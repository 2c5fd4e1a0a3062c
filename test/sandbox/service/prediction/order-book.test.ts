import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestSandbox, type Answer, type TestSandbox } from '../sandbox-client.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox({ slotMs: 60_000 });
});
afterAll(() => sandbox.close());

const book = (marketId: string): Promise<Answer> => sandbox.get(`/prediction/v1/orderbook/${marketId}`);

describe('GET /prediction/v1/orderbook/{marketId}', () => {
  it('gives both sides in cents and in exact dollars, the dearest first', async () => {
    const { status, body } = await book('SPRINGTIDE-26DEC31');
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(['no', 'no_dollars', 'yes', 'yes_dollars']);
    for (const side of ['yes', 'no']) {
      const cents: [number, number][] = body[side];
      const dollars: [string, number][] = body[`${side}_dollars`];
      expect(dollars.map(([, size]) => size)).toEqual(cents.map(([, size]) => size));
      dollars.forEach(([price], i) => {
        expect(price).toMatch(/^0\.\d{4}$/);
        expect(Math.abs(Number(price) * 100 - cents[i]![0])).toBeLessThanOrEqual(0.5);
      });
      expect(cents).toEqual(cents.toSorted((a, b) => b[0] - a[0]));
    }
  });

  it('has levels under one cent that show as 0, and fractional sizes', async () => {
    const { body } = await book('KRAKEN-26DEC31');
    expect(body.yes.some(([cents]: [number]) => cents === 0)).toBe(true);
    expect(body.yes_dollars.every(([price]: [string]) => Number(price) > 0)).toBe(true);
    expect(body.yes.some(([, size]: [number, number]) => !Number.isInteger(size))).toBe(true);
  });

  it('can be one-sided, or null', async () => {
    expect((await book('LIGHTHOUSE-27JAN15')).body).toMatchObject({ no: [], no_dollars: [] });
    const none = await book('DOLDRUMS-26NOV30');
    expect([none.status, none.text, none.headers['content-type']])
      .toEqual([200, 'null', expect.stringMatching(/application\/json/)]);
  });

  it('is not had while the venue does not answer, and comes back', async () => {
    const other = await startTestSandbox({ slotMs: 400_000 });
    try {
      const status = async (): Promise<number> => (await other.get('/prediction/v1/orderbook/541301')).status;
      expect(await status()).toBe(200);
      await other.passSlots(300);
      const failed = await other.get('/prediction/v1/orderbook/541301');
      expect([failed.status, failed.body]).toEqual([502, {
        type: 'api_error', message: expect.any(String), code: 'orderbook_unavailable', param: 'marketId',
        request_id: expect.any(String),
      }]);
      await other.passSlots(150);
      expect(await status()).toBe(200);
    } finally {
      await other.close();
    }
  });

  it('moves with the market', async () => {
    const before = await book('540817');
    await sandbox.passSlots(100);
    expect((await book('540817')).body).not.toEqual(before.body);
  });

  it('does not know every id, and says so in the envelope', async () => {
    for (const [id, status, code] of [
      ['unknown', 404, 'market_not_found'], ['', 400, 'custom'], ['x'.repeat(200), 400, 'custom'],
      [encodeURIComponent('../../etc'), 404, 'market_not_found'],
    ] as const) {
      const answer = await book(id);
      expect([answer.status, answer.body]).toEqual([status, {
        type: 'invalid_request_error', message: expect.any(String), code, param: 'marketId',
        request_id: expect.any(String),
      }]);
    }
  });

  it('is sorted the other way in the live form', async () => {
    const live = await startTestSandbox({ profile: 'live' });
    try {
      const { body } = await live.get('/prediction/v1/orderbook/SPRINGTIDE-26DEC31');
      for (const side of ['yes', 'no']) {
        expect(body[side].length).toBeGreaterThan(2);
        expect(body[side]).toEqual(body[side].toSorted((a: [number], b: [number]) => a[0] - b[0]));
      }
    } finally {
      await live.close();
    }
  });
});
