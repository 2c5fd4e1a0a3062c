import { describe, expect, it } from 'vitest';
import { PageSessions } from '../../../src/daemon/page/sessions.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import { TOKENS } from '../control-fixture.ts';
import type { Browser, PageApi } from './page-fixture.ts';
import { cookieOf, startPage } from './page-fixture.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const as = ({ cookie, csrf }: Browser, url: string): Readonly<Record<string, string>> =>
  ({ cookie, 'x-gannet-csrf': csrf, 'origin': url });

const halt = (api: PageApi, headers: Readonly<Record<string, string>>) =>
  api.ask('/api/halt', { method: 'POST', body: {}, headers });

const bearer = (role: keyof typeof TOKENS) => ({ authorization: `Bearer ${TOKENS[role]}` });

describe('a login', () => {
  it('by a token gives a cookie that only the daemon reads, and each role what its token allows', async () => {
    const api = await startPage();
    const answer = await api.ask('/session', { method: 'POST', body: { token: TOKENS.operator } });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ role: 'operator', csrf: expect.stringMatching(/^[\w-]{43}$/) });
    expect(answer.headers['set-cookie']).toMatch(/^gannet_session_\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(answer.text).not.toContain(cookieOf(answer).split('=')[1]);
    const operator = { cookie: cookieOf(answer), csrf: answer.body['csrf']! };
    expect(await api.ask('/session', { headers: operator })).toMatchObject({ status: 200, body: answer.body });
    expect((await api.ask('/api/state', { headers: operator })).status).toBe(200);
    expect((await halt(api, as(operator, api.url))).body).toMatchObject({ trading: 'halted' });

    const viewer = await api.logIn(TOKENS.viewer);
    expect((await api.ask('/api/state', { headers: { cookie: viewer.cookie } })).status).toBe(200);
    expect(await halt(api, as(viewer, api.url)))
      .toMatchObject({ status: 403, body: { error: { code: 'VIEWER_TOKEN' } } });
  });

  it('by a code works once, within ten minutes, and a viewer’s code makes no operator', async () => {
    const api = await startPage();
    const codeFor = async (role: keyof typeof TOKENS): Promise<string> => {
      const { body } = await api.ask('/session/code', { method: 'POST', body: {}, headers: bearer(role) });
      expect(body).toMatchObject({ role, valid_ms: 600_000 });
      return body['code']!;
    };
    const open = (code: string) => api.ask('/session', { method: 'POST', body: { code } });
    const code = await codeFor('operator');
    expect(await open(code)).toMatchObject({ status: 200, body: { role: 'operator' } });
    expect(await open(code)).toMatchObject({ status: 401, body: { error: { code: 'CODE_UNUSABLE' } } });
    expect(await open(await codeFor('viewer'))).toMatchObject({ status: 200, body: { role: 'viewer' } });
    const late = await codeFor('operator');
    api.clock.advanceTo(api.clock.now() + 600_000);
    expect((await open(late)).status).toBe(401);
    // A stolen session must not make logins that outlive it.
    const browser = await api.logIn();
    expect(await api.ask('/session/code', { method: 'POST', body: {}, headers: as(browser, api.url) }))
      .toMatchObject({ status: 403, body: { error: { code: 'FORBIDDEN' } } });
  });

  it.each([
    [{}], [{ token: '' }], [{ token: 7 }], [{ token: 'x'.repeat(501) }], [{ token: TOKENS.operator, code: 'x' }],
    [{ code: null }], ['null'], ['[]'], ['{'],
  ])('with the body %j is a bad request', async (body) => {
    const api = await startPage();
    expect(await api.ask('/session', { method: 'POST', body })).toMatchObject({ status: 400 });
  });

  it('with a wrong token or code is slowed down like any wrong token, and a right one is not', async () => {
    const api = await startPage();
    const guess = (body: object) => api.ask('/session', { method: 'POST', body })
      .then(({ status }) => status, () => 'closed' as const);
    for (let i = 0; i < 10; i += 1) expect(await guess(i % 2 === 0 ? { token: 'guess' } : { code: 'guess' })).toBe(401);
    const more = Array.from({ length: 20 }, () => guess({ token: 'guess' }));
    expect((await api.logIn()).cookie).toContain('gannet_session');
    await expect.poll(() => api.clock.nextAt()).toBe(1_001_000);
    api.clock.advanceTo(1_001_000);
    const answers = await Promise.all(more);
    expect(answers.filter((one) => one === 429)).toHaveLength(8);
    expect(answers.filter((one) => one === 'closed')).toHaveLength(12);
    expect(api.reported).toEqual([expect.stringMatching(/wrong or missing token/)]);
  });
});

