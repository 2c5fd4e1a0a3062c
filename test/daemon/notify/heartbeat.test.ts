import type { ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Heartbeat } from '../../../src/daemon/notify/heartbeat.ts';
import { createHttpSender } from '../../../src/daemon/notify/http-request.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import { startHttpDouble } from './http-double.ts';

const SECRET = '/ping/0f0e0d0c-secret-of-the-check';

async function startHeartbeat({ failUrl = true, method = 'get' as const } = {}) {
  const service = { answer: (response: ServerResponse): void => { response.end('OK'); } };
  const { url, arrived } = await startHttpDouble((_request, response) => { service.answer(response); });
  const clock = new VirtualClock(1_790_000_000_000);
  const logged: string[] = [];
  const run: { fault: string | undefined } = { fault: 'the run is recovering' };
  const http = createHttpSender();
  const heartbeat = new Heartbeat({
    config: {
      url: `${url}${SECRET}`, failUrl: failUrl ? `${url}${SECRET}/fail` : undefined, everyMs: 60_000, method,
    },
    clock, http, log: (level, message) => { logged.push(`${level} ${message}`); }, fault: () => run.fault,
  });
  heartbeat.start();
  onTestFinished(async () => {
    heartbeat.close();
    await http.close();
  });
  return {
    run, service, logged,
    paths: () => arrived.map(({ method: used, path }) => `${used} ${path.slice(SECRET.length) || 'ping'}`),
    /** Lets seconds pass, and the calls of each be answered. */
    pass: async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        const before = arrived.length;
        clock.advanceTo(clock.now() + 1_000);
        await vi.waitFor(() => { expect(heartbeat.isCalling).toBe(false); }, { timeout: 10_000, interval: 1 });
        if (arrived.length > before + 1) throw new Error('two calls in a second');
      }
    },
  };
}

describe('the heartbeat', () => {
  it('calls at each interval while the run is well, and tells a failure once', async () => {
    const { run, logged, paths, pass } = await startHeartbeat();
    await pass(300);
    expect(paths()).toEqual([]);
    run.fault = undefined;
    await pass(190);
    expect(paths()).toEqual(['GET ping', 'GET ping', 'GET ping', 'GET ping']);
    run.fault = 'no feed answers';
    await pass(300);
    expect(paths().slice(4)).toEqual(['GET /fail']);
    run.fault = undefined;
    await pass(5);
    expect(paths().slice(5)).toEqual(['GET ping']);
    expect(logged).toEqual(['warn the heartbeat has stopped: no feed answers', 'info the heartbeat goes on']);
  });

  it('is repeated after a fault, which is logged once and without its address', async () => {
    const { run, service, logged, paths, pass } = await startHeartbeat({ failUrl: false });
    run.fault = undefined;
    for (const answer of [
      (response: ServerResponse) => { response.writeHead(500).end('down'); },
      (response: ServerResponse) => { response.writeHead(302, { location: '/elsewhere' }).end(); },
      (response: ServerResponse) => { response.destroy(); },
    ]) {
      service.answer = answer;
      await pass(62);
    }
    expect(paths().length).toBeGreaterThan(10);
    expect(new Set(paths())).toEqual(new Set(['GET ping']));
    service.answer = (response) => { response.end('OK'); };
    await pass(62);
    expect(logged).toEqual([
      expect.stringMatching(/^warn the heartbeat to http:\/\/127\.0\.0\.1:\d+ failed: it answered with status 500\./),
      'info the heartbeat arrives again',
    ]);
    run.fault = 'the signer process is gone';
    const before = paths().length;
    await pass(120);
    expect(paths()).toHaveLength(before);
  });
});
