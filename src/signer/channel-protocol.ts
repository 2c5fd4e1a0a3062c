import { GannetError, messageOf } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import { ADDRESS_FORM } from '../solana/addresses.ts';
import type { PolicyDescription, RefusalFinding, SigningRequestTerms } from './authorise.ts';
import type { CapRoom } from './caps.ts';

/** All requests to the signer. No request changes keys, caps or rules. */
export type SignerRequest =
  | { readonly kind: 'describe'; readonly embedded: EmbeddedConnection }
  /** Opens and writes nothing: no counters are created. */
  | { readonly kind: 'address' }
  | { readonly kind: 'open'; readonly embedded: EmbeddedConnection & { readonly key: string } }
  | { readonly kind: 'sign'; readonly transaction: Uint8Array; readonly terms: SigningRequestTerms }
  /** Without terms: the signer itself knows the rules of such a transaction. */
  | { readonly kind: 'close-accounts'; readonly transaction: Uint8Array };

/**
 * Connection data of an embedded service and chain, which the daemon has just started. They are new and without value
 * at each start. The signer accepts them only where its own configuration is embedded.
 */
export interface EmbeddedConnection {
  /** On this machine. */
  readonly rpcUrl?: string | undefined;
  /** The wallet that the service brings, in base58. */
  readonly key?: string | undefined;
}

/** The signer's description of itself. */
export interface SignerDescription extends PolicyDescription {
  readonly pid: number;
  /** The address of its key, base58. */
  readonly address: string;
}

/** The reason for a refused request. */
export interface Refusal {
  /** Of an error or, for a signature, of the policy. */
  readonly code: string;
  readonly message: string;
  readonly findings?: readonly RefusalFinding[] | undefined;
  /** The room that the refusing cap leaves; the amount as text. */
  readonly room?: (Omit<CapRoom, 'left'> & { readonly left: string }) | undefined;
}

/** A transaction of at most 1232 bytes in base64. */
const MAX_TRANSACTION_CHARACTERS = 1_644;
const MAX_TEXT_CHARACTERS = 256;
const LOCAL_URL = /^http:\/\/127\.0\.0\.1:\d{1,5}\/?$/;
const MAX_U64 = (1n << 64n) - 1n;

type Members = Readonly<Record<string, unknown>>;

/** More than any request or answer needs. */
const MAX_FRAME_BYTES = 65_536;
const HEADER_BYTES = 4;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Returns the id of a message, so that even a faulty one can be answered. Throws SIGN_REFUSED without one. */
export function requestId(message: unknown): number {
  const id = isMembers(message) ? message['id'] : undefined;
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 1)
    throw refused('an object with a whole number "id" from 1', message);
  return id;
}

/** Returns the request in a message. Throws SIGN_REFUSED for every unknown or missing member. */
export function readRequest(message: unknown): SignerRequest {
  const { kind } = membersOf(message, 'the request', undefined);
  switch (kind) {
    case 'describe':
      return { kind, embedded: readEmbedded(membersOf(message, 'the request', ['id', 'kind', 'rpcUrl'], ['rpcUrl'])) };
    case 'address':
      membersOf(message, 'the request', ['id', 'kind']);
      return { kind };
    case 'open': {
      const { key, rpcUrl } =
        readEmbedded(membersOf(message, 'the request', ['id', 'kind', 'rpcUrl', 'key'], ['rpcUrl']));
      if (key === undefined) throw refused('a key', undefined);
      return { kind, embedded: { key, rpcUrl } };
    }
    case 'sign': {
      const { transaction, terms } = membersOf(message, 'the request', ['id', 'kind', 'transaction', 'terms']);
      return { kind, transaction: readBytes(transaction), terms: readTerms(terms) };
    }
    case 'close-accounts':
      return {
        kind, transaction: readBytes(membersOf(message, 'the request', ['id', 'kind', 'transaction'])['transaction']),
      };
    default:
      throw refused('the kind "describe", "address", "open", "sign" or "close-accounts"', kind);
  }
}

function readEmbedded({ rpcUrl, key }: Members): EmbeddedConnection {
  if (rpcUrl !== undefined && (typeof rpcUrl !== 'string' || !LOCAL_URL.test(rpcUrl)))
    throw refused('an address of this machine as rpcUrl', rpcUrl);
  // The value may be a key: it is never shown.
  if (key !== undefined && (typeof key !== 'string' || key.length > MAX_TEXT_CHARACTERS))
    throw new GannetError('SIGN_REFUSED', 'a request to the signer: expected a text as key');
  return { rpcUrl, key };
}

/** Returns the terms of a request in the form of the channel, with amounts as text. */
export function termsAsJson({ amountIn, minimumOut, ...rest }: SigningRequestTerms): Members {
  return { ...rest, amountIn: amountIn.toString(), minimumOut: minimumOut.toString() };
}