describe('a session', () => {
  it('ends by logout, and neither the cookie nor the CSRF token works again', async () => {
    const api = await startPage();
    const browser = await api.logIn();
    const out = await api.ask('/session', { method: 'DELETE', headers: as(browser, api.url) });
    expect(out).toMatchObject({ status: 200, body: { ok: true } });
    expect(out.headers['set-cookie']).toMatch(/^gannet_session_\d+=; .*Max-Age=0$/);
    for (const path of ['/session', '/api/state', '/api/events']) {
      const after = await api.ask(path, { headers: { cookie: browser.cookie } });
      expect(after, path).toMatchObject({ status: 401, body: { error: { code: 'SESSION_ENDED' } } });
      expect(after.headers['set-cookie'], path).toContain('Max-Age=0');
    }
    expect((await halt(api, as(browser, api.url))).status).toBe(401);
    expect(api.state.trading).toBe('active');
  });

  it('ends after twelve idle hours, and after seven days in any case', async () => {
    const api = await startPage();
    const stateOf = async ({ cookie }: Browser): Promise<number> =>
      (await api.ask('/api/state', { headers: { cookie } })).status;
    const idle = await api.logIn();
    api.clock.advanceTo(api.clock.now() + 12 * HOUR - 1);
    expect(await stateOf(idle)).toBe(200);
    api.clock.advanceTo(api.clock.now() + 12 * HOUR);
    expect(await stateOf(idle)).toBe(401);
    const used = await api.logIn();
    const end = api.clock.now() + 7 * DAY;
    while (api.clock.now() + 6 * HOUR < end) {
      api.clock.advanceTo(api.clock.now() + 6 * HOUR);
      expect(await stateOf(used)).toBe(200);
    }
    api.clock.advanceTo(end);
    expect(await stateOf(used)).toBe(401);
  });

  it('is new with every login: one that was fixed before is never taken over, and the one before ends', async () => {
    const api = await startPage();
    const fixed = `gannet_session_${new URL(api.url).port}=${'A'.repeat(43)}`;
    const answer = await api.ask('/session', {
      method: 'POST', body: { token: TOKENS.operator }, headers: { cookie: fixed },
    });
    expect(cookieOf(answer)).not.toBe(fixed);
    expect((await api.ask('/api/state', { headers: { cookie: fixed } })).status).toBe(401);
    const first = cookieOf(answer);
    const again = await api.ask('/session', {
      method: 'POST', body: { token: TOKENS.operator }, headers: { cookie: first },
    });
    expect((await api.ask('/api/state', { headers: { cookie: first } })).status).toBe(401);
    expect((await api.ask('/api/state', { headers: { cookie: cookieOf(again) } })).status).toBe(200);
  });

  it('is one of 32 of its role: the least recently used one ends, and viewers end no operator’s', () => {
    const sessions = new PageSessions({ clock: new VirtualClock(1_000), tokens: TOKENS });
    const operator = sessions.openByToken(TOKENS.operator)!;
    const viewers = Array.from({ length: 33 }, () => sessions.openByToken(TOKENS.viewer)!.id);
    expect(sessions.find(operator.id)?.role).toBe('operator');
    expect(viewers.map((id) => sessions.find(id) === undefined)).toEqual([true, ...Array(32).fill(false)]);
    expect(sessions.find(viewers[1]!)?.role).toBe('viewer');
    sessions.openByToken(TOKENS.viewer);
    expect([sessions.find(viewers[2]!)?.role, sessions.find(viewers[1]!)?.role]).toEqual([undefined, 'viewer']);
  });

  it('keeps the newest eight codes, so that codes fill no memory', () => {
    const sessions = new PageSessions({ clock: new VirtualClock(1_000), tokens: TOKENS });
    const codes = Array.from({ length: 9 }, () => sessions.makeCode('operator'));
    expect(codes.map((code) => sessions.openByCode(code) !== undefined)).toEqual([false, ...Array(8).fill(true)]);
  });

  it('of an operator is no presence while a page is only open: a dead man’s switch goes on', async () => {
    const DEAD_MAN = {
      trigger: { kind: 'dead-man', afterMs: 60_000 }, scope: 'global', action: 'reduce-only',
      release: { kind: 'cleared' },
    } as const;
    const api = await startPage({ limits: { protections: [DEAD_MAN] } });
    const browser = await api.logIn();
    api.engine.accept({ kind: 'command', name: 'report-presence', reason: 'the start' }, 1_000);
    api.engine.advanceTo(41_000);
    const { body } = await api.ask('/api/state', { headers: { cookie: browser.cookie } });
    expect(body).toMatchObject({ dead_man: { left_ms: expect.any(Number) } });
    expect(api.inputs).toHaveLength(1);
    await halt(api, as(browser, api.url));
    expect(api.inputs.filter((input) => 'name' in input && input.name === 'report-presence')).toHaveLength(2);
  });
});

