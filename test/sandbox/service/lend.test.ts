import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SOL, startTestSandbox, USDC, type Answer, type TestSandbox } from './sandbox-client.ts';

const DAY_MS = 86_400_000;

let sandbox: TestSandbox;
let positions: Readonly<Record<string, string>>;
beforeAll(async () => {
  sandbox = await startTestSandbox({ slotMs: DAY_MS / 1_440 });
  const { lend_positions: lent } = (await sandbox.get('/sandbox/state')).body;
  positions = Object.fromEntries(lent.map(({ mint, position }: { mint: string; position: string }) =>
    [mint, position]));
});
afterAll(() => sandbox.close());

const earnings = (query: Record<string, string>): Promise<Answer> => sandbox.get('/lend/v1/earn/earnings', query);

describe('GET /lend/v1/earn/earnings', () => {
  it('says in numbers what a user earned on each position, and nothing of what was removed', async () => {
    const user = sandbox.wallet.address;
    const { status, body } = await earnings({ user, positions: `${positions[USDC]},${positions[SOL]}` });
    expect(status).toBe(200);
    expect(body).toEqual([positions[USDC], positions[SOL]].map((address) =>
      ({ address, ownerAddress: user, earnings: expect.any(Number), slot: sandbox.chain.slot })));
    expect(body.every((record: { earnings: number }) => Number.isInteger(record.earnings) && record.earnings > 0))
      .toBe(true);
  });

  it('grows with time by the token’s yield', async () => {
    const { wallet } = sandbox;
    const [{ apy: { platformEarn: apy } }] = (await sandbox.get('/ultra/v1/search', { query: USDC })).body;
    const earned = async (): Promise<number> =>
      (await earnings({ user: wallet.address, positions: positions[USDC]! })).body[0].earnings;
    const before = await earned();
    await sandbox.passSlots(10 * 1_440);
    const after = await earned();
    // 1,500 USDC, lent for 45 days already.
    const total = (days: number): number => 1_500e6 * ((1 + apy / 100) ** (days / 365.25) - 1);
    expect(Math.abs(before - total(45))).toBeLessThanOrEqual(2);
    expect(Math.abs(after - before - (total(55) - total(45)))).toBeLessThanOrEqual(2);
  });

  it('is 0 for an owner who lent nothing, and for an unknown position', async () => {
    const stranger = 'Gu11Ke8cLnWj8gkvT1PzL1nGdCGZ1E2uGTxUykcRTZ9r';
    expect((await earnings({ user: stranger, positions: positions[SOL]! })).body)
      .toMatchObject([{ ownerAddress: stranger, earnings: 0 }]);
    expect((await earnings({ user: sandbox.wallet.address, positions: stranger })).body)
      .toMatchObject([{ address: stranger, earnings: 0 }]);
  });

  it.each([
    [{}, 'user'], [{ user: SOL }, 'positions'], [{ positions: SOL }, 'user'], [{ user: 'me', positions: SOL }, 'user'],
    [{ user: SOL, positions: 'x' }, 'positions'],
    [{ user: SOL, positions: `${SOL},,${USDC}` }, 'positions'],
  ])('refuses %j, naming the parameter', async (query, name) => {
    const answer = await earnings(query);
    expect([answer.status, answer.body]).toEqual([400, { error: expect.stringMatching(new RegExp(`^${name}: `)) }]);
  });
});
