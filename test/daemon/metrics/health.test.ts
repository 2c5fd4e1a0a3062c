import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import type { FeedKey } from '../../../src/market/event.ts';
import type { FeedStats } from '../../../src/service/feeds/feed-stats.ts';
import type { SetTradingState } from '../../../src/trading/engine-command.ts';
import { strategy } from '../../engine/runs.ts';
import { buyingSol } from '../../market/events.ts';
import { temporaryFolder } from '../../store/fixtures.ts';
import { controlFixture, startTestApi, testMetrics, TOKENS } from '../control-fixture.ts';

const FEED: FeedStats = {
  feed: 'quote:a:b:1' as FeedKey, status: 'healthy', polls: 1, answers: 1, failures: 0, consecutiveFailures: 0,
  lastAnswerAt: 1_000, everyMs: 5_000, weight: 1, ageMs: 0, meanAgeMs: 0, maxAgeMs: 0,
};

/** A run whose phase, feeds, clock and signer a test changes as it likes. */
async function startHealth({ isStarted = true }: { readonly isStarted?: boolean } = {}) {
  const stateDir = temporaryFolder();
  const run = { phase: 'trading', feeds: [FEED], now: 1_000 };
  const signer = Promise.withResolvers<string>();
  const metrics = testMetrics(stateDir, { signer: { closed: signer.promise } });
  const fixture = controlFixture(stateDir, {
    strategies: [strategy('diver')], phase: () => run.phase, feeds: () => run.feeds, reporters: [metrics.reporter],
    now: () => run.now,
  });
  if (isStarted) metrics.attach(fixture.controlPort);
  const { url } = await startTestApi({
    stateDir, metrics, controlPort: () => (isStarted ? fixture.controlPort : undefined),
  });
  const ask = async (path: string, method: 'GET' | 'HEAD' | 'POST' = 'GET', headers: Record<string, string> = {}) => {
    const answer = await request(`${url}${path}`, { method, headers });
    const text = await answer.body.text();
    return { status: answer.statusCode, text, body: text === '' ? undefined : JSON.parse(text) as unknown };
  };
  return { ...fixture, run, signer, ask, lives: async () => (await ask('/healthz')).body,
    isReady: async () => (await ask('/readyz')).body };
}

const WELL = { ok: true, reasons: [] };

describe('/healthz', () => {
  it('answers without a token, to GET and HEAD alone, and to no foreign page', async () => {
    const { ask } = await startHealth();
    for (const path of ['/healthz', '/readyz']) {
      expect((await ask(path)).status, path).toBe(200);
      expect(await ask(path, 'HEAD'), path).toMatchObject({ status: 200, text: '' });
      expect((await ask(path, 'POST')).status, path).toBe(401);
      expect((await ask(path, 'GET', { host: 'page.example' })).status, path).toBe(403);
      // A probe with an old token must not end a healthy process.
      expect((await ask(path, 'GET', { authorization: 'Bearer old' })).status, path).toBe(200);
    }
  });

  it('stays 200 without service and node, in a halt, in every phase, and before the session', async () => {
    const { run, lives, engine } = await startHealth();
    run.feeds = [{ ...FEED, status: 'down', lastAnswerAt: undefined, answers: 0 }];
    engine.accept({ kind: 'command', name: 'set-service-access', access: 'silent', reason: 'gone' }, 1_000);
    engine.accept({ kind: 'command', name: 'set-trading-state', state: 'halted', reason: 'x' }, 1_000);
    for (const phase of ['trading', 'recovering', 'draining', 'ended']) {
      Object.assign(run, { phase, now: run.now + 3_600_000 });
      expect(await lives(), phase).toEqual(WELL);
    }
    expect(await (await startHealth({ isStarted: false })).lives()).toEqual(WELL);
  });

  it('is 503 where answers of feeds do not reach the engine for two minutes, and 200 again when they do', async () => {
    const { run, lives, engine, ask } = await startHealth();
    Object.assign(run, { now: 121_000, feeds: [{ ...FEED, lastAnswerAt: 121_000 }] });
    expect(await lives()).toEqual(WELL);
    Object.assign(run, { now: 121_001, feeds: [{ ...FEED, lastAnswerAt: 121_001 }] });
    expect(await lives()).toEqual({ ok: false, reasons: ['INBOX_STALLED'] });
    expect((await ask('/healthz', 'HEAD')).status).toBe(503);
    engine.accept(buyingSol(150_000, 121_001), 121_001);
    expect(await lives()).toEqual(WELL);
  });

  it('is 503 where timers of the engine are overdue for two minutes', async () => {
    const { run, lives, engine } = await startHealth();
    engine.clock.schedule(() => undefined, 10_000);
    run.now = 131_000;
    expect(await lives()).toEqual(WELL);
    run.now = 131_001;
    expect(await lives()).toEqual({ ok: false, reasons: ['INBOX_STALLED'] });
  });

  it('is 503 where the signer is lost, or files of the state are gone; a strategy cannot claim that', async () => {
    const { signer, lives, runRecorder } = await startHealth();
    const lost = { kind: 'alert', level: 'critical', message: 'gone', data: { code: 'STATE_LOST' } } as const;
    runRecorder.alert({ seq: 1, at: 1_000 }, 'diver', lost);
    expect(await lives()).toEqual(WELL);
    runRecorder.alert({ seq: 2, at: 1_000 }, undefined, lost);
    signer.resolve('it was killed');
    await signer.promise;
    expect(await lives()).toEqual({ ok: false, reasons: ['SIGNER_LOST', 'STATE_LOST'] });
  });
});

