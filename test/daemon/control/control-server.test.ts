import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { connect } from 'node:net';
import { of } from 'rxjs';
import { request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Amount } from '../../../src/core/amount.ts';
import { readControlFile } from '../../../src/daemon/control/control-file.ts';
import type { ControlPort } from '../../../src/daemon/control/control-port.ts';
import { strategy } from '../../engine/runs.ts';
import { temporaryFolder } from '../../store/fixtures.ts';
import { buy } from '../../trading/states.ts';
import type { Answer, ControlFixture } from '../control-fixture.ts';
import { startControl, startTestApi, TOKENS } from '../control-fixture.ts';

interface Api {
  readonly stateDir: string;
  readonly url: string;
  readonly ask: (path: string, headers?: Record<string, string>) => Promise<number>;
}

async function startApi(
  controlPort: () => ControlPort | undefined = () => undefined, stateDir = temporaryFolder(),
): Promise<Api> {
  const api = await startTestApi({ stateDir, controlPort });
  return {
    stateDir,
    url: api.url,
    ask: async (path, headers = {}) => {
      const answer = await request(`${api.url}${path}`, { headers });
      await answer.body.dump();
      return answer.statusCode;
    },
  };
}

const BEARER = { authorization: `Bearer ${TOKENS.operator}` };

const names = (inputs: ControlFixture['inputs']): string[] =>
  inputs.map((input) => (input.kind === 'command' ? input.name : input.kind));

function isOpen(socket: Socket): boolean {
  return !socket.destroyed && socket.readyState === 'open';
}

describe('the control API', () => {
  it('answers only requests with the token', async () => {
    const { stateDir, ask } = await startApi();
    const { token } = readControlFile(stateDir);
    expect(await ask('/api/state', { authorization: `Bearer ${token}` })).toBe(200);
    for (const authorization of [
      token, `bearer ${token}`, `Bearer ${token} `, `Bearer ${token.slice(0, -1)}`, `Bearer ${token}x`, 'Bearer ', '',
    ]) {
      expect(await ask('/api/state', { authorization }), authorization)
        .toBe(authorization.trim() === `Bearer ${token}` ? 200 : 401);
    }
    for (const path of ['/api/state', '/api/feeds']) {
      expect(await ask(path), path).toBe(401);
      expect(await ask(path, { authorization: `Bearer ${token}` }), path).toBe(200);
    }
    expect(await ask('/healthz')).toBe(200);
  });

  it('answers no other spelling of the one path that needs no token', async () => {
    const { ask } = await startApi();
    for (const path of ['/healthz/', '/healthz?x', '/%68ealthz', '//healthz', '/api/../api/state'])
      expect(await ask(path), path).not.toBe(200);
  });

  it('goes on after a fault of its socket, and logs the first', async () => {
    const logs: string[] = [];
    const api = await startTestApi({ stateDir: temporaryFolder(), log: (_level, message) => { logs.push(message); } });
    const seen: { server?: Server } = {};
    const onRequest = (message: unknown): void => { seen.server = (message as { readonly server: Server }).server; };
    subscribe('http.server.request.start', onRequest);
    const ask = async (): Promise<number> => {
      const answer = await request(`${api.url}/healthz`);
      await answer.body.dump();
      return answer.statusCode;
    };
    expect(await ask()).toBe(200);
    unsubscribe('http.server.request.start', onRequest);
    // What Node emits where the kernel gives no connection.
    for (let times = 0; times < 2; times++) seen.server!.emit('error', new Error('accept ENOBUFS'));
    expect(await ask()).toBe(200);
    expect(logs).toEqual(['the control API could not take a connection: accept ENOBUFS']);
  });

  it('refuses requests that a web page could make', async () => {
    const { stateDir, ask } = await startApi();
    const bearer = { authorization: `Bearer ${readControlFile(stateDir).token}` };
    const foreign: readonly Record<string, string>[] = [
      { host: 'rebound.example' }, { host: 'rebound.example:7070' }, { host: '127.0.0.1.rebound.example' },
      { origin: 'https://page.example' }, { origin: 'null' }, { origin: 'file://' },
    ];
    for (const headers of foreign) {
      expect(await ask('/api/state', { ...bearer, ...headers }), JSON.stringify(headers)).toBe(403);
    }
  });

  it('issue 13.38: accepts pages of its own port, but of no other port of this machine', async () => {
    const { url, stateDir, ask } = await startApi();
    const bearer = { authorization: `Bearer ${readControlFile(stateDir).token}` };
    const port = Number(new URL(url).port);
    for (const own of ['localhost', '127.0.0.1', '[::1]'])
      expect(await ask('/api/state', { ...bearer, origin: `http://${own}:${port}` }), own).toBe(200);
    for (const origin of [
      `http://localhost:${port - 1}`, 'http://localhost', `https://localhost:${port}`, `ftp://127.0.0.1:${port}`,
    ]) {
      expect(await ask('/api/state', { ...bearer, origin }), origin).toBe(403);
    }
    // Through a tunnel the page, and what it asks, come from one port; it need not be this one.
    expect(await ask('/api/state', { ...bearer, host: 'localhost:8080', origin: 'http://localhost:8080' })).toBe(200);
  });

  it('issue 13.38: refuses long headers and more than 256 connections', async () => {
    const { url, ask } = await startApi();
    expect(await ask('/healthz', { 'x-long': 'x'.repeat(9_000) })).toBe(431);
    const { hostname, port } = new URL(url);
    const sockets = Array.from({ length: 300 }, () => connect(Number(port), hostname).on('error', () => undefined));
    onTestFinished(() => { for (const socket of sockets) socket.destroy(); });
    await expect.poll(() => sockets.every(({ connecting }) => !connecting) && sockets.filter(isOpen).length <= 256)
      .toBe(true);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => ask('/healthz').catch(() => 0)).toBe(200);
  });

  it('keeps the token in a file that only the owner can read, and removes the file at the end', async () => {
    const stateDir = temporaryFolder();
    const api = await startTestApi({ stateDir });
    const file = `${stateDir}/control.json`;
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ url: api.url, pid: process.pid });
    await api.close();
    expect(() => readControlFile(stateDir)).toThrow(expect.objectContaining({ code: 'CONTROL_UNREACHABLE' }));
  });

  it('names the port that is in use', async () => {
    const { url } = await startApi();
    const port = Number(new URL(url).port);
    await expect(startTestApi({ port, stateDir: temporaryFolder() }))
      .rejects.toMatchObject({ code: 'CONTROL_PORT_TAKEN', message: expect.stringContaining(`127.0.0.1:${port}`) });
  });
});

