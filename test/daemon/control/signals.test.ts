import { chmodSync, existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { documentText, readDocument } from '../../../src/core/document.ts';
import { createSignalIntake, signalsTokenOf } from '../../../src/daemon/control/signals.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import type { SignalEvent } from '../../../src/market/signal.ts';
import { temporaryFolder } from '../../store/fixtures.ts';
import type { Answer } from '../control-fixture.ts';
import { startControl, startTestApi, TOKENS } from '../control-fixture.ts';

const TOKEN = 'Qz7mB4xL9tWc2Vn8Rk5Jd1Hf6Gs3Py0E';
const JSON_BODY = { 'content-type': 'application/json' };
const BEARER = { ...JSON_BODY, authorization: `Bearer ${TOKEN}` };
const fileOf = (stateDir: string): string => `${stateDir}/signals-token`;
const START = 1_790_000_000_000;

/** Starts an API that takes the signals "entry" and "exit". */
async function startSignals({ isRunning = true } = {}): Promise<{
  readonly clock: VirtualClock; readonly received: SignalEvent[]; readonly logs: unknown[]; readonly url: string;
  readonly send: (path: string, body: string, headers?: Record<string, string>, method?: 'POST' | 'GET' | 'PUT') =>
    Promise<Answer & { readonly headers: Readonly<Record<string, unknown>> }>;
}> {
  const clock = new VirtualClock(START);
  const signals = createSignalIntake({ names: ['entry', 'exit'], token: TOKEN, clock });
  const received: SignalEvent[] = [];
  const logs: unknown[] = [];
  if (isRunning) signals.events$.subscribe((event) => { received.push(event); });
  const { url } = await startTestApi({
    stateDir: temporaryFolder(), signals, clock, log: (...line) => { logs.push(line); },
  });
  return {
    clock, received, logs, url,
    send: async (path, body, headers = BEARER, method = 'POST') => {
      const answer = await request(`${url}${path}`, { method, headers, ...(method === 'GET' ? {} : { body }) });
      return {
        status: answer.statusCode, headers: answer.headers, body: await answer.body.json() as Answer['body'],
      };
    },
  };
}

describe('a signal', () => {
  it('becomes an event with the token in the header, and what is recorded reads back as the same', async () => {
    const { send, received } = await startSignals();
    const body = { side: 'buy', price: 98.5, note: 'line\u202eone\u0007', tags: ['a', null, true, { deep: -0 }] };
    expect(await send('/api/signals/entry', JSON.stringify(body))).toMatchObject({ status: 200, body: { ok: true } });
    expect(await send('/api/signals/exit', '"close all"')).toMatchObject({ status: 200 });
    expect(received).toEqual([
      { kind: 'signal', feed: 'signal:entry', receivedAt: START, name: 'entry', body: expect.objectContaining({
        side: 'buy', price: 98.5, tags: ['a', null, true, { deep: 0 }],
      }) },
      { kind: 'signal', feed: 'signal:exit', receivedAt: START, name: 'exit', body: 'close all' },
    ]);
    const { note } = received[0]!.body as { readonly note: string };
    expect(note).toMatch(/^line.+one/);
    for (const unsafe of ['\u202e', '\u0007']) expect(note).not.toContain(unsafe);
    for (const event of received) expect(readDocument(documentText(event))).toEqual(event);
  });

  it('has its token in the body where a site sends no headers, and the event is without it', async () => {
    const { send, received, logs } = await startSignals();
    expect(await send('/api/signals/entry', JSON.stringify({ token: TOKEN, side: 'buy' }), JSON_BODY))
      .toMatchObject({ status: 200 });
    expect(await send('/api/signals/entry', JSON.stringify({ token: TOKEN, side: 'sell' })))
      .toMatchObject({ status: 200 });
    expect(received.map(({ body }) => body)).toEqual([{ side: 'buy' }, { side: 'sell' }]);
    expect(JSON.stringify([received, logs])).not.toContain(TOKEN);
  });

  it('is refused without a run that takes it, and nothing counts as delivered', async () => {
    const { send } = await startSignals({ isRunning: false });
    expect(await send('/api/signals/entry', '{}'))
      .toMatchObject({ status: 503, body: { error: { code: 'STARTING' } } });
  });
});

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

describe('a request for a signal', () => {
  it.each<[string, string, string, Record<string, string> | undefined, 'POST' | 'GET' | 'PUT', number, string]>([
    ['with another method', '/api/signals/entry', '', BEARER, 'GET', 405, 'METHOD_NOT_ALLOWED'],
    ['that replaces', '/api/signals/entry', '{}', BEARER, 'PUT', 405, 'METHOD_NOT_ALLOWED'],
    ['of plain text', '/api/signals/entry', 'buy', { ...BEARER, 'content-type': 'text/plain' }, 'POST', 415,
      'UNSUPPORTED_MEDIA_TYPE'],
    ['of a form', '/api/signals/entry', 'a=b', { ...BEARER, 'content-type': 'application/x-www-form-urlencoded' },
      'POST', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['that is too large', '/api/signals/entry', JSON.stringify({ a: 'x'.repeat(8_200) }), BEARER, 'POST', 413,
      'TOO_LARGE'],
    ['that is no JSON', '/api/signals/entry', '{"side":', BEARER, 'POST', 400, 'BAD_REQUEST'],
    ['without a body', '/api/signals/entry', '', BEARER, 'POST', 400, 'BAD_REQUEST'],
    ['with a list', '/api/signals/entry', '[1]', BEARER, 'POST', 400, 'BAD_REQUEST'],
    ['with a number', '/api/signals/entry', '7', BEARER, 'POST', 400, 'BAD_REQUEST'],
    ['with a number without end', '/api/signals/entry', '{"a":1e999}', BEARER, 'POST', 400, 'BAD_REQUEST'],
    ['with too many levels', '/api/signals/entry', nested(9), BEARER, 'POST', 400, 'BAD_REQUEST'],
    ['with too many values', '/api/signals/entry', `{"a":[${'1,'.repeat(600)}1]}`, BEARER, 'POST', 400, 'BAD_REQUEST'],
    ['with a text that a recording would cut', '/api/signals/entry', JSON.stringify('x'.repeat(4_001)), BEARER, 'POST',
      400, 'BAD_REQUEST'],
    ['with a name that recordings reserve', '/api/signals/entry', '{"a":{"bigint":"5"}}', BEARER, 'POST', 400,
      'BAD_REQUEST'],
    ['with a prototype', '/api/signals/entry', '{"__proto__":{"a":1}}', BEARER, 'POST', 400, 'BAD_REQUEST'],
    ['with an unknown name', '/api/signals/other', '{}', BEARER, 'POST', 404, 'SIGNAL_UNKNOWN'],
    ['with a deeper path', '/api/signals/entry/more', '{}', BEARER, 'POST', 404, 'NOT_FOUND'],
    ['without a token', '/api/signals/entry', '{}', JSON_BODY, 'POST', 401, 'UNAUTHORIZED'],
    ['without a token, with an unknown name', '/api/signals/other', '{}', JSON_BODY, 'POST', 401, 'UNAUTHORIZED'],
    ['with a wrong token in the body', '/api/signals/entry', '{"token":"guess"}', JSON_BODY, 'POST', 401,
      'UNAUTHORIZED'],
    ['with a token that is no text', '/api/signals/entry', `{"token":["${TOKEN}"]}`, JSON_BODY, 'POST', 401,
      'UNAUTHORIZED'],
    ['with a wrong token in the header and a right one in the body', '/api/signals/entry', `{"token":"${TOKEN}"}`,
      { ...JSON_BODY, authorization: 'Bearer guess' }, 'POST', 401, 'UNAUTHORIZED'],
    ['with the operator’s token', '/api/signals/entry', '{}',
      { ...JSON_BODY, authorization: `Bearer ${TOKENS.operator}` }, 'POST', 401, 'UNAUTHORIZED'],
    ['with the operator’s token and an escaped path', '/api/%73ignals/entry', '{}',
      { ...JSON_BODY, authorization: `Bearer ${TOKENS.operator}` }, 'POST', 401, 'UNAUTHORIZED'],
    ['of a page of another origin', '/api/signals/entry', '{}', { ...BEARER, origin: 'https://example.com' }, 'POST',
      403, 'FORBIDDEN'],
    ['for another host', '/api/signals/entry', '{}', { ...BEARER, host: 'example.com' }, 'POST', 403, 'FORBIDDEN'],
  ])('%s is refused', async (_what, path, body, headers, method, status, code) => {
    const { send, received, logs } = await startSignals();
    const answer = await send(path, body, headers, method);
    expect([answer.status, answer.body['error']]).toEqual([status, expect.objectContaining({ code })]);
    expect([received, logs]).toEqual([[], []]);
    expect(JSON.stringify(answer.body)).not.toContain(TOKEN);
  });

  it('beyond 20 at once and 10 a second is answered with 429 and the wait, and a second later is taken', async () => {
    const { send, received, clock } = await startSignals();
    const statuses: number[] = [];
    for (let i = 0; i < 25; i += 1) statuses.push((await send('/api/signals/entry', '{}')).status);
    expect(statuses).toEqual([...Array<number>(20).fill(200), ...Array<number>(5).fill(429)]);
    expect(await send('/api/signals/exit', '{}')).toMatchObject({
      status: 429, headers: { 'retry-after': '1' }, body: { error: { code: 'TOO_MANY_SIGNALS' } },
    });
    clock.advanceTo(START + 1_000);
    const later: number[] = [];
    for (let i = 0; i < 12; i += 1) later.push((await send('/api/signals/entry', '{}')).status);
    expect(later.filter((status) => status === 200)).toHaveLength(10);
    expect(received).toHaveLength(30);
  });

  it('with guesses is answered ever more slowly, while the right token is served at once', async () => {
    const { send, clock } = await startSignals();
    const guess = async (headers: Record<string, string>, body: string): Promise<number> =>
      (await send('/api/signals/entry', body, headers)).status;
    for (let i = 0; i < 5; i += 1) {
      expect(await guess({ ...JSON_BODY, authorization: 'Bearer guess' }, '{}')).toBe(401);
      expect(await guess(JSON_BODY, '{"token":"guess"}')).toBe(401);
    }
    const held = guess(JSON_BODY, '{"token":"guess"}');
    await expect.poll(() => clock.nextAt()).toBe(START + 1_000);
    expect((await send('/api/signals/entry', '{}')).status).toBe(200);
    clock.advanceTo(START + 1_000);
    expect(await held).toBe(429);
  });
});

describe('the token for signals', () => {
  it('opens no other path of the control API', async () => {
    const clock = new VirtualClock(START);
    const signals = createSignalIntake({ names: ['entry'], token: TOKEN, clock });
    const { get, post, state, inputs } = await startControl({ signals });
    for (const path of ['/api/state', '/api/feeds', '/api/decisions', '/metrics'])
      expect((await get(path, BEARER)).status, path).toBe(401);
    for (const path of ['/api/halt', '/api/flatten', '/api/resume', '/api/stop', '/api/presence'])
      expect((await post(path, {}, BEARER)).status, path).toBe(401);
    expect([state.trading, inputs]).toEqual(['active', []]);
  });

  it('is that of the environment, of a private file, or one that the state directory keeps over runs', () => {
    const stateDir = temporaryFolder();
    const signals = { names: ['entry'] };
    const tokenFile = `${temporaryFolder()}/token`;
    writeFileSync(tokenFile, `${TOKEN}\n`, { mode: 0o600 });
    expect(signalsTokenOf({ signals, environment: { GANNET_SIGNALS_TOKEN: TOKEN }, stateDir })).toBe(TOKEN);
    expect(signalsTokenOf({ signals: { ...signals, tokenFile }, environment: {}, stateDir })).toBe(TOKEN);
    expect(existsSync(fileOf(stateDir))).toBe(false);
    const made = signalsTokenOf({ signals, environment: { GANNET_SIGNALS_TOKEN: '' }, stateDir });
    expect(made).toMatch(/^[\w-]{43}$/);
    expect(statSync(fileOf(stateDir)).mode & 0o777).toBe(0o600);
    expect(readFileSync(fileOf(stateDir), 'utf8')).toBe(`${made}\n`);
    expect(signalsTokenOf({ signals, environment: {}, stateDir })).toBe(made);
  });

  it('is refused where it is weak, shared with the control API, or in a file that others read', () => {
    const stateDir = temporaryFolder();
    const signals = { names: ['entry'] };
    const refused = (environment: Record<string, string>, tokenFile?: string): string => {
      try {
        return `taken: ${signalsTokenOf({ signals: { ...signals, tokenFile }, environment, stateDir })}`;
      } catch (error) {
        expect(error).toMatchObject({ code: 'CONFIG_INVALID' });
        return (error as Error).message;
      }
    };
    expect(refused({ GANNET_SIGNALS_TOKEN: 'letmein' })).toMatch(/^GANNET_SIGNALS_TOKEN: expected at least 128 random/);
    expect(refused({ GANNET_SIGNALS_TOKEN: TOKEN, GANNET_CONTROL_TOKEN: TOKEN })).toMatch(/a token of its own/);
    const file = `${stateDir}/token`;
    writeFileSync(file, TOKEN, { mode: 0o600 });
    chmodSync(file, 0o644);
    expect(refused({}, file)).toMatch(/mode 0600 or 0400, others can read this one/);
    writeFileSync(file, 'letmein');
    chmodSync(file, 0o600);
    expect(refused({}, file)).toMatch(/expected a token of 128 random bits/);
    expect(refused({}, `${stateDir}/absent`)).toMatch(/ENOENT/);
    symlinkSync('/nowhere', fileOf(stateDir));
    expect(() => signalsTokenOf({ signals, environment: {}, stateDir })).toThrow(/EEXIST|ENOENT/);
  });
});
