import type { SourceFile } from './layers.ts';
import { lineAt } from '../../src/core/source-text.ts';

/** A word that readers would have to learn, and what to write instead. */
interface BannedWord {
  readonly word: string;
  readonly instead: string;
}

// Each is a regular expression; it is found as a whole word, and as a part of an identifier in camel case.
const BANNED_WORDS: readonly BannedWord[] = [
  { word: 'desks?', instead: 'control port' },
  { word: 'legacy', instead: 'restored state' },
  { word: 'chronicles?', instead: 'run recorder' },
  { word: 'wish(?:es)?', instead: 'swap candidate' },
  { word: 'worlds?', instead: 'connections, fixture, perturbation or simulation clock' },
  { word: 'blotters?', instead: 'redact' },
  { word: 'deaths?|alive', instead: 'expiry proof, expiry watch, or valid' },
  { word: 'journeys?', instead: 'executor ports, landing or course' },
  { word: 'complaints?', instead: 'violation or alert' },
  { word: 'steady', instead: 'monotonic' },
  { word: 'doubts?|doubtful', instead: 'warning' },
  { word: 'patient(?:ly)?|patience', instead: 'write-behind or timeout' },
  { word: 'heeds?', instead: 'watch' },
  { word: 'glances?', instead: 'equity sample' },
  { word: 'untimely', instead: 'async guard' },
  { word: 'poison(?:s|ed|ing)?', instead: 'perturbation' },
  { word: 'muted', instead: 'silenced' },
  { word: 'breakable', instead: 'interruptible' },
  { word: 'lessons?', instead: 'rate limit state' },
  { word: 'waiters?', instead: 'caller' },
  { word: 'tally', instead: 'counters' },
  { word: 'nobody|somebody|whoever', instead: 'the subject itself' },
  {
    word: 'look(?:s|ed|ing)?(?![- ]?(?:ups?|ahead|back)\\b|(?:Up|Ahead|Back))', instead: 'check, sample, read or view',
  },
];

/** Phrases of several words. */
const BANNED_PHRASES: readonly BannedWord[] = [
  { word: 'by hand', instead: 'manually' },
  { word: 'lets? go', instead: 'clears' },
  { word: 'comes? on', instead: 'triggers' },
  { word: 'is had', instead: 'an active verb' },
  { word: 'having the say', instead: 'control' },
  { word: 'anew', instead: 'again' },
  { word: 'lest', instead: 'so that … not' },
];

/** A banned word that stays, because programs read it or the field uses it. */
interface AllowedTerm {
  readonly term: RegExp;
  /** Where it is allowed; everywhere where absent. */
  readonly path?: RegExp;
  readonly reason: string;
}

const ALLOWED: readonly AllowedTerm[] = [
  { term: /looks like a tip/g, reason: 'a refusal in the words of a person: the bytes cannot tell a tip from a theft' },
  { term: /asLegacyTransaction|as-legacy-transaction/g, reason: 'a parameter of the service' },
  { term: /compileToLegacyMessage/g, reason: 'a method of the Solana library' },
  { term: /to look at/g, path: /^(?:test\/crash|docs\/campaigns)/, reason: 'a name in kept results of crashes' },
  { term: /\bpoison\b/g, path: /docs\/research/, reason: 'a JSON key of `gannet lookahead`' },
  {
    term: /'legacy'|legacy (?:transactions?|messages?|or version 0|form)/gi,
    reason: 'the Solana term for transactions without a version',
  },
  { term: /keep-?alive/gi, reason: 'the HTTP term' },
  { term: /last[- _]?look(?:s|Bps|_bps)?/gi, reason: 'the term for a maker that may still decline' },
  { term: /\bjourney\b/g, path: /(?:cli|e2e|docs|traps)\//, reason: 'a JSON key of `gannet swap`' },
  { term: /\bpoison\b/g, path: /lookahead/, reason: 'a JSON key of `gannet lookahead`' },
  { term: /tries anew/g, path: /exit/, reason: 'a text of alerts that the decision hash covers' },
  { term: /\blesson\b/g, path: /rate/, reason: 'a key of the kept rate limits' },
];

const WORDS = BANNED_WORDS.map(({ word }) => word);
const ALL = [...BANNED_WORDS, ...BANNED_PHRASES];
const WHOLE =
  new RegExp(`(?<![A-Za-z])(?:${[...WORDS, ...BANNED_PHRASES.map(({ word }) => word)].join('|')})(?![A-Za-z])`, 'gi');
const FIRST_PART = new RegExp(`(?<![A-Za-z])(?:${WORDS.join('|')})(?=[A-Z])`, 'g');
const LATER_PART = new RegExp(`(?<=[a-z0-9])(?:${WORDS.map(capitalised).join('|')})(?![a-z])`, 'g');

/** Returns where the name or the text of a file holds a banned word, comments and strings included. */
export function wordViolations({ path, text }: SourceFile): string[] {
  if (path.startsWith('test/architecture')) return [];
  const readable = ALLOWED.filter(({ path: place }) => place?.test(path) !== false)
    .reduce((rest, { term }) => rest.replace(term, (allowed) => ' '.repeat(allowed.length)), text);
  const base = path.slice(path.lastIndexOf('/') + 1);
  return [
    ...found(base).map(({ word }) => `${path}:1: the name of the file holds "${word}"; write ${insteadOf(word)}`),
    ...found(readable).map(({ word, at }) =>
      `${path}:${lineAt(readable, at)}: the word "${word}" is banned; write ${insteadOf(word)}`),
  ];
}

function found(text: string): { word: string; at: number }[] {
  return [WHOLE, FIRST_PART, LATER_PART].flatMap((pattern) =>
    [...text.matchAll(pattern)].map((match) => ({ word: match[0], at: match.index })));
}

function insteadOf(found: string): string {
  return ALL.find(({ word }) => new RegExp(`^(?:${word})$`, 'i').test(found))?.instead ?? 'plain English';
}

function capitalised(pattern: string): string {
  return pattern.split('|').map((word) => word[0]!.toUpperCase() + word.slice(1)).join('|');
}
