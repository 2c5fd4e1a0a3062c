import type { Readable } from 'node:stream';
import { GannetError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { parseJson } from '../core/json.ts';

const DEEPEST_NESTING = 64;

/**
 * Returns the text of a body, counting its bytes while they come. The stream is always read to its end or destroyed.
 * Throws SERVICE_MALFORMED on more than `maxBytes` and on bytes that are not UTF-8, and whatever the stream throws.
 */
export async function readText(body: Readable, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    // Leaving the loop destroys the stream, and with it the connection: nothing more is received.
    if (size > maxBytes) throw malformed(`expected an answer of at most ${maxBytes} bytes, got more`);
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw malformed('expected UTF-8 text, got other bytes', cause);
  }
}

/** Returns the JSON of an answer. Throws SERVICE_MALFORMED on HTML, on what is not JSON and on nesting deeper than any answer has. */
export function parseBody(text: string, contentType: string | undefined): Json {
  if (contentType?.includes('html') === true) throw malformed(`expected JSON, got ${contentType}`);
  if (isNestedTooDeeply(text)) throw malformed(`expected JSON of at most ${DEEPEST_NESTING} levels, got more`);
  try {
    return parseJson(text);
  } catch (cause) {
    const found = text === '' ? 'an empty body' : `${text.length} characters of ${contentType ?? 'no stated type'}`;
    throw malformed(`expected JSON, got ${found}`, cause);
  }
}

/** Looks at brackets outside strings only, before anything recursive sees the text. */
function isNestedTooDeeply(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (inString) {
      if (char === BACKSLASH) i += 1;
      else if (char === QUOTE) inString = false;
    } else if (char === QUOTE) {
      inString = true;
    } else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      depth += 1;
      if (depth > DEEPEST_NESTING) return true;
    } else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) {
      depth -= 1;
    }
  }
  return false;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

function malformed(message: string, cause?: unknown): GannetError {
  return new GannetError('SERVICE_MALFORMED', message, { cause });
}
