import { randomUUID } from 'node:crypto';
import type { NotificationLevel } from '../../config/notifications/channel-config.ts';
import { LEVELS } from '../../config/notifications/channel-config.ts';
import { pluralize, printable } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import { roughDuration, timeOfDay } from '../../core/time.ts';
import type { Message, Notification } from './notification.ts';

const TITLE_MAX = 1_000;
const TEXT_MAX = 3_000;
const KEY_MAX = 200;
const FACTS_MAX = 20;
const FACT_MAX = 200;
const LISTED_MAX = 20;
const LISTED_TITLE_MAX = 120;
/** A message that arrives later says so. */
const LATE_MS: Millis = 120_000;

/** Returns the message by which an operator tests a channel. */
export function testMessage(level: NotificationLevel, now: Millis): Message {
  return {
    topic: 'alerts', level, title: 'this is a test of the channel, sent by "gannet notify test"',
    text: 'Messages about the run come in this form.', key: `test:${now}`, at: now, lastAt: now, sentAt: now,
    id: randomUUID(), runId: 'none', count: 1, uncertain: 0, dropped: 0, facts: {},
  };
}

/** Returns a notification with its texts bounded, and without what could forge a line or hide another. */
export function harmless(notification: Notification): Notification {
  const { title, text, key, strategy, facts = {} } = notification;
  return {
    ...notification,
    title: printable(title, TITLE_MAX),
    text: text === undefined ? undefined : lines(text.slice(0, TEXT_MAX)),
    key: printable(key, KEY_MAX),
    strategy: strategy === undefined ? undefined : printable(strategy, FACT_MAX),
    facts: Object.fromEntries(Object.entries(facts).slice(0, FACTS_MAX).map(([name, value]) =>
      [printable(name, FACT_MAX), typeof value === 'string' ? printable(value, FACT_MAX) : value])),
  };
}

function lines(text: string): string {
  return text.split('\n').map((line) => printable(line, TEXT_MAX)).join('\n');
}

/** Returns a notification that lists messages which were held back. */
export function digestOf(
  messages: readonly (Notification & Pick<Message, 'count' | 'lastAt'>)[], now: Millis,
): Notification & Pick<Message, 'count' | 'lastAt'> {
  const sorted = [...messages].sort((a, b) => LEVELS.indexOf(b.level) - LEVELS.indexOf(a.level) || a.at - b.at);
  const listed = sorted.slice(0, LISTED_MAX).map(({ level, title, strategy, at, count }) =>
    `${timeOfDay(at)} ${level}: ${strategy === undefined ? '' : `${strategy}: `}`
      + `${title.length > LISTED_TITLE_MAX ? `${title.slice(0, LISTED_TITLE_MAX)}…` : title}`
      + (count > 1 ? ` (${count} times)` : ''));
  const more = messages.length - listed.length;
  const levels = [...LEVELS].reverse().map((level) =>
    [level, messages.filter((message) => message.level === level).length] as const)
    .filter(([, count]) => count > 0).map(([level, count]) => `${count} ${level}`);
  return {
    topic: 'alerts', level: sorted[0]!.level,
    title: `${pluralize(messages.length, 'message')} held back until now: ${levels.join(', ')}`,
    text: [...listed, ...(more > 0 ? [`… and ${more} more: "gannet logs" has all of them`] : [])].join('\n'),
    key: `digest:${now}`,
    at: Math.min(...messages.map(({ at }) => at)),
    lastAt: Math.max(...messages.map(({ lastAt }) => lastAt)),
    count: messages.reduce((sum, { count }) => sum + count, 0),
    facts: {},
  };
}

/** Returns the first line of a message: how urgent, about what, what has happened. */
export function headline({ level, strategy, title }: Notification): string {
  return `${LEVEL_WORDS[level]} · ${strategy ?? 'Gannet'}: ${title}`;
}

const LEVEL_WORDS: Readonly<Record<NotificationLevel, string>> =
  { info: 'INFO', warning: 'WARNING', critical: 'CRITICAL' };

/** Returns what follows the first line: what it means, how often, when, and what the reader must know of its course. */
export function bodyLines(message: Message): string[] {
  const { text, count, at, lastAt, sentAt, runId, uncertain, dropped } = message;
  const isDigest = message.key.startsWith('digest:');
  return [
    ...(text === undefined || text === '' ? [] : [text]),
    ...(count > 1 && !isDigest ? [`${count} times from ${timeOfDay(at)} to ${timeOfDay(lastAt)}.`] : []),
    ...(uncertain > 0
      ? ['This message may have arrived before: an earlier attempt ended without an answer.'] : []),
    ...(dropped > 0 ? [`${pluralize(dropped, 'older message')} could not be sent in time and were dropped.`] : []),
    `${new Date(at).toISOString().slice(0, 10)} ${timeOfDay(at)}, run ${runId}`
      + (sentAt - lastAt > LATE_MS ? `; sent ${roughDuration(sentAt - lastAt)} later` : ''),
  ];
}

/**
 * Returns a message as plain text of at most `limit` UTF-16 units after `escape`, which makes a character harmless on a
 * channel. The last line, with time and run, is always whole.
 */
export function messageText(
  message: Message, { limit, escape = (char) => char }: {
    readonly limit: number; readonly escape?: (char: string) => string;
  },
): string {
  const all = [headline(message), ...bodyLines(message)];
  const last = escaped(`\n${all.pop()!}`, limit, escape);
  return escaped(all.join('\n'), limit - last.length, escape) + last;
}

/** Returns a text with each character escaped, cut between characters where it is too long. */
function escaped(text: string, limit: number, escape: (char: string) => string): string {
  const mark = '…';
  let result = '';
  // Where a mark would still fit.
  let cut = 0;
  for (const char of text) {
    const next = escape(char);
    if (result.length + next.length > limit) return result.slice(0, cut) + mark;
    result += next;
    if (result.length + mark.length <= limit) cut = result.length;
  }
  return result;
}
