import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import type { SchedulerAction } from 'rxjs';
import { asyncScheduler } from 'rxjs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Clock, Millis } from '../../../src/core/time.ts';
import { createHttpSender } from '../../../src/daemon/notify/http-request.ts';
import { createTelegramApi } from '../../../src/daemon/notify/telegram-api.ts';
import { TelegramCommands } from '../../../src/daemon/notify/telegram-commands.ts';
import { temporaryFolder } from '../../store/fixtures.ts';
import { controlFixture } from '../control-fixture.ts';
import { startHttpDouble } from './http-double.ts';

const NOW: Millis = 1_790_000_000_000;
const TOKEN = '123456:an-Example-of-a-token-of-a-bot';
const OPERATOR = 4_001;
const FRIEND = 4_002;
const GROUP = -100_500;

/** A Bot API at the socket that keeps updates until they are acknowledged, as the real one does. */
class BotApi {
  readonly sent: { readonly chat_id: number; readonly text: string }[] = [];
  readonly offsets: (number | undefined)[] = [];
  updates: { readonly update_id: number }[] = [];
  /** Answers in place of the Bot API. */
  disturb: ((response: ServerResponse) => void) | undefined;
  /** The number of the last update. */
  last = 700;

  async start(): Promise<string> {
    const { url } = await startHttpDouble(({ path, body }, response) => {
      const parameters = JSON.parse(body) as { offset?: number; chat_id: number; text: string };
      const ok = (result: unknown): void => { response.end(JSON.stringify({ ok: true, result })); };
      if (!path.startsWith(`/bot${TOKEN}/`)) throw new Error(`a path without the token: ${path}`);
      if (path.endsWith('/getMe')) return ok({ id: 123456, username: 'my_gannet_bot' });
      if (path.endsWith('/sendMessage')) {
        this.sent.push({ chat_id: parameters.chat_id, text: parameters.text });
        return ok({});
      }
      this.offsets.push(parameters.offset);
      if (this.disturb !== undefined) return this.disturb(response);
      this.updates = this.updates.filter(({ update_id: id }) => id >= (parameters.offset ?? 0));
      if (this.updates.length > 0) return ok(this.updates);
      return void setTimeout(() => { ok([]); }, 20);
    });
    return url;
  }

  /** Queues a message, and returns its update for another delivery. */
  say(text: unknown, { user = OPERATOR, chat = GROUP, ageMs = 0, more = {} }: {
    readonly user?: number; readonly chat?: number; readonly ageMs?: Millis; readonly more?: object;
  } = {}): { readonly update_id: number } {
    this.last += 1;
    const date = Math.floor((NOW - ageMs) / 1_000);
    const update = {
      update_id: this.last, message: { date, text, chat: { id: chat }, from: { id: user, is_bot: false }, ...more },
    };
    this.updates.push(update);
    return update;
  }

  /** Waits for the answer that follows those before, and returns it. */
  async answer(count: number): Promise<string> {
    await vi.waitFor(() => { expect(this.sent.length).toBeGreaterThanOrEqual(count); }, { timeout: 10_000 });
    return this.sent[count - 1]!.text;
  }

  /** Waits until all is acknowledged. */
  async rest(): Promise<void> {
    await vi.waitFor(() => { expect(this.updates).toEqual([]); }, { timeout: 10_000 });
  }
}

const codeOf = (text: string): string => /\/resume (\d{4}) within 60 s/.exec(text)![1]!;

async function startCommands({ bot = new BotApi(), stateDir = temporaryFolder(), users = [OPERATOR] } = {}) {
  const apiUrl = await bot.start();
  const control = controlFixture(stateDir);
  const logged: string[] = [];
  const time = { now: NOW };
  const clock: Clock = {
    now: () => time.now,
    schedule: <T>(work: (this: SchedulerAction<T>, state?: T) => void, delay?: Millis, state?: T) =>
      asyncScheduler.schedule(work, (delay ?? 0) / 100, state),
  };
  const http = createHttpSender();
  const commands = new TelegramCommands({
    channel: { name: 'ops', chat: String(GROUP), commands: { users: users.map(String) } },
    api: createTelegramApi({ token: TOKEN, apiUrl }, http), stateDir, clock,
    log: (level, message, details) => { logged.push(`${level} ${message} ${JSON.stringify(details ?? {})}`); },
  });
  const close = async (): Promise<void> => {
    await commands.close();
    await http.close();
  };
  commands.attach(control.controlPort);
  onTestFinished(close);
  return {
    bot, control, logged, time, stateDir, close,
    orders: () => readFileSync(`${stateDir}/orders.ndjson`, 'utf8').trim().split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>),
  };
}

