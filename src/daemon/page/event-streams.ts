import type { ServerResponse } from 'node:http';
import type { Subscription } from 'rxjs';
import { interval } from 'rxjs';
import { stringifyJson } from '../../core/json.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { Caller } from '../control/control-guard.ts';
import type { ControlRole } from '../control/control-tokens.ts';
import type { RunStory } from './run-story.ts';
import type { PageLogin } from './sessions.ts';

/** Fewer than the server's connections, so that commands always find one. */
const STREAMS_MAX = 64;
/** Viewers leave some to operators. */
const VIEWER_STREAMS_MAX = 48;
/** How often changes are sent. A state is sent at most every fourth time. */
const FLUSH_MS: Millis = 250;
const STATE_EVERY_MS: Millis = 1_000;
const BEAT_MS: Millis = 15_000;
/** A client that takes nothing for so long is dropped. */
const BLOCKED_MAX_MS: Millis = 10_000;
/** How many stories a new client gets, and at most at once. */
const STORIES_AT_ONCE = 120;
/** Between so many clients, other work of the process may go on. */
const CLIENTS_AT_ONCE = 8;

/** Who opens a stream. */
interface StreamCaller extends Caller {
  readonly lastEventId: string | undefined;
}

interface Client extends StreamCaller {
  readonly response: ServerResponse;
  /** The number of the last change of the story that it has. */
  story: number;
  /** The number of the last state that it has. */
  state: number;
  wroteAt: Millis;
  blockedSince: Millis | undefined;
}

/** The newest state in the form in which it is sent, shared by all clients. */
interface SharedState {
  readonly number: number;
  readonly text: string;
  readonly frames: Readonly<Record<ControlRole, Buffer>>;
}

/**
 * The open event streams of pages. Everything is serialised once and shared. What a client has not taken is not kept
 * for it: it gets the newest state when it can, and the stories that it missed from the bounded list of all stories.
 */
export class EventStreams {
  readonly #clock: Clock;
  readonly #runId: string;
  readonly #read: () => object;
  readonly #story: RunStory;
  readonly #keep: (login: PageLogin) => boolean;
  readonly #onFault: (error: unknown) => void;
  readonly #clients = new Set<Client>();
  #shared: SharedState | undefined;
  #readAt: Millis = -Infinity;
  #timer: Subscription | undefined;
  #isFlushing = false;
  #isFaulty = false;

  constructor({ clock, runId, read, story, keep, onFault }: {
    readonly clock: Clock; readonly runId: string; readonly story: RunStory;
    /** Returns the state without role and time. */
    readonly read: () => object;
    /** Counts a session as used; returns whether it is still valid. */
    readonly keep: (login: PageLogin) => boolean;
    /** Called once where the state can no longer be read: the streams go on with the last one, and so does the run. */
    readonly onFault: (error: unknown) => void;
  }) {
    this.#clock = clock;
    this.#runId = runId;
    this.#read = read;
    this.#story = story;
    this.#keep = keep;
    this.#onFault = onFault;
  }

  get size(): number {
    return this.#clients.size;
  }

