import { expect } from 'vitest';
import { amount } from '../../src/core/amount.ts';
import type { ServiceAccess } from '../../src/service/access.ts';
import { impatientClock } from '../execution/impatient-clock.ts';
import { apply, buy, propose, stateWith } from '../trading/states.ts';
import { isHealth, watch } from './feeds.ts';
import type { Trap } from './trap.ts';
import { newTrader } from './trader.ts';
import { openWire } from './wire.ts';
import type { Answer } from './trap-fixture.ts';
import { BUILD, ORDER, SOL, USDC } from './trap-fixture.ts';

const QUOTE = { inputMint: USDC, outputMint: SOL, amount: amount(20_000_000n) };
const QUERY = { inputMint: USDC, outputMint: SOL, amount: '20000000' };
const NO_KEY = {};
const CLOCK_FACTOR = 200;

const rateHeaders = ({ headers }: Answer): unknown[] => ['remaining', 'current', 'reset']
  .map((name) => headers[`x-ratelimit-${name}`]).filter((value) => value !== undefined);

export const refusals: Trap = {
  number: 13,
  title: 'a 429 hides every other fault, and refusals come without headers or in other forms than JSON',
  plays: [
    {
      says: 'beyond the rate, wrong paths and parameters get 429 too; the client waits as long as it is told',
      profiles: ['live'],
      async play(fixture) {
        const first = await fixture.get(ORDER, QUERY, NO_KEY);
        expect([first.status, rateHeaders(first).length]).toEqual([200, 3]);
        expect(Number(first.headers['x-ratelimit-remaining']) + Number(first.headers['x-ratelimit-current'])).toBe(5);
        for (let left = 4; left > 0; left--) await fixture.get(ORDER, QUERY, NO_KEY);
        const [wrongPath, wrongParameter, good] = [
          await fixture.get('/swap/v2/ordre', {}, NO_KEY),
          await fixture.get(ORDER, { ...QUERY, amount: '1.5' }, NO_KEY),
          await fixture.get(ORDER, QUERY, NO_KEY),
        ];
        expect([wrongPath, wrongParameter, good].map(({ status }) => status)).toEqual([429, 429, 429]);
        expect(good.body).toMatchObject({ code: 429, message: expect.stringMatching(/too many requests/i) });
        expect(rateHeaders(good)).toHaveLength(3);
        expect((await fixture.get('/swap/v2/ordre')).status).toBe(404);
        expect((await fixture.get(ORDER, { ...QUERY, amount: '1.5' })).status).toBe(400);

        const wire = openWire();
        const client = fixture.connect({ apiKey: undefined, plan: 'keyless', dispatcher: wire.dispatcher });
        const thrown = await client.swap.order(QUOTE).catch((error: unknown) => error);
        expect(thrown).toMatchObject({ code: 'SERVICE_RATE_LIMITED', details: { status: 429 } });
        const { resetInMs } = (thrown as { details: { resetInMs: number } }).details;
        expect(resetInMs).toBeGreaterThan(0);
        expect(resetInMs).toBeLessThanOrEqual(11_000);
        expect(wire.sent).toHaveLength(1);
        expect(client.stats().main).toMatchObject({ refused: 1, coolDownUntil: expect.any(Number) });
        await wire.close();
      },
    },
    {
      says: 'a 429 without headers stops all polls for a while: three refusals cost three requests',
      async play(fixture) {
        const clock = impatientClock(CLOCK_FACTOR);
        const wire = openWire();
        const client = fixture.connect({ clock, dispatcher: wire.dispatcher, timeouts: { totalMs: 4_000_000 } });
        await fixture.fault({ path: ORDER, fault: { kind: 'headers', headers: false } });
        await fixture.fault({ path: ORDER, fault: { kind: 'status', status: 429 }, times: 3 });
        const watched = watch(fixture, client, [
          { kind: 'quote', ...QUOTE, everyMs: 1_000 },
          { kind: 'quote', ...QUOTE, amount: amount(30_000_000n), everyMs: 1_000 },
        ]);
        await watched.until((event) => event.kind === 'quote');
        expect(client.stats().main.refused).toBe(3);
        expect(wire.to(ORDER).length).toBeLessThanOrEqual(5);
        expect(watched.events.some((event) => isHealth(event, 'degraded', 'SERVICE_RATE_LIMITED'))).toBe(true);
        await wire.close();
      },
    },
    {
      says: 'a refused key is a 401: no swap is approved, and the operator is alerted; a single 403 is not',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const answer = await fixture.get(ORDER, QUERY, { 'x-api-key': 'no-such-key' });
        expect([answer.status, answer.body.code, rateHeaders(answer)]).toEqual([401, 401, []]);
        const wire = openWire();
        const client = fixture.connect({ apiKey: 'no-such-key', dispatcher: wire.dispatcher });
        const told: ServiceAccess[] = [];
        client.access$.subscribe((access) => told.push(access));
        for (let i = 0; i < 20; i++)
          await expect(client.swap.order(QUOTE)).rejects.toMatchObject({ code: 'SERVICE_UNAUTHORIZED' });
        expect(wire.sent).toHaveLength(1);
        expect(told).toMatchObject([{ state: 'refused', message: expect.not.stringContaining('no-such-key') }]);
        const state = stateWith();
        apply(state, { kind: 'command', name: 'set-service-access', access: 'refused', reason: 'a trap' });
        expect(propose(state, buy()).denial).toMatchObject({ code: 'SERVICE_UNAUTHORIZED' });
        await wire.close();

        await fixture.fault({ path: ORDER, fault: { kind: 'status', status: 403 }, times: 1 });
        const forbidden = await fixture.get(ORDER, QUERY);
        expect([forbidden.status, forbidden.body.code, rateHeaders(forbidden)]).toEqual([403, 403, []]);
        await fixture.fault({ path: ORDER, fault: { kind: 'status', status: 403 }, times: 1 });
        await expect(fixture.service.swap.order(QUOTE))
          .rejects.toMatchObject({ code: 'SERVICE_FORBIDDEN', details: { status: 403 } });
        expect((await fixture.service.swap.order(QUOTE)).outAmount).toBeGreaterThan(0n);
      },
    },
    {
      says: 'a 404 in plain text says that the address is wrong',
      profiles: ['live'],
      async play(fixture) {
        const answer = await fixture.get('/elsewhere/swap/v2/order', QUERY);
        expect([answer.status, answer.headers['content-type'], answer.body])
          .toEqual([404, expect.stringMatching(/^text\/plain/), undefined]);
        const client = fixture.connect({ baseUrl: `${fixture.baseUrl}/elsewhere` });
        await expect(client.swap.order(QUOTE)).rejects.toMatchObject({
          code: 'SERVICE_STATUS', message: expect.stringContaining('check service.base_url'), details: { status: 404 },
        });
      },
    },
    {
      says: 'text, HTML, half an answer or none is a typed fault, and before a signature the swap tries again',
      async play(fixture) {
        const faults = [
          [
            { kind: 'status', status: 503, body: 'upstream connect error', content_type: 'text/plain' },
            'SERVICE_STATUS',
          ],
          [
            { kind: 'status', status: 502, body: '<html><body>Bad gateway</body></html>', content_type: 'text/html' },
            'SERVICE_STATUS',
          ],
          [{ kind: 'status', status: 500, body: '', content_type: 'text/plain' }, 'SERVICE_STATUS'],
          [{ kind: 'status', status: 500, body: '{"error":', content_type: 'application/json' }, 'SERVICE_STATUS'],
          [{ kind: 'malformed', body: '<html>maintenance</html>', content_type: 'text/html' }, 'SERVICE_MALFORMED'],
          [{ kind: 'malformed', body: 'ok', content_type: 'text/plain' }, 'SERVICE_MALFORMED'],
          [{ kind: 'malformed', body: '' }, 'SERVICE_MALFORMED'],
          [{ kind: 'malformed' }, 'SERVICE_MALFORMED'],
        ] as const;
        for (const [fault, code] of faults) {
          await fixture.fault({ path: ORDER, fault, times: 1 });
          await expect(fixture.service.swap.order(QUOTE), JSON.stringify(fault)).rejects.toMatchObject({ code });
        }
        const trader = await newTrader(fixture);
        await fixture.fault({ path: ORDER, fault: faults[0][0], times: 2 });
        const { last, orders } = await trader.carryOut();
        expect([last.state, orders.length]).toEqual(['confirmed', 3]);
        await fixture.fault({ path: BUILD, fault: faults[1][0], times: 2 });
        expect((await trader.carryOut(trader.intent({ route: 'build' }))).last.state).toBe('confirmed');
      },
    },
    {
      says: 'headers that make no sense are no headers',
      async play(fixture) {
        await fixture.fault({ path: ORDER, fault: {
          kind: 'headers',
          headers: { 'x-ratelimit-remaining': 'plenty', 'x-ratelimit-current': '-', 'x-ratelimit-reset': 'soon' },
        } });
        const client = fixture.connect();
        for (let i = 0; i < 5; i++) expect((await client.swap.order(QUOTE)).outAmount).toBeGreaterThan(0n);
        expect(client.stats().main).toMatchObject({ sent: 5, refused: 0, coolDownUntil: undefined });
      },
    },
  ],
};
