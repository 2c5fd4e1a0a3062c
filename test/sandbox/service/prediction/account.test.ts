import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestSandbox, type Answer, type TestSandbox } from '../sandbox-client.ts';
import { ADDRESS, envelope, EVENT_METADATA, MARKET_METADATA, NUMBER, position, RECORD, TEXT } from './shapes.ts';

const STRANGER = 'Gu11Ke8cLnWj8gkvT1PzL1nGdCGZ1E2uGTxUykcRTZ9r';

let sandbox: TestSandbox;
let live: TestSandbox;
let busy: string;
beforeAll(async () => {
  [sandbox, live] =
    await Promise.all([startTestSandbox({ slotMs: 400_000 }), startTestSandbox({ slotMs: 400_000, profile: 'live' })]);
  busy = (await sandbox.get('/sandbox/state'))
    .body.prediction_owners.find(({ name }: { name: string }) => name === 'skua').address;
});
afterAll(() => Promise.all([sandbox.close(), live.close()]));

const history = (query: Record<string, string | number> = {}, from = sandbox): Promise<Answer> =>
  from.get('/prediction/v1/history', query);
const positions = (query: Record<string, string | number> = {}, from = sandbox): Promise<Answer> =>
  from.get('/prediction/v1/positions', query);

/** Every element of a list, page by page, as a caller must read it who wants them all. */
async function all(read: (query: Record<string, number>) => Promise<Answer>): Promise<Answer['body'][]> {
  const found: Answer['body'][] = [];
  for (let start = 0; ;) {
    const { body } = await read({ start, end: start + 20 });
    found.push(...body.data);
    if (!body.pagination.hasNext) return found;
    start = body.pagination.end;
  }
}

