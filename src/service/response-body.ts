import type { Readable } from 'node:stream';
import { GannetError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { parseJson } from '../core/json.ts';
import { printable } from '../core/text.ts';

/** Each piece costs a buffer, so that bytes sent one by one would cost hundreds of times their number. */
const MOST_PIECES = 100_000;

/**
 * Returns the text of a body, counting its bytes while they come. The stream is always read to its end or destroyed.
 * Throws SERVICE_MALFORMED on more than `maxBytes`, on too many pieces and on bytes that are not UTF-8, and whatever
 * the stream throws.
 */
export async function readText(body: Readable, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    // Leaving the loop destroys the stream, and with it the connection: nothing more is received.
    if (size > maxBytes) throw malformed(`expected an answer of at most ${maxBytes} bytes, got more`);
    if (chunks.length >= MOST_PIECES) throw malformed(`expected an answer in at most ${MOST_PIECES} pieces, got more`);
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw malformed('expected UTF-8 text, got other bytes', cause);
  }
}

/**
 * Returns the JSON of an answer. Throws SERVICE_MALFORMED on HTML, on what is not JSON, and on what `findHostility`
 * finds.
 */
export function parseBody(text: string, contentType: string | undefined): Json {
  if (contentType?.includes('html') === true)
    throw malformed(`expected JSON, got ${printable(contentType, 60)}; check service.base_url`);
  const hostility = findHostility(text);
  if (hostility !== undefined) throw malformed(hostility);
  try {
    return parseJson(text);
  } catch (cause) {
    const found = text === '' ? 'an empty body'
      : `${text.length} characters of ${contentType === undefined ? 'no stated type' : printable(contentType, 60)}`;
    throw malformed(`expected JSON, got ${found}`, cause);
  }
}

function malformed(message: string, cause?: unknown): GannetError {
  return new GannetError('SERVICE_MALFORMED', message, { cause });
}

/** The bounds of an answer. No real answer comes near them: a larger one would cost memory or time. */
const SCAN_LIMITS = {
  levels: 64,
  /** Objects and lists. */
  containers: 250_000,
  /** Of one object. */
  members: 20_000,
  numberCharacters: 100,
} as const;

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The member name that would replace an object's prototype. */
const PROTOTYPE = '__proto__';

/**
 * Returns what makes a JSON text unacceptable before anything reads it, or undefined: too many levels, containers or
 * digits, a member twice (two readers of it could believe two things), or a member that would replace the object's
 * prototype. It reads each character once, without recursion; the parser rejects a text that is no JSON.
 */
function findHostility(text: string): string | undefined {
  // By level: the names that the open object has so far.
  const members: (Set<string> | undefined)[] = [];
  const isObject = new Uint8Array(SCAN_LIMITS.levels + 1);
  let level = 0;
  let containers = 0;
  let nameExpected = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      const end = endOfString(text, at + 1);
      if (nameExpected) {
        nameExpected = false;
        const name = nameIn(text, at, end);
        if (name === PROTOTYPE) return `expected no member named "${PROTOTYPE}", got one`;
        const names = (members[level] ??= new Set());
        const { size } = names;
        if (size >= SCAN_LIMITS.members) return `expected objects of at most ${SCAN_LIMITS.members} members, got more`;
        if (names.add(name).size === size)
          return `expected each member once, got "${printable(name, 60)}" twice in one object`;
      }
      at = end;
    } else if (char === COMMA) {
      nameExpected = isObject[level] === 1;
    } else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      level += 1;
      containers += 1;
      if (level > SCAN_LIMITS.levels) return `expected JSON of at most ${SCAN_LIMITS.levels} levels, got more`;
      if (containers > SCAN_LIMITS.containers)
        return `expected at most ${SCAN_LIMITS.containers} objects and lists, got more`;
      nameExpected = char === OPEN_BRACE;
      isObject[level] = nameExpected ? 1 : 0;
      members[level]?.clear();
    } else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) {
      level = Math.max(0, level - 1);
    } else if (char === MINUS || (char >= DIGIT_0 && char <= DIGIT_9)) {
      const end = endOfNumber(text, at + 1);
      if (end - at > SCAN_LIMITS.numberCharacters)
        return `expected numbers of at most ${SCAN_LIMITS.numberCharacters} characters, got one of ${end - at}`;
      at = end - 1;
    }
  }
  return undefined;
}

/** The place of the closing quote, or the end of a text without one. */
function endOfString(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === BACKSLASH) at += 1;
    else if (char === QUOTE) return at;
  }
  return text.length;
}

function endOfNumber(text: string, from: number): number {
  let at = from;
  // Digits, sign, point and exponent; the parser decides whether they make a number.
  while (at < text.length && isOfNumber(text.charCodeAt(at))) at += 1;
  return at;
}

function isOfNumber(char: number): boolean {
  return (char >= DIGIT_0 && char <= DIGIT_9) || char === 0x2e || char === 0x65 || char === 0x45 || char === 0x2b
    || char === MINUS;
}

/** Returns a name without its escapes, since the same name can be written with and without them. */
function nameIn(text: string, quote: number, end: number): string {
  const name = text.slice(quote + 1, end);
  if (!name.includes('\\')) return name;
  try {
    return JSON.parse(`"${name}"`) as string;
  } catch {
    // This is no JSON, which the parser reports.
    return name;
  }
}
