/** A part of a secret of this length is as sensitive as the whole; shorter ones occur by chance. */
const TELLING_RUN = 16;
/** A shorter secret is redacted in its plain spelling only: other spellings of it would match everywhere. */
const SHORTEST_SPELLED = 6;
/** The bits of each character in the table index of a pair. Two pairs with one index cost time, not correctness. */
const PAIR_BITS = 7;
const PAIRS = 1 << (2 * PAIR_BITS);
/** A character as JSON or a URL may escape it, any number of times. */
const SPELLING = /\\+(?:(?:u00|x)([0-9a-f]{2}))?|%(?:25)*([0-9a-f]{2})/iy;
/** The pairs of neighbours that occur within escapes of any character. */
const SPELLING_PAIRS = ['\\\\', '\\u', '\\x', 'u0', '00', '%2', '25', '52'];

/** A range of a text: the index of its first character, and the index after its last. */
type TextRange = readonly [start: number, end: number];

/**
 * Returns a function that replaces every run of a secret's characters by `mark`: 16 characters, or all of a shorter
 * secret, plain or escaped as in JSON or a URL. Its time is linear in the length of the text, whatever the content.
 */
export function createRedaction(secrets: readonly string[], mark: string): (text: string) => string {
  const redactors = [...new Set(secrets)].filter((secret) => secret !== '').map((secret) => redactorOf(secret, mark));
  return (text) => redactors.reduce((redacted, redact) => redact(redacted), text);
}

/** Returns the parts of a URL that may be a key: of path, query, user and password, those of 16 characters or more. */
export function addressSecrets(address: string): string[] {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined) return [];
  const parts = [
    ...url.pathname.split('/'), ...url.search.slice(1).split(/[&=]/), ...[...url.searchParams].flat(), url.username,
    url.password,
  ];
  return [...new Set(parts)].filter((part) => part.length >= TELLING_RUN);
}

function redactorOf(secret: string, mark: string): (text: string) => string {
  const { plain } = readSpelled(secret, 0, secret.length);
  if (plain.length < SHORTEST_SPELLED) return (text) => text.replaceAll(secret, mark);
  const length = Math.min(TELLING_RUN, plain.length);
  const spelledPairs = pairTable(spelledPairsOf(plain));
  const runsOf = runFinder(plain, length);
  return (text) => {
    let [redacted, read] = ['', 0];
    for (const [start, end] of chainsOf(text, spelledPairs, length)) {
      const chain = readSpelled(text, start, end);
      for (const [first, last] of runsOf(chain.plain)) {
        redacted += text.slice(read, first === 0 ? start : chain.ends[first - 1]) + mark;
        read = chain.ends[last - 1]!;
      }
    }
    return read === 0 ? text : redacted + text.slice(read);
  };
}

/** Returns a function that finds where a text repeats at least `length` characters of a secret. */
function runFinder(secret: string, length: number): (text: string) => TextRange[] {
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
 * Returns the ranges of at least `length` characters in which all neighbours are pairs of the table. It checks first
 * where such a range would end: without a pair there, no range begins before that point, so it skips those characters.
 */
function chainsOf(text: string, pairs: Uint8Array, length: number): TextRange[] {
  const chains: TextRange[] = [];
  // All chains that begin before `from` are found.
  for (let [from, at] = [0, length - 1]; at < text.length; at = from + length - 1) {
    if (pairs[pairIndex(text, at)] === 0) {
      from = at;
      continue;
    }
    let start = at - 1;
    while (start > from && pairs[pairIndex(text, start)] === 1) start -= 1;
    let end = at + 1;
    while (end < text.length && pairs[pairIndex(text, end)] === 1) end += 1;
    if (end - start >= length) chains.push([start, end]);
    from = end;
  }
  return chains;
}

/** Returns the table index of the pair of a character and the one before it. */
function pairIndex(text: string, at: number): number {
  return ((text.charCodeAt(at - 1) << PAIR_BITS) ^ text.charCodeAt(at)) & (PAIRS - 1);
}

function pairTable(pairs: Iterable<string>): Uint8Array {
  const table = new Uint8Array(PAIRS);
  for (const pair of pairs) table[pairIndex(pair, 1)] = 1;
  return table;
}

/** Returns all pairs of neighbours in a secret, in every spelling of its characters. */
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

/** Returns the characters that a range of a text spells, and the index after each character's spelling. */
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
        // A character that is escaped without need, such as a slash.
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
