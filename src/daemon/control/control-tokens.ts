import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { controlTokenFaults } from '../../config/resolve-connections.ts';
import { GannetError } from '../../core/errors.ts';
import { CONTROL_TOKENS } from '../../core/secret-strength.ts';
import type { Millis } from '../../core/time.ts';

/** What the holder of a token may do. A viewer reads; an operator also commands. */
export type ControlRole = keyof typeof CONTROL_TOKENS;

/** The bearer tokens of the control API. */
export type ControlTokens = Readonly<Record<ControlRole, string>>;

const TOKEN_BYTES = 32;

/**
 * Returns the tokens of the environment, and random ones of 256 bits in place of absent ones. Throws CONFIG_INVALID for
 * a weak one.
 */
export function controlTokensOf(environment: Readonly<Record<string, string | undefined>>): ControlTokens {
  const [fault] = controlTokenFaults(environment);
  if (fault !== undefined) throw new GannetError('CONFIG_INVALID', fault);
  const token = (role: ControlRole): string => {
    const given = environment[CONTROL_TOKENS[role]] ?? '';
    return given === '' ? randomBytes(TOKEN_BYTES).toString('base64url') : given;
  };
  return { operator: token('operator'), viewer: token('viewer') };
}

/**
 * Returns a function that reads the role from an "Authorization" header; undefined for a wrong or missing token. Its
 * time depends neither on the tokens nor on how much of one is right.
 */
export function roleReader(tokens: ControlTokens): (authorization: string | undefined) => ControlRole | undefined {
  const operator = digestOf(`Bearer ${tokens.operator}`);
  const viewer = digestOf(`Bearer ${tokens.viewer}`);
  return (authorization = '') => {
    const given = digestOf(authorization);
    const [isOperator, isViewer] = [timingSafeEqual(given, operator), timingSafeEqual(given, viewer)];
    return isOperator ? 'operator' : isViewer ? 'viewer' : undefined;
  };
}

/** Returns the hash of a text, of one length for every text: what is compared in constant time. */
export function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

const WINDOW_MS: Millis = 60_000;
/** Enough for a person who mistypes a token, or a script with an old one. */
const PROMPT_PER_WINDOW = 10;
const HELD_MAX = 8;
/** How long a refusal beyond that is held back. */
export const HELD_MS: Millis = 1_000;

/** Counts refused requests by the minute, so that their number cannot fill a log. */
export class RefusedRequests {
  #windowFrom: Millis = -Infinity;
  #count = 0;

  /** Counts a request. `isFirst` is true for the first few of a minute, `isFlood` for the one after them. */
  add(now: Millis): { readonly isFirst: boolean; readonly isFlood: boolean } {
    // A clock that was set back begins a new window.
    if (now < this.#windowFrom || now - this.#windowFrom >= WINDOW_MS) {
      this.#windowFrom = now;
      this.#count = 0;
    }
    this.#count += 1;
    return { isFirst: this.#count <= PROMPT_PER_WINDOW, isFlood: this.#count === PROMPT_PER_WINDOW + 1 };
  }
}

/** How a request with a wrong token is answered: at once, after a pause, or not at all. */
type RefusalManner = 'prompt' | 'held' | 'dropped';

/** Beyond so many addresses within a minute, all count as new: each has ten prompt answers again. */
const ADDRESSES_MAX = 1_000;

/**
 * Bounds the answers to wrong tokens: ten a minute are prompt for each address, eight at a time are held back, and
 * other connections are closed. A right token is always served at once, so guesses cannot lock the operator out.
 */
export class WrongTokens {
  readonly #refused = new RefusedRequests();
  readonly #byAddress = new Map<string, RefusedRequests>();
  #held = 0;

  /** Counts a wrong token. `isFlood` is true once a window: when the prompt answers of the window are used up. */
  take(now: Millis, address: string): { readonly manner: RefusalManner; readonly isFlood: boolean } {
    if (this.#byAddress.size >= ADDRESSES_MAX) this.#byAddress.clear();
    const own = this.#byAddress.get(address) ?? new RefusedRequests();
    this.#byAddress.set(address, own);
    const { isFirst } = own.add(now);
    const { isFlood } = this.#refused.add(now);
    if (isFirst) return { manner: 'prompt', isFlood };
    if (this.#held >= HELD_MAX) return { manner: 'dropped', isFlood };
    this.#held += 1;
    return { manner: 'held', isFlood };
  }

  /** A refusal that was held back is answered now. */
  release(): void {
    this.#held -= 1;
  }
}
