import type { Mint } from '../token.ts';
import type { Declared, FeedKind, Reading, TokenNames } from './feed-kind.ts';
import type { LendingEvents, LendingSubjects } from './lending.ts';
import { LENDING_FEEDS } from './lending.ts';
import type { PortfolioEvents, PortfolioSubjects } from './portfolio.ts';
import { PORTFOLIO_FEEDS } from './portfolio.ts';
import type { PredictionEvents, PredictionSubjects } from './prediction.ts';
import { PREDICTION_FEEDS } from './prediction.ts';
import type { SignalEvents, SignalSubjects } from './signals.ts';
import { SIGNAL_FEEDS } from './signals.ts';
import type { SwapEvents, SwapSubjects } from './swap.ts';
import { SWAP_FEEDS } from './swap.ts';
import type { TokenEvents, TokenSubjects } from './tokens.ts';
import { TOKEN_FEEDS } from './tokens.ts';
import type { WalletEvents, WalletSubjects } from './wallet.ts';
import { WALLET_FEEDS } from './wallet.ts';

// A new kind of an API group is added in the file of that group alone: subject, event and definition.

/** What each kind of feed is about. */
interface SubjectByKind extends SwapSubjects, TokenSubjects, PredictionSubjects, LendingSubjects, SignalSubjects,
  WalletSubjects, PortfolioSubjects {}

/** The event of each kind of feed. */
export interface FeedEventByKind extends SwapEvents, TokenEvents, PredictionEvents, LendingEvents, SignalEvents,
  WalletEvents, PortfolioEvents {}

/** The kinds of feeds. */
export type FeedKindName = keyof SubjectByKind;

/** The subject of a feed: its kind, and what names it among the feeds of the kind. */
export type FeedSubject = { [K in FeedKindName]: { readonly kind: K } & SubjectByKind[K] }[FeedKindName];

/** The event of any feed. */
export type FeedEvent = FeedEventByKind[FeedKindName];

type AnyFeedKind = FeedKind<FeedSubject, FeedEvent>;

const FEED_KINDS: { readonly [K in FeedKindName]: FeedKind<SubjectByKind[K], FeedEventByKind[K]> } =
  {
    ...SWAP_FEEDS, ...PREDICTION_FEEDS, ...TOKEN_FEEDS, ...LENDING_FEEDS, ...SIGNAL_FEEDS, ...WALLET_FEEDS,
    ...PORTFOLIO_FEEDS,
  };

/** All kinds of feeds, in the order in which recordings list them. */
export const FEED_KIND_NAMES = Object.keys(FEED_KINDS) as readonly FeedKindName[];

/** Returns the definition of a kind. */
export function feedKindOf(kind: FeedKindName): AnyFeedKind {
  // Each definition takes the subjects and the events of its own kind, with which alone it is called.
  return FEED_KINDS[kind] as unknown as AnyFeedKind;
}

/** Returns whether a text names a kind of feed. */
export function isFeedKind(kind: unknown): kind is FeedKindName {
  return typeof kind === 'string' && Object.hasOwn(FEED_KINDS, kind);
}

/** Returns the subject that a strategy declares, or what is wrong with it: "is of the kind …". */
export function readFeedSubject(declared: Declared, reading: Reading): FeedSubject | string {
  const { kind } = declared;
  if (!isFeedKind(kind)) {
    const inputs = [...new Set(FEED_KIND_NAMES.map((name) => FEED_KINDS[name].input))];
    return `is of the kind ${reading.shown(kind)}: expected one of ${inputs.slice(0, -1).join(', ')} `
      + `and ${inputs.at(-1)!}`;
  }
  const subject = feedKindOf(kind).read(declared, reading);
  return typeof subject === 'string' ? subject : { ...subject, kind } as FeedSubject;
}

/** Returns the tokens that a feed or one of its events is about. */
export function mintsOf(of: FeedSubject | FeedEvent): readonly Mint[] {
  return feedKindOf(of.kind).mints(of);
}

/** Returns the content of an event for people. */
export function readFeedEvent(event: FeedEvent, names: TokenNames): string {
  return feedKindOf(event.kind).reading(event, names);
}
