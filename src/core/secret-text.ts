/** So long a part of a secret is as good as the whole; shorter ones turn up by chance. */
const TELLING_RUN = 16;
/** Anything shorter is blotted out only as it stands: in other spellings it would be found everywhere. */
const SHORTEST_SPELLED = 6;
/** Of each of the two characters that a pair's place is made of; a place that two pairs share costs time alone. */
const PAIR_BITS = 7;
const PAIRS = 1 << (2 * PAIR_BITS);
/** A character as writers of JSON and of addresses may have it, however often escaped. */
const SPELLING = /\\+(?:(?:u00|x)([0-9a-f]{2}))?|%(?:25)*([0-9a-f]{2})/iy;
/** What stands between the characters of those spellings, whatever they spell. */
const SPELLING_PAIRS = ['\\\\', '\\u', '\\x', 'u0', '00', '%2', '25', '52'];

/** A stretch of a text: its first character, and the one behind its last. */
type Stretch = readonly [start: number, end: number];

/**
 * Returns a function that puts `mark` in place of every run of a secret's characters, 16 of them or all of a shorter
 * one, plain or escaped as JSON or an address may have it. Its time grows with the text alone, whatever is in it.
 */
export function createRedaction(secrets: readonly string[], mark: string): (text: string) => string {
  const blotters = [...new Set(secrets)].filter((secret) => secret !== '').map((secret) => blotterOf(secret, mark));
  return (text) => blotters.reduce((blotted, blot) => blot(blotted), text);
}

/**
 * Returns what may be a key in an address: parts of its path and of its query of at least 16 characters, and whoever it
 * names as user.
 */
export function addressSecrets(address: string): string[] {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined) return [];
  const parts = [
    ...url.pathname.split('/'), ...url.search.slice(1).split(/[&=]/), ...[...url.searchParams].flat(), url.username,
    url.password,
  ];
  return [...new Set(parts)].filter((part) => part.length >= TELLING_RUN);
}

function blotterOf(secret: string, mark: string): (text: string) => string {
  const { plain } = readSpelled(secret, 0, secret.length);
  if (plain.length < SHORTEST_SPELLED) return (text) => text.replaceAll(secret, mark);
  const length = Math.min(TELLING_RUN, plain.length);
  const spelledPairs = pairTable(spelledPairsOf(plain));
  const runsOf = runFinder(plain, length);
  return (text) => {
    let [blotted, read] = ['', 0];
    for (const [start, end] of chainsOf(text, spelledPairs, length)) {
      const chain = readSpelled(text, start, end);
      for (const [first, last] of runsOf(chain.plain)) {
        blotted += text.slice(read, first === 0 ? start : chain.ends[first - 1]) + mark;
        read = chain.ends[last - 1]!;
      }
    }
    return read === 0 ? text : blotted + text.slice(read);
  };
}

/** Returns a function that finds where a text repeats at least `length` characters of a secret. */
function runFinder(secret: string, length: number): (text: string) => Stretch[] {
  const pairs = pairTable(Array.from({ length: secret.length - 1 }, (_, at) => secret.slice(at, at + 2)));
  const windows = new Set(Array.from({ length: secret.length - length + 1 }, (_, at) => secret.slice(at, at + length)));
  return (text) => {
    const runs: [start: number, end: number][] = [];
    for (const [start, end] of chainsOf(text, pairs, length)) {
      for (let first = start; first + length <= end; first++) {
        if (!windows.has(text.slice(first, first + length))) continue;
        const last = runs.at(-1);
        if (last !== undefined && first <= last[1]) last[1] = first + length;
        else runs.push([first, first + length]);
      }
    }
    return runs;
  };
}

/**
 * Returns the stretches of at least `length` characters in which all neighbours are pairs of the table. Looks first
 * where such a stretch would end: where there is no pair, it cannot begin before, and nothing before need be looked at.
 */
function chainsOf(text: string, pairs: Uint8Array, length: number): Stretch[] {
  const chains: Stretch[] = [];
  // No chain begins before `from` that is not found yet.
  for (let [from, at] = [0, length - 1]; at < text.length; at = from + length - 1) {
    if (pairs[placeOfPair(text, at)] === 0) {
      from = at;
      continue;
    }
    let start = at - 1;
    while (start > from && pairs[placeOfPair(text, start)] === 1) start -= 1;
    let end = at + 1;
    while (end < text.length && pairs[placeOfPair(text, end)] === 1) end += 1;
    if (end - start >= length) chains.push([start, end]);
    from = end;
  }
  return chains;
}

/** Of the character at an index and the one before it. */
function placeOfPair(text: string, at: number): number {
  return ((text.charCodeAt(at - 1) << PAIR_BITS) ^ text.charCodeAt(at)) & (PAIRS - 1);
}

function pairTable(pairs: Iterable<string>): Uint8Array {
  const table = new Uint8Array(PAIRS);
  for (const pair of pairs) table[placeOfPair(pair, 1)] = 1;
  return table;
}

/** Returns all neighbours that a secret's characters have, in whichever way each of them is spelled. */
function spelledPairsOf(secret: string): Set<string> {
  const pairs = new Set(SPELLING_PAIRS);
  for (const [index, char] of secret.split('').entries()) {
    const [high = [], low = []] = Array.from(char.charCodeAt(0).toString(16).padStart(2, '0'), (digit) =>
      [digit, digit.toUpperCase()]);
    for (const digit of high) for (const before of ['0', 'x', '%', '5']) pairs.add(before + digit);
    for (const digit of high) for (const second of low) pairs.add(digit + second);
    pairs.add(`\\${char}`);
    for (const end of [char, ...low]) for (const next of ['\\', '%', secret[index + 1] ?? '\\']) pairs.add(end + next);
  }
  return pairs;
}

/** Returns what a stretch of a text spells, and where the spelling of each character ends. */
function readSpelled(
  text: string, start: number, end: number,
): { readonly plain: string; readonly ends: readonly number[] } {
  let plain = '';
  const ends: number[] = [];
  for (let at = start; at < end;) {
    let char = text[at]!;
    let next = at + 1;
    if (char === '\\' || char === '%') {
      SPELLING.lastIndex = at;
      const [spelling = '', escaped, encoded] = SPELLING.exec(text) ?? [];
      const digits = escaped ?? encoded;
      if (digits !== undefined) {
        char = String.fromCharCode(Number.parseInt(digits, 16));
        next = at + spelling.length;
      } else if (char === '\\') {
        // Backslashes before a character that needs none, as before a slash.
        char = text[at + spelling.length] ?? '';
        next = at + spelling.length + 1;
      }
    }
    at = next;
    if (char === '') continue;
    plain += char;
    ends.push(at);
  }
  return { plain, ends };
}
