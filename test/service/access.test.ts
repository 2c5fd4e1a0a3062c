import { describe, expect, onTestFinished, test } from 'vitest';
import { GannetError, isGannetError } from '../../src/core/errors.ts';
import type { Millis } from '../../src/core/time.ts';
import { VirtualClock } from '../../src/engine/virtual-clock.ts';
import type { ServiceAccess } from '../../src/service/access.ts';
import { Access } from '../../src/service/access.ts';
import type { Gateway } from '../../src/service/gateway.ts';
import { createGateway } from '../../src/service/gateway.ts';
import type { Priority } from '../../src/service/rate/rate-plan.ts';
import type { Transport } from '../../src/service/transport.ts';
import { loadDialect } from '../../src/service/wire/dialect.ts';
import { API_KEY, clientOf, json, listen } from './loopback.ts';
import { advance, after } from './virtual-time.ts';

const START = Date.UTC(2026, 0, 1);
const GRANTED: ServiceAccess = { state: 'granted' };
const WATCH = { priority: 'watch', group: 'swap' } as const;
const CODES: Readonly<Record<number, 'SERVICE_UNAUTHORIZED' | 'SERVICE_FORBIDDEN'>> =
  { 401: 'SERVICE_UNAUTHORIZED', 402: 'SERVICE_FORBIDDEN', 403: 'SERVICE_FORBIDDEN', 451: 'SERVICE_FORBIDDEN' };
const read = (): string => 'ok';

function statusFault(status: number): GannetError {
  return new GannetError(CODES[status] ?? 'SERVICE_STATUS', `the service answered ${status}`, { details: { status } });
}

/** A gateway to a service that answers each request with the status of the moment, a tenth of a second later. */
function open(): {
  readonly clock: VirtualClock;
  readonly gateway: Gateway;
  readonly access: Access;
  readonly arrived: Millis[];
  readonly changes: readonly ServiceAccess[];
  readonly answerWith: (status: number) => void;
  /** Returns what came of it: `ok` or an error code. */
  readonly ask: (priority?: Priority, group?: string) => Promise<string>;
  readonly execute: () => Promise<string>;
} {
  const clock = new VirtualClock(START);
  const arrived: Millis[] = [];
  const changes: ServiceAccess[] = [];
  let status = 200;
  const transport: Transport = {
    async send() {
      arrived.push(clock.now() - START);
      const itsStatus = status;
      await after(clock, 100);
      if (itsStatus !== 200) throw statusFault(itsStatus);
      return { json: {}, text: '{}', limits: undefined };
    },
    close: async () => undefined,
  };
  const access = new Access(clock);
  const gateway =
    createGateway({ transport, dialect: loadDialect('neutral'), plan: { requestsPerSecond: 1_000 }, clock, access });
  access.changes$.subscribe((change) => changes.push(change));
  return {
    clock, gateway, arrived, changes, access,
    answerWith(next) {
      status = next;
    },
    ask: (priority, group = 'swap') =>
      gateway.get({ path: `/${group}/x`, shareable: false, read }, { priority }).then(() => 'ok', codeOf),
    execute: () => gateway.execute({ path: '/swap/v2/execute', body: {}, read }).then(() => 'ok', codeOf),
  };
}

function codeOf(thrown: unknown): string {
  return isGannetError(thrown) ? thrown.code : String(thrown);
}

describe('issue 13.15: a service that does not answer', () => {
  test('is an outage after three failed requests over two seconds, until its first answer', async () => {
    const { clock, changes, answerWith, ask } = open();
    answerWith(503);
    for (let second = 0; second < 11; second++) {
      void ask('watch');
      await advance(clock, 1_000);
    }
    expect(changes).toEqual([{ state: 'silent', message: 'the service answered 503', at: START + 2_100 }]);
    answerWith(200);
    const asked = ask('watch');
    await advance(clock, 100);
    expect(await asked).toBe('ok');
    expect(changes.slice(1)).toEqual([GRANTED]);
  });

  test('is no outage where other requests are answered, even with a refusal', async () => {
    const { clock, changes, answerWith, ask } = open();
    for (const status of [503, 200, 503, 429, 503, 400, 503, 404, 503, 503]) {
      answerWith(status);
      void ask('watch');
      await advance(clock, 1_500);
    }
    expect(changes).toEqual([]);
  });

  test('blocks no request, and a refused key is reported instead', async () => {
    const { clock, access, changes, answerWith, ask } = open();
    answerWith(500);
    for (let second = 0; second < 3; second++) {
      void ask('watch');
      await advance(clock, 1_500);
    }
    const late: ServiceAccess[] = [];
    access.changes$.subscribe((change) => late.push(change));
    answerWith(401);
    void ask('watch');
    await advance(clock, 100);
    expect(changes.map(({ state }) => state)).toEqual(['silent', 'refused']);
    expect(late.map(({ state }) => state)).toEqual(['silent', 'refused']);
  });
});

