import { randomUUID } from 'node:crypto';
import type { ChannelConfig, NotificationLevel, NotificationTopic } from '../../config/notifications/channel-config.ts';
import { LEVELS } from '../../config/notifications/channel-config.ts';
import type { Millis } from '../../core/time.ts';
import type { Delivery, Message, Notification } from './notification.ts';
import { digestOf, harmless } from './message-text.ts';
import { quietEnd, waitsForQuietEnd } from './quiet-hours.ts';

/** A message as the outbox keeps it until its channel has taken it. */
export interface QueuedMessage extends Omit<Message, 'sentAt' | 'dropped'> {
  readonly channel: string;
  /** Not sent before. */
  readonly notBefore: Millis;
  /** Set before an attempt, and cleared by its result: after a crash it says that the result is not known. */
  readonly isSending: boolean;
  readonly attempts: number;
  readonly refusals: number;
  /** Whether the rate or quiet hours made it wait, so that it may become part of a digest. */
  readonly isHeld: boolean;
}

/** What the outbox remembers of a channel. */
export interface ChannelRecord {
  readonly sent: number;
  readonly lastSentAt: Millis | null;
  readonly lastFault: { readonly at: Millis; readonly text: string } | null;
  /** Failed attempts since the last success. */
  readonly failures: number;
  /** No attempt before. */
  readonly notBefore: Millis;
  /** Whether an operator must act before an attempt can succeed. */
  readonly isParked: boolean;
  /** What may be sent at once, as of an instant; it grows with time. */
  readonly allowance: number;
  readonly allowanceAt: Millis;
  /** Keys that were sent lately: until when repeats wait, and how urgent the message was. */
  readonly recent: Readonly<Record<string, { readonly until: Millis; readonly level: NotificationLevel }>>;
  /** Messages dropped since the last one that says so. */
  readonly dropped: number;
}

/** A channel as metrics show it. */
export interface ChannelStats {
  readonly name: string;
  readonly waiting: number;
  readonly refused: number;
  /** Failed attempts since the last success. */
  readonly failures: number;
}

/** All that the outbox keeps. */
export interface OutboxContent {
  readonly messages: readonly QueuedMessage[];
  readonly channels: ReadonlyMap<string, ChannelRecord>;
}

/** The most of one channel's waiting messages. The least urgent and oldest go first; critical ones are merged. */
const QUEUE_MAX = 500;
const QUEUE_CHARACTERS_MAX = 1_000_000;
const MERGED_AT_ONCE = 100;
const RECENT_MAX = 200;
const AGE_MAX_MS: Readonly<Record<NotificationLevel, Millis>> =
  { info: 86_400_000, warning: 3 * 86_400_000, critical: Infinity };
const HOUR_MS: Millis = 3_600_000;
const BURST_MAX = 10;
const FILLS_LEAVE = 4;
const BACK_OFF_MS: Millis = 2_000;
const BACK_OFF_MAX_MS: Millis = 900_000;
/** After so many hours it is the message that is wrong; a critical one is tried on, since a person must see it. */
const REFUSALS_MAX = 24;

const TOPICS_BY_LEVEL: ReadonlySet<NotificationTopic> = new Set(['alerts', 'state']);
const NEW_CHANNEL: ChannelRecord = {
  sent: 0, lastSentAt: null, lastFault: null, failures: 0, notBefore: 0, isParked: false, allowance: BURST_MAX,
  allowanceAt: 0, recent: {}, dropped: 0,
};

const urgency = (level: NotificationLevel): number => LEVELS.indexOf(level);

/**
 * The messages of all channels until they are taken: which is sent when, which become one, which are dropped. It reads
 * no clock and writes nothing; `dirty` names what changed.
 */
export class Outbox {
  readonly #configs: ReadonlyMap<string, ChannelConfig>;
  readonly #runId: string;
  readonly #messages = new Map<string, QueuedMessage>();
  readonly #channels = new Map<string, ChannelRecord>();
  /** Ids of messages and names of channels whose record differs from the one on the disk. */
  readonly dirty = { messages: new Set<string>(), channels: new Set<string>() };