describe('issue 13.29: a port in use', () => {
  it('is replaced by the next free one unless the configuration names it', async () => {
    const first = await startApi();
    const port = Number(new URL(first.url).port);
    const stateDir = temporaryFolder();
    const api = await startTestApi({ port, stateDir, runId: 'another-run', isPortGiven: false });
    expect(api.portTaken).toBe(port);
    expect(Number(new URL(api.url).port)).toBeGreaterThan(port);
    const { url, token } = readControlFile(stateDir);
    expect(url).toBe(api.url);
    const answer = await request(`${url}/api/state`, { headers: { authorization: `Bearer ${token}` } });
    expect(await answer.body.json()).toMatchObject({ run_id: 'another-run' });
  });

  it('refuses commands meant for the run that had the port before', async () => {
    const { ask } = await startApi();
    expect(await ask('/api/state', { ...BEARER, 'gannet-run': 'the-run-before' })).toBe(421);
    expect(await ask('/api/state', { ...BEARER, 'gannet-run': 'a-run' })).toBe(200);
  });
});

describe('issue 13.22: a request to end the run', () => {
  it('works while the run still starts, and needs the token', async () => {
    let ends = 0;
    const api = await startTestApi({ stateDir: temporaryFolder(), end: () => { ends += 1; } });
    const stop = async (authorization: string): Promise<Answer> => {
      const { statusCode, body } = await request(`${api.url}/api/stop`, {
        method: 'POST', body: '{}', headers: { authorization, 'content-type': 'application/json' },
      });
      return { status: statusCode, body: await body.json() as Answer['body'] };
    };
    expect((await stop('Bearer wrong')).status).toBe(401);
    expect(ends).toBe(0);
    expect(await stop(BEARER.authorization))
      .toEqual({ status: 200, body: { run_id: 'a-run', pid: process.pid, open: [] } });
    expect(ends).toBe(1);
  });
});