describe('GET /prediction/v1/history', () => {
  it('has every field of a record with its type, newest first', async () => {
    const { status, body } = await history({ ownerPubkey: sandbox.wallet.address, end: 20 });
    expect(status).toBe(200);
    expect(body.data).toHaveLength(20);
    for (const record of body.data) expect(record).toEqual(RECORD);
    const ids = body.data.map(({ id }: { id: number }) => id);
    expect(ids).toEqual(ids.toSorted((a: number, b: number) => b - a));
    expect(new Set(body.data.map(({ ownerPubkey }: { ownerPubkey: string }) => ownerPubkey)))
      .toEqual(new Set([sandbox.wallet.address]));
  });

  it('gives pages with an exclusive end, twenty at most, and eight or nine by default', async () => {
    const { total } = (await history()).body.pagination;
    expect(total).toBeGreaterThan(1_000);
    for (const [query, size] of [
      [{ start: 0, end: 5 }, 5], [{ start: 3, end: 500 }, 20], [{ end: 20 }, 20], [{ start: 7, end: 7 }, 0],
      [{}, 8 + (total % 2)],
    ] as const) {
      const { data, pagination } = (await history(query)).body;
      const start = 'start' in query ? query.start : 0;
      expect([data.length, pagination]).toEqual([size, { start, end: start + size, total, hasNext: true }]);
    }
    expect((await history({ start: total - 3, end: total + 30 })).body.pagination)
      .toEqual({ start: total - 3, end: total, total, hasNext: false });
    expect((await history({ start: total + 5 })).body)
      .toEqual({ data: [], pagination: { start: total + 5, end: total + 5, total, hasNext: false } });
  });

  it('shifts its pages as slots pass', async () => {
    const before = (await history({ ownerPubkey: busy, end: 20 })).body;
    await sandbox.passSlots(200);
    const after = (await history({ ownerPubkey: busy, end: 20 })).body;
    expect(after.pagination.total).toBeGreaterThan(before.pagination.total);
    expect(after.data[0].id).toBeGreaterThan(before.data[0].id);
    expect(after.data[0].timestamp).toBeGreaterThan(before.data[0].timestamp);
    const shown = after.data.map(({ id }: { id: number }) => id);
    expect(before.data.filter(({ id }: { id: number }) => shown.includes(id)).length).toBeGreaterThan(0);
  });

  it('finds by position and by number', async () => {
    const [{ id, positionPubkey }] = (await history({ ownerPubkey: busy })).body.data;
    expect((await history({ id })).body).toMatchObject({ data: [{ id }], pagination: { total: 1 } });
    const ofPosition = (await history({ positionPubkey, end: 20 })).body.data;
    expect(ofPosition.length).toBeGreaterThan(0);
    expect(ofPosition.every((record: { positionPubkey: string }) => record.positionPubkey === positionPubkey))
      .toBe(true);
    expect((await history({ ownerPubkey: STRANGER })).body)
      .toEqual({ data: [], pagination: { start: 0, end: 0, total: 0, hasNext: false } });
  });

  it.each([
    [{ start: -1 }, 'start'], [{ start: 'x' }, 'start'], [{ end: '1e3' }, 'end'], [{ start: 5, end: 4 }, 'end'],
    [{ id: 0 }, 'id'], [{ id: '1.5' }, 'id'],
    [{ ownerPubkey: 'unknown' }, 'ownerPubkey'], [{ positionPubkey: '' }, 'positionPubkey'],
  ])('refuses %j in the envelope', async (query, param) => {
    const answer = await history(query);
    expect([answer.status, answer.body]).toEqual([400, envelope('custom', param)]);
  });

  it('wants an owner in the live form, whatever it is called, and says the exact contracts', async () => {
    const refused = await history({}, live);
    expect([refused.status, refused.body]).toEqual([400, {
      type: 'invalid_request_error', message: 'ownerPubkey or userPubkey is required', code: 'custom',
      param: 'ownerPubkey', request_id: TEXT,
    }]);
    const { body } = await history({ userPubkey: live.wallet.address, end: 20 }, live);
    expect(body.data).toHaveLength(20);
    for (const record of body.data) {
      expect(record).toMatchObject({
        contracts: String(BigInt(record.contractsMicro) / 1_000_000n), eventMetadata: { closeTime: NUMBER },
      });
      expect(Number(record.contractsDecimal) * 1e6).toBeCloseTo(Number(record.contractsMicro), 3);
      expect(record.realizedPnlBeforeFees).toBe(record.realizedPnl);
    }
    expect(body.data.some(({ contractsMicro }: { contractsMicro: string }) => !contractsMicro.endsWith('000000')))
      .toBe(true);
    const records = await all((query) => history({ ownerPubkey: live.wallet.address, ...query }, live));
    expect(new Set(records.map(({ marketMetadata }) => marketMetadata.status)))
      .toEqual(new Set(['open', 'closed', 'cancelled', 'yes', 'no']));
  });
});

