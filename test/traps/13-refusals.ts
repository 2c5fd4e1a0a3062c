import { expect } from 'vitest';
import { amount } from '../../src/core/amount.ts';
import type { ServiceAccess } from '../../src/service/access.ts';
import { impatientClock } from '../execution/impatient-clock.ts';
import { apply, buy, propose, stateWith } from '../trading/states.ts';
import { isHealth, watch } from './feeds.ts';
import type { Trap } from './trap.ts';
import { newTrader } from './trader.ts';
import { openWire } from './wire.ts';
import type { Answer } from './world.ts';
import { BUILD, ORDER, SOL, USDC } from './world.ts';

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
      says: 'who has used up his requests gets 429 for a wrong path and a wrong parameter too; our client reads it as a matter of rate, asks once and waits as long as it was told',
      profiles: ['live'],
      async play(world) {
        const first = await world.get(ORDER, QUERY, NO_KEY);
        expect([first.status, rateHeaders(first).length]).toEqual([200, 3]);
        expect(Number(first.headers['x-ratelimit-remaining']) + Number(first.headers['x-ratelimit-current'])).toBe(5);
        for (let left = 4; left > 0; left--) await world.get(ORDER, QUERY, NO_KEY);
        const [wrongPath, wrongParameter, good] = [
          await world.get('/swap/v2/ordre', {}, NO_KEY), await world.get(ORDER, { ...QUERY, amount: '1.5' }, NO_KEY),
          await world.get(ORDER, QUERY, NO_KEY),
        ];
        expect([wrongPath, wrongParameter, good].map(({ status }) => status)).toEqual([429, 429, 429]);
        expect(good.body).toMatchObject({ code: 429, message: expect.stringMatching(/too many requests/i) });
        expect(rateHeaders(good)).toHaveLength(3);
        expect((await world.get('/swap/v2/ordre')).status).toBe(404);
        expect((await world.get(ORDER, { ...QUERY, amount: '1.5' })).status).toBe(400);

        const wire = openWire();
        const client = world.connect({ apiKey: undefined, plan: 'keyless', dispatcher: wire.dispatcher });
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
      says: 'a 429 without any header stops all polls for a while, and then one asks again: three refusals cost three requests',
      async play(world) {
        const clock = impatientClock(CLOCK_FACTOR);
        const wire = openWire();
        const client = world.connect({ clock, dispatcher: wire.dispatcher, timeouts: { totalMs: 4_000_000 } });
        await world.fault({ path: ORDER, fault: { kind: 'headers', headers: false } });
        await world.fault({ path: ORDER, fault: { kind: 'status', status: 429 }, times: 3 });
        const watched = watch(world, client, [
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
      says: 'a refused key is a 401 without headers: nothing more is sent with it, no swap is approved, and the operator is told; a 403 is no such thing',
      profiles: ['reference', 'live'],
      async play(world) {
        const answer = await world.get(ORDER, QUERY, { 'x-api-key': 'no-such-key' });
        expect([answer.status, answer.body.code, rateHeaders(answer)]).toEqual([401, 401, []]);
        const wire = openWire();
        const client = world.connect({ apiKey: 'no-such-key', dispatcher: wire.dispatcher });
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

        await world.fault({ path: ORDER, fault: { kind: 'status', status: 403 }, times: 1 });
        const forbidden = await world.get(ORDER, QUERY);
        expect([forbidden.status, forbidden.body.code, rateHeaders(forbidden)]).toEqual([403, 403, []]);
        await world.fault({ path: ORDER, fault: { kind: 'status', status: 403 }, times: 1 });
        await expect(world.service.swap.order(QUOTE))
          .rejects.toMatchObject({ code: 'SERVICE_STATUS', details: { status: 403 } });
        expect((await world.service.swap.order(QUOTE)).outAmount).toBeGreaterThan(0n);
      },
    },
    {
      says: 'a 404 in plain text says that the address is wrong',
      profiles: ['live'],
      async play(world) {
        const answer = await world.get('/elsewhere/swap/v2/order', QUERY);
        expect([answer.status, answer.headers['content-type'], answer.body])
          .toEqual([404, expect.stringMatching(/^text\/plain/), undefined]);
        const client = world.connect({ baseUrl: `${world.baseUrl}/elsewhere` });
        await expect(client.swap.order(QUOTE)).rejects.toMatchObject({
          code: 'SERVICE_STATUS', message: expect.stringContaining('check service.base_url'), details: { status: 404 },
        });
      },
    },
    {
      says: 'text, a page, half of an answer or nothing at all: each is a typed fault, and before a signature the swap tries again',
      async play(world) {
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
          await world.fault({ path: ORDER, fault, times: 1 });
          await expect(world.service.swap.order(QUOTE), JSON.stringify(fault)).rejects.toMatchObject({ code });
        }
        const trader = await newTrader(world);
        await world.fault({ path: ORDER, fault: faults[0][0], times: 2 });
        const { last, orders } = await trader.carryOut();
        expect([last.state, orders.length]).toEqual(['confirmed', 3]);
        await world.fault({ path: BUILD, fault: faults[1][0], times: 2 });
        expect((await trader.carryOut(trader.intent({ route: 'build' }))).last.state).toBe('confirmed');
      },
    },
    {
      says: 'headers that make no sense are no headers',
      async play(world) {
        await world.fault({ path: ORDER, fault: {
          kind: 'headers',
          headers: { 'x-ratelimit-remaining': 'plenty', 'x-ratelimit-current': '-', 'x-ratelimit-reset': 'soon' },
        } });
        const client = world.connect();
        for (let i = 0; i < 5; i++) expect((await client.swap.order(QUOTE)).outAmount).toBeGreaterThan(0n);
        expect(client.stats().main).toMatchObject({ sent: 5, refused: 0, coolDownUntil: undefined });
      },
    },
  ],
};
