import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../src/core/random.ts';
import type { Millis } from '../../../src/core/time.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import { Access } from '../../../src/service/access.ts';
import { RateLimiter } from '../../../src/service/rate/back-off.ts';
import { createGateway } from '../../../src/service/gateway.ts';
import { RateGovernor } from '../../../src/service/rate/rate-governor.ts';
import type { RateMemory } from '../../../src/service/rate/rate-memory.ts';
import { createFileRateMemory, storedBuckets } from '../../../src/service/rate/rate-memory.ts';
import { bucketLimits } from '../../../src/service/rate/rate-plan.ts';
import { loadDialect } from '../../../src/service/wire/dialect.ts';
import { temporaryFolder } from '../../config/temporary-folder.ts';
import { clientOf, json, listen } from '../loopback.ts';
import type { Limiter, SimulatedServer } from './simulated-server.ts';
import { fixedWindow, simulateServer, slidingWindow } from './simulated-server.ts';
import { advance, after } from '../virtual-time.ts';

const read = (answer: unknown): unknown => answer;

type RateMemoryState = Parameters<RateMemory['save']>[0];

const START = Date.UTC(2026, 0, 1);
const SCOPE = 'https://service.example "free"';
const STATE: RateMemoryState = {
  scope: SCOPE,
  buckets: { main: {
    sends: [{ at: START, count: 3 }], coolDownUntil: START + 5_000,
    learned: { at: START, share: 0.5, refusedShare: undefined, burst: undefined, refusals: 2 },
  } },
};

async function fileMemory(
  content?: string | Uint8Array,
): Promise<{ path: string; folder: string; memory: RateMemory; faults: string[] }> {
  const folder = await temporaryFolder();
  const path = join(folder, 'rate.json');
  if (content !== undefined) writeFileSync(path, content);
  const faults: string[] = [];
  return { path, folder, faults, memory: createFileRateMemory(path, { onFault: (message) => faults.push(message) }) };
}

describe('a memory in a file', () => {
  test('is empty without a file', async () => {
    const { memory, faults } = await fileMemory();
    expect(memory.load()).toBeUndefined();
    expect(faults).toEqual([]);
  });

  test('returns the last state, and leaves no other file', async () => {
    const { memory, folder, path } = await fileMemory();
    memory.save({ scope: 'another', buckets: {} });
    memory.save(STATE);
    expect(createFileRateMemory(path, { onFault: expect.unreachable }).load()).toMatchObject(STATE);
    expect(readdirSync(folder)).toEqual(['rate.json']);
  });

  test.each<[string, string | Uint8Array]>([
    ['empty', ''], ['torn', '{"format":"gannet-rate-memory-1","scope":"x","buck'], ['of something else', '{"a":1}'],
    ['of a later format', JSON.stringify({ format: 'gannet-rate-memory-2', ...STATE })],
    ['with a wrong figure', JSON.stringify({ format: 'gannet-rate-memory-1', ...STATE })
      .replace('"count":3', '"count":-3')],
    ['no text', new Uint8Array([0, 255, 254, 1])], ['too large', ' '.repeat(70_000)],
  ])('that is %s is unreadable without a fault, and is overwritten', async (_name, content) => {
    const { memory, faults } = await fileMemory(content);
    expect(memory.load()).toEqual({ scope: '', buckets: {} });
    memory.save(STATE);
    expect(memory.load()).toMatchObject(STATE);
    expect(faults).toEqual([]);
  });

  test('with any content is read or reported unreadable', async () => {
    const { memory, path } = await fileMemory();
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json(), fc.jsonValue().map((buckets) => JSON.stringify({
      format: 'gannet-rate-memory-1', scope: 's', buckets,
    }))), (content) => {
      writeFileSync(path, content);
      expect(memory.load()).toHaveProperty('buckets');
    }), { numRuns: 200 });
  });

  test('reports a fault of the disk once, and again after a success', async () => {
    const { memory, faults, folder, path } = await fileMemory();
    rmSync(folder, { recursive: true });
    for (let n = 0; n < 3; n++) memory.save(STATE);
    expect(faults).toEqual([expect.stringContaining(`cannot write ${path}`)]);
    mkdirSync(folder);
    memory.save(STATE);
    rmSync(folder, { recursive: true });
    memory.save(STATE);
    expect(faults).toHaveLength(2);
    mkdirSync(path, { recursive: true });
    expect(memory.load()).toEqual({ scope: '', buckets: {} });
    expect(faults[2]).toContain(`cannot read ${path}`);
  });
});

/** A memory as a file is one: what is kept is text. */
function textMemory(): RateMemory & { saves: number } {
  let text: string | undefined;
  return {
    saves: 0,
    load: () => (text === undefined ? undefined : JSON.parse(text) as RateMemoryState),
    save(state) {
      this.saves += 1;
      text = JSON.stringify(state);
    },
  };
}