describe('/readyz', () => {
  it('names each reason by a code, and neither amounts nor what is traded', async () => {
    const { run, isReady, engine, ask } = await startHealth();
    expect(await isReady()).toEqual({ ready: true, reasons: [], waits_for: [] });
    run.feeds = [FEED, { ...FEED, answers: 0 }, { ...FEED, status: 'degraded' }];
    engine.accept({ kind: 'command', name: 'set-service-access', access: 'refused', reason: 'no such key' }, 1_000);
    run.phase = 'recovering';
    expect(await isReady()).toEqual({
      ready: false,
      reasons: ['RECOVERING', 'FEEDS_NOT_READ', 'FEEDS_UNHEALTHY', 'SERVICE_REFUSED'],
      waits_for: ['the run is recovering', '1 of 3 feeds were not read yet', '1 of 3 feeds are not healthy',
        'the service refuses the API key'],
    });
    expect((await ask('/readyz', 'HEAD')).status).toBe(503);
    run.phase = 'draining';
    expect(await isReady()).toMatchObject({ reasons: expect.arrayContaining(['DRAINING']) });
  });

  it('is 503 in safe mode, and 200 in a halt by the operator', async () => {
    const { isReady, engine } = await startHealth();
    const halt = (by: SetTradingState['by']): void => {
      engine.accept({ kind: 'command', name: 'set-trading-state', state: 'halted', by, reason: 'x' }, 1_000);
    };
    halt('safe-mode');
    expect(await isReady()).toMatchObject({ ready: false, reasons: ['SAFE_MODE'] });
    engine.accept({ kind: 'command', name: 'set-trading-state', state: 'active', reason: 'x' }, 1_000);
    halt('operator');
    expect(await isReady()).toMatchObject({ ready: true });
  });

  it('waits for the session, and does not wait for signals that another program may send', async () => {
    expect(await (await startHealth({ isStarted: false })).isReady())
      .toEqual({ ready: false, reasons: ['STARTING'], waits_for: ['the run is starting'] });
    const { run, isReady } = await startHealth();
    run.feeds = [FEED, { ...FEED, feed: 'signal:entry' as FeedKey, answers: 0 }];
    expect(await isReady()).toMatchObject({ ready: true });
  });

  it('tells a holder of a token no more than others', async () => {
    const { run, ask } = await startHealth();
    run.phase = 'recovering';
    const open = await ask('/readyz');
    expect(await ask('/readyz', 'GET', { authorization: `Bearer ${TOKENS.operator}` })).toEqual(open);
  });
});