  constructor({ configs, runId, content, now }: {
    readonly configs: readonly ChannelConfig[]; readonly runId: string; readonly content: OutboxContent;
    readonly now: Millis;
  }) {
    this.#configs = new Map(configs.map((config) => [config.name, config]));
    this.#runId = runId;
    for (const { name, perHour } of configs) {
      const record = content.channels.get(name) ?? { ...NEW_CHANNEL, allowanceAt: now };
      // A start is a reason to try again: an operator may have acted.
      this.#record(name, {
        ...record, isParked: false, notBefore: record.isParked ? now : Math.min(record.notBefore, now + HOUR_MS * 24),
        allowance: Math.min(record.allowance, perHour), allowanceAt: Math.min(record.allowanceAt, now),
      });
    }
    this.adopt(content.messages, now);
  }

  /** Takes over what an earlier run has left. */
  adopt(messages: readonly QueuedMessage[], now: Millis): void {
    for (const message of messages) {
      if (!this.#configs.has(message.channel)) {
        this.dirty.messages.add(message.id);
        continue;
      }
      this.#put({
        ...message, isSending: false, uncertain: message.uncertain + (message.isSending ? 1 : 0),
        notBefore: message.refusals > 0 ? now : Math.min(message.notBefore, now + HOUR_MS * 24),
      });
    }
  }

  get messages(): readonly QueuedMessage[] {
    return [...this.#messages.values()];
  }

  message(id: string): QueuedMessage | undefined {
    return this.#messages.get(id);
  }

  channel(name: string): ChannelRecord {
    return this.#channels.get(name)!;
  }

  /** Has everything written again, to a file that is new. */
  rewrite(): void {
    for (const id of this.#messages.keys()) this.dirty.messages.add(id);
    for (const name of this.#channels.keys()) this.dirty.channels.add(name);
  }

  /** Queues a notification for each channel that wants it. */
  add(notification: Notification, now: Millis): void {
    const clean = harmless(notification);
    for (const { name, events, level } of this.#configs.values()) {
      const isWanted = events.includes(clean.topic)
        && (!TOPICS_BY_LEVEL.has(clean.topic) || urgency(clean.level) >= urgency(level));
      if (isWanted) this.#queue(name, clean, now);
    }
  }

  #queue(channel: string, notification: Notification, now: Millis): void {
    const { level, key, at } = notification;
    const waiting = this.#of(channel).find((message) => message.key === key && message.attempts === 0);
    if (waiting !== undefined) {
      const isMoreUrgent = urgency(level) > urgency(waiting.level);
      const newest = urgency(level) < urgency(waiting.level) ? waiting : notification;
      this.#put({
        ...waiting, ...newest, at: waiting.at, lastAt: at, count: waiting.count + 1,
        notBefore: isMoreUrgent ? now : waiting.notBefore,
      });
      return;
    }
    const recent = this.channel(channel).recent[key];
    const isRepeat = recent !== undefined && recent.until > now && urgency(level) <= urgency(recent.level);
    this.#put({
      ...notification, id: randomUUID(), runId: this.#runId, channel, count: 1, lastAt: at, uncertain: 0,
      notBefore: isRepeat ? recent.until : now, isSending: false, attempts: 0, refusals: 0, isHeld: false,
    });
    this.#bound(channel);
  }

  /**
   * Returns the message that a channel gets now, marked as being sent; or when to ask again, undefined where nothing
   * waits.
   */
  take(channel: string, now: Millis): { readonly message: Message } | { readonly askAt: Millis | undefined } {
    this.#dropOld(channel, now);
    const config = this.#configs.get(channel)!;
    const waiting = this.#of(channel);
    if (waiting.length === 0) return { askAt: undefined };
    const { notBefore } = this.channel(channel);
    if (notBefore > now) return { askAt: notBefore };
    const due = waiting.filter((message) => message.notBefore <= now);
    const isQuiet = (message: QueuedMessage): boolean => waitsForQuietEnd(config.quietHours, message.level, now);
    for (const message of due) if (isQuiet(message) && !message.isHeld) this.#put({ ...message, isHeld: true });
    const passing = due.filter((message) => !isQuiet(message)).sort(inOrder);
    const [first] = passing;
    const next = waiting.filter((message) => message.notBefore > now).map((message) => message.notBefore);
    if (first === undefined) {
      const quiet = due.length === 0 ? [] : [quietEnd(config.quietHours!, now)];
      return { askAt: Math.min(...next, ...quiet) };
    }
    const allowance = this.#refill(config, now);
    if (isUrgent(first)) return { message: this.#begin(first, allowance, now) };
    // Fills are many: they leave room for what else happens.
    const needed = first.topic === 'fills' ? 1 + Math.min(FILLS_LEAVE, Math.floor(config.perHour / 2)) : 1;
    if (allowance < needed) {
      for (const message of passing) if (!message.isHeld) this.#put({ ...message, isHeld: true });
      // A millisecond more, so that rounding cannot ask too early for ever.
      return { askAt: Math.min(...next, now + 1 + Math.ceil((needed - allowance) * HOUR_MS / config.perHour)) };
    }
    const held = passing.filter(({ isHeld, attempts }) => isHeld && attempts === 0);
    const message = first.isHeld && held.length > 1 ? this.#merge(held, now) : first;
    return { message: this.#begin(message, allowance, now) };
  }

  /** Applies the result of an attempt. `jitter` is a random number of [0, 1). */
  settle(id: string, delivery: Delivery, now: Millis, jitter: number): void {
    const message = this.#messages.get(id);
    if (message === undefined) return;
    const { channel } = message;
    const record = this.channel(channel);
    if (delivery.kind === 'sent') {
      this.#remove(id);
      this.#record(channel, { ...record, sent: record.sent + 1, lastSentAt: now, failures: 0 });
      return;
    }
    const failures = record.failures + 1;
    // Back-off alone slows down attempts that fail: the message has not used the rate yet.
    const allowance = record.allowance + 1;
    const lastFault = { at: now, text: delivery.fault };
    if (delivery.kind === 'failed') {
      const backOff = Math.min(BACK_OFF_MAX_MS, BACK_OFF_MS * 2 ** Math.min(failures - 1, 30)) * (0.5 + jitter / 2);
      const wait = Math.max(delivery.retryAfterMs ?? 0, Math.round(backOff));
      this.#put({
        ...message, isSending: false, uncertain: message.uncertain + (delivery.mayHaveArrived ? 1 : 0),
      });
      this.#record(channel, { ...record, failures, lastFault, allowance, notBefore: now + wait });
      return;
    }
    const isOfChannel = delivery.of === 'channel';
    const refusals = message.refusals + (isOfChannel ? 0 : 1);
    if (refusals >= REFUSALS_MAX && message.level !== 'critical') this.#drop(message);
    else {
      this.#put({
        ...message, isSending: false, refusals, notBefore: isOfChannel ? message.notBefore : now + HOUR_MS,
      });
    }
    this.#record(channel, {
      ...this.channel(channel), failures, lastFault, allowance, isParked: isOfChannel,
      notBefore: isOfChannel ? now + HOUR_MS : record.notBefore,
    });
  }

  #begin(message: QueuedMessage, allowance: number, now: Millis): Message {
    const { channel, key, level } = message;
    const record = this.channel(channel);
    const { repeatAfterMs } = this.#configs.get(channel)!;
    this.#put({ ...message, isSending: true, attempts: message.attempts + 1 });
    const recent = Object.entries({ ...record.recent, [key]: { until: now + repeatAfterMs, level } })
      .filter(([, { until }]) => until > now).sort(([, a], [, b]) => b.until - a.until).slice(0, RECENT_MAX);
    this.#record(channel, {
      ...record, recent: Object.fromEntries(recent), dropped: 0, isParked: false,
      allowance: Math.max(0, allowance - 1), allowanceAt: now,
    });
    return { ...message, sentAt: now, dropped: record.dropped };
  }

  #refill({ name, perHour }: ChannelConfig, now: Millis): number {
    const { allowance, allowanceAt } = this.channel(name);
    const grown = Math.max(0, now - allowanceAt) * perHour / HOUR_MS;
    return Math.min(BURST_MAX, perHour, allowance + grown);
  }

  /** Replaces messages by one that lists them. */
  #merge(messages: readonly QueuedMessage[], now: Millis): QueuedMessage {
    const merged: QueuedMessage = {
      ...digestOf(messages, now), id: randomUUID(), runId: this.#runId, channel: messages[0]!.channel, uncertain: 0,
      notBefore: now, isSending: false, attempts: 0, refusals: 0, isHeld: false,
    };
    for (const { id } of messages) this.#remove(id);
    this.#put(merged);
    return merged;
  }

  #bound(channel: string): void {
    const waiting = this.#of(channel);
    const characters = waiting.reduce((sum, { title, text = '' }) => sum + title.length + text.length, 0);
    if (waiting.length <= QUEUE_MAX && characters <= QUEUE_CHARACTERS_MAX) return;
    const spare = waiting.filter(({ isSending }) => !isSending);
    const [least] = [...spare].sort((a, b) => urgency(a.level) - urgency(b.level) || a.at - b.at);
    if (least !== undefined && least.level !== 'critical') this.#drop(least);
    else this.#merge(spare.slice(0, MERGED_AT_ONCE), Math.max(...spare.map(({ lastAt }) => lastAt)));
  }

  #dropOld(channel: string, now: Millis): void {
    for (const message of this.#of(channel))
      if (!message.isSending && now - message.lastAt > AGE_MAX_MS[message.level]) this.#drop(message);
  }

  #drop({ id, channel, count }: QueuedMessage): void {
    this.#remove(id);
    const record = this.channel(channel);
    this.#record(channel, { ...record, dropped: record.dropped + count });
  }

  #of(channel: string): QueuedMessage[] {
    return this.messages.filter((message) => message.channel === channel);
  }

  #put(message: QueuedMessage): void {
    this.#messages.set(message.id, message);
    this.dirty.messages.add(message.id);
  }

  #remove(id: string): void {
    this.#messages.delete(id);
    this.dirty.messages.add(id);
  }

  #record(name: string, record: ChannelRecord): void {
    this.#channels.set(name, record);
    this.dirty.channels.add(name);
  }
}

/** Returns how many messages of a channel wait, and how many of them it has refused. */
export function waitingOf(
  messages: readonly QueuedMessage[], channel: string,
): Pick<ChannelStats, 'waiting' | 'refused'> {
  const own = messages.filter((message) => message.channel === channel);
  return { waiting: own.length, refused: own.filter(({ refusals }) => refusals > 0).length };
}

/** What the run itself says at its highest level passes every rate; a strategy's text does not. */
function isUrgent({ level, strategy }: QueuedMessage): boolean {
  return level === 'critical' && strategy === undefined;
}

/** What was refused comes last, then the most urgent first, fills after all else, then the oldest. */
function inOrder(a: QueuedMessage, b: QueuedMessage): number {
  return a.refusals - b.refusals || Number(isUrgent(b)) - Number(isUrgent(a)) || urgency(b.level) - urgency(a.level)
    || Number(a.topic === 'fills') - Number(b.topic === 'fills') || a.at - b.at;
}
