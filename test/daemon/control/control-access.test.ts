import {
  chmodSync, chownSync, lstatSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { daemonClient } from '../../../src/daemon/control/control-client.ts';
import { controlFilePath, readControlFile, writeControlFiles } from '../../../src/daemon/control/control-file.ts';
import { controlTokensOf } from '../../../src/daemon/control/control-tokens.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import { temporaryFolder } from '../../store/fixtures.ts';
import { startControl, startTestApi, TOKENS } from '../control-fixture.ts';

const VIEWER = { authorization: `Bearer ${TOKENS.viewer}` };
const PLACE = { url: 'http://127.0.0.1:7070', tokens: TOKENS, pid: 7, run_id: 'a-run' };
const DEAD_MAN = {
  trigger: { kind: 'dead-man', afterMs: 60_000 }, scope: 'global', action: 'reduce-only', release: { kind: 'cleared' },
} as const;

describe('the tokens of the control API', () => {
  it('are random and differ where the environment has none, or empty ones', () => {
    const made = [{}, { GANNET_CONTROL_TOKEN: '', GANNET_CONTROL_VIEWER_TOKEN: '' }].map(controlTokensOf)
      .flatMap(({ operator, viewer }) => [operator, viewer]);
    expect(new Set(made).size).toBe(4);
    for (const token of made) expect(token).toMatch(/^[\w-]{43}$/);
  });

  it('come from the environment, each its own', () => {
    const environment = { GANNET_CONTROL_TOKEN: TOKENS.operator, GANNET_CONTROL_VIEWER_TOKEN: TOKENS.viewer };
    expect(controlTokensOf(environment)).toEqual(TOKENS);
    const shared = { ...environment, GANNET_CONTROL_VIEWER_TOKEN: TOKENS.operator };
    expect(() => controlTokensOf(shared)).toThrow(/^GANNET_CONTROL_VIEWER_TOKEN: expected another token/);
  });

  it.each(['GANNET_CONTROL_TOKEN', 'GANNET_CONTROL_VIEWER_TOKEN'])('are refused where %s is weak', (name) => {
    for (const weak of ['x', 'a'.repeat(64), 'correct-horse-battery-staple-trading']) {
      expect(() => controlTokensOf({ [name]: weak })).toThrow(expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: expect.stringMatching(new RegExp(`^${name}: expected at least 128 random bits.*openssl rand -hex 32`)),
      }));
    }
  });
});

describe('a viewer’s token', () => {
  it('reads every view, and no answer holds a token', async () => {
    const { get } = await startControl();
    for (const path of [
      '/api/state', '/api/feeds', '/api/strategies', '/api/portfolio', '/api/profit',
      '/api/decisions', '/api/intents', '/readyz',
    ]) {
      const { status, body } = await get(path, VIEWER);
      expect(status, path).toBe(200);
      for (const token of Object.values(TOKENS)) expect(JSON.stringify(body)).not.toContain(token);
    }
  });

  it('commands nothing: every command is answered with 403 and changes nothing', async () => {
    let ends = 0;
    const { post, url, inputs, logs, state } = await startControl({ end: () => { ends += 1; } });
    for (const path of [
      '/api/halt', '/api/resume', '/api/reduce-only', '/api/flatten', '/api/stop', '/api/presence',
      '/api/strategies/diver/stop', '/api/strategies/diver/start', '/api/strategies/diver/reload',
      '/api/intents/diver-1/resolve', '/api/nowhere',
    ]) {
      const error = { code: 'VIEWER_TOKEN', message: expect.stringMatching(/only reads/) };
      expect(await post(path, {}, VIEWER), path).toMatchObject({ status: 403, body: { error } });
    }
    for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const) {
      const answer = await request(`${url}/api/state`, { method, headers: VIEWER });
      await answer.body.dump();
      expect(answer.statusCode, method).toBe(403);
    }
    expect([inputs, state.trading, ends]).toEqual([[], 'active', 0]);
    expect(logs).toEqual([]);
  });

  it('is no sign of an operator: a dead man’s switch ignores it', async () => {
    const { get, engine, inputs } = await startControl({ limits: { protections: [DEAD_MAN] } });
    engine.accept({ kind: 'command', name: 'report-presence', reason: 'the start' }, 1_000);
    engine.advanceTo(41_000);
    expect((await get('/api/state', VIEWER)).body).toMatchObject({ dead_man: { left_ms: 20_000 } });
    expect(inputs).toHaveLength(1);
  });
});

