import { expect } from 'vitest';
import { requestsPerSecond } from '../../../../src/service/rate/rate-plan.ts';
import type { Case } from '../case.ts';
import { asked, BUY_SOL, UUID } from '../scenes.ts';
import { openFixture } from '../service-fixture.ts';
import { GROUPS } from './groups.ts';

export const authenticationCases: readonly Case[] = [
  {
    covers: ['auth.header', 'auth.unauthorized', 'error.no-valid-key-is-401', 'error.body-of-the-gateway'],
    says: 'without a key, with an empty and with a wrong one the answer is 401 with code and message, and our client '
      + 'holds back',
    async play(fixture) {
      for (const headers of [{}, { 'x-api-key': '' }, { 'x-api-key': 'wrong' }]) {
        const answer = await fixture.get('/swap/v2/order', BUY_SOL, headers);
        expect([answer.status, answer.body]).toEqual([401, { code: 401, message: expect.stringMatching(/\w/) }]);
        expect(answer.headers['x-api-gateway-request-id']).toMatch(UUID);
      }
      for (const key of [undefined, 'wrong']) {
        const stranger = fixture.connect(key);
        await expect(stranger.swap.order(asked(BUY_SOL))).rejects.toMatchObject({ code: 'SERVICE_UNAUTHORIZED' });
        const { sent } = stranger.stats().main;
        await expect(stranger.tokens.search(['SOL'])).rejects.toMatchObject({ code: 'SERVICE_UNAUTHORIZED' });
        expect(stranger.stats().main.sent).toBe(sent);
      }
    },
  },
  {
    covers: ['auth.every-group'],
    says: 'every group of paths wants the key, and /execute too',
    async play(fixture) {
      for (const path of GROUPS) expect((await fixture.get(path, {}, {})).status, path).toBe(401);
      for (const path of ['/swap/v2/execute', '/swap/v1/swap', '/swap/v1/swap-instructions'])
        expect((await fixture.post(path, {}, {})).status, path).toBe(401);
      for (const path of GROUPS) expect([200, 400], path).toContain((await fixture.get(path)).status);
    },
  },
  {
    covers: ['auth.binary-key'],
    says: 'the key of the self-hosted binary is recognised and answered with what to use instead',
    async play(fixture) {
      const answer = await fixture.get('/swap/v2/order', { ...BUY_SOL, 'binary-key': 'x' });
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/x-api-key/)]);
    },
  },
  {
    covers: ['limit.rate-by-plan'],
    says: 'our client knows the rate of each plan; a sandbox with a rate answers 429 beyond it, with the headers that '
      + 'say when',
    async play(fixture) {
      expect((['keyless', 'free', 'developer', 'launch', 'pro'] as const).map((plan) =>
        [requestsPerSecond(plan, 'main'), requestsPerSecond(plan, 'execute')]))
        .toEqual([[0.5, 20], [1, 50], [10, 100], [50, 100], [150, 100]]);
      const limited = await openFixture({
        dialect: fixture.dialect.name, profile: 'reference',
        sandbox: { rateLimit: { kind: 'sliding', requests: 3, windowMs: 60_000, executeRequests: 2, headers: true } },
      });
      try {
        const answers = [];
        for (let i = 0; i < 4; i++) answers.push(await limited.get('/swap/v2/order', BUY_SOL));
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
        expect(answers.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['2', '1', '0', '0']);
        expect(Number(answers[3]!.headers['x-ratelimit-reset']) * 1_000).toBeGreaterThan(Date.now() + 30_000);
        expect(answers[3]!.body).toEqual({ code: 429, message: expect.stringMatching(/Too many requests/) });
        expect((await limited.post('/swap/v2/execute', { requestId: 'x', signedTransaction: 'x' })).status).toBe(400);
      } finally {
        await limited.close();
      }
    },
  },
];
