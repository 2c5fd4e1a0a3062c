import { GannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import type { CapRoom, PolicyDescription, RefusalFinding, SigningRequestTerms } from './authoriser.ts';

/** What may be asked of the signer. It can be asked, nothing else: no request changes keys, caps or rules. */
export type SignerRequest =
  | { readonly kind: 'describe'; readonly embedded: EmbeddedWorld }
  /** Opens nothing and writes nothing: no counters are made for it. */
  | { readonly kind: 'address' }
  | { readonly kind: 'open'; readonly embedded: EmbeddedWorld & { readonly key: string } }
  | { readonly kind: 'sign'; readonly transaction: Uint8Array; readonly terms: SigningRequestTerms }
  /** Without terms: what such a transaction may do, the signer knows by itself. */
  | { readonly kind: 'close-accounts'; readonly transaction: Uint8Array };

/**
 * What only the daemon knows of an embedded service and chain, which it has just started: made anew with each start, and
 * worth nothing. Taken only where the signer itself has read that they are embedded.
 */
export interface EmbeddedWorld {
  /** On this machine. */
  readonly rpcUrl?: string | undefined;
  /** The wallet that the service brings, in base58. */
  readonly key?: string | undefined;
}

/** What the signer says of itself. */
export interface SignerDescription extends PolicyDescription {
  readonly pid: number;
  /** Whose key it holds, base58. */
  readonly address: string;
}

/** Why something was not done. */
export interface Refusal {
  /** An error's, or of a signature the policy's. */
  readonly code: string;
  readonly message: string;
  readonly findings?: readonly RefusalFinding[] | undefined;
  /** What the cap that refused leaves; the amount as text. */
  readonly room?: (Omit<CapRoom, 'left'> & { readonly left: string }) | undefined;
}

/** A transaction of at most 1232 bytes in base64. */
const MAX_TRANSACTION_CHARACTERS = 1_644;
const MAX_TEXT_CHARACTERS = 256;
const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const LOCAL_URL = /^http:\/\/127\.0\.0\.1:\d{1,5}\/?$/;
const MAX_U64 = (1n << 64n) - 1n;

type Members = Readonly<Record<string, unknown>>;

/** Returns the number that a message goes by, so that it can be answered whatever else it holds. Throws SIGN_REFUSED where it has none. */
export function requestId(message: unknown): number {
  const id = isMembers(message) ? message['id'] : undefined;
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 1) throw refused('an object with a whole number "id" from 1', message);
  return id;
}

/** Returns what a message asks for. Throws SIGN_REFUSED for whatever it does not understand to the last member. */
export function readRequest(message: unknown): SignerRequest {
  const { kind } = membersOf(message, 'the request', undefined);
  switch (kind) {
    case 'describe':
      return { kind, embedded: readEmbedded(membersOf(message, 'the request', ['id', 'kind', 'rpcUrl'], ['rpcUrl'])) };
    case 'address':
      membersOf(message, 'the request', ['id', 'kind']);
      return { kind };
    case 'open': {
      const { key, rpcUrl } = readEmbedded(membersOf(message, 'the request', ['id', 'kind', 'rpcUrl', 'key'], ['rpcUrl']));
      if (key === undefined) throw refused('a key', undefined);
      return { kind, embedded: { key, rpcUrl } };
    }
    case 'sign': {
      const { transaction, terms } = membersOf(message, 'the request', ['id', 'kind', 'transaction', 'terms']);
      return { kind, transaction: readBytes(transaction), terms: readTerms(terms) };
    }
    case 'close-accounts':
      return { kind, transaction: readBytes(membersOf(message, 'the request', ['id', 'kind', 'transaction'])['transaction']) };
    default:
      throw refused('the kind "describe", "address", "open", "sign" or "close-accounts"', kind);
  }
}

function readEmbedded({ rpcUrl, key }: Members): EmbeddedWorld {
  if (rpcUrl !== undefined && (typeof rpcUrl !== 'string' || !LOCAL_URL.test(rpcUrl))) throw refused('an address of this machine as rpcUrl', rpcUrl);
  // Neither shown nor quoted, whatever it is.
  if (key !== undefined && (typeof key !== 'string' || key.length > MAX_TEXT_CHARACTERS)) throw new GannetError('SIGN_REFUSED', 'a request to the signer: expected a text as key');
  return { rpcUrl, key };
}

/** Returns the terms of a request as they go over the channel: whole numbers of any size as text. */
export function termsAsJson({ amountIn, minimumOut, ...rest }: SigningRequestTerms): Members {
  return { ...rest, amountIn: amountIn.toString(), minimumOut: minimumOut.toString() };
}

function readTerms(value: unknown): SigningRequestTerms {
  const terms = membersOf(value, 'terms', [
    'intentId', 'attempt', 'route', 'inputMint', 'outputMint', 'amountIn', 'minimumOut', 'maxFeeBps', 'maker', 'feePayer',
  ], ['maker', 'feePayer']);
  const { intentId, route } = terms;
  if (typeof intentId !== 'string' || intentId === '' || intentId.length > MAX_TEXT_CHARACTERS) throw refused('a name as terms.intentId', intentId);
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
  // Judged by its length before anything is decoded.
  if (typeof value !== 'string' || value.length > MAX_TRANSACTION_CHARACTERS) throw refused(`a transaction in base64 of at most ${MAX_TRANSACTION_CHARACTERS} characters`, typeof value === 'string' ? value.length : value);
  const bytes = Buffer.from(value, 'base64');
  if (bytes.length === 0 || bytes.toString('base64') !== value) throw refused('a transaction in base64', value.slice(0, 20));
  return bytes;
}

function readAddress(terms: Members, name: string): string {
  const value = terms[name];
  if (typeof value !== 'string' || !ADDRESS.test(value)) throw refused(`an address as terms.${name}`, value);
  return value;
}

function readAmount(terms: Members, name: string): bigint {
  const value = terms[name];
  if (typeof value !== 'string' || !/^(?:0|[1-9]\d{0,19})$/.test(value) || BigInt(value) > MAX_U64) throw refused(`a whole number of 64 bits as text in terms.${name}`, value);
  return BigInt(value);
}

function readWhole(terms: Members, name: string, { from, to }: { readonly from: number; readonly to: number }): number {
  const value = terms[name];
  if (typeof value !== 'number' || !Number.isInteger(value) || value < from || value > to) throw refused(`a whole number of ${from} to ${to} as terms.${name}`, value);
  return value;
}

/** Where `names` is given, the members are these and no others; those in `optional` may be missing. */
function membersOf(value: unknown, place: string, names: readonly string[] | undefined, optional: readonly string[] = []): Members {
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
  return new GannetError('SIGN_REFUSED', `a request to the signer: expected ${expected}, got ${printable(JSON.stringify(found) ?? 'nothing', 60)}`);
}
