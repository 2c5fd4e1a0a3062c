import { describe, expect, test } from 'vitest';
import { PROGRAM, TAKER } from '../answers.ts';
import { clientOf, json, listen } from '../loopback.ts';
import { MARKET } from '../swap-answers.ts';

const EARNING = { address: PROGRAM, ownerAddress: TAKER, earnings: 1_234.5, slot: 77 };
const ASKED = { user: TAKER, positions: [PROGRAM, MARKET] };

describe('lending earnings', () => {
  test('are asked for by user and positions', async () => {
    const server =
      await listen(json([EARNING, { ...EARNING, address: MARKET, earnings: -3, slot: '78', surprise: 1 }]));
    expect(await clientOf(server).lend.earnings(ASKED)).toEqual([
      { address: PROGRAM, ownerAddress: TAKER, earnings: 1_234.5, slot: 77n },
      { address: MARKET, ownerAddress: TAKER, earnings: -3, slot: 78n },
    ]);
    const [request] = server.received;
    expect(`${request!.method} ${request!.path}`).toBe('GET /lend/v1/earn/earnings');
    expect(Object.fromEntries(request!.query)).toEqual({ user: TAKER, positions: `${PROGRAM},${MARKET}` });
  });

  test('may be none, and larger than a double counts', async () => {
    expect(await clientOf(await listen(json([]))).lend.earnings(ASKED)).toEqual([]);
    const text = JSON.stringify([EARNING]).replace('1234.5', '9007199254740993');
    expect((await clientOf(await listen(json(text))).lend.earnings(ASKED))[0]!.earnings)
      .toBeCloseTo(9_007_199_254_740_992, -1);
  });

  test.each<[string, unknown, string]>([
    ['totals', [{
      ...EARNING, earnings: '5', slot: undefined, totalDeposits: '1', totalWithdraws: '0', totalBalance: '1',
      totalAssets: '1',
    }], 'totalDeposits, totalWithdraws, totalBalance, totalAssets, earnings as text, no slot'],
    ['earnings as text', [{ ...EARNING, earnings: '5', slot: undefined }], 'earnings as text, no slot'],
    ['one record', { ownerAddress: TAKER, earnings: '5', totalDeposits: '1' }, 'totalDeposits'],
  ])('in the retired form, with %s, are refused with what changed', async (_name, answer, found) => {
    const refused = clientOf(await listen(json(answer))).lend.earnings(ASKED);
    await expect(refused).rejects.toMatchObject({
      code: 'SERVICE_MALFORMED', message: expect.stringContaining('earnings became a number, slot was added') as string,
    });
    await expect(refused).rejects.toThrow(found);
  });

  test('keep a removed member out of the way where the new ones are there', async () => {
    expect(await clientOf(await listen(json([{ ...EARNING, totalDeposits: '1' }]))).lend.earnings(ASKED))
      .toHaveLength(1);
  });

  test.each<[string, unknown]>([
    ['another owner', [{ ...EARNING, ownerAddress: MARKET }]],
    ['no number', [{ ...EARNING, earnings: null }]],
    ['no list', { data: [EARNING] }],
    ['no position', [{ ...EARNING, address: 'x' }]],
    ['a slot below zero', [{ ...EARNING, slot: -1 }]],
    ['more than 10000 elements', Array.from({ length: 10_001 }, () => EARNING)],
  ])('with %s are malformed', async (_name, answer) => {
    await expect(clientOf(await listen(json(answer))).lend.earnings(ASKED))
      .rejects.toMatchObject({ code: 'SERVICE_MALFORMED' });
  });

  test.each<[string, object, string]>([
    ['no user', { user: undefined }, 'user'],
    ['a user that is none', { user: 'me' }, 'user'],
    ['no positions', { positions: undefined }, 'positions'],
    ['an empty list of positions', { positions: [] }, 'positions'],
    ['a position that is none', { positions: [PROGRAM, 'x'] }, 'positions'],
  ])('of %s are never asked for', async (_name, changes, parameter) => {
    const server = await listen(json([]));
    await expect(clientOf(server).lend.earnings({ ...ASKED, ...changes }))
      .rejects.toMatchObject({ code: 'SERVICE_BAD_REQUEST', details: { parameter } });
    expect(server.received).toHaveLength(0);
  });
});
