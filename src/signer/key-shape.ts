import bs58 from 'bs58';
import { isGannetError } from '../core/errors.ts';
import { parseSecretKey } from './key.ts';
import { NATIVE_MINT, USDC_MINT } from './policy/known-programs.ts';

const KEYPAIR_BYTES = 64;
const HEX_KEYPAIR = /^(?:0x)?[0-9a-fA-F]{128}$/;
const NUMBER_LIST = /^\[?\s*(?:\d{1,3}\s*,\s*){31,}\d{1,3}\s*,?\s*\]?$/;

const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const ADDRESS_BYTES = 32;
/** What is enough to know an address by, and of no use where it is a seed: one cannot be told from the other. */
const ENDS = 6;
/** Nobody's seed. */
const EVERYBODYS: ReadonlySet<string> = new Set([NATIVE_MINT, USDC_MINT]);
/** What an address stands beside where it is a word of its own, and not what is left of a key. */
const BESIDE_WORDS = /^[\s"'`()[\]{},;:.?!<>]?$/;
/** What base58, base64, base64url and hex are made of, as long as a part of a key that is as good as told. */
const STRETCH = /[0-9A-Za-z+/_=-]{16,}/g;
/** A word as names and paths have them: of one case, or with capitals where words begin; a number may follow. */
const WORD = /^(?:[a-z]+\d{0,4}|[A-Z]+\d{0,4}|[A-Za-z]?(?:[a-z]{2,}[A-Z])*[a-z]{2,}\d{0,4}|\d{1,20})$/;
/** Chance makes words as long as that in any key. */
const CHANCE_WORD = /^[A-Za-z]\w?$/;
/** So much of a stretch of words may be none, as names of versions and of temporary folders are. */
const MOST_WORDLESS = 9;
const NUMBERS = /\d{1,3}(?:[\s,;]+\d{1,3}){6,}/g;
/** A text with something between all of its characters. */
const SPACED = /(?<![0-9A-Za-z])(?:[0-9A-Za-z+/_=-][^0-9A-Za-z+/_=-]){15,}[0-9A-Za-z+/_=-](?![0-9A-Za-z])/g;

/** Returns whether a text is a wallet's secret key in one of the usual forms: base58 or hex of 64 bytes, or a list of numbers. */
export function looksLikeWalletKey(text: string): boolean {
  const trimmed = text.trim();
  if (HEX_KEYPAIR.test(trimmed) || NUMBER_LIST.test(trimmed)) return true;
  return trimmed.length >= KEYPAIR_BYTES && trimmed.length <= 100 && bs58.decodeUnsafe(trimmed)?.length === KEYPAIR_BYTES;
}

/**
 * Returns whether a text is a wallet's secret key and not only as long as one: 64 bytes in hex are as likely a token that
 * somebody drew at random, unless their second half is the public key of the first.
 */
export function isWalletKey(text: string): boolean {
  const trimmed = text.trim();
  if (!HEX_KEYPAIR.test(trimmed)) return looksLikeWalletKey(trimmed);
  try {
    parseSecretKey(bs58.encode(Buffer.from(trimmed.replace(/^0x/, ''), 'hex')));
    return true;
  } catch (error) {
    if (!isGannetError(error)) throw error;
    return false;
  }
}

/**
 * Returns a text with `mark` in place of whatever may be a wallet's key or a part of one, in base58, base64, hex or numbers,
 * cut off or garbled too. Of an address, 32 bytes in base58, the two ends stay: "Pear99…zfZfij".
 */
export function withoutKeyRuns(text: string, mark: string): string {
  return text.replaceAll(SPACED, mark).replaceAll(NUMBERS, mark)
    .replaceAll(STRETCH, (stretch, at: number, whole: string) => {
      if (isWordy(stretch) || EVERYBODYS.has(stretch)) return stretch;
      return isAddress(stretch, [whole[at - 1] ?? '', whole[at + stretch.length] ?? '']) ? `${stretch.slice(0, ENDS)}…${stretch.slice(-ENDS)}` : mark;
    });
}

/** Returns whether a text holds what may be a wallet's key or a part of one, an address included. */
export function holdsKeyRun(text: string): boolean {
  return text.search(NUMBERS) >= 0 || text.search(SPACED) >= 0 || (text.match(STRETCH) ?? []).some((stretch) => !isWordy(stretch));
}

function isWordy(stretch: string): boolean {
  const parts = stretch.split(/[^0-9A-Za-z]+/);
  const wordless = parts.filter((part) => !WORD.test(part));
  if (wordless.length === 0) return true;
  const doubtful = [...wordless, ...parts.filter((part) => CHANCE_WORD.test(part) && WORD.test(part))];
  return doubtful.reduce((length, part) => length + part.length, 0) <= MOST_WORDLESS;
}

function isAddress(stretch: string, beside: readonly string[]): boolean {
  return ADDRESS.test(stretch) && beside.every((char) => BESIDE_WORDS.test(char)) && bs58.decodeUnsafe(stretch)?.length === ADDRESS_BYTES;
}