/** A process that asks for more than there is until it dies; what it would have done after that never happens. */
function startProcess(
  clock: VirtualClock, server: SimulatedServer, memory?: RateMemory, scope = SCOPE,
): { die(): void; close(): Promise<void>; sent(): number } {
  const life = { isOver: false };
  const mortal = memory === undefined ? undefined
    : { load: () => memory.load(), save: (state: RateMemoryState) => (life.isOver ? undefined : memory.save(state)) };
  let sent = 0;
  const gateway = createGateway({
    transport: {
      send(request, signal) {
        if (life.isOver) return new Promise(() => undefined);
        sent += 1;
        return server.send(request, signal);
      },
      close: async () => undefined,
    },
    dialect: loadDialect('neutral'), plan: 'free', clock, access: new Access(clock),
    stored: mortal === undefined ? undefined : storedBuckets(mortal, { scope, clock }),
  });
  function die(): void {
    life.isOver = true;
  }
  for (let n = 0; n < 30; n++) {
    const poll = async (): Promise<void> => {
      while (!life.isOver)
        await gateway.get({ path: `/${n}`, shareable: true, read }, { priority: n % 5 === 0 ? 'exit' : 'watch' })
          .catch(() => undefined);
    };
    void poll();
  }
  return { die, close: () => gateway.close(), sent: () => sent };
}

async function crashOften(limiter: Limiter, options: {
  readonly times: number; readonly lifeMs: () => Millis; readonly memory: RateMemory | undefined;
}): Promise<SimulatedServer> {
  const clock = new VirtualClock(START);
  const server = simulateServer({ clock, limiters: { main: limiter, execute: limiter }, headers: false, answer: '{}' });
  for (let n = 0; n < options.times; n++) {
    const process = startProcess(clock, server, options.memory);
    await advance(clock, options.lifeMs());
    process.die();
  }
  return server;
}

const WINDOWS: readonly (readonly [string, () => Limiter])[] = [
  ['a sliding minute', () => slidingWindow(60, 60_000)],
  ['ten seconds at a time', () => fixedWindow(10, 10_000, 4_321)],
];

describe.each(
  WINDOWS,
)('a daemon that dies a hundred times within a minute, before a service that counts over %s', (_name, limiterOf) => {
  test.each([0, 10, 600])('restarted every %d ms never exceeds the rate', async (lifeMs) => {
    const { refusedAt, arrived } =
      await crashOften(limiterOf(), { times: 100, lifeMs: () => lifeMs, memory: textMemory() });
    expect(refusedAt).toEqual([]);
    expect(arrived.length).toBeGreaterThan(0);
  });

  test('restarted at any time never exceeds the rate', async () => {
    for (const seed of [1, 2]) {
      const random = seededRandom(seed);
      const { refusedAt } = await crashOften(limiterOf(), {
        times: 100, lifeMs: () => Math.round(3_000 * random() ** 3), memory: textMemory(),
      });
      expect(refusedAt).toEqual([]);
    }
  });

  test('would exceed the rate without a memory', async () => {
    const { refusedAt } = await crashOften(limiterOf(), { times: 100, lifeMs: () => 600, memory: undefined });
    expect(refusedAt.length).toBeGreaterThan(100);
  });
});

function clockAndServer(limit = 60): { readonly clock: VirtualClock; readonly server: SimulatedServer } {
  const clock = new VirtualClock(START);
  const limiters = { main: slidingWindow(limit, 60_000), execute: slidingWindow(500, 10_000) };
  return { clock, server: simulateServer({ clock, limiters, headers: false, answer: '{}' }) };
}

