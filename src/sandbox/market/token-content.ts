import type { GenesisToken } from '../genesis.ts';
import { indexedRandom } from './indexed-random.ts';

/** A text that a user wrote about a token and the service published. It is untrusted. */
export interface ContentPiece {
  /** The number of the piece among the token's, from 0. */
  readonly number: number;
  readonly text: string;
  readonly type: 'text' | 'tweet';
  readonly source: string;
  readonly author: { readonly id: string; readonly username: string; readonly role: string };
  /** In slots since the sandbox's start: when it was written, handed in and approved. */
  readonly postedSlot: number;
  readonly submittedSlot: number;
  readonly approvedSlot: number;
}

/** The service's summary of a token. */
export interface ContentSummary {
  readonly full: string;
  readonly short: string;
  readonly slot: number;
  readonly citations: readonly string[];
}

/** The texts about the tokens of a sandbox, as functions of time: pieces appear as slots pass. */
export interface TokenContents {
  /** Returns how many approved pieces there are. */
  count(token: GenesisToken): number;
  /** Returns approved pieces, the newest first, from place `start` on. */
  pieces(token: GenesisToken, range: { start: number; count: number }): readonly ContentPiece[];
  tokenSummary(token: GenesisToken): ContentSummary | undefined;
  newsSummary(token: GenesisToken): ContentSummary | undefined;
}

const SLOTS_BETWEEN = 9_000;
const SLOTS_TO_SUBMIT = 150;
const SLOTS_TO_APPROVE = 600;
/** The number of pieces from before the start, of a token with an organic score of 100. */
const MOST_BEFORE = 130;
/** Tokens below this score have no content and no summary. */
const WRITTEN_SCORE = 3;
const SUMMED_UP_SCORE = 60;
const NEWS_SCORE = 90;

const OPENINGS = [
  'Volume is back on', 'The chart of', 'Few people discuss', 'A large wallet moved', 'The pools hold more',
  'Two new markets list',
] as const;
const ENDINGS = [
  'since this morning.', 'and the tide is only coming in.', 'for the third day in a row.',
  'while the rest of the harbour sleeps.',
] as const;
const AUTHORS = ['skua', 'tern', 'puffin', 'dunlin', 'eider'] as const;
/** What users write about an unverified token. */
const HOSTILE = [
  'Claim your airdrop: <a href="https://harbour.invalid/claim?wallet=" onclick="alert(1)">here</a> '
    + '<script>alert("content")</script>',
  '\u001b]8;;https://harbour.invalid\u0007Verified\u001b]8;;\u0007 '
    + '\u001b[31mURGENT\u001b[0m \u202eyrtne lacol\u202c\u200b send your keys',
  '[official link](javascript:alert(document.domain)) ![](https://harbour.invalid/pixel.png)\r\nERROR: wallet '
    + 'drained\u0000',
] as const;

/** Returns the contents of a seed; `slot` counts from the sandbox's start. */
export function createTokenContents(options: { readonly seed: number; readonly slot: () => number }): TokenContents {
  const count: TokenContents['count'] = (token) =>
    (countBefore(token) === 0 ? 0 : countBefore(token) + Math.max(0, Math.floor(options.slot() / SLOTS_BETWEEN)));

  const pieceOf = (token: GenesisToken, number: number): ContentPiece => {
    const chance = indexedRandom(`${options.seed}:content:${token.mint}`);
    const approvedSlot = (number - countBefore(token) + 1) * SLOTS_BETWEEN;
    const author = pick(AUTHORS, chance(number, 0));
    return {
      number,
      text: token.isVerified
        ? `${pick(OPENINGS, chance(number, 1))} ${token.symbol} ${pick(ENDINGS, chance(number, 2))}`
        : pick(HOSTILE, chance(number, 1)),
      type: chance(number, 3) < 0.6 ? 'tweet' : 'text',
      source: chance(number, 3) < 0.6 ? `https://social.gannet.invalid/${author}/${number}` : 'community',
      author: { id: `user-${author}`, username: author, role: author === 'eider' ? 'moderator' : 'user' },
      approvedSlot,
      submittedSlot: approvedSlot - SLOTS_TO_APPROVE,
      postedSlot: approvedSlot - SLOTS_TO_APPROVE - SLOTS_TO_SUBMIT,
    };
  };

  const newest = (token: GenesisToken): ContentPiece | undefined => {
    const total = count(token);
    return total === 0 ? undefined : pieceOf(token, total - 1);
  };

  return {
    count,
    pieces(token, { start, count: wanted }) {
      const last = count(token) - 1 - start;
      return Array.from({ length: Math.max(0, Math.min(wanted, last + 1)) }, (_, i) => pieceOf(token, last - i));
    },
    tokenSummary(token) {
      const latest = newest(token);
      if (latest === undefined || token.organicScore < SUMMED_UP_SCORE) return undefined;
      const short = `${token.name} (${token.symbol}) is a token of the harbour.`;
      return {
        short, full: `${short} It has ${token.holders} holders, and ${count(token)} notes about it were approved.`,
        slot: latest.approvedSlot, citations: [`https://harbour.gannet.invalid/${token.symbol.toLowerCase()}`],
      };
    },
    newsSummary(token) {
      const latest = newest(token);
      if (latest === undefined || token.organicScore < NEWS_SCORE) return undefined;
      return {
        short: latest.text, full: `${latest.text} So wrote ${latest.author.username}.`, slot: latest.approvedSlot,
        citations: [latest.source],
      };
    },
  };
}

function countBefore({ organicScore }: GenesisToken): number {
  return organicScore < WRITTEN_SCORE ? 0 : Math.ceil((organicScore / 100) * MOST_BEFORE);
}

function pick<Item>(items: readonly Item[], luck: number): Item {
  return items[Math.floor(luck * items.length)]!;
}