describe('a forbidden region, address or key', () => {
  test.each([402, 403, 451])('is tried by two requests and then by rare ones after %d', async (status) => {
    const { clock, arrived, changes, answerWith, ask } = open();
    answerWith(status);
    for (let second = 0; second < 3_600; second++) {
      for (const priority of ['watch', 'entry', 'exit'] as const) void ask(priority);
      await advance(clock, 1_000);
      if (second === 0) arrived.splice(0, arrived.length, arrived.at(-1)!);
    }
    const gaps = arrived.slice(1).map((at, index) => at - arrived[index]!);
    expect(gaps.map((gap) => Math.round(gap / 10_000) * 10)).toEqual([30, 60, 120, 240, 480, 600, 600, 600, 600]);
    expect(changes).toEqual([{ state: 'forbidden', message: `the service answered ${status}`, at: START + 100 }]);
  });

  test('is a state after the second refusal in a row, and ends with any proper answer', async () => {
    const { clock, changes, answerWith, ask } = open();
    for (const status of [403, 200, 403, 404, 403]) {
      answerWith(status);
      void ask();
      await advance(clock, 200);
    }
    expect(changes).toEqual([]);
    answerWith(403);
    void ask();
    await advance(clock, 200);
    expect(changes.map(({ state }) => state)).toEqual(['forbidden']);
    expect(await ask()).toBe('SERVICE_FORBIDDEN');
    answerWith(200);
    await advance(clock, 30_000);
    void ask();
    await advance(clock, 200);
    expect(changes.slice(1)).toEqual([GRANTED]);
  });

  test('for one product of the service leaves the others open, and swaps to trade', async () => {
    const { clock, changes, arrived, answerWith, ask } = open();
    answerWith(403);
    for (let tries = 0; tries < 5; tries++) {
      void ask('watch', 'prediction');
      await advance(clock, 200);
    }
    expect([arrived.length, changes]).toEqual([2, []]);
    answerWith(200);
    const swap = ask('entry', 'swap');
    await advance(clock, 200);
    expect([await swap, await ask('watch', 'prediction')]).toEqual(['ok', 'SERVICE_FORBIDDEN']);
  });

  test('lets a signed transaction try every two seconds', async () => {
    const { clock, arrived, answerWith, ask, execute } = open();
    answerWith(403);
    for (let tries = 0; tries < 2; tries++) {
      void ask();
      await advance(clock, 500);
    }
    arrived.length = 0;
    for (let tenth = 0; tenth < 100; tenth++) {
      void execute();
      await advance(clock, 100);
    }
    expect(arrived).toEqual([1_000, 3_000, 5_000, 7_000, 9_000]);
  });

  test('is told apart from a proxy that wants a login, which is an outage', async () => {
    const { clock, changes, answerWith, ask } = open();
    answerWith(407);
    for (let tries = 0; tries < 4; tries++) {
      void ask('watch');
      await advance(clock, 1_000);
    }
    expect(changes.map(({ state }) => state)).toEqual(['silent']);
  });
});