describe('GET /prediction/v1/positions', () => {
  it('has every field of a position with its type, null values once its market is closed', async () => {
    const found = await all((query) => positions({ ownerPubkey: sandbox.wallet.address, ...query }));
    expect(found.length).toBeGreaterThan(10);
    const open = found.filter(({ marketMetadata }) => marketMetadata.status === 'open');
    expect([open.length > 3, open.length < found.length]).toEqual([true, true]);
    for (const element of found) {
      expect(element).toEqual(
        position({ isOpen: element.marketMetadata.status === 'open', isSellable: element.sellPriceUsd !== null }),
      );
      expect([element.owner, element.sizeUsd]).toEqual([element.ownerPubkey, element.totalCostUsd]);
      expect(BigInt(element.payoutUsd)).toBe(BigInt(element.contracts) * 1_000_000n);
    }
  });

  it('tells the states of a position apart', async () => {
    const found = await all((query) => positions({ ownerPubkey: sandbox.wallet.address, ...query }));
    const on = (marketId: string): Answer['body'] => found.find((element) => element.marketId === marketId);
    expect(on('FOGHORN-KEEP')).toMatchObject({
      claimable: true, claimed: false, claimedUsd: '0', claimableAt: NUMBER,
      marketMetadata: { status: 'closed', result: 'yes' },
    });
    expect(on('FOGHORN-SELL')).toMatchObject({
      claimable: false, claimed: false, claimableAt: null, marketMetadata: { status: 'closed', result: 'no' },
    });
    expect(on('FOGHORN-PAINT'))
      .toMatchObject({ claimable: false, claimed: true, marketMetadata: { status: 'cancelled', result: '' } });
    expect(on('FOGHORN-MUTE'))
      .toMatchObject({ claimable: false, valueUsd: null, marketMetadata: { status: 'closed', result: '' } });
    expect(on('SPRINGTIDE-26DEC31'))
      .toMatchObject({ claimable: false, valueUsd: TEXT, marketMetadata: { status: 'open', result: '' } });
  });

  it('filters by side, market and market account', async () => {
    const [first] = (await positions({ ownerPubkey: busy })).body.data;
    for (const isYes of ['true', 'false']) {
      const { data } = (await positions({ ownerPubkey: busy, isYes, end: 20 })).body;
      expect(new Set(data.map((element: { isYes: boolean }) => element.isYes))).toEqual(new Set([isYes === 'true']));
    }
    const [byId, byAccount] = [
      await positions({ marketId: first.marketId, end: 20 }), await positions({ marketPubkey: first.market, end: 20 }),
    ];
    expect(byId.body).toEqual(byAccount.body);
    expect(new Set(byId.body.data.map(({ marketId }: { marketId: string }) => marketId)))
      .toEqual(new Set([first.marketId]));
    expect((await positions({ isYes: 'maybe' })).body).toEqual(envelope('custom', 'isYes'));
  });

  it('gives one by its address, and does not know every address', async () => {
    const [first] = (await positions({ ownerPubkey: busy })).body.data;
    expect((await sandbox.get(`/prediction/v1/positions/${first.pubkey}`)).body).toEqual(first);
    const missing = await sandbox.get(`/prediction/v1/positions/${STRANGER}`);
    expect([missing.status, missing.body]).toEqual([404, envelope('position_not_found', 'positionPubkey')]);
    expect((await sandbox.get('/prediction/v1/positions/')).status).toBe(400);
  });

  it('takes several owners in the live form, and writes contracts exactly', async () => {
    const { prediction_owners: owners } = (await live.get('/sandbox/state')).body;
    const several = owners.slice(0, 3).map(({ address }: { address: string }) => address);
    const { data } = (await positions({ ownerPubkey: several.join(), end: 20 }, live)).body;
    expect(data.length).toBe(20);
    for (const element of data) {
      expect(several).toContain(element.owner);
      expect(BigInt(element.contracts)).toBe(BigInt(element.contractsMicro) / 1_000_000n);
      expect(element).toMatchObject({
        market: ADDRESS, eventMetadata: { ...EVENT_METADATA, closeTime: NUMBER }, marketMetadata: MARKET_METADATA,
      });
      if (element.valueUsd !== null) expect(BigInt(element.valueUsd))
        .toBe((BigInt(element.contractsMicro) * BigInt(element.markPriceUsd)) / 1_000_000n);
    }
  });
});

describe('POST /sandbox/resolve', () => {
  it('settles a market and everybody’s positions at once', async () => {
    const { body } = await sandbox.post('/sandbox/resolve', { market_id: '540817', result: 'no' }, {});
    expect(body).toMatchObject({ market_id: '540817', event_id: '90817', status: 'closed', result: 'no' });
    const { data } = (await positions({ marketId: '540817', end: 20 })).body;
    expect(data.length).toBeGreaterThan(0);
    for (const element of data) expect([element.claimable, element.valueUsd]).toEqual([!element.isYes, null]);
    expect((await sandbox.get('/prediction/v1/orderbook/540817')).body)
      .toEqual({ yes: [], no: [], yes_dollars: [], no_dollars: [] });
    expect((await sandbox.post('/sandbox/resolve', { market_id: '540817', result: 'yes' })).status).toBe(400);
  });

  it.each([[{}], [{ market_id: 'unknown', result: 'yes' }], [{ market_id: '541266' }], [
    { market_id: '541266', result: 'maybe' },
  ], [{ market_id: 5, result: 'yes' }], [{ market_id: '541266', result: 'yes', x: 1 }]])(
    'refuses %j', async (body) => {
      const answer = await sandbox.post('/sandbox/resolve', body);
      expect([answer.status, answer.body]).toEqual([400, { error: TEXT }]);
    },
  );
});
