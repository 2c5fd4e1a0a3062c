import { Observable, type Subscription } from 'rxjs';
import { WebSocket, type RawData } from 'ws';
import { z } from 'zod';
import type { Clock, Millis } from '../core/time.ts';
import { parseRpcUrl } from './rpc-client.ts';

/** What a subscription says. `open`: the node has taken it. `closed`: it may have missed something since. */
export type SubscriptionNews = 'open' | 'notified' | 'closed';

/** A subscription of the JSON-RPC, with its parameters. */
interface NodeSubscription {
  readonly kind: 'signature' | 'account' | 'logs';
  readonly params: readonly unknown[];
}

/** Subscribes at one node over one websocket, which is opened for the first subscription. */
export interface NodeSocket {
  /**
   * Returns what happens to a subscription, for as long as it is subscribed to. It never fails: after a lost connection
   * it is made again. The contents of notifications are not read: they are a reason to ask the node.
   */
  subscription$(subscription: NodeSubscription): Observable<SubscriptionNews>;
  close(): void;
}

const OPEN_WITHIN_MS: Millis = 5_000;
const ANSWER_WITHIN_MS: Millis = 10_000;
const FIRST_BACK_OFF_MS: Millis = 1_000;
const LAST_BACK_OFF_MS: Millis = 60_000;
/** A connection that lasted so long was good, and the next back-off is the first again. */
const GOOD_AFTER_MS: Millis = 60_000;
/** The line is tested at this interval, and given up after one without any sign of the node. */
const PING_EVERY_MS: Millis = 20_000;
/** Logs are the longest notifications, and the network cuts them at 10 kB. */
const MAX_FRAME_BYTES = 262_144;
/** A node that sends more between two tests of the line is flooding. */
const MAX_MESSAGES = 2_000;
const MAX_BYTES = 8_388_608;
/** Of one connection; nodes have limits too. */
const MAX_SUBSCRIPTIONS = 200;

const answerSchema = z.looseObject({ id: z.int(), result: z.int().optional() });
const notificationSchema = z.looseObject({ params: z.looseObject({ subscription: z.int() }) });

interface Held {
  readonly subscription: NodeSubscription;
  readonly hear: (news: SubscriptionNews) => void;
  /** Of the request under way on this connection. */
  requestId: number | undefined;
  /** The node's number; undefined until it has answered. */
  number: number | undefined;
}

/**
 * Returns the address at which a node usually takes subscriptions: that of its requests with ws in place of http, and
 * the next port where a port is written. A fragment is left out: a websocket has none.
 */
export function wsUrlOf(rpcUrl: string): string {
  const url = parseRpcUrl(rpcUrl);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  if (url.port !== '') url.port = String(Number(url.port) + 1);
  url.hash = '';
  return url.href;
}

/** Returns the socket of a node's address. Nothing that the node sends makes it fail, or grow without bound. */
export function createNodeSocket({ wsUrl, clock }: { readonly wsUrl: string; readonly clock: Clock }): NodeSocket {
  return new ReconnectingSocket(wsUrl, clock);
}

class ReconnectingSocket implements NodeSocket {
  readonly #wsUrl: string;
  readonly #clock: Clock;
  readonly #held = new Set<Held>();
  #socket: WebSocket | undefined;
  /** Of the connection, or of the wait for the next one. */
  readonly #timers = new Set<Subscription>();
  #backOffMs: Millis = FIRST_BACK_OFF_MS;
  #isWaiting = false;
  #isClosed = false;
  #lastId = 0;
  #openedAt: Millis | undefined;
  #messages = 0;
  #bytes = 0;
  #hasHeard = false;

  constructor(wsUrl: string, clock: Clock) {
    this.#wsUrl = wsUrl;
    this.#clock = clock;
  }

