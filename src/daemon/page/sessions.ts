import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock, Millis } from '../../core/time.ts';
import type { ControlRole, ControlTokens } from '../control/control-tokens.ts';
import { digestOf, roleReader } from '../control/control-tokens.ts';

/** A session without a request and without an open page ends after this. */
const IDLE_MAX_MS: Millis = 12 * 3_600_000;
/** Every session ends after this. */
const AGE_MAX_MS: Millis = 7 * 86_400_000;
/** Of each role, so that logins of viewers end no session of an operator. */
const SESSIONS_MAX = 32;
const CODES_MAX = 8;
/** How long a login code is valid. */
export const CODE_MAX_MS: Millis = 600_000;

const SECRET_BYTES = 32;
/** 128 bits are enough for minutes, and the link stays within one line of a terminal. */
const CODE_BYTES = 16;

/** The login of one browser. */
export interface PageLogin {
  readonly role: ControlRole;
  /** What a request that is not a GET repeats in the header `x-gannet-csrf`. */
  readonly csrf: string;
  readonly openedAt: Millis;
  usedAt: Millis;
}

/** A one-time code that opens a session. */
interface LoginCode {
  readonly role: ControlRole;
  readonly madeAt: Millis;
}

/**
 * The sessions of the page and the codes that open them. They are in memory alone: a restart ends them, as it replaces
 * random tokens, and no file holds anything with which a browser could command. Both are kept by their hash, so the
 * time of a search depends on no secret.
 */
export class PageSessions {
  readonly #clock: Clock;
  readonly #roleOf: (authorization: string) => ControlRole | undefined;
  /** The least recently used of a role first. */
  readonly #logins = new Map<string, PageLogin>();
  readonly #codes = new Map<string, LoginCode>();

  constructor({ clock, tokens }: { readonly clock: Clock; readonly tokens: ControlTokens }) {
    this.#clock = clock;
    const roleOf = roleReader(tokens);
    this.#roleOf = (token) => roleOf(`Bearer ${token}`);
  }

  /** Opens a session by a token; undefined for a wrong one. */
  openByToken(token: string): { readonly id: string; readonly login: PageLogin } | undefined {
    const role = this.#roleOf(token);
    return role === undefined ? undefined : this.#open(role);
  }

  /** Opens a session by a code, which no other login can use; undefined for a wrong, used or old one. */
  openByCode(code: string): { readonly id: string; readonly login: PageLogin } | undefined {
    const key = hashOf(code);
    const known = this.#codes.get(key);
    this.#codes.delete(key);
    return known === undefined || this.#clock.now() - known.madeAt >= CODE_MAX_MS ? undefined : this.#open(known.role);
  }

  /** Returns a new login code. */
  makeCode(role: ControlRole): string {
    const code = randomBytes(CODE_BYTES).toString('base64url');
    this.#codes.set(hashOf(code), { role, madeAt: this.#clock.now() });
    const [oldest] = this.#codes.keys();
    if (this.#codes.size > CODES_MAX && oldest !== undefined) this.#codes.delete(oldest);
    return code;
  }

  /** Returns the session of an id, which counts as used now; undefined where it has ended. */
  find(id: string): PageLogin | undefined {
    const key = hashOf(id);
    const login = this.#logins.get(key);
    if (login === undefined) return undefined;
    if (!this.keep(login)) {
      this.#logins.delete(key);
      return undefined;
    }
    this.#logins.delete(key);
    this.#logins.set(key, login);
    return login;
  }

  /** Counts a session as used now, for a page that stays open; returns whether it is still valid. */
  keep(login: PageLogin): boolean {
    const now = this.#clock.now();
    if (now - login.usedAt >= IDLE_MAX_MS || now - login.openedAt >= AGE_MAX_MS) return false;
    if (!this.#logins.values().some((each) => each === login)) return false;
    login.usedAt = now;
    return true;
  }

  /** Ends a session and returns it; undefined where it has ended before. */
  end(id: string): PageLogin | undefined {
    const key = hashOf(id);
    const login = this.#logins.get(key);
    this.#logins.delete(key);
    return login;
  }

  #open(role: ControlRole): { readonly id: string; readonly login: PageLogin } {
    const now = this.#clock.now();
    const id = secret();
    const login: PageLogin = { role, csrf: secret(), openedAt: now, usedAt: now };
    const own = [...this.#logins].filter(([, each]) => each.role === role);
    if (own.length >= SESSIONS_MAX) this.#logins.delete(own[0]![0]);
    this.#logins.set(hashOf(id), login);
    return { id, login };
  }
}

/** Returns whether a text is the CSRF token of a session; its time does not depend on how much of it is right. */
export function isCsrf({ csrf }: PageLogin, text: unknown): boolean {
  return typeof text === 'string' && timingSafeEqual(digestOf(text), digestOf(csrf));
}

function secret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

function hashOf(text: string): string {
  return digestOf(text).toString('base64');
}
