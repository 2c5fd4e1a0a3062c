import { array, assert, constant, constantFrom, nat, oneof, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/daemon/notify/notification.ts';
import type { Outbox } from '../../../src/daemon/notify/outbox.ts';
import { waitingOf } from '../../../src/daemon/notify/outbox.ts';
import { HOUR, MINUTE, NOON, alert, channelConfig, contentOf, outboxOf } from './notify-fixture.ts';

const DAY = 24 * HOUR;
/** The most waiting messages of a channel. */
const QUEUE_MAX = 500;

function taken(outbox: Outbox, now: number, channel = 'ops'): Message | undefined {
  const next = outbox.take(channel, now);
  return 'message' in next ? next.message : undefined;
}

/** Takes and acknowledges all that is due. */
function sendAll(outbox: Outbox, now: number): Message[] {
  const sent: Message[] = [];
  for (let message = taken(outbox, now); message !== undefined; message = taken(outbox, now)) {
    sent.push(message);
    outbox.settle(message.id, { kind: 'sent' }, now, 0);
  }
  return sent;
}

describe('the selection of messages', () => {
  it('goes by level for alerts and states, and by name alone for fills and reports', () => {
    const outbox = outboxOf([
      channelConfig({ level: 'warning', events: ['alerts', 'reports'] }), channelConfig({ name: 'all', level: 'info' }),
    ]);
    outbox.add(alert('a', { level: 'info' }), NOON);
    outbox.add(alert('b', { topic: 'state', level: 'critical' }), NOON);
    outbox.add(alert('c', { topic: 'reports', level: 'info' }), NOON);
    outbox.add(alert('d', { topic: 'fills', level: 'critical' }), NOON);
    expect(outbox.messages.map(({ channel, title }) => `${channel} ${title}`))
      .toEqual(['all a', 'all b', 'ops c', 'all c']);
  });
});

describe('repeated messages', () => {
  it('wait for the end of the window that the first opened', () => {
    const outbox = outboxOf([channelConfig()]);
    outbox.add(alert('x'), NOON);
    sendAll(outbox, NOON);
    for (const minute of [1, 2, 3]) outbox.add(alert('x', { at: NOON + minute * MINUTE }), NOON + minute * MINUTE);
    expect(outbox.take('ops', NOON + 4 * MINUTE)).toEqual({ askAt: NOON + 10 * MINUTE });
    expect(sendAll(outbox, NOON + 10 * MINUTE))
      .toMatchObject([{ count: 3, at: NOON + MINUTE, lastAt: NOON + 3 * MINUTE }]);
    // The repeat opened a window of its own.
    outbox.add(alert('x'), NOON + 11 * MINUTE);
    expect(outbox.take('ops', NOON + 12 * MINUTE)).toEqual({ askAt: NOON + 20 * MINUTE });
  });

  it('pass at once where they are more urgent than before', () => {
    const outbox = outboxOf([channelConfig()]);
    outbox.add(alert('x'), NOON);
    sendAll(outbox, NOON);
    outbox.add(alert('x', { level: 'critical' }), NOON + 1);
    expect(sendAll(outbox, NOON + 1)).toMatchObject([{ level: 'critical' }]);
    outbox.add(alert('x', { level: 'critical' }), NOON + 2);
    expect(sendAll(outbox, NOON + 2)).toEqual([]);
  });

  it('stay repeats over a restart', () => {
    const first = outboxOf([channelConfig()]);
    first.add(alert('x'), NOON);
    sendAll(first, NOON);
    const second = outboxOf([channelConfig()], { content: contentOf(first, 'ops'), now: NOON + MINUTE });
    second.add(alert('x'), NOON + MINUTE);
    expect(sendAll(second, NOON + MINUTE)).toEqual([]);
  });
});

describe('the rate of a channel', () => {
  it('lets ten pass at once, and makes one message of what is above', () => {
    const outbox = outboxOf([channelConfig({ perHour: 20 })]);
    for (let n = 0; n < 60; n++) outbox.add(alert(`a${n}`, { level: n % 2 === 0 ? 'info' : 'warning' }), NOON);
    expect(sendAll(outbox, NOON)).toHaveLength(10);
    const [digest, ...rest] = sendAll(outbox, NOON + 3 * MINUTE + 10);
    expect(rest).toEqual([]);
    expect(digest).toMatchObject({
      level: 'warning', count: 50, title: '50 messages held back until now: 20 warning, 30 info',
    });
    expect(digest!.text).toContain('… and 30 more');
  });

  it('is not used up by fills: what else happens finds room', () => {
    const outbox = outboxOf([channelConfig({ events: ['state', 'fills'] })]);
    for (let n = 0; n < 20; n++) outbox.add(alert(`f${n}`, { topic: 'fills', level: 'info' }), NOON);
    expect(sendAll(outbox, NOON)).toHaveLength(6);
    outbox.add(alert('ended', { topic: 'state', level: 'info' }), NOON + 1);
    expect(sendAll(outbox, NOON + 1).map(({ title }) => title)).toEqual(['ended']);
  });

  it('is not used up by attempts that fail', () => {
    const outbox = outboxOf([channelConfig({ perHour: 1 })]);
    outbox.add(alert('x'), NOON);
    outbox.settle(taken(outbox, NOON)!.id, { kind: 'failed', fault: 'f', mayHaveArrived: false }, NOON, 0);
    expect(sendAll(outbox, NOON + MINUTE)).toHaveLength(1);
  });

  it('lets critical messages of the run pass, and none of a strategy', () => {
    const outbox = outboxOf([channelConfig({ perHour: 1 })]);
    outbox.add(alert('first'), NOON);
    sendAll(outbox, NOON);
    outbox.add(alert('mine', { level: 'critical', strategy: 'dip' }), NOON + 1);
    outbox.add(alert('signer gone', { level: 'critical' }), NOON + 1);
    expect(sendAll(outbox, NOON + 2).map(({ title }) => title)).toEqual(['signer gone']);
  });
});

describe('quiet hours', () => {
  const quietHours = { from: 22 * 60, to: 7 * 60, zone: 'Europe/Berlin', level: 'critical' } as const;

  it('hold back what is not critical, by the clocks of the zone, and end in one message', () => {
    const outbox = outboxOf([channelConfig({ quietHours })]);
    const night = Date.UTC(2026, 5, 1, 20, 30);
    outbox.add(alert('a', { at: night }), night);
    outbox.add(alert('b', { at: night }), night);
    outbox.add(alert('c', { level: 'critical', at: night }), night);
    expect(sendAll(outbox, night).map(({ title }) => title)).toEqual(['c']);
    const morning = Date.UTC(2026, 5, 2, 5);
    expect(outbox.take('ops', night)).toEqual({ askAt: morning });
    expect(sendAll(outbox, morning - 1)).toEqual([]);
    expect(sendAll(outbox, morning)).toMatchObject([{ title: '2 messages held back until now: 2 warning' }]);
  });

  it('are asked again where the zone changes its clocks in the night', () => {
    const outbox = outboxOf([channelConfig({ quietHours })]);
    // The clocks go back on the 25th of October 2026: the night has an hour more.
    const night = Date.UTC(2026, 9, 24, 21);
    outbox.add(alert('a', { at: night }), night);
    const asked = outbox.take('ops', night) as { askAt: number };
    expect(asked.askAt).toBe(Date.UTC(2026, 9, 25, 5));
    expect(outbox.take('ops', asked.askAt)).toEqual({ askAt: Date.UTC(2026, 9, 25, 6) });
    expect(sendAll(outbox, Date.UTC(2026, 9, 25, 6))).toHaveLength(1);
  });
});

describe('failed attempts', () => {
  it('wait longer each time, up to a quarter of an hour, and as long as the receiver asks', () => {
    const outbox = outboxOf([channelConfig()]);
    outbox.add(alert('x', { level: 'critical' }), NOON);
    const waits: number[] = [];
    let now = NOON;
    for (let n = 0; n < 12; n++) {
      const { id } = taken(outbox, now)!;
      outbox.settle(id, { kind: 'failed', fault: 'f', mayHaveArrived: false }, now, 1);
      const { askAt } = outbox.take('ops', now) as { askAt: number };
      waits.push(askAt - now);
      now = askAt;
    }
    expect(waits.slice(0, 4)).toEqual([2_000, 4_000, 8_000, 16_000]);
    expect(waits.at(-1)).toBe(900_000);
    const { id } = taken(outbox, now)!;
    outbox.settle(id, { kind: 'failed', fault: 'f', retryAfterMs: HOUR, mayHaveArrived: false }, now, 0);
    expect(outbox.take('ops', now)).toEqual({ askAt: now + HOUR });
  });

  it('park a channel that refuses for an hour or until the next start, and lose nothing', () => {
    const outbox = outboxOf([channelConfig()]);
    outbox.add(alert('x'), NOON);
    const { id } = taken(outbox, NOON)!;
    outbox.settle(id, { kind: 'refused', of: 'channel', fault: '401', remedy: 'r' }, NOON, 0);
    expect(outbox.take('ops', NOON)).toEqual({ askAt: NOON + HOUR });
    const next = outboxOf([channelConfig()], { content: contentOf(outbox, 'ops'), now: NOON + 5_000 });
    expect(taken(next, NOON + 5_000)).toMatchObject({ id, title: 'x' });
  });

  it('of one refused message let the others pass, and end with a message that says so', () => {
    const outbox = outboxOf([channelConfig()]);
    outbox.add(alert('bad'), NOON);
    let now = NOON;
    for (let n = 0; n < 24; n++) {
      const { id } = taken(outbox, now)!;
      outbox.settle(id, { kind: 'refused', of: 'message', fault: '400', remedy: 'r' }, now, 0);
      if (n === 0) {
        outbox.add(alert('good'), now);
        expect(sendAll(outbox, now).map(({ title }) => title)).toEqual(['good']);
      }
      now += HOUR;
    }
    expect(outbox.messages).toEqual([]);
    outbox.add(alert('later'), now);
    expect(taken(outbox, now)).toMatchObject({ title: 'later', dropped: 1 });
  });

  it('keep a critical message that is refused: tried each hour, for as long as its channel is configured', () => {
    const outbox = outboxOf([channelConfig()]);
    outbox.add(alert('signer gone', { level: 'critical' }), NOON);
    let now = NOON;
    for (let n = 0; n < 100; n++) {
      const { id } = taken(outbox, now)!;
      outbox.settle(id, { kind: 'refused', of: 'message', fault: '400', remedy: 'r' }, now, 0);
      expect(outbox.take('ops', now)).toEqual({ askAt: now + HOUR });
      now += HOUR;
    }
    expect(waitingOf(outbox.messages, 'ops')).toEqual({ waiting: 1, refused: 1 });
    // Nothing of it is lost where many are refused: they become one, with their number.
    for (let n = 0; n < 2 * QUEUE_MAX; n++) outbox.add(alert(`c${n}`, { level: 'critical' }), now);
    expect(outbox.messages.length).toBeLessThanOrEqual(QUEUE_MAX);
    expect(sendAll(outbox, now).reduce((sum, { count }) => sum + count, 0)).toBe(2 * QUEUE_MAX + 1);
    outbox.add(alert('last', { level: 'critical' }), now);
    expect(outboxOf([channelConfig({ name: 'other' })], { content: contentOf(outbox, 'ops'), now }).messages)
      .toEqual([]);
  });

  it('cut off by a crash are repeated under the same id, and say that they may have arrived', () => {
    const outbox = outboxOf([channelConfig()]);
    outbox.add(alert('x'), NOON);
    const { id } = taken(outbox, NOON)!;
    const next = outboxOf([channelConfig()], { content: contentOf(outbox, 'ops'), now: NOON + 1 });
    expect(taken(next, NOON + 1)).toMatchObject({ id, uncertain: 1 });
    next.settle(id, { kind: 'sent' }, NOON + 2, 0);
    expect(contentOf(next, 'ops').messages).toEqual([]);
  });
});

describe('the bounds of the outbox', () => {
  it('drop the least urgent first, never a critical one, and the next message says how many', () => {
    const outbox = outboxOf([channelConfig()]);
    for (let n = 0; n < QUEUE_MAX; n++)
      outbox.add(alert(`i${n}`, { level: n < 3 ? 'info' : 'warning', at: NOON + n }), NOON);
    for (let n = 0; n < 5; n++) outbox.add(alert(`c${n}`, { level: 'critical', at: NOON + n }), NOON);
    expect(outbox.messages).toHaveLength(QUEUE_MAX);
    expect(outbox.messages.filter(({ level }) => level === 'info')).toEqual([]);
    expect(taken(outbox, NOON)).toMatchObject({ title: 'c0', dropped: 5 });
  });

  it('merge critical messages where there are too many, and count each', () => {
    const outbox = outboxOf([channelConfig()]);
    for (let n = 0; n < 3 * QUEUE_MAX; n++) outbox.add(alert(`c${n}`, { level: 'critical', strategy: 'loud' }), NOON);
    expect(outbox.messages.length).toBeLessThanOrEqual(QUEUE_MAX);
    expect(outbox.messages.reduce((sum, { count }) => sum + count, 0)).toBe(3 * QUEUE_MAX);
  });

  it('drop what is out of date: info after a day, warnings after three, critical ones never', () => {
    const outbox = outboxOf([channelConfig()]);
    for (const level of ['info', 'warning', 'critical'] as const) outbox.add(alert(level, { level }), NOON);
    outbox.settle(taken(outbox, NOON)!.id, { kind: 'failed', fault: 'f', mayHaveArrived: false }, NOON, 0);
    expect(sendAll(outbox, NOON + 30 * DAY)).toMatchObject([{ title: 'critical', dropped: 2 }]);
  });

  it('hold for texts of any size', () => {
    const outbox = outboxOf([channelConfig()]);
    for (let n = 0; n < 600; n++) {
      outbox.add(alert('x'.repeat(10_000), {
        key: `${n}`.repeat(500), text: 'y'.repeat(50_000), level: 'critical',
        facts: Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`f${at}`, 'z'.repeat(1_000)])),
      }), NOON);
    }
    expect(JSON.stringify(outbox.messages).length).toBeLessThan(4_000_000);
  });
});