describe('a process with a memory', () => {
  test('writes about once a second, not per request', async () => {
    const { clock, server } = clockAndServer();
    const memory = textMemory();
    startProcess(clock, server, memory);
    await advance(clock, 100);
    // Ten leave at once: a claim of four, then of eight.
    expect(server.arrived.length).toBe(10);
    expect(memory.saves).toBeLessThanOrEqual(3);
    await advance(clock, 600_000);
    expect(memory.saves).toBeLessThan(650);
  });

  test('starts with the usual burst where the memory is empty', async () => {
    const { clock, server } = clockAndServer();
    const process = startProcess(clock, server, textMemory());
    await advance(clock, 0);
    // Six exits, and watching until half of its share is used.
    expect(process.sent()).toBe(9);
  });

  test.each([
    ['of another service or plan', { ...STATE, scope: 'https://other.example "free"' }],
    ['that cannot be read', { scope: '', buckets: {} }],
  ])('with a state %s starts as if the window were full', async (_name, state) => {
    const { clock, server } = clockAndServer();
    const memory = textMemory();
    memory.save(state);
    const process = startProcess(clock, server, memory);
    await advance(clock, 10_499);
    expect(process.sent()).toBe(0);
    await advance(clock, 1_000);
    expect(process.sent()).toBeGreaterThan(0);
  });

  test('waits for the end of the previous process’s cool-down, and keeps its learned limit', async () => {
    const { clock, server } = clockAndServer(20);
    const memory = textMemory();
    const first = startProcess(clock, server, memory);
    // A refusal teaches once it repeats.
    while (memory.load()?.buckets.main?.learned === undefined) await advance(clock, 100);
    await advance(clock, 100);
    first.die();
    const kept = memory.load()!.buckets.main!;
    expect(kept.coolDownUntil).toBeGreaterThan(clock.now());
    expect(kept.learned!.share).toBeLessThan(0.9);
    const second = startProcess(clock, server, memory);
    await advance(clock, 1_000);
    expect(second.sent()).toBe(0);
    await advance(clock, 40_000);
    // The plan's own rate would be 38, and refused.
    expect(second.sent()).toBeLessThan(kept.learned!.share * 38 + 2);
  });

  test('spaces its first poll from the last one of the previous process', async () => {
    const clock = new VirtualClock(START);
    const governor = new RateGovernor({
      limits: bucketLimits('free', 'main'), clock, maxInFlight: 32,
      memory: { earlier: { sends: [{ at: START - 300, count: 4 }] }, save: () => undefined },
    });
    const leftAt = governor.run({ priority: 'watch', send: async () => ({ value: clock.now() - START }) });
    await advance(clock, 5_000);
    expect(await leftAt).toBe(1_013);
  });

  test('lets watching wait for the end of a cool-down, and an exit for two seconds of it', async () => {
    const clock = new VirtualClock(START);
    const governor = new RateGovernor({
      limits: bucketLimits('free', 'main'), clock, maxInFlight: 32,
      memory: { earlier: { sends: [], coolDownUntil: START + 30_000 }, save: () => undefined },
    });
    const leave = async (): Promise<{ value: Millis }> => {
      const value = clock.now() - START;
      await after(clock, 100);
      return { value };
    };
    const asked = (['exit', 'exit', 'watch'] as const).map((priority) => governor.run({ priority, send: leave }));
    await advance(clock, 60_000);
    // One alone tries whether the refusal still holds.
    expect(await Promise.all(asked)).toEqual([2_000, 2_100, 30_000]);
  });

  test('that is closed keeps no claim for requests that did not leave', async () => {
    const { clock, server } = clockAndServer();
    const memory = textMemory();
    const process = startProcess(clock, server, memory);
    await advance(clock, 100);
    process.die();
    const claimed = memory.load()!.buckets.main!.sends.reduce((sum, { count }) => sum + count, 0);
    expect(claimed).toBeGreaterThanOrEqual(10);
    const { clock: clock2, server: server2 } = clockAndServer();
    const memory2 = textMemory();
    const process2 = startProcess(clock2, server2, memory2);
    await advance(clock2, 100);
    await process2.close();
    process2.die();
    expect(memory2.load()!.buckets.main!.sends.reduce((sum, { count }) => sum + count, 0)).toBe(10);
  });

  test('ignores instants in the future', async () => {
    const { clock, server } = clockAndServer();
    const memory = textMemory();
    memory.save({
      scope: SCOPE,
      buckets: { main: { sends: [{ at: START + 86_400_000, count: 10 }], coolDownUntil: START + 86_400_000 } },
    });
    const process = startProcess(clock, server, memory);
    await advance(clock, 61_000);
    expect(process.sent()).toBeGreaterThan(0);
  });

  test('writes a learned limit under the name that earlier versions read', async () => {
    const { path, memory } = await fileMemory();
    memory.save(STATE);
    const { at, share, refusals } = STATE.buckets.main!.learned!;
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      format: 'gannet-rate-memory-1', scope: SCOPE,
      buckets: {
        main: { sends: [{ at: START, count: 3 }], coolDownUntil: START + 5_000, lesson: { at, share, refusals } },
      },
    });
  });

  test('reads the learned limit of an earlier version', async () => {
    const { path, memory } = await fileMemory();
    const lesson = { at: START, peak: 0.5, refusals: 1 };
    writeFileSync(
      path, JSON.stringify({ format: 'gannet-rate-memory-1', scope: SCOPE, buckets: { main: { sends: [], lesson } } }),
    );
    expect(memory.load()!.buckets.main!.learned).toMatchObject({ at: START, share: 0.425 });
  });

  test('forgets a limit learned at a future time no later than one learned now', () => {
    const earlier = {
      sends: [],
      learned: { at: START + 86_400_000, share: 0.5, refusedShare: undefined, burst: undefined, refusals: 1 },
    };
    const limiter = new RateLimiter(bucketLimits('free', 'main'), START, earlier);
    expect(limiter.requestsPerSecond()).toBeLessThan(0.48);
    const later = START + 66 * 60_000;
    limiter.answered(limiter.sent('watch', later), undefined, later);
    // An hour after the start, and not after that day, a higher rate is tried.
    expect(limiter.requestsPerSecond()).toBeGreaterThan(0.5);
  });
});

test('a service with a memory file writes its rate into it', async () => {
  const { path, memory } = await fileMemory();
  const server = await listen(json([]));
  const service = clientOf(server, { rateMemory: memory });
  await service.tokens.search(['SOL']);
  await service.close();
  const text = readFileSync(path, 'utf8');
  expect(JSON.parse(text))
    .toMatchObject({ scope: expect.stringContaining(server.baseUrl), buckets: { main: { sends: [{ count: 1 }] } } });
  expect(text).not.toContain('canary');
});