  /** Returns whether another stream of a role may be opened. */
  hasRoom(role: ControlRole): boolean {
    if (this.#clients.size >= STREAMS_MAX) return false;
    return role === 'operator'
      || this.#clients.values().reduce((count, each) => count + Number(each.role === role), 0) < VIEWER_STREAMS_MAX;
  }

  /** Adds a client, whose headers are sent already. It gets the state at once, and what it has missed. */
  add(response: ServerResponse, caller: StreamCaller): void {
    const now = this.#clock.now();
    const resumed = this.#resumed(caller.lastEventId);
    const client: Client = {
      ...caller, response, story: resumed ?? this.#story.versionBefore(STORIES_AT_ONCE), state: 0, wroteAt: now,
      blockedSince: undefined,
    };
    this.#clients.add(client);
    response.on('close', () => { this.#remove(client); });
    response.on('error', () => { this.#remove(client); });
    response.write(`retry: 3000\n\n${resumed === undefined ? 'event: fresh\ndata: {}\n\n' : ''}`);
    this.#refresh(now);
    this.#send(client, now);
    this.#timer ??= interval(FLUSH_MS, this.#clock).subscribe(() => { this.#flush(); });
  }

  /** Ends every stream of a session. */
  endOf(login: PageLogin): void {
    for (const client of this.#clients) if (client.login === login) this.#drop(client);
  }

  /** Ends all streams. */
  close(): void {
    for (const client of this.#clients) this.#drop(client);
  }

  /** Returns the number that a client goes on from; undefined where it needs a fresh start. */
  #resumed(lastEventId: string | undefined): number | undefined {
    const [, runId, number] = /^(.{1,100}):(\d{1,15})$/.exec(lastEventId ?? '') ?? [];
    const story = Number(number);
    return runId === this.#runId && story >= this.#story.forgotten && story <= this.#story.version ? story : undefined;
  }

  #flush(): void {
    // The last round is still under way where the process is busy.
    if (this.#isFlushing) return;
    const now = this.#clock.now();
    this.#refresh(now);
    this.#isFlushing = true;
    const waiting = [...this.#clients];
    const next = (): void => {
      for (const client of waiting.splice(0, CLIENTS_AT_ONCE)) if (this.#clients.has(client)) this.#send(client, now);
      if (waiting.length > 0) setImmediate(next);
      else this.#isFlushing = false;
    };
    next();
  }

  /** Reads the state once a second at most, and keeps it where it has changed. */
  #refresh(now: Millis): void {
    if (now - this.#readAt < STATE_EVERY_MS && now >= this.#readAt) return;
    this.#readAt = now;
    for (const { login } of this.#clients) if (login !== undefined && !this.#keep(login)) this.endOf(login);
    const text = this.#readText();
    if (text === undefined || text === this.#shared?.text) return;
    const frame = (role: ControlRole): Buffer =>
      Buffer.from(`event: state\ndata: {"role":"${role}","at":${now},${text.slice(1)}\n\n`);
    this.#shared = {
      number: (this.#shared?.number ?? 0) + 1, text, frames: { operator: frame('operator'), viewer: frame('viewer') },
    };
  }

  /** Undefined where the state cannot be read. An error in a timer would end the process, and with it the trading. */
  #readText(): string | undefined {
    try {
      const text = stringifyJson(this.#read());
      this.#isFaulty = false;
      return text;
    } catch (error) {
      if (!this.#isFaulty) this.#onFault(error);
      this.#isFaulty = true;
      return undefined;
    }
  }

  #send(client: Client, now: Millis): void {
    const { response } = client;
    if (response.writableNeedDrain) {
      client.blockedSince ??= now;
      if (now - client.blockedSince >= BLOCKED_MAX_MS) this.#drop(client);
      return;
    }
    client.blockedSince = undefined;
    const frames: Buffer[] = [];
    const shared = this.#shared;
    if (shared !== undefined && client.state !== shared.number) {
      frames.push(shared.frames[client.role]);
      client.state = shared.number;
    }
    if (client.story < this.#story.forgotten) {
      frames.push(Buffer.from('event: fresh\ndata: {}\n\n'));
      client.story = this.#story.versionBefore(STORIES_AT_ONCE);
    }
    for (const { story, version } of this.#story.changedSince(client.story, STORIES_AT_ONCE)) {
      frames.push(Buffer.from(`id: ${this.#runId}:${version}\nevent: story\ndata: ${stringifyJson(story)}\n\n`));
      client.story = version;
    }
    if (frames.length === 0 && now - client.wroteAt < BEAT_MS) return;
    client.wroteAt = now;
    response.write(frames.length === 0 ? `event: beat\ndata: {"at":${now}}\n\n` : Buffer.concat(frames));
  }

  #drop(client: Client): void {
    this.#remove(client);
    // A browser reports a stream that breaks off as an error.
    if (client.response.writableNeedDrain) client.response.destroy();
    else client.response.end();
  }

  #remove(client: Client): void {
    this.#clients.delete(client);
    if (this.#clients.size > 0) return;
    this.#timer?.unsubscribe();
    this.#timer = undefined;
  }
}
