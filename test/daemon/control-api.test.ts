import { readFileSync, statSync } from 'node:fs';
import { request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readControlFile, startControlApi } from '../../src/daemon/control-api.ts';
import { temporaryFolder } from '../store/fixtures.ts';

async function startApi(token?: string): Promise<{ readonly stateDir: string; readonly url: string; readonly ask: (path: string, headers?: Record<string, string>) => Promise<number> }> {
  const stateDir = temporaryFolder();
  const api = await startControlApi({ host: '127.0.0.1', port: 0, stateDir, token, state: () => ({ wallet: 7n }), feeds: () => [{ amount: 7n }] });
  onTestFinished(() => api.close());
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

describe('the control API', () => {
  it('answers whoever shows the token, and nobody else', async () => {
    const { stateDir, ask } = await startApi();
    const { token } = readControlFile(stateDir);
    expect(token.length).toBeGreaterThanOrEqual(32);
    expect(await ask('/api/state', { authorization: `Bearer ${token}` })).toBe(200);
    for (const authorization of [token, `bearer ${token}`, `Bearer ${token} `, `Bearer ${token.slice(0, -1)}`, `Bearer ${token}x`, 'Bearer ', '']) {
      expect(await ask('/api/state', { authorization }), authorization).toBe(authorization.trim() === `Bearer ${token}` ? 200 : 401);
    }
    for (const path of ['/api/state', '/api/feeds']) {
      expect(await ask(path), path).toBe(401);
      expect(await ask(path, { authorization: `Bearer ${token}` }), path).toBe(200);
    }
    expect(await ask('/healthz')).toBe(200);
    for (const path of ['/healthz/', '/healthz?x', '/%68ealthz', '//healthz', '/api/../api/state']) expect(await ask(path), path).not.toBe(200);
  });

  it('takes the operator’s own token where there is one', async () => {
    const { ask } = await startApi('operators-own-token');
    expect(await ask('/api/state', { authorization: 'Bearer operators-own-token' })).toBe(200);
  });

  it('refuses requests that a web page could have made', async () => {
    const { stateDir, ask } = await startApi();
    const bearer = { authorization: `Bearer ${readControlFile(stateDir).token}` };
    const foreign: readonly Record<string, string>[] = [{ host: 'rebound.example' }, { host: 'rebound.example:7070' }, { host: '127.0.0.1.rebound.example' }, { origin: 'https://page.example' }, { origin: 'null' }, { origin: 'file://' }];
    for (const headers of foreign) {
      expect(await ask('/api/state', { ...bearer, ...headers }), JSON.stringify(headers)).toBe(403);
    }
    expect(await ask('/api/state', { ...bearer, origin: 'http://localhost:7070' })).toBe(200);
  });

  it('keeps the token in a file of the owner alone, which goes with it', async () => {
    const stateDir = temporaryFolder();
    const api = await startControlApi({ host: '127.0.0.1', port: 0, stateDir, token: undefined, state: () => ({}), feeds: () => [] });
    const file = `${stateDir}/control.json`;
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ url: api.url, pid: process.pid });
    await api.close();
    expect(() => readControlFile(stateDir)).toThrow(expect.objectContaining({ code: 'CONTROL_UNREACHABLE' }));
  });

  it('says which port is taken', async () => {
    const { url } = await startApi();
    const port = Number(new URL(url).port);
    await expect(startControlApi({ host: '127.0.0.1', port, stateDir: temporaryFolder(), token: undefined, state: () => ({}), feeds: () => [] }))
      .rejects.toMatchObject({ code: 'CONTROL_PORT_TAKEN', message: expect.stringContaining(`127.0.0.1:${port}`) });
  });
});
