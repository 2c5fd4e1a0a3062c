import type { Readable } from 'node:stream';
import { GannetError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { parseJson } from '../core/json.ts';
import { printable } from '../core/text.ts';
import { findHostility } from './json-scan.ts';

/** Each piece costs a buffer of its own, so that bytes sent one by one would cost hundreds of times their number. */
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