describe('a command of the operator', () => {
  it('goes through the inbox, takes effect, and is saved, reported and logged', async () => {
    const { post, inputs, state, saved, changes, logs } = await startControl();
    const { status, body } = await post('/api/halt', { reason: 'lunch' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      trading: 'halted', effective: 'halted', trading_word: { by: 'operator', since: 1_000, reason: 'lunch' },
      stop_file: null,
    });
    expect(inputs).toEqual([{
      kind: 'command', name: 'set-trading-state', state: 'halted', by: 'operator', reason: 'lunch', strategy: undefined,
    }]);
    expect(state.trading).toBe('halted');
    expect(saved()).toMatchObject({ trading: 'halted' });
    expect(changes).toMatchObject([{ state: 'halted', by: 'operator', reason: 'lunch' }]);
    expect(logs).toEqual(['info: what may be traded has changed']);
  });

  it.each([
    ['halt', 'halted'], ['reduce-only', 'reduce-only'], ['resume', 'active'],
  ])('%s, of one strategy, makes it %s alone', async (word, trading) => {
    const { post, state } = await startControl();
    const { body } = await post(`/api/${word}`, { strategy: 'wader' });
    expect(body['strategies']).toMatchObject([{ name: 'diver', trading: 'active' }, { name: 'wader', trading }]);
    expect(state.trading).toBe('active');
  });

  it('allows exits of a halted strategy, so that it can be flattened', async () => {
    const { post, state } = await startControl();
    await post('/api/halt');
    await post('/api/strategies/diver/stop');
    expect((await post('/api/flatten', { strategy: 'diver' })).body['error']).toMatchObject({ code: 'TRADING_HALTED' });
    expect((await post('/api/flatten')).body).toMatchObject({
      trading: 'reduce-only',
      strategies: [{ trading: 'reduce-only', flattening: true }, { trading: 'active', flattening: true }],
    });
    expect((await post('/api/resume')).body).toMatchObject({
      trading: 'active', strategies: [{ trading: 'reduce-only', flattening: false }, { flattening: false }],
    });
    expect([...state.flattening]).toEqual([]);
  });

  it('stops and starts the strategy in its path', async () => {
    const { post } = await startControl();
    expect((await post('/api/strategies/wader/stop', { reason: 'x' })).body['strategies'])
      .toMatchObject([{}, { trading: 'halted' }]);
    expect((await post('/api/strategies/wader/start')).body['strategies']).toMatchObject([{}, { trading: 'active' }]);
    expect(await post('/api/strategies/heron/stop')).toMatchObject({
      status: 404, body: { error: { code: 'STRATEGY_UNKNOWN', message: expect.stringContaining('diver, wader') } },
    });
    expect(await post('/api/strategies/wader/reload'))
      .toMatchObject({ status: 409, body: { error: { code: 'RELOAD_REFUSED' } } });
  });

  it('is refused while the file STOP exists, except for a halt', async () => {
    const { post, stateDir, inputs } = await startControl();
    writeFileSync(`${stateDir}/STOP`, 'no more');
    for (const word of ['resume', 'reduce-only', 'flatten']) {
      expect(await post(`/api/${word}`), word).toMatchObject({
        status: 409, body: { error: { code: 'STOP_FILE', message: expect.stringContaining('no more') } },
      });
    }
    expect(inputs).toEqual([]);
    expect((await post('/api/halt')).body).toMatchObject({ trading: 'halted', stop_file: 'no more' });
    rmSync(`${stateDir}/STOP`);
    expect((await post('/api/resume')).status).toBe(200);
  });

  describe('issue 13.19: any authenticated request counts for a dead man’s switch', () => {
    const deadMan = {
      trigger: { kind: 'dead-man', afterMs: 60_000 }, scope: 'global', action: 'reduce-only',
      release: { kind: 'cleared' },
    } as const;

    it('a request that only reads resets its countdown, at most ten times in its span', async () => {
      const { get, engine, inputs } = await startControl({ limits: { protections: [deadMan] } });
      engine.accept({ kind: 'command', name: 'report-presence', reason: 'the start' }, 1_000);
      engine.advanceTo(41_000);
      for (let i = 0; i < 5; i += 1)
        expect((await get('/api/state')).body).toMatchObject({ dead_man: { after_ms: 60_000, left_ms: 60_000 } });
      expect(names(inputs)).toEqual(['report-presence', 'report-presence']);
      engine.advanceTo(44_000);
      expect((await get('/api/feeds')).status).toBe(200);
      expect(names(inputs)).toHaveLength(2);
      engine.advanceTo(47_000);
      await get('/api/feeds');
      expect(names(inputs)).toHaveLength(3);
    });

    it('a request without the token does not reset it', async () => {
      const { url, engine, inputs, controlPort } =
        await startControl({ limits: { protections: [deadMan] } });
      engine.accept({ kind: 'command', name: 'report-presence', reason: 'the start' }, 1_000);
      engine.advanceTo(41_000);
      const answer = await request(`${url}/api/state`);
      await answer.body.dump();
      expect(answer.statusCode).toBe(401);
      expect(names(inputs)).toHaveLength(1);
      expect(controlPort.state().dead_man).toEqual({ after_ms: 60_000, left_ms: 20_000 });
    });

    it('requests leave no input in a run without such a switch', async () => {
      const { get, post, inputs } = await startControl();
      await post('/api/presence');
      expect((await get('/api/state')).body).toMatchObject({ dead_man: null });
      expect(inputs).toEqual([]);
    });
  });

  it('cannot resolve a swap that is not open', async () => {
    const { post } = await startControl();
    const word = { as: 'expired', reason: 'checked on the chain' };
    expect(await post('/api/intents/diver-1/resolve', word))
      .toMatchObject({ status: 409, body: { error: { code: 'RESOLVE_REFUSED' } } });
    expect((await post('/api/intents/diver-1/resolve', { ...word, despite: 'balance' })).status).toBe(409);
    for (const wrong of [
      {}, { as: 'expired' }, { ...word, despite: 'history' }, { ...word, as: 'lost' }, { ...word, signature: 'x' },
      { as: 'landed', reason: 'x', signature: 'not one' },
    ]) {
      expect((await post('/api/intents/diver-1/resolve', wrong)).status, JSON.stringify(wrong)).toBe(400);
    }
  });

  it('is answered with STARTING before the run has started', async () => {
    const { url } = await startApi();
    const headers = { ...BEARER, 'content-type': 'application/json' };
    for (const [path, options] of [
      ['/api/halt', { method: 'POST', body: '{}' }], ['/api/portfolio', {}], ['/readyz', {}],
    ] as const) {
      const answer = await request(`${url}${path}`, { headers, ...options });
      await answer.body.dump();
      expect(answer.statusCode, path).toBe(503);
    }
  });
});

