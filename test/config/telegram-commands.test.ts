import { describe, expect, it } from 'vitest';
import { describeChannel } from '../../src/config/notifications/channel-config.ts';
import { configOf, issuesOf } from './load-text.ts';

const WATCH = 'strategies: [{ use: book-watch, params: { market: TIDE, level: 0.6, rearm: 0.5 } }]\n';
const environment = { BOT: '123456:an-Example-of-a-token-of-a-bot' };
const channel = (rest: string): string => `${WATCH}notifications: [{ kind: telegram, token: "\${BOT}", ${rest} }]\n`;

describe('a Telegram channel', () => {
  it('takes commands of the user of a private chat, or of listed users, where it says so', async () => {
    const users = async (rest: string): Promise<unknown> => {
      const [found] = (await configOf(channel(rest), { environment })).notifications ?? [];
      return found?.kind === 'telegram' ? found.commands?.users : 'no channel';
    };
    expect(await users('chat: "4001"')).toBeUndefined();
    expect(await users('chat: "4001", commands: false')).toBeUndefined();
    expect(await users('chat: "4001", commands: true')).toEqual(['4001']);
    expect(await users('chat: "-100500", commands: true, users: ["4001", "4002"]')).toEqual(['4001', '4002']);
    const { notifications } = await configOf(channel('chat: "4001", commands: true'), { environment });
    expect(describeChannel(notifications![0]!)).toMatch(/; takes commands of 4001$/);
  });

  it.each([
    ['chat: "@market", commands: true', 'commands need the number of a chat'],
    ['chat: "-100500", commands: true', 'in a group every member could give commands'],
    ['chat: "4001", users: ["4001"]', 'without "commands: true" it has no effect'],
    ['chat: "4001", commands: true, users: []', 'notifications[0].users'],
    ['chat: "4001", commands: true, users: ["@me"]', 'expected the number of a user in quotes'],
    ['chat: "4001", commands: maybe', 'notifications[0].commands'],
  ])('is refused with %s', async (rest, words) => {
    const issues = await issuesOf(channel(rest), { environment });
    expect(issues).toHaveLength(1);
    expect(issues[0]).toContain(words);
  });
});
