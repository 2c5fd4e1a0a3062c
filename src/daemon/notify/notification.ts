import type { NotificationLevel, NotificationTopic } from '../../config/notifications/channel-config.ts';
import type { Millis } from '../../core/time.ts';

/** Something that a person is told. */
export interface Notification {
  /** What the channels' `events` select. */
  readonly topic: NotificationTopic;
  readonly level: NotificationLevel;
  /** What has happened, in a sentence. It may hold text from outside. */
  readonly title: string;
  /** What it means and what to do, in sentences; lines are kept. */
  readonly text?: string | undefined;
  readonly at: Millis;
  /** Notifications with the same key within a channel's `repeat_after` become one message with their number. */
  readonly key: string;
  /** Undefined where it is about the run as a whole. */
  readonly strategy?: string | undefined;
  /** Plain values for programs. */
  readonly facts?: Readonly<Record<string, string | number | boolean | null>> | undefined;
}

/** Takes what people are told. It neither waits nor throws, and without channels it does nothing. */
export interface Notifier {
  notify(notification: Notification): void;
}

/** A notification on its way to one channel. */
export interface Message extends Notification {
  /** The same in each attempt. */
  readonly id: string;
  readonly runId: string;
  /** How many notifications it stands for. */
  readonly count: number;
  /** When the newest of them happened. */
  readonly lastAt: Millis;
  /** When this attempt began. */
  readonly sentAt: Millis;
  /** How often it was sent without an answer that says whether it arrived. */
  readonly uncertain: number;
  /** How many messages of the channel were dropped before this one. */
  readonly dropped: number;
}

/** What became of an attempt to send a message. */
export type Delivery =
  | { readonly kind: 'sent' }
  /** Another attempt may succeed; `arrived` is possible where the message was sent and no answer came. */
  | { readonly kind: 'failed'; readonly fault: string; readonly retryAfterMs?: Millis | undefined;
    readonly mayHaveArrived: boolean }
  /** No attempt succeeds before an operator acts: on the channel's settings, or on this message alone. */
  | { readonly kind: 'refused'; readonly fault: string; readonly remedy: string; readonly of: 'channel' | 'message' };

/** Sends messages to one receiver. */
export interface Channel {
  /** Resolves within a bounded time and never rejects. */
  send(message: Message, signal: AbortSignal): Promise<Delivery>;
  close(): Promise<void>;
}
