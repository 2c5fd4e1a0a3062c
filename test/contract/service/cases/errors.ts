import { expect } from 'vitest';
import type { Case } from '../case.ts';
import { asked, BUY_SOL, MAKERS_ONLY, STRANGER, UUID } from '../scenes.ts';
import { API_KEY, SOL, USDC } from '../service-fixture.ts';
import { GROUPS } from './groups.ts';

export const errorCases: readonly Case[] = [
  {
    covers: ['error.body-of-a-bad-order'],
    says: 'a bad order is a 400 with requestId and error, which our client passes on',
    async play(fixture) {
      const answer = await fixture.get('/swap/v2/order', { ...BUY_SOL, amount: 'x' });
      expect([answer.status, answer.body])
        .toEqual([400, { requestId: expect.stringMatching(UUID), error: expect.stringMatching(/amount/) }]);
      const unknown = fixture.service.swap.order(asked({ ...BUY_SOL, outputMint: STRANGER }));
      await expect(unknown)
        .rejects.toMatchObject({ code: 'SERVICE_STATUS', details: { requestId: expect.stringMatching(UUID) } });
    },
  },
  {
    covers: ['error.body-of-a-bad-build'],
    says: 'a bad build is a 400 with error alone',
    async play(fixture) {
      const answer = await fixture.get('/swap/v2/build', { ...BUY_SOL, taker: 'x' });
      expect([answer.status, answer.body]).toEqual([400, { error: expect.stringMatching(/taker/) }]);
    },
  },
  {
    covers: ['error.no-quotes'],
    says: 'without quotes, the order says so with a 400',
    async play(fixture) {
      const tiny = { inputMint: USDC, outputMint: SOL, amount: '1000000', ...MAKERS_ONLY };
      const answer = await fixture.get('/swap/v2/order', tiny);
      expect([answer.status, answer.body.error]).toEqual([400, 'Failed to get quotes']);
      await expect(fixture.service.swap.order({ ...asked(tiny), excludeRouters: ['iris', 'routerA', 'routerB'] }))
        .rejects.toMatchObject({
          code: 'SERVICE_STATUS', details: { status: 400, serviceMessage: 'Failed to get quotes' },
        });
    },
  },
  ...([
    ['error.too-many-requests', 429, 'SERVICE_RATE_LIMITED'], ['error.forbidden', 403, 'SERVICE_FORBIDDEN'],
    ['error.server-errors', 503, 'SERVICE_STATUS'],
  ] as const).map(([row, status, code]): Case => ({
    covers: [row],
    says: `${status} is ${code} to our client, and the next request goes through`,
    async play(fixture) {
      const troubled = fixture.connect(API_KEY);
      await fixture.fault({ match: { path: '/swap/v2/order' }, fault: { kind: 'status', status }, times: 2 });
      const answer = await fixture.get('/swap/v2/order', BUY_SOL);
      expect(answer.status).toBe(status);
      expect(status === 503 ? answer.body.error : [answer.body.code, typeof answer.body.message])
        .toEqual(status === 503 ? expect.any(String) : [status, 'string']);
      await expect(troubled.swap.order(asked(BUY_SOL))).rejects.toMatchObject({ code, details: { status } });
      expect((await fixture.service.swap.order(asked(BUY_SOL))).outAmount).toBeGreaterThan(0n);
    },
  })),
  {
    covers: ['error.server-errors', 'preamble.json'],
    says: 'no answer at all and an answer that is no JSON are faults of their own to our client, and the next request '
      + 'goes through',
    async play(fixture) {
      for (const [fault, code] of [
        [{ kind: 'drop_before' }, 'SERVICE_UNREACHABLE'], [{ kind: 'drop_after' }, 'SERVICE_UNREACHABLE'],
        [{ kind: 'malformed' }, 'SERVICE_MALFORMED'],
      ] as const) {
        await fixture.fault({ match: { path: '/swap/v2/build' }, fault, times: 1 });
        await expect(fixture.service.swap.build({ ...asked(BUY_SOL), taker: fixture.wallet.address }))
          .rejects.toMatchObject({ code });
      }
      expect((await fixture.service.swap.build({ ...asked(BUY_SOL), taker: fixture.wallet.address })).outAmount)
        .toBeGreaterThan(0n);
    },
  },
  {
    covers: ['error.unknown-path', 'version.paths-by-version'],
    says: 'each group has its path and version; another one is a 404',
    async play(fixture) {
      for (const path of ['/swap/v3/order', '/swap/order', '/prediction/v2/history', '/tokens/v9/recent', '/']) {
        const answer = await fixture.raw('GET', path, { 'x-api-key': API_KEY });
        expect([path, answer.status]).toEqual([path, 404]);
      }
      for (const path of GROUPS) expect((await fixture.get(path)).status, path).not.toBe(404);
    },
  },
];
