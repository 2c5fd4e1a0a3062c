import { connect } from 'node:net';
import { request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { PageState, Story } from '../../../src/dashboard/page-state.ts';
import type { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import { TOKENS } from '../control-fixture.ts';
import type { PageApi } from './page-fixture.ts';
import { startPage } from './page-fixture.ts';

const BEARER = { authorization: `Bearer ${TOKENS.operator}` };

interface StreamEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

interface Stream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly events: StreamEvent[];
  readonly states: () => PageState[];
  readonly stories: () => Story[];
  readonly close: () => void;
  isEnded: boolean;
}

/** Opens a stream and collects its events. */
async function open(api: PageApi, headers: Readonly<Record<string, string>> = BEARER): Promise<Stream> {
  const abort = new AbortController();
  const answer = await request(`${api.url}/api/events`, { headers, signal: abort.signal });
  const events: StreamEvent[] = [];
  const of = <Data>(name: string): Data[] => events.filter(({ event }) => event === name)
    .map(({ data }) => JSON.parse(data) as Data);
  const stream: Stream = {
    status: answer.statusCode, headers: answer.headers, events, isEnded: false,
    states: () => of<PageState>('state'), stories: () => of<Story>('story'), close: () => { abort.abort(); },
  };
  onTestFinished(() => { abort.abort(); });
  let rest = '';
  answer.body.on('data', (chunk: Buffer) => {
    const blocks = (rest + chunk.toString()).split('\n\n');
    rest = blocks.pop()!;
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => {
        const colon = line.indexOf(': ');
        return [line.slice(0, colon), line.slice(colon + 2)];
      }));
      const event = fields.get('event');
      if (event !== undefined) events.push({ event, data: fields.get('data') ?? '', id: fields.get('id') });
    }
  });
  answer.body.on('close', () => { stream.isEnded = true; });
  answer.body.on('error', () => { stream.isEnded = true; });
  return stream;
}

/** Lets time pass, and the server send what is due. */
async function pass(clock: VirtualClock, ms: number): Promise<void> {
  for (const end = clock.now() + ms; clock.now() < end;) {
    clock.advanceTo(Math.min(end, clock.now() + 250));
    await new Promise((resolve) => { setImmediate(resolve); });
  }
}

const halt = (api: PageApi) => api.post('/api/halt', { reason: 'a pause' });

