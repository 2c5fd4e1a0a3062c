import type { Subscription } from 'rxjs';
import { messageOf } from '../../core/errors.ts';
import type { Random } from '../../core/random.ts';
import { pluralize } from '../../core/text.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { Log } from '../reporting/log.ts';
import type { Channel, Delivery, Notification, Notifier } from './notification.ts';
import type { Outbox } from './outbox.ts';
import type { OutboxStore } from './outbox-store.ts';

/** What may wait for the next turns of the event loop. Critical notifications of the run itself are beyond it. */
const PENDING_MAX = 2_000;
/** A flood must not hold the event loop for long. */
const QUEUED_A_TURN = 100;
const DISK_RETRY_MS: Millis = 30_000;
const CLOSE_MS: Millis = 5_000;

/** Sends what the outbox holds: to each channel one message at a time, each written to the disk before. */
export class Dispatcher implements Notifier {
  readonly #outbox: Outbox;
  readonly #store: Pick<OutboxStore, 'save' | 'close'>;
  readonly #channels: ReadonlyMap<string, Channel>;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Log;
  readonly #timers = new Map<string, Subscription>();
  readonly #sending = new Map<string, Promise<void>>();
  /** The fault of each channel that the log has; undefined after a success. */
  readonly #logged = new Map<string, string>();
  readonly #abort = new AbortController();
  readonly #pending: Notification[] = [];
  #overflowed = 0;
  /** No attempt to write before: each one to a locked file holds the event loop for a moment. */
  #writeAt: Millis = -Infinity;
  #isClosed = false;

  constructor(parts: {
    readonly outbox: Outbox; readonly store: Pick<OutboxStore, 'save' | 'close'>;
    readonly channels: ReadonlyMap<string, Channel>; readonly clock: Clock; readonly random: Random; readonly log: Log;
  }) {
    this.#outbox = parts.outbox;
    this.#store = parts.store;
    this.#channels = parts.channels;
    this.#clock = parts.clock;
    this.#random = parts.random;
    this.#log = parts.log;
    this.#wakeAt('start', this.#clock.now(), () => { this.#sendAll(); });
  }

  notify(notification: Notification): void {
    if (this.#isClosed) return;
    const isUrgent = notification.level === 'critical' && notification.strategy === undefined;
    if (this.#pending.length >= PENDING_MAX && !isUrgent) {
      this.#overflowed += 1;
      return;
    }
    this.#pending.push(notification);
    // Neither the disk nor a channel is touched while the run decides.
    if (this.#pending.length === 1) this.#wakeAt('pending', this.#clock.now(), () => { this.#sendAll(); });
  }

  /** Gives the channels a bounded time for what waits; the rest stays on the disk for the next run. */
  async close(withinMs: Millis = CLOSE_MS): Promise<void> {
    const late = Promise.withResolvers<void>();
    const deadline = this.#clock.schedule(() => { late.resolve(); }, withinMs);
    do {
      this.#sendAll();
    } while (this.#pending.length > 0);
    await Promise.race([this.#idle(), late.promise]);
    deadline.unsubscribe();
    this.#isClosed = true;
    for (const timer of this.#timers.values()) timer.unsubscribe();
    this.#abort.abort();
    await Promise.all(this.#sending.values());
    this.#writeAt = -Infinity;
    this.#save();
    this.#store.close();
    await Promise.all([...this.#channels.values()].map((channel) => channel.close()));
  }

  async #idle(): Promise<void> {
    while (this.#sending.size > 0 && !this.#isClosed) await Promise.race(this.#sending.values());
  }

  #sendAll(): void {
    for (const notification of this.#pending.splice(0, QUEUED_A_TURN))
      this.#outbox.add(notification, this.#clock.now());
    if (this.#pending.length > 0) this.#wakeAt('pending', this.#clock.now(), () => { this.#sendAll(); });
    else if (this.#overflowed > 0) {
      this.#log('warn', `notifications: ${this.#overflowed} of one moment were too many, and were dropped`);
      this.#overflowed = 0;
    }
    this.#save();
    for (const name of this.#channels.keys()) this.#sendNext(name);
  }

  #sendNext(name: string): void {
    if (this.#isClosed || this.#sending.has(name)) return;
    const taken = this.#outbox.take(name, this.#clock.now());
    this.#save();
    if (!('message' in taken)) {
      if (taken.askAt !== undefined && Number.isFinite(taken.askAt))
        this.#wakeAt(name, taken.askAt, () => { this.#sendNext(name); });
      return;
    }
    const { message } = taken;
    const sending = this.#channels.get(name)!.send(message, this.#abort.signal)
      .catch((error: unknown): Delivery => ({ kind: 'failed', fault: messageOf(error), mayHaveArrived: true }))
      .then((delivery) => {
        this.#outbox.settle(message.id, delivery, this.#clock.now(), this.#random());
        this.#save();
        this.#report(name, delivery);
        this.#sending.delete(name);
        this.#sendNext(name);
      });
    this.#sending.set(name, sending);
  }

  #save(): void {
    const now = this.#clock.now();
    if (now < this.#writeAt || this.#store.save(this.#outbox, now) || this.#isClosed) return;
    this.#writeAt = now + DISK_RETRY_MS;
    this.#wakeAt('disk', this.#writeAt, () => { this.#sendAll(); });
  }

  #wakeAt(name: string, at: Millis, work: () => void): void {
    this.#timers.get(name)?.unsubscribe();
    this.#timers.set(name, this.#clock.schedule(work, Math.max(0, at - this.#clock.now())));
  }

  /** Logs the first of a series of equal faults, and its end. */
  #report(name: string, delivery: Delivery): void {
    const before = this.#logged.get(name);
    if (delivery.kind === 'sent') {
      if (before !== undefined) this.#log('info', `notifications: ${name} takes messages again`);
      this.#logged.delete(name);
      return;
    }
    if (this.#abort.signal.aborted) return;
    const { kind, fault } = delivery;
    const said = kind === 'failed' ? kind : `${kind} ${delivery.of}`;
    if (before === said) return;
    this.#logged.set(name, said);
    const waiting = pluralize(this.#outbox.messages.filter(({ channel }) => channel === name).length, 'message');
    if (kind === 'failed') {
      this.#log('warn', `notifications: ${name} cannot be reached: ${fault}. It is tried again; ${waiting} waiting`);
      return;
    }
    this.#log('error', `notifications: ${name} refuses ${delivery.of === 'channel' ? 'all messages' : 'a message'}: `
      + `${fault}. What to do: ${delivery.remedy}. It is tried again in an hour and at the next start; ${waiting} `
      + 'waiting');
  }
}