function readTerms(value: unknown): SigningRequestTerms {
  const terms = membersOf(value, 'terms', [
    'intentId', 'attempt', 'route', 'inputMint', 'outputMint', 'amountIn', 'minimumOut', 'maxFeeBps', 'maker',
    'feePayer',
  ], ['maker', 'feePayer']);
  const { intentId, route } = terms;
  if (typeof intentId !== 'string' || intentId === '' || intentId.length > MAX_TEXT_CHARACTERS)
    throw refused('a name as terms.intentId', intentId);
  if (route !== 'order' && route !== 'build') throw refused('"order" or "build" as terms.route', route);
  return {
    intentId, route,
    attempt: readWhole(terms, 'attempt', { from: 1, to: 1_000_000 }),
    inputMint: readAddress(terms, 'inputMint'),
    outputMint: readAddress(terms, 'outputMint'),
    amountIn: readAmount(terms, 'amountIn'),
    minimumOut: readAmount(terms, 'minimumOut'),
    maxFeeBps: readWhole(terms, 'maxFeeBps', { from: 0, to: 10_000 }),
    maker: terms['maker'] === undefined ? undefined : readAddress(terms, 'maker'),
    feePayer: terms['feePayer'] === undefined ? undefined : readAddress(terms, 'feePayer'),
  };
}

function readBytes(value: unknown): Uint8Array {
  // The length is checked before decoding.
  if (typeof value !== 'string' || value.length > MAX_TRANSACTION_CHARACTERS) throw refused(
    `a transaction in base64 of at most ${MAX_TRANSACTION_CHARACTERS} characters`,
    typeof value === 'string' ? value.length : value,
  );
  const bytes = Buffer.from(value, 'base64');
  if (bytes.length === 0 || bytes.toString('base64') !== value)
    throw refused('a transaction in base64', value.slice(0, 20));
  return bytes;
}

function readAddress(terms: Members, name: string): string {
  const value = terms[name];
  if (typeof value !== 'string' || !ADDRESS_FORM.test(value)) throw refused(`an address as terms.${name}`, value);
  return value;
}

function readAmount(terms: Members, name: string): bigint {
  const value = terms[name];
  if (typeof value !== 'string' || !/^(?:0|[1-9]\d{0,19})$/.test(value) || BigInt(value) > MAX_U64)
    throw refused(`a whole number of 64 bits as text in terms.${name}`, value);
  return BigInt(value);
}

function readWhole(terms: Members, name: string, { from, to }: { readonly from: number; readonly to: number }): number {
  const value = terms[name];
  if (typeof value !== 'number' || !Number.isInteger(value) || value < from || value > to)
    throw refused(`a whole number of ${from} to ${to} as terms.${name}`, value);
  return value;
}

/** Where `names` is given, no other members are accepted; those in `optional` may be missing. */
function membersOf(
  value: unknown, place: string, names: readonly string[] | undefined, optional: readonly string[] = [],
): Members {
  if (!isMembers(value)) throw refused(`an object as ${place}`, value);
  if (names === undefined) return value;
  const unknown = Object.keys(value).find((name) => !names.includes(name));
  if (unknown !== undefined) throw refused(`no member but ${names.join(', ')} in ${place}`, unknown);
  const missing = names.find((name) => !optional.includes(name) && value[name] === undefined);
  if (missing !== undefined) throw refused(`${missing} in ${place}`, undefined);
  return value;
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refused(expected: string, found: unknown): GannetError {
  return new GannetError(
    'SIGN_REFUSED',
    `a request to the signer: expected ${expected}, got ${printable(JSON.stringify(found) ?? 'nothing', 60)}`,
  );
}

/**
 * Returns a message in the form of the channel: its length in four bytes, big endian, then JSON. Throws SIGN_REFUSED
 * where it is too long.
 */
export function encodeFrame(message: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(message), 'utf8');
  if (body.length > MAX_FRAME_BYTES)
    throw channelFault(`a message of ${body.length} bytes; the most is ${MAX_FRAME_BYTES}`);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + body.length);
  frame.writeUInt32BE(body.length, 0);
  body.copy(frame, HEADER_BYTES);
  return frame;
}

/**
 * Returns a function that takes a channel's bytes, in pieces of any size, and passes each whole message to `take`. It
 * throws SIGN_REFUSED at the first message that is too long or no JSON, and must not be called again then.
 */
export function createFrameReader(take: (message: unknown) => void): (bytes: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0);
  return (bytes) => {
    pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
    while (pending.length >= HEADER_BYTES) {
      const length = pending.readUInt32BE(0);
      // The header alone decides: a long announcement allocates nothing.
      if (length > MAX_FRAME_BYTES) throw channelFault(`a message of ${length} bytes; the most is ${MAX_FRAME_BYTES}`);
      if (pending.length < HEADER_BYTES + length) return;
      const body = pending.subarray(HEADER_BYTES, HEADER_BYTES + length);
      pending = pending.subarray(HEADER_BYTES + length);
      take(parse(body));
    }
  };
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(UTF8.decode(body)) as unknown;
  } catch (error) {
    // The parser's message quotes its input, which may be secret.
    throw channelFault(`a message of ${body.length} bytes that is no JSON in UTF-8 `
      + `(${error instanceof SyntaxError ? 'JSON' : messageOf(error)})`);
  }
}

function channelFault(found: string): GannetError {
  return new GannetError('SIGN_REFUSED', `the channel between the daemon and the signer brought ${found}`);
}
