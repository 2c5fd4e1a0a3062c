import { pluralize } from './text.ts';

/** The environment variables that hold the tokens of the control API, by what the token allows. */
export const CONTROL_TOKENS = { operator: 'GANNET_CONTROL_TOKEN', viewer: 'GANNET_CONTROL_VIEWER_TOKEN' } as const;

/** The environment variable that holds the token for signals, which allows nothing else. */
export const SIGNALS_TOKEN = 'GANNET_SIGNALS_TOKEN';

/** The least entropy of a secret that protects money, in bits. */
export const SECRET_BITS_MIN = 128;
/** A longer text is no token: it would fill a request's headers. */
const CHARACTERS_MAX = 512;
/** Random texts of sufficient length have more different characters; the chance of fewer is below one in a million. */
const DIFFERENT_MIN = 8;
/** A random text continues a sequence or repeats a part of itself by chance, but never in so large a part. */
const PREDICTED_SHARE_MAX = 0.25;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Returns why a text cannot be a secret of 128 random bits, for people and without any part of it; undefined where it
 * can. No rule can prove that a text is random. This one refuses texts that are too short for their alphabet, and the
 * usual weak ones: repeats, sequences, keyboard rows, words, UUIDs.
 */
export function weaknessOf(secret: string): string | undefined {
  if (!/^[\x21-\x7e]*$/.test(secret)) return 'it has blanks, or characters that are not ASCII';
  if (secret.length > CHARACTERS_MAX) return `it has more than ${CHARACTERS_MAX} characters`;
  const bits = bitsAtMost(secret);
  if (bits < SECRET_BITS_MIN) return `its ${pluralize(secret.length, 'character')} can hold ${bits} bits at most`;
  if (UUID.test(secret)) return 'it is a UUID, which has 122 random bits at most';
  const different = new Set(secret).size;
  if (different < DIFFERENT_MIN) return `it has only ${pluralize(different, 'different character')}`;
  if (predicted(secret.toLowerCase()) > PREDICTED_SHARE_MAX * secret.length)
    return 'it repeats itself, or follows the alphabet, the digits or a row of the keyboard';
  return !isHexadecimal(secret) && readsLikeWords(secret) ? 'it is made of words' : undefined;
}

/** Returns the most bits that a text of this length and alphabet can hold. Separators in hexadecimal text hold none. */
function bitsAtMost(secret: string): number {
  if (isHexadecimal(secret)) {
    const plain = secret.replaceAll(SEPARATOR, '');
    return Math.floor(plain.length * (/^\d*$/.test(plain) ? Math.log2(10) : 4));
  }
  // Both cases: base64. One case: base32, or letters alone.
  const alphabet = /[a-z]/.test(secret) && /[A-Z]/.test(secret) ? 64 : /\d/.test(secret) ? 32 : 26;
  return Math.floor(secret.length * Math.log2(alphabet));
}

const SEPARATOR = /[-:._]/g;

function isHexadecimal(secret: string): boolean {
  return /^(?:[0-9a-f]*|[0-9A-F]*)$/.test(secret.replaceAll(SEPARATOR, ''));
}

const ROWS = ['0123456789', 'abcdefghijklmnopqrstuvwxyz', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'] as const;
/** Shorter sequences and repeats occur in random texts. */
const SEQUENCE_LEAST = 4;
const REPEAT_LEAST = 5;

/** Returns how many characters of a text belong to a sequence, or repeat an earlier part of the text. */
function predicted(text: string): number {
  const marked = new Set<number>();
  for (const row of ROWS) {
    for (let at = 0; at + SEQUENCE_LEAST <= text.length; at++) {
      const places = Array.from(text.slice(at, at + SEQUENCE_LEAST), (char) => row.indexOf(char));
      const [first = -1, second = -1] = places;
      const step = second - first;
      const isSequence = Math.abs(step) <= 1
        && places.every((place, index) => place >= 0 && place === first + index * step);
      if (isSequence) for (let index = 0; index < SEQUENCE_LEAST; index++) marked.add(at + index);
    }
  }
  for (let at = 0; at + REPEAT_LEAST <= text.length; at++) {
    if (text.indexOf(text.slice(at, at + REPEAT_LEAST)) === at) continue;
    for (let index = 0; index < REPEAT_LEAST; index++) marked.add(at + index);
  }
  return marked.size;
}

/** The most frequent pairs of neighbouring letters in English text: about half of all its pairs. */
const FREQUENT_PAIRS: ReadonlySet<string> = new Set(('th he in er an re on at en nd ti es or te of ed is it al ar st '
  + 'to nt ng se ha as ou io le ve co me de hi ri ro ic ne ea ra ce li ch ll be ma si om ur').split(' '));
/** Of the pairs in a random text, 7 % are frequent ones; of those in English, half. */
const WORDS_SHARE = 0.4;
const PAIRS_LEAST = 12;

function readsLikeWords(secret: string): boolean {
  const letters = secret.toLowerCase();
  const pairs = Array.from({ length: letters.length - 1 }, (_, at) => letters.slice(at, at + 2))
    .filter((pair) => /^[a-z]{2}$/.test(pair));
  return pairs.length >= PAIRS_LEAST
    && pairs.filter((pair) => FREQUENT_PAIRS.has(pair)).length >= WORDS_SHARE * pairs.length;
}