describe('the event stream', () => {
  it('sends the state at once, then only changes, at most once a second', async () => {
    const api = await startPage();
    const stream = await open(api);
    expect([stream.status, stream.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(stream.headers['content-security-policy']).toContain("default-src 'none'");
    await expect.poll(() => stream.states()).toHaveLength(1);
    expect(stream.states()[0]).toMatchObject({
      role: 'operator', at: 1_000_000, run_id: 'a-run', mode: 'live', phase: 'trading',
      sentence: {
        text: 'Trading live without real money · 2 strategies · no feeds · +0.00 USDC today', level: 'good',
        needs: [],
      },
      figures: { equity: { amount: { text: '1000', symbol: 'USDC' } }, open_swaps: 0 },
      strategies: [{ name: 'diver', standing: 'trading' }, { name: 'wader' }],
    });
    await pass(api.clock, 5_000);
    expect(stream.states()).toHaveLength(1);
    await halt(api);
    await pass(api.clock, 1_000);
    await expect.poll(() => stream.states()).toHaveLength(2);
    expect(stream.states()[1]).toMatchObject({
      sentence: {
        standing: 'halted', level: 'check',
        needs: [{ what: expect.stringContaining('halted by the operator (a pause)'), remedy: { kind: 'resume' } }],
      },
    });
    for (let i = 0; i < 8; i += 1) {
      await api.post(i % 2 === 0 ? '/api/resume' : '/api/halt');
      await pass(api.clock, 250);
    }
    await pass(api.clock, 250);
    expect(stream.states().length).toBeLessThanOrEqual(4);
  });

  it('goes on where the state cannot be read for a time, and says so once', async () => {
    const logs: string[] = [];
    const api = await startPage({ log: (_level, message) => { logs.push(message); } });
    const stream = await open(api);
    await expect.poll(() => stream.states()).toHaveLength(1);
    const { page } = api.controlPort;
    const sound = { ...page };
    Object.assign(page, { state: () => { throw new Error('a bug of the view'); } });
    await pass(api.clock, 5_000);
    expect(logs).toEqual(['the state for the page cannot be read']);
    Object.assign(page, sound);
    await halt(api);
    await pass(api.clock, 1_000);
    await expect.poll(() => stream.states()).toHaveLength(2);
    expect(stream.isEnded).toBe(false);
  });

  it('tells what happens, and goes on after the last story that a browser has seen', async () => {
    const api = await startPage();
    const first = await open(api);
    await halt(api);
    await pass(api.clock, 500);
    await expect.poll(() => first.stories().map(({ sentence }) => sentence))
      .toEqual([expect.stringMatching(/^everything is halted: .*the operator \(a pause\)$/)]);
    const { id } = first.events.findLast(({ event }) => event === 'story')!;
    first.close();
    await api.post('/api/resume');
    const second = await open(api, { ...BEARER, 'last-event-id': id! });
    await expect.poll(() => second.stories()).not.toHaveLength(0);
    expect(second.events.filter(({ event }) => event === 'fresh')).toEqual([]);
    expect(second.stories().every(({ sentence }) => !sentence.includes('a pause'))).toBe(true);
    // Of another run, from the future, or no id of ours at all.
    for (const last of ['other-run:1', 'a-run:999', 'a-run:x', '', '💥'.repeat(10)].map(encodeURI)) {
      const stream = await open(api, { ...BEARER, 'last-event-id': last });
      await expect.poll(() => stream.stories().length).toBeGreaterThan(1);
      expect(stream.events.filter(({ event }) => event === 'fresh'), last).toHaveLength(1);
    }
  });

  it('begins afresh after a night: what happened meanwhile is more than is kept', async () => {
    const api = await startPage();
    const first = await open(api);
    await halt(api);
    await pass(api.clock, 500);
    await expect.poll(() => first.stories()).toHaveLength(1);
    const { id } = first.events.findLast(({ event }) => event === 'story')!;
    first.close();
    for (let i = 0; i < 1_100; i += 1) api.controlPort.alert({ kind: 'alert', level: 'info', message: `night ${i}` });
    const second = await open(api, { ...BEARER, 'last-event-id': id! });
    await expect.poll(() => second.stories()).toHaveLength(120);
    expect(second.events.some(({ event }) => event === 'fresh')).toBe(true);
    expect(second.stories().at(-1)).toMatchObject({ sentence: 'night 1099' });
    const { body } = await api.get('/api/story?limit=500');
    expect(body['stories']).toHaveLength(500);
    expect(body['has_more']).toBe(true);
  });

  it('sends a beat every fifteen seconds, so that a page knows that it is connected', async () => {
    const api = await startPage();
    const stream = await open(api);
    await expect.poll(() => stream.states()).toHaveLength(1);
    await pass(api.clock, 31_000);
    await expect.poll(() => stream.events.filter(({ event }) => event === 'beat')).toHaveLength(2);
  });

  it('ends with its session: by logout, and by age', async () => {
    const api = await startPage();
    const browser = await api.logIn();
    const headers = { cookie: browser.cookie };
    const stream = await open(api, headers);
    await expect.poll(() => stream.states()).toHaveLength(1);
    await api.ask('/session', {
      method: 'DELETE', headers: { ...headers, 'x-gannet-csrf': browser.csrf, 'origin': api.url },
    });
    await expect.poll(() => stream.isEnded).toBe(true);
    const old = await api.logIn();
    for (let day = 0; day < 7; day += 1) {
      api.clock.advanceTo(api.clock.now() + 11 * 3_600_000);
      await api.ask('/session', { headers: { cookie: old.cookie } });
      api.clock.advanceTo(api.clock.now() + 11 * 3_600_000);
      await api.ask('/session', { headers: { cookie: old.cookie } });
    }
    const aged = await open(api, { cookie: old.cookie });
    await expect.poll(() => aged.states()).toHaveLength(1);
    api.clock.advanceTo(api.clock.now() + 14 * 3_600_000);
    await expect.poll(() => aged.isEnded).toBe(true);
  });

  it('needs a token or a session', async () => {
    const api = await startPage();
    expect((await open(api, {})).status).toBe(401);
    expect((await open(api, { authorization: 'Bearer guess' })).status).toBe(401);
    expect((await open(api, { ...BEARER, origin: 'http://evil.example' })).status).toBe(403);
  });

  it('keeps commands possible under 1,000 attempts: 64 streams are served, others get 503', async () => {
    const api = await startPage();
    const attempts = await Promise.all(Array.from({ length: 1_000 }, () => open(api)
      .then(({ status, headers }) => ({ status, retry: headers['retry-after'] }), () => ({ status: 0, retry: '30' }))));
    expect(attempts.filter(({ status }) => status === 200)).toHaveLength(64);
    const refused = attempts.filter(({ status }) => status !== 200);
    expect(refused.every(({ status, retry }) => (status === 503 || status === 0) && retry === '30')).toBe(true);
    expect(await halt(api)).toMatchObject({ status: 200, body: { trading: 'halted' } });
  });

  it('leaves a quarter of its places to operators', async () => {
    const api = await startPage();
    const viewers = await Promise.all(Array.from({ length: 60 }, () =>
      open(api, { authorization: `Bearer ${TOKENS.viewer}` })));
    expect(viewers.filter(({ status }) => status === 200)).toHaveLength(48);
    const operator = await open(api);
    await expect.poll(() => operator.states()).toHaveLength(1);
    expect(operator.states()[0]).toMatchObject({ role: 'operator' });
    await expect.poll(() => viewers[0]!.states()).toHaveLength(1);
    expect(viewers[0]!.states()[0]).toMatchObject({ role: 'viewer' });
  });

  it('drops a client that reads nothing, and keeps nothing for it', async () => {
    const api = await startPage();
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    onTestFinished(() => { socket.destroy(); });
    socket.write(`GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${BEARER.authorization}\r\n\r\n`);
    await new Promise((resolve) => { socket.once('readable', resolve); });
    socket.pause();
    const before = process.memoryUsage().arrayBuffers;
    const message = 'x'.repeat(500);
    // More than the buffers of the system hold.
    for (let round = 0; round < 200; round += 1) {
      for (let i = 0; i < 100; i += 1) api.controlPort.alert({ kind: 'alert', level: 'info', message });
      await pass(api.clock, 250);
    }
    await pass(api.clock, 11_000);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
    const gone = new Promise((resolve) => { socket.once('close', resolve); socket.once('error', resolve); });
    socket.resume();
    await gone;
    expect(await halt(api)).toMatchObject({ status: 200 });
  });

  it('carries names of control characters and markup as they are, in one line of JSON', async () => {
    const api = await startPage();
    const stream = await open(api);
    const message = '</script><img src=x onerror=alert(1)>\r\n\r\nevent: state\ndata: {}\u2028\u202e\u0000 end';
    api.controlPort.alert({ kind: 'alert', level: 'critical', message });
    await pass(api.clock, 1_000);
    await expect.poll(() => stream.stories()).toHaveLength(1);
    expect(stream.stories()[0]).toMatchObject({ sentence: message, level: 'act' });
    expect(stream.states().at(-1)).toMatchObject({ alerts: [{ message, level: 'critical' }] });
  });
});