describe('a refused key', () => {
  test('is tried by single requests at growing intervals, and blocks all others', async () => {
    const { clock, arrived, changes, answerWith, ask } = open();
    answerWith(401);
    const first = ask();
    await advance(clock, 100);
    expect(await first).toBe('SERVICE_UNAUTHORIZED');
    expect(changes).toEqual([{ state: 'refused', message: 'the service answered 401', at: START + 100 }]);
    for (let second = 0; second < 3_600; second++) {
      for (const priority of ['watch', 'entry', 'exit'] as const) void ask(priority);
      await advance(clock, 1_000);
    }
    const gaps = arrived.slice(1).map((at, index) => at - arrived[index]!);
    expect(gaps.map((gap) => Math.round(gap / 10_000) * 10)).toEqual([30, 60, 120, 240, 480, 600, 600, 600, 600]);
    expect(changes).toHaveLength(1);
  });

  test('rejects blocked requests at once, without use of the rate, and says when the next try is due', async () => {
    const { clock, gateway, answerWith, ask } = open();
    answerWith(401);
    void ask();
    await advance(clock, 10_100);
    const rejected = gateway.get({ path: '/swap/x', shareable: false, read: () => 'ok' });
    expect(gateway.stats().main).toMatchObject({ sent: 1, queued: 0 });
    await expect(rejected)
      .rejects.toMatchObject({ code: 'SERVICE_UNAUTHORIZED', message: expect.stringContaining('20 s') });
  });

  test('rejects requests that were queued when the refusal came', async () => {
    const { clock, gateway, arrived, answerWith, ask } = open();
    answerWith(401);
    const asked = Array.from({ length: 60 }, () => ask('watch'));
    expect(gateway.stats().main.queued).toBeGreaterThan(0);
    await advance(clock, 1_000);
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['SERVICE_UNAUTHORIZED']));
    expect(arrived.length).toBeLessThan(60);
  });

  test('lets a signed transaction try every two seconds, whichever request was refused', async () => {
    const { clock, arrived, answerWith, ask, execute } = open();
    answerWith(401);
    void ask();
    await advance(clock, 1_000);
    arrived.length = 0;
    for (let tenth = 0; tenth < 100; tenth++) {
      void execute();
      await advance(clock, 100);
    }
    expect(arrived).toEqual([1_000, 3_000, 5_000, 7_000, 9_000]);
  });

  test('is accepted again with the first answer to a request that was sent after the refusal', async () => {
    const { clock, arrived, changes, answerWith, ask, execute } = open();
    answerWith(401);
    void ask();
    await advance(clock, 1_000);
    answerWith(200);
    expect(await ask()).toBe('SERVICE_UNAUTHORIZED');
    const landed = execute();
    await advance(clock, 100);
    expect(await landed).toBe('ok');
    expect(changes.slice(1)).toEqual([GRANTED]);
    const next = ask();
    await advance(clock, 100);
    expect(await next).toBe('ok');
    expect(arrived).toHaveLength(3);
  });

  test('stays refused after a late answer to a request that was sent before the refusal', async () => {
    const clock = new VirtualClock(START);
    const access = new Access(clock);
    const changes: ServiceAccess[] = [];
    access.changes$.subscribe((change) => changes.push(change));
    const [early, late] = [access.enter(WATCH), access.enter(WATCH)];
    early.failed(statusFault(401));
    late.answered();
    expect(changes.map(({ state }) => state)).toEqual(['refused']);
    clock.advanceTo(START + 30_000);
    const probe = access.enter(WATCH);
    probe.answered();
    late.failed(statusFault(401));
    expect(changes.map(({ state }) => state)).toEqual(['refused', 'granted']);
  });

  test.each([
    [400, 'granted'], [404, 'granted'], [402, 'refused'], [403, 'refused'], [407, 'refused'], [451, 'refused'],
    [429, 'refused'], [500, 'refused'], [503, 'refused'],
  ])('and a probe answered with %d is %s', async (status, state) => {
    const { clock, changes, answerWith, ask } = open();
    answerWith(401);
    void ask();
    await advance(clock, 31_000);
    answerWith(status);
    void ask();
    await advance(clock, 100);
    expect(changes.at(-1)!.state).toBe(state);
  });

  test('is reported to a later subscriber, while an accepted key is not', async () => {
    const { clock, access, answerWith, ask, gateway } = open();
    const seen: string[] = [];
    access.changes$.subscribe(({ state }) => seen.push(`early ${state}`));
    expect(seen).toEqual([]);
    answerWith(401);
    void ask();
    await advance(clock, 100);
    access.changes$.subscribe({
      next: ({ state }) => seen.push(`late ${state}`), complete: () => seen.push('complete'),
    });
    await gateway.close();
    expect(seen).toEqual(['early refused', 'late refused', 'complete']);
  });
});

describe('over HTTP', () => {
  test('a service that repeats the key in its refusal does not bring it into the state', async () => {
    const server = await listen(json({ code: 401, message: `no such key: ${API_KEY}` }, { status: 401 }));
    const service = clientOf(server);
    const changes: ServiceAccess[] = [];
    const subscription = service.access$.subscribe((change) => changes.push(change));
    onTestFinished(() => subscription.unsubscribe());
    for (let n = 0; n < 5; n++)
      await expect(service.tokens.search(['SOL'])).rejects.toMatchObject({ code: 'SERVICE_UNAUTHORIZED' });
    expect(server.received).toHaveLength(1);
    expect(changes).toMatchObject([{ state: 'refused', message: expect.stringContaining('no such key') }]);
    expect(JSON.stringify(changes)).not.toContain(API_KEY);
  });
});