describe('commands by Telegram', () => {
  it('are answered without links or lines of texts from outside', async () => {
    const { bot, control } = await startCommands();
    control.controlPort.request({ action: 'halt', reason: 'call @everyone\n/resume https://evil.example #1' },
      { role: 'file' } as never);
    bot.say('/status');
    const text = await bot.answer(1);
    expect(text).toContain('everyone');
    expect(text).not.toMatch(/@everyone|\/resume|:\/\/evil|#1|^\/|everyone\n/m);
  });

  it('are answered for listed users of the chat, and for no one else', async () => {
    const { bot, control, logged } = await startCommands();
    bot.say('/status@my_gannet_bot');
    expect(await bot.answer(1)).toMatch(/^trading · live without real money · up /);
    bot.say('/profit');
    expect(await bot.answer(2)).toContain('profit: no swap yet');
    bot.say('/positions');
    expect(await bot.answer(3)).toContain('diver (trading): ');
    bot.say('/help');
    expect(await bot.answer(4)).toContain('/resume');
    bot.say('/sell everything');
    expect(await bot.answer(5)).toContain('There is no command /sell.');
    for (let message = 0; message < 30; message++) {
      bot.say('/halt', { user: FRIEND });
      bot.say('/halt', { chat: -7, user: OPERATOR });
    }
    bot.say('/halt', { more: { from: { id: OPERATOR, is_bot: true } } });
    bot.say('/halt', { more: { forward_origin: { type: 'user' } } });
    bot.say('/halt@another_bot');
    bot.say('what about a /halt');
    await bot.rest();
    bot.say('/help');
    await bot.answer(6);
    expect(bot.sent).toHaveLength(6);
    expect(new Set(bot.sent.map(({ chat_id: chat }) => chat))).toEqual(new Set([GROUP]));
    expect(control.state.trading).toBe('active');
    expect(logged.filter((line) => line.includes(`the user ${FRIEND} in the chat ${GROUP}`))).toHaveLength(1);
    expect(logged.filter((line) => line.includes('is not answered'))).toHaveLength(2);
  });

  it('halt at once, and let trading go on only after a code of the same user within a minute', async () => {
    const { bot, control, orders, time } = await startCommands({ users: [OPERATOR, FRIEND] });
    bot.say('/halt the market is odd');
    expect(await bot.answer(1)).toMatch(/^Trading is halted: no entries, no exits/);
    expect(control.state.trading).toBe('halted');
    bot.say('/resume 0000');
    expect(await bot.answer(2)).toContain('Nothing was changed');
    bot.say('/resume');
    const first = codeOf(await bot.answer(3));
    bot.say(`/resume ${first}`, { user: FRIEND });
    expect(await bot.answer(4)).toContain('Nothing was changed');
    bot.say('/resume');
    const second = codeOf(await bot.answer(5));
    time.now += 61_000;
    bot.say(`/resume ${second}`);
    expect(await bot.answer(6)).toContain('Nothing was changed');
    time.now -= 61_000;
    expect(control.state.trading).toBe('halted');
    bot.say('/resume');
    const third = codeOf(await bot.answer(7));
    bot.say(`/resume ${third}`);
    expect(await bot.answer(8)).toContain('Trading goes on.');
    expect(control.state.trading).toBe('active');
    const origin = { role: 'telegram', channel: 'ops', chat: GROUP, user: OPERATOR };
    expect(orders()).toMatchObject([
      { action: 'halt', reason: 'the market is odd', origin }, { action: 'resume', origin, widens: expect.any(String) },
    ]);
    expect(control.reported.filter((line) => line.includes(`Telegram (user ${OPERATOR} in the chat ${GROUP}`)))
      .toHaveLength(1);
    bot.say(`/resume ${third}`);
    expect(await bot.answer(9)).toContain('Nothing was changed');
  });

  it('are carried out once over a restart, and old ones are answered in place of it', async () => {
    const bot = new BotApi();
    const first = await startCommands({ bot });
    const halt = bot.say('/halt');
    await bot.answer(1);
    await bot.rest();
    await first.close();
    bot.updates.push(halt);
    bot.say('/halt', { ageMs: 180_000 });
    bot.say('/halt', { ageMs: -600_000 });
    const second = await startCommands({ bot, stateDir: first.stateDir });
    expect(await bot.answer(2)).toMatch(/^\/halt was sent before this run started .*not carried out/);
    expect(await bot.answer(3)).toContain('behind Telegram’s');
    await bot.rest();
    second.time.now += 150_000;
    bot.say('/halt');
    expect(await bot.answer(4)).toMatch(/^\/halt is 2m30s old, so it was not carried out/);
    second.time.now -= 150_000;
    expect(second.control.state.trading).toBe('active');
    expect(second.orders()).toHaveLength(1);
    bot.say('/halt');
    await bot.answer(5);
    expect(second.control.state.trading).toBe('halted');
  });

  it('are heard after a week in which the Bot API has begun with lower numbers', async () => {
    const { bot, control, time } = await startCommands();
    bot.say('/help');
    await bot.answer(1);
    await bot.rest();
    // The week passes while a request waits: one on its way would confirm the new update with an old number.
    const waiting: ServerResponse[] = [];
    bot.disturb = (response) => { waiting.push(response); };
    await vi.waitFor(() => { expect(waiting).toHaveLength(1); }, { timeout: 10_000 });
    time.now += 8 * 86_400_000;
    bot.last = 12;
    bot.say('/halt', { ageMs: -8 * 86_400_000 });
    bot.disturb = undefined;
    waiting[0]!.end(JSON.stringify({ ok: true, result: [] }));
    expect(await bot.answer(2)).toContain('Trading is halted');
    expect(control.state.trading).toBe('halted');
  });

  it('survive hostile updates, floods and outages, which are logged once and without the token', async () => {
    const { bot, control, logged } = await startCommands();
    const hostile = [
      null, 7, ['/halt'], { text: '/halt' }, {}, '\u0000\u202E/halt', 'x'.repeat(200_000),
      `/status ${'y'.repeat(100_000)}`,
    ];
    for (const text of hostile) bot.say(text);
    for (const more of [
      { date: 'now' }, { date: -1 }, { chat: null }, { chat: { id: `${GROUP}` } }, { from: undefined },
      { from: 'root' }, { from: { id: 1e300 } }, { date: 1e15 },
    ]) bot.say('/halt', { more });
    expect(await bot.answer(1)).toMatch(/^trading/);
    for (let command = 0; command < 100; command++) bot.say('/help');
    await bot.rest();
    expect(bot.sent.length).toBeLessThanOrEqual(21);
    expect(control.state.trading).toBe('active');
    expect(logged.filter((line) => line.includes('commands a minute'))).toHaveLength(1);
    const before = logged.length;
    for (const [answer, words] of [
      [(response: ServerResponse) => { response.writeHead(502).end('<html>bad gateway</html>'); }, /status 502/],
      [(response: ServerResponse) => { response.destroy(); }, /takes no commands now/],
      [(response: ServerResponse) => { response.end('{"ok":true,"result":{"not":"a list"}}'); }, /no list of updates/],
      [(response: ServerResponse) => { response.end('{"ok":true,"result":[{"update_id":"1"}]}'); }, /no list/],
      [(response: ServerResponse) => {
        response.writeHead(409).end('{"ok":false,"error_code":409,"description":"terminated by other getUpdates"}');
      }, /another program takes the messages of this bot/],
    ] as const) {
      const polls = bot.offsets.length;
      bot.disturb = answer;
      await vi.waitFor(() => { expect(bot.offsets.length).toBeGreaterThan(polls + 2); }, { timeout: 10_000 });
      bot.disturb = undefined;
      await vi.waitFor(() => { expect(logged.at(-1)).toContain('takes commands again'); }, { timeout: 10_000 });
      expect(logged.at(-2)).toMatch(words);
    }
    expect(logged.length - before).toBe(10);
    expect(logged.join('\n')).not.toContain(TOKEN.slice(7));
  });

  it('of the longest answer are read', async () => {
    const { bot, control, stateDir, logged } = await startCommands();
    for (let update = 0; update < 9; update++)
      bot.say('ж'.repeat(4_000), { more: { reply_to_message: { text: 'ж'.repeat(4_000) } } });
    bot.say('/halt');
    await bot.answer(1);
    expect(control.state.trading).toBe('halted');
    expect(JSON.parse(readFileSync(`${stateDir}/telegram-ops.json`, 'utf8'))).toEqual(
      { version: 1, next: 711, at: NOW });
    expect(logged).toEqual([]);
  });
});