describe('a view', () => {
  it('shows the last decisions with their reasons and the strategy’s holdings, newest first', async () => {
    const { get, engine } = await startControl({
      strategies: [strategy('diver'), strategy('wader', () => of(buy({ amount: 1_000_000_000n as Amount })))],
    });
    expect(engine.decisions).toBe(1);
    expect((await get('/api/decisions?limit=1')).body).toMatchObject([{
      strategy: 'wader', verdict: 'denied', code: 'BUDGET_EXCEEDED', reason: '1000 USDC of 500 USDC left',
      held: ['500 USDC'], saw: [{ age_ms: null, reading: null }], intent_id: null,
    }]);
  });

  it('shows all balances and what may be traded', async () => {
    const { get } = await startControl();
    expect((await get('/api/portfolio')).body).toMatchObject({
      wallet: expect.any(Object), sol_reserve: '0',
      strategies: [{ name: 'diver', fees_lamports: '0', reserved: {} }, { name: 'wader' }],
    });
    expect((await get('/api/strategies')).body)
      .toMatchObject([{ name: 'diver', running: true, trading: 'active', holds: ['500 USDC'] }, {}]);
    expect((await get('/api/intents?state=confirmed')).body).toEqual([]);
    expect((await get('/api/intents/diver-1')).status).toBe(404);
    expect((await get('/api/intents?state=lost')).status).toBe(400);
    expect(await get('/readyz')).toMatchObject({ status: 200, body: { ready: true, waits_for: [] } });
  });
});