describe('a request with a session', () => {
  it.each([
    ['no CSRF token', { 'x-gannet-csrf': '' }],
    ['a wrong CSRF token', { 'x-gannet-csrf': 'B'.repeat(43) }],
    ['no Origin', { origin: '' }],
    ['the Origin of another port', { origin: 'http://127.0.0.1:9' }],
    ['a foreign Origin', { origin: 'http://evil.example' }],
    ['a foreign Host', { host: 'evil.example' }],
    ['another page of this host', { 'sec-fetch-site': 'same-site' }],
    ['a foreign page', { 'sec-fetch-site': 'cross-site' }],
  ])('commands nothing with %s', async (_what, change) => {
    const api = await startPage();
    const browser = await api.logIn();
    const headers = Object.fromEntries(Object.entries({ ...as(browser, api.url), ...change })
      .filter(([, value]) => value !== ''));
    expect(await halt(api, headers)).toMatchObject({ status: 403, body: { error: { code: 'FORBIDDEN' } } });
    expect([api.state.trading, api.inputs]).toEqual(['active', []]);
    expect((await halt(api, as(browser, api.url))).status).toBe(200);
  });

  it('cannot be a form, a beacon or a link of another page', async () => {
    const api = await startPage();
    const browser = await api.logIn();
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const answer = await api.ask('/api/halt', {
        method: 'POST', body: '{}', headers: { ...as(browser, api.url), 'content-type': type },
      });
      expect(answer.status, type).toBe(415);
      const login = await api.ask('/session', { method: 'POST', body: '{}', headers: { 'content-type': type } });
      expect(login.status, type).toBe(415);
    }
    // A page of another port of this host may include an address, and the browser sends the cookie.
    const included = { 'cookie': browser.cookie, 'sec-fetch-site': 'same-site' };
    expect((await api.ask('/api/state', { headers: included })).status).toBe(403);
    expect(api.state.trading).toBe('active');
  });

  it('has a cookie of its own port: a daemon on another port does not end the session', async () => {
    const [one, other] = [await startPage(), await startPage()];
    const [a, b] = [await one.logIn(), await other.logIn()];
    const both = { cookie: `theme=dark; ${b.cookie}; ${a.cookie}` };
    expect((await one.ask('/session', { headers: both })).body).toMatchObject({ csrf: a.csrf });
    expect((await other.ask('/session', { headers: both })).body).toMatchObject({ csrf: b.csrf });
  });
});

describe('the page’s files and answers', () => {
  it('need no login, hold no secret, and allow a browser nothing but the daemon itself', async () => {
    const api = await startPage();
    const shell = await api.ask('/');
    expect(shell.status).toBe(200);
    expect(shell.headers['content-type']).toMatch(/^text\/html/);
    for (const token of Object.values(TOKENS)) expect(shell.text).not.toContain(token);
    expect(shell.text).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/i);
    const refused = await api.ask('/api/state');
    for (const { headers } of [shell, refused]) {
      expect(headers).toMatchObject({
        'content-security-policy': expect.stringMatching(/^default-src 'none'; script-src 'self'; style-src 'self';/),
        'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', 'x-frame-options': 'DENY',
        'cross-origin-opener-policy': 'same-origin', 'cross-origin-resource-policy': 'same-origin',
      });
      expect(headers['content-security-policy']).toMatch(/frame-ancestors 'none'/);
      expect(headers['content-security-policy']).not.toMatch(/unsafe|\*|https?:/);
    }
    expect(refused.headers['cache-control']).toBe('no-store');
  });

  it('are sent once: an unchanged file is answered with 304, and each encoding has its own tag', async () => {
    const api = await startPage();
    const plain = await api.ask('/');
    expect(plain.headers).toMatchObject({ vary: 'accept-encoding', 'cache-control': 'no-cache' });
    const tag = String(plain.headers['etag']);
    expect(await api.ask('/', { headers: { 'if-none-match': `W/"x", ${tag}` } }))
      .toMatchObject({ status: 304, text: '' });
    expect((await api.ask('/', { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });

  it('are refused through a foreign Host, and take no POST', async () => {
    const api = await startPage();
    expect((await api.ask('/', { headers: { host: 'evil.example' } })).status).toBe(403);
    expect((await api.ask('/', { method: 'POST', body: {} })).status).toBe(401);
    expect((await api.ask('/assets/../../etc/passwd')).status).toBe(401);
  });

  it('asking for a session without one is no guess', async () => {
    const api = await startPage();
    for (let i = 0; i < 30; i += 1) expect((await api.ask('/session')).status).toBe(401);
    expect(api.reported).toEqual([]);
  });
});