describe('wrong tokens', () => {
  it('are answered slowly after ten a minute, with one alert, while the right token is served at once', async () => {
    const clock = new VirtualClock(1_000_000);
    const logs: string[] = [];
    const { get, reported } =
      await startControl({ clock, log: (level, message) => { logs.push(`${level}: ${message}`); } });
    const guess = async (): Promise<number | string> => get('/api/state', { authorization: 'Bearer guess' })
      .then(({ status }) => status, () => 'closed');
    for (let i = 0; i < 10; i += 1) expect(await guess()).toBe(401);
    expect(reported).toEqual([]);
    const more = Array.from({ length: 30 }, guess);
    const settled = await Promise.all(more.map((one) => Promise.race([one, get('/api/state').then(() => 'held')])));
    expect((await get('/api/state')).status).toBe(200);
    expect(settled.every((one) => one === 'held' || one === 'closed')).toBe(true);
    await expect.poll(() => clock.nextAt()).toBe(1_001_000);
    clock.advanceTo(1_001_000);
    const answers = await Promise.all(more);
    expect(answers.filter((one) => one === 429)).toHaveLength(8);
    expect(answers.filter((one) => one === 'closed')).toHaveLength(22);
    expect(reported).toEqual([expect.stringMatching(/^warning gannet: .*wrong or missing token/)]);
    expect(logs).toEqual([expect.stringMatching(/^warn: .*wrong or missing token/)]);
    clock.advanceTo(1_061_000);
    expect(await guess()).toBe(401);
  });
});

describe('a connection', () => {
  it('ends with a refusal, unread body included, and after five idle seconds otherwise', async () => {
    const { url } = await startTestApi({ stateDir: temporaryFolder() });
    const refused = await request(`${url}/api/halt`, {
      method: 'POST', body: 'x'.repeat(15_000), headers: { 'content-type': 'application/json' },
    });
    await refused.body.dump();
    expect([refused.statusCode, refused.headers['connection']]).toEqual([401, 'close']);
    const served = await request(`${url}/api/state`, { headers: VIEWER });
    await served.body.dump();
    expect(served.headers).toMatchObject({ connection: 'keep-alive', 'keep-alive': 'timeout=5' });
  });
});

describe('the control files', () => {
  it('are private, and that of viewers holds no operator’s token', async () => {
    const stateDir = temporaryFolder();
    await startTestApi({ stateDir });
    for (const role of ['operator', 'viewer'] as const) {
      const path = controlFilePath(stateDir, role);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ role, token: TOKENS[role], pid: process.pid });
    }
    expect(readFileSync(controlFilePath(stateDir, 'viewer'), 'utf8')).not.toContain(TOKENS.operator);
    expect(readdirSync(stateDir).filter((name) => name.startsWith('control')))
      .toEqual(['control-viewer.json', 'control.json']);
  });

  it('replace a link or a readable file of their name, and write into neither', () => {
    const stateDir = temporaryFolder();
    const target = `${stateDir}/target`;
    writeFileSync(target, 'as it was', { mode: 0o644 });
    symlinkSync(target, controlFilePath(stateDir));
    writeFileSync(controlFilePath(stateDir, 'viewer'), 'planted', { mode: 0o666 });
    chmodSync(controlFilePath(stateDir, 'viewer'), 0o666);
    writeControlFiles(stateDir, PLACE);
    expect(readFileSync(target, 'utf8')).toBe('as it was');
    for (const role of ['operator', 'viewer'] as const) {
      const { mode } = lstatSync(controlFilePath(stateDir, role));
      expect((mode & 0o170_777).toString(8), role).toBe('100600');
    }
  });

  it('are not used by commands where another user could have written them', () => {
    const stateDir = temporaryFolder();
    writeControlFiles(stateDir, PLACE);
    chmodSync(controlFilePath(stateDir), 0o620);
    expect(() => readControlFile(stateDir)).toThrow(/control\.json is not used: others may write it \(mode 0620\)/);
    rmSync(controlFilePath(stateDir));
    writeFileSync(`${stateDir}/elsewhere`, JSON.stringify(PLACE), { mode: 0o600 });
    symlinkSync(`${stateDir}/elsewhere`, controlFilePath(stateDir));
    expect(() => readControlFile(stateDir)).toThrow(/control\.json is not used: it is a link/);
  });

  it('are not used by commands where they belong to another user, root apart', () => {
    const stateDir = temporaryFolder();
    writeControlFiles(stateDir, PLACE);
    chmodSync(controlFilePath(stateDir), 0o644);
    chmodSync(stateDir, 0o755);
    expect(readControlFile(stateDir)).toMatchObject({ role: 'operator' });
    if (process.geteuid!() !== 0) return;
    // Only root can act as another user.
    chownSync(controlFilePath(stateDir), 12_345, 12_345);
    expect(readControlFile(stateDir)).toMatchObject({ role: 'operator' });
    process.seteuid!(54_321);
    try {
      expect(() => readControlFile(stateDir)).toThrow(/it belongs to another user \(user id 12345\)/);
    } finally {
      process.seteuid!(0);
    }
    rmSync(controlFilePath(stateDir));
    chmodSync(controlFilePath(stateDir, 'viewer'), 0o644);
    process.seteuid!(54_321);
    try {
      expect(readControlFile(stateDir)).toMatchObject({ role: 'viewer' });
    } finally {
      process.seteuid!(0);
    }
  });
});

