import type { Mint } from '../token.ts';

/** What the process of a strategy declares about one input: hostile until it is read. */
export type Declared = Readonly<Record<string, unknown>>;

/** What the reader of a declaration needs. */
export interface Reading {
  /** Returns whether a text is a base58 address of 32 bytes. */
  readonly isAddress: (text: string) => boolean;
  /** Returns what was found, for messages. */
  readonly shown: (value: unknown) => string;
}

/**
 * What makes events: polls of the service, polls of the chain's node, requests to the daemon, or the engine itself. An
 * input samples what the service states, at its interval. Of the others it sees every event.
 */
export type FeedOrigin = 'service' | 'node' | 'webhook' | 'engine';

/** How people call tokens. */
export interface TokenNames {
  readonly symbol: (mint: string) => string;
  readonly amount: (mint: Mint, amount: bigint) => string;
}

/**
 * One kind of feed: what names its subject, what a strategy may declare, and how people read it. `Subject` is a spec
 * without its kind and its rate.
 */
export interface FeedKind<Subject, Event> {
  /** The function of the SDK that declares it, for messages. */
  readonly input: string;
  /** Returns the part of the feed's key after the kind; equal for equal subjects alone. */
  readonly keyOf: (subject: Subject) => string;
  /** Returns the declared subject, or what is wrong with it: "names the mint …". */
  readonly read: (declared: Declared, reading: Reading) => Subject | string;
  /** The service where absent. */
  readonly origin?: Exclude<FeedOrigin, 'service'> | undefined;
  /** The most feeds of one interval that one request serves. */
  readonly feedsPerRequest: number;
  /** Returns a text that is equal for feeds that one request can serve; without it, all of a kind can. */
  readonly requestOf?: ((subject: Subject) => string) | undefined;
  /**
   * The kind whose request serves this one too, where both feeds have the same key after the kind and the same
   * interval.
   */
  readonly answeredWith?: string | undefined;
  /** Returns the tokens that a feed or one of its events is about. */
  readonly mints: (of: Subject | Event) => readonly Mint[];
  /**
   * Whether recordings have columns for its events. The events of all other kinds are documents: plain data of any form
   * with texts that are safe to print.
   */
  readonly hasColumns?: boolean | undefined;
  /** For people, "the statistics of": one subject and several. */
  readonly nouns: readonly [one: string, many: string];
  /** Whether the part of its key after the kind is one mint. */
  readonly isKeyedByMint?: boolean | undefined;
  /** Returns the content of an event for people, in a few words. */
  readonly reading: (event: Event, names: TokenNames) => string;
}

/** Returns an address as a mint, or what is wrong with it. */
export function readMint(value: unknown, { isAddress, shown }: Reading): { readonly mint: Mint } | string {
  return typeof value === 'string' && isAddress(value) ? { mint: value as Mint }
    : `names the mint ${shown(value)}: expected a base58 address of 32 bytes`;
}

/** Returns whether a value is an id or a term: 1 to 200 characters without controls. */
export function isTerm(value: unknown): value is string {
  return typeof value === 'string' && /^[^\p{Cc}]{1,200}$/u.test(value);
}

/** Returns whether a value is a whole number within bounds. */
export function isWithin(value: unknown, min: number, max: number): value is number {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
}

/** Returns an account's address, or what is wrong with it; `what` says which account. */
export function readAddress(
  what: string, value: unknown, { isAddress, shown }: Reading,
): { readonly address: string } | string {
  return typeof value === 'string' && isAddress(value) ? { address: value }
    : `names the ${what} ${shown(value)}: expected a base58 address of 32 bytes`;
}