it('sends each message once in any order of additions, failures, crashes and pauses', () => {
  const step = oneof(
    record({ kind: constant('add' as const), key: nat(12), level: constantFrom('warning', 'critical') }),
    record({ kind: constant('attempt' as const), result: constantFrom('sent', 'failed', 'refused', 'crash') }),
    record({ kind: constant('wait' as const), ms: nat(2 * HOUR) }),
  );
  assert(property(array(step, { maxLength: 80 }), (steps) => {
    let outbox = outboxOf([channelConfig()]);
    let now = NOON;
    let added = 0;
    const acknowledged = new Map<string, number>();
    const attempt = (result: string): void => {
      const message = taken(outbox, now);
      if (message === undefined) return;
      expect(acknowledged.has(message.id)).toBe(false);
      if (result === 'crash') outbox = outboxOf([channelConfig()], { content: contentOf(outbox, 'ops'), now });
      else if (result === 'sent') {
        acknowledged.set(message.id, message.count);
        outbox.settle(message.id, { kind: 'sent' }, now, 0);
      } else if (result === 'failed')
        outbox.settle(message.id, { kind: 'failed', fault: 'f', mayHaveArrived: true }, now, 0);
      else outbox.settle(message.id, { kind: 'refused', of: 'channel', fault: 'f', remedy: 'r' }, now, 0);
    };
    for (const one of steps) {
      if (one.kind === 'add') {
        outbox.add(alert(`k${one.key}`, { level: one.level as 'warning', at: now }), now);
        added += 1;
      } else if (one.kind === 'wait') now += one.ms;
      else attempt(one.result);
    }
    // Within the three days after which a warning is dropped, all arrive once the channel answers.
    for (let n = 0; n < 400 && outbox.messages.length > 0; n++) {
      attempt('sent');
      now += 5 * MINUTE;
    }
    const arrived = [...acknowledged.values()].reduce((sum, count) => sum + count, 0);
    expect(arrived + outbox.channel('ops').dropped).toBe(added);
  }), { numRuns: 150 });
});
