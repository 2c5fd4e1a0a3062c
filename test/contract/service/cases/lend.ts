import { expect } from 'vitest';
import type { Case } from '../case.ts';
import { refusedByOurs, STRANGER } from '../scenes.ts';
import { SOL } from '../service-fixture.ts';

export const lendCases: readonly Case[] = [
  {
    covers: [
      'version./lend/v1/earn/earnings', 'version.earnings-removed', 'version.earnings.earnings',
      'version.earnings.slot', 'version.earnings.address', 'version.earnings.ownerAddress',
    ],
    says: 'earnings are a number at a slot, and nothing of the form before is left',
    async play(fixture) {
      const user = fixture.wallet.address;
      const { status, body } = await fixture.get('/lend/v1/earn/earnings', { user, positions: `${STRANGER},${SOL}` });
      expect(status).toBe(200);
      expect(body).toEqual([STRANGER, SOL].map((address) =>
        ({ address, ownerAddress: user, earnings: expect.any(Number), slot: fixture.sandbox.chain.slot })));
      const read = await fixture.service.lend.earnings({ user, positions: [STRANGER] });
      expect(read).toEqual([
        {
          address: STRANGER, ownerAddress: user, earnings: expect.any(Number), slot: BigInt(fixture.sandbox.chain.slot),
        },
      ]);
      const old = JSON.stringify([{
        address: STRANGER, ownerAddress: user, totalDeposits: '1', totalWithdraws: '0', totalBalance: '1',
        totalAssets: '1', earnings: '5',
      }]);
      await fixture.fault({
        match: { path: '/lend/v1/earn/earnings' }, fault: { kind: 'malformed', body: old }, times: 1,
      });
      await expect(fixture.service.lend.earnings({ user, positions: [STRANGER] }))
        .rejects.toMatchObject({ code: 'SERVICE_MALFORMED', message: expect.stringMatching(/totalDeposits/) });
    },
  },
  ...(['user', 'positions'] as const).map((name): Case => ({
    covers: [`version.earnings.${name}`],
    says: `earnings without ${name}, or of what is no address, are refused by both sides`,
    async play(fixture) {
      const whole = { user: fixture.wallet.address, positions: STRANGER };
      const { [name]: _, ...rest } = whole;
      expect((await fixture.get('/lend/v1/earn/earnings', whole)).body)
        .toMatchObject([{ address: STRANGER, ownerAddress: fixture.wallet.address }]);
      for (const query of [rest, { ...whole, [name]: '?' }])
        expect((await fixture.get('/lend/v1/earn/earnings', query)).status).toBe(400);
      const ours = { user: fixture.wallet.address, positions: [STRANGER], [name]: name === 'user' ? '?' : [] };
      await refusedByOurs(fixture, ({ lend }) => lend.earnings(ours), new RegExp(name));
    },
  })),
];