const clientOf = (
  stateDir: string, environment: Readonly<Record<string, string>> = {},
): ReturnType<typeof daemonClient> => daemonClient({ options: { stateDir }, environment });

describe('a client of the daemon', () => {
  it('reads with a viewer’s file alone, also in another folder, and is told why it cannot command', async () => {
    const { stateDir, url } = await startControl();
    const folder = temporaryFolder();
    const file = readFileSync(controlFilePath(stateDir, 'viewer'));
    writeFileSync(controlFilePath(folder, 'viewer'), file, { mode: 0o600 });
    expect(await clientOf(folder).get('/api/state')).toMatchObject({ run_id: 'a-run' });
    await expect(clientOf(folder).post('/api/halt', {})).rejects.toMatchObject({
      code: 'CONTROL_REFUSED', message: expect.stringMatching(/needs the operator’s token/), details: { status: 403 },
    });
    // The copy of an earlier run, whose tokens have changed.
    writeFileSync(controlFilePath(folder, 'viewer'), JSON.stringify({ url, token: 'old', role: 'viewer', pid: 7 }));
    await expect(clientOf(folder).get('/api/state')).rejects.toMatchObject({
      code: 'CONTROL_UNAUTHORIZED', message: expect.stringContaining(controlFilePath(folder, 'viewer')),
    });
    expect(await clientOf(folder, { GANNET_CONTROL_VIEWER_TOKEN: TOKENS.viewer }).get('/api/state'))
      .toMatchObject({ run_id: 'a-run' });
    expect(await clientOf(folder, { GANNET_CONTROL_TOKEN: TOKENS.operator }).post('/api/halt', {}))
      .toMatchObject({ trading: 'halted' });
  });

  it('prefers the operator’s file to a viewer’s token, and names a variable whose token is wrong', async () => {
    const { stateDir } = await startControl();
    expect(await clientOf(stateDir, { GANNET_CONTROL_VIEWER_TOKEN: TOKENS.viewer }).post('/api/halt', {}))
      .toMatchObject({ trading: 'halted' });
    const wrong = { GANNET_CONTROL_TOKEN: 'b5c1e5a7b0d2468ace1357902468bdf3' };
    await expect(clientOf(stateDir, wrong).get('/api/state')).rejects.toMatchObject({
      code: 'CONTROL_UNAUTHORIZED',
      message: expect.stringMatching(/token of GANNET_CONTROL_TOKEN: .*unset the variable/),
    });
    await expect(clientOf(stateDir, wrong).get('/api/state')).rejects.not.toThrow(wrong.GANNET_CONTROL_TOKEN);
  });
});
