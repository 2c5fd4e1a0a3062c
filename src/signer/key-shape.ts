import bs58 from 'bs58';
import { isGannetError } from '../core/errors.ts';
import { parseSecretKey } from './key.ts';
import { isAddress } from '../solana/addresses.ts';
import { NATIVE_MINT, USDC_MINT } from '../solana/constants.ts';

const KEYPAIR_BYTES = 64;
const HEX_KEYPAIR = /^(?:0x)?[0-9a-fA-F]{128}$/;
const NUMBER_LIST = /^\[?\s*(?:\d{1,3}\s*,\s*){31,}\d{1,3}\s*,?\s*\]?$/;

/** Enough to recognise an address, and useless as a part of a seed, which has the same form. */
const ENDS = 6;
/** Well-known addresses, which are no seeds. */
const WELL_KNOWN: ReadonlySet<string> = new Set([NATIVE_MINT, USDC_MINT]);
/** The characters around an address that is a word of its own, not the rest of a key. */
const BESIDE_WORDS = /^[\s"'`()[\]{},;:.?!<>]?$/;
/** The characters of base58, base64, base64url and hex, in the length of a revealing part of a key. */
const STRETCH = /[0-9A-Za-z+/_=-]{16,}/g;
/** A word of names and paths: of one case, or with capitals at word starts; a number may follow. */
const WORD = /^(?:[a-z]+\d{0,4}|[A-Z]+\d{0,4}|[A-Za-z]?(?:[a-z]{2,}[A-Z])*[a-z]{2,}\d{0,4}|\d{1,20})$/;
/** Words this short occur by chance in any key. */
const CHANCE_WORD = /^[A-Za-z]\w?$/;
/** This many characters of a stretch of words may be no words, as in names of versions and temporary folders. */
const MOST_WORDLESS = 9;
const NUMBERS = /\d{1,3}(?:[\s,;]+\d{1,3}){6,}/g;
/** A text with separators between all of its characters. */
const SPACED = /(?<![0-9A-Za-z])(?:[0-9A-Za-z+/_=-][^0-9A-Za-z+/_=-]){15,}[0-9A-Za-z+/_=-](?![0-9A-Za-z])/g;

/**
 * Returns whether a text has a usual form of a wallet's secret key: base58 or hex of 64 bytes, or a list of numbers.
 */
export function hasWalletKeyForm(text: string): boolean {
  const trimmed = text.trim();
  if (HEX_KEYPAIR.test(trimmed) || NUMBER_LIST.test(trimmed)) return true;
  return trimmed.length >= KEYPAIR_BYTES && trimmed.length <= 100
    && bs58.decodeUnsafe(trimmed)?.length === KEYPAIR_BYTES;
}

/**
 * Returns whether a text is a wallet's secret key. 64 bytes in hex may be a random token instead, unless their second
 * half is the public key of the first.
 */
export function isWalletKey(text: string): boolean {
  const trimmed = text.trim();
  if (!HEX_KEYPAIR.test(trimmed)) return hasWalletKeyForm(trimmed);
  try {
    parseSecretKey(bs58.encode(Buffer.from(trimmed.replace(/^0x/, ''), 'hex')));
    return true;
  } catch (error) {
    if (!isGannetError(error)) throw error;
    return false;
  }
}

/**
 * Returns a text with `mark` in place of every possible wallet key or part of one, in base58, base64, hex or numbers,
 * also cut off or garbled. Of an address, 32 bytes in base58, the two ends stay: "Pear99…zfZfij".
 */
export function withoutKeyRuns(text: string, mark: string): string {
  return text.replaceAll(SPACED, mark).replaceAll(NUMBERS, mark)
    .replaceAll(STRETCH, (stretch, at: number, whole: string) => {
      if (isWordy(stretch) || WELL_KNOWN.has(stretch)) return stretch;
      return isSeparateAddress(stretch, [whole[at - 1] ?? '', whole[at + stretch.length] ?? ''])
        ? `${stretch.slice(0, ENDS)}…${stretch.slice(-ENDS)}` : mark;
    });
}

/** Returns whether a text contains a possible wallet key or a part of one; addresses count. */
export function holdsKeyRun(text: string): boolean {
  return text.search(NUMBERS) >= 0 || text.search(SPACED) >= 0
    || (text.match(STRETCH) ?? []).some((stretch) => !isWordy(stretch));
}

function isWordy(stretch: string): boolean {
  const parts = stretch.split(/[^0-9A-Za-z]+/);
  const wordless = parts.filter((part) => !WORD.test(part));
  if (wordless.length === 0) return true;
  const unclear = [...wordless, ...parts.filter((part) => CHANCE_WORD.test(part) && WORD.test(part))];
  return unclear.reduce((length, part) => length + part.length, 0) <= MOST_WORDLESS;
}

function isSeparateAddress(stretch: string, beside: readonly string[]): boolean {
  return isAddress(stretch) && beside.every((char) => BESIDE_WORDS.test(char));
}