  subscription$(subscription: NodeSubscription): Observable<SubscriptionNews> {
    return new Observable((subscriber) => {
      const held: Held = {
        subscription, hear: (news) => { subscriber.next(news); }, requestId: undefined, number: undefined,
      };
      if (this.#isClosed || this.#held.size >= MAX_SUBSCRIPTIONS) return undefined;
      this.#held.add(held);
      if (this.#socket?.readyState === WebSocket.OPEN) this.#request(held);
      else if (this.#socket === undefined && !this.#isWaiting) this.#connect();
      return () => { this.#release(held); };
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#held.clear();
    this.#drop();
    this.#isWaiting = false;
  }

  #connect(): void {
    this.#isWaiting = false;
    // Compression lets a small frame become a large one.
    const socket = new WebSocket(this.#wsUrl, {
      maxPayload: MAX_FRAME_BYTES, perMessageDeflate: false, followRedirects: false,
    });
    this.#socket = socket;
    const isCurrent = (): boolean => this.#socket === socket;
    // After an error 'close' follows. A socket that was dropped may still report one.
    socket.on('error', () => undefined);
    socket.on('close', () => { if (isCurrent()) this.#lost(); });
    // Their frames cost work too; answers that a node does not take are given up by the socket itself.
    socket.on('ping', () => { if (isCurrent() && !this.#counts(0)) this.#lost(); });
    socket.on('pong', () => {
      if (!isCurrent()) return;
      this.#hasHeard = true;
      if (!this.#counts(0)) this.#lost();
    });
    socket.on('message', (data, isBinary) => { if (isCurrent()) this.#receive(data, isBinary); });
    socket.on('open', () => { if (isCurrent()) this.#opened(); });
    this.#after(OPEN_WITHIN_MS, () => { if (socket.readyState !== WebSocket.OPEN) this.#lost(); });
  }

  #opened(): void {
    this.#openedAt = this.#clock.now();
    for (const held of this.#held) this.#request(held);
    this.#hasHeard = true;
    this.#testLine();
  }

  #testLine(): void {
    if (!this.#hasHeard) {
      this.#lost();
      return;
    }
    this.#hasHeard = false;
    this.#messages = 0;
    this.#bytes = 0;
    this.#socket!.ping();
    this.#after(PING_EVERY_MS, () => { this.#testLine(); });
  }

  #request(held: Held): void {
    const { kind, params } = held.subscription;
    held.requestId = this.#send(`${kind}Subscribe`, params);
    const { requestId } = held;
    // A node that takes requests and answers none is as good as gone.
    this.#after(ANSWER_WITHIN_MS, () => {
      if (this.#held.has(held) && held.requestId === requestId) this.#lost();
    });
  }

  #send(method: string, params: readonly unknown[]): number {
    this.#lastId += 1;
    this.#socket!.send(JSON.stringify({ jsonrpc: '2.0', id: this.#lastId, method, params }), () => undefined);
    return this.#lastId;
  }

  #receive(data: RawData, isBinary: boolean): void {
    this.#hasHeard = true;
    const text = (data as Buffer).toString('utf8');
    const message = this.#counts(text.length) && !isBinary ? jsonOf(text) : undefined;
    // Binary frames, floods and what is no JSON: this is no node, or one that is out of order.
    if (message === undefined) {
      this.#lost();
      return;
    }
    const notification = notificationSchema.safeParse(message);
    if (notification.success) this.#notify(notification.data.params.subscription);
    else this.#answer(message);
  }

  /** Counts a frame. Returns false where the node sends more than one that is in order. */
  #counts(bytes: number): boolean {
    this.#messages += 1;
    this.#bytes += bytes;
    return this.#messages <= MAX_MESSAGES && this.#bytes <= MAX_BYTES;
  }

  #notify(number: number): void {
    for (const held of this.#held) {
      if (held.number !== number) continue;
      // The node ends the subscription of a signature with its notification.
      if (held.subscription.kind === 'signature') held.number = undefined;
      held.hear('notified');
    }
  }

  #answer(message: unknown): void {
    const answer = answerSchema.safeParse(message);
    if (!answer.success) return;
    const { id, result } = answer.data;
    const held = [...this.#held].find(({ requestId }) => requestId === id);
    if (held === undefined) return;
    held.requestId = undefined;
    // A refused subscription is not requested again on this connection.
    if (result === undefined) return;
    held.number = result;
    held.hear('open');
  }

  #release(held: Held): void {
    if (!this.#held.delete(held)) return;
    if (held.number !== undefined && this.#socket?.readyState === WebSocket.OPEN)
      this.#send(`${held.subscription.kind}Unsubscribe`, [held.number]);
  }

  /** Ends the connection, and makes the next one after a while if something is still subscribed to. */
  #lost(): void {
    const wasGood = this.#openedAt !== undefined && this.#clock.now() - this.#openedAt >= GOOD_AFTER_MS;
    this.#drop();
    if (wasGood) this.#backOffMs = FIRST_BACK_OFF_MS;
    const waitMs = this.#backOffMs;
    this.#backOffMs = Math.min(waitMs * 2, LAST_BACK_OFF_MS);
    this.#isWaiting = true;
    this.#after(waitMs, () => {
      if (this.#held.size > 0) this.#connect();
      else this.#isWaiting = false;
    });
    // Those that begin while these are told belong to the next connection.
    const interrupted = Array.from(this.#held);
    for (const held of interrupted) {
      held.requestId = undefined;
      held.number = undefined;
      held.hear('closed');
    }
  }

  #drop(): void {
    for (const timer of this.#timers) timer.unsubscribe();
    this.#timers.clear();
    this.#openedAt = undefined;
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.terminate();
  }

  #after(spanMs: Millis, act: () => void): void {
    const timer = this.#clock.schedule(() => {
      this.#timers.delete(timer);
      act();
    }, spanMs);
    this.#timers.add(timer);
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
