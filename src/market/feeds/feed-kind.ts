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
  /** The most feeds of one interval that one request serves. */
  readonly feedsPerRequest: number;
  /** Returns the tokens that a feed or one of its events is about. */
  readonly mints: (of: Subject | Event) => readonly Mint[];
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
