import { GannetError } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import { ADDRESS_FORM } from '../../solana/addresses.ts';
import { MAX_V1_TRANSACTION_BYTES } from '../../solana/constants.ts';
import type { PolicyDescription, RefusalFinding, SigningRequestTerms } from '../authorise.ts';
import type { CapRoom } from '../counters/caps.ts';
import type { QuotedSwap } from '../price/quote-client.ts';

/** All requests to the signer. No request changes keys, caps or rules. */
export type SignerRequest =
  | { readonly kind: 'describe'; readonly embedded: EmbeddedConnection }
  /** Opens and writes nothing: no counters are created. */
  | { readonly kind: 'address' }
  | { readonly kind: 'open'; readonly embedded: EmbeddedConnection & { readonly key: string } }
  /** A hint: the signer may ask for the price of this swap now. */
  | { readonly kind: 'expect-swap'; readonly swap: QuotedSwap }
  | { readonly kind: 'sign'; readonly transaction: Uint8Array; readonly terms: SigningRequestTerms }
  /** Opens what judges without signing; it writes nothing. */
  | { readonly kind: 'rehearse'; readonly embedded: EmbeddedConnection }
  /** What would be decided on a signature. The answer holds none, and nothing is counted. */
  | { readonly kind: 'judge'; readonly transaction: Uint8Array; readonly terms: SigningRequestTerms }
  /** Without terms: the signer itself knows the rules of such a transaction. */
  | { readonly kind: 'close-accounts'; readonly transaction: Uint8Array };

/** The addresses of an embedded chain and service, on this machine. */
export interface EmbeddedAddresses {
  readonly rpcUrl?: string | undefined;
  readonly serviceUrl?: string | undefined;
}

/**
 * Connection data of an embedded service and chain, which the daemon has just started. They are new and without value
 * at each start. The signer accepts them only where its own configuration is embedded.
 */
export interface EmbeddedConnection extends EmbeddedAddresses {
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

/** What a rehearsal answers; amounts as text. */
export interface JudgedTransaction {
  /** Undefined where the transaction would be signed. */
  readonly refusal?: Refusal | undefined;
  readonly messageHash?: string | undefined;
  /** The signer's own reading, undefined where there is none. */
  readonly reading?: {
    readonly minimumOut: string;
    readonly feeLamports: string;
    readonly tipLamports: string;
    readonly rentLamports: string;
    /** Each instruction in words, with its program. */
    readonly instructions: readonly { readonly program: string; readonly text: string }[];
  } | undefined;
}

/** The longest transaction in base64. */
const MAX_TRANSACTION_CHARACTERS = 4 * Math.ceil(MAX_V1_TRANSACTION_BYTES / 3);
const MAX_TEXT_CHARACTERS = 256;
const ADDRESSES = ['rpcUrl', 'serviceUrl'] as const;
const LOCAL_URL = /^http:\/\/127\.0\.0\.1:\d{1,5}\/?$/;
const MAX_U64 = (1n << 64n) - 1n;

type Members = Readonly<Record<string, unknown>>;

/** Returns the id of a message, so that even a faulty one can be answered. Throws SIGN_REFUSED without one. */
export function requestId(message: unknown): number {
  const id = isMembers(message) ? message['id'] : undefined;
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 1)
    throw refused('an object with a whole number "id" from 1', message);
  return id;
}

/** Returns the signal that the signer, as another user, could not send to the daemon itself; undefined without one. */
export function forwardedSignal(message: unknown): 'SIGINT' | 'SIGTERM' | 'SIGHUP' | undefined {
  const signal = isMembers(message) ? message['signal'] : undefined;
  return signal === 'SIGINT' || signal === 'SIGTERM' || signal === 'SIGHUP' ? signal : undefined;
}

/** Returns the request in a message. Throws SIGN_REFUSED for every unknown or missing member. */
export function readRequest(message: unknown): SignerRequest {
  const { kind } = membersOf(message, 'the request', undefined);
  switch (kind) {
    case 'describe':
      return { kind, embedded: readEmbedded(
        membersOf(message, 'the request', ['id', 'kind', ...ADDRESSES], ADDRESSES),
      ) };
    case 'address':
      membersOf(message, 'the request', ['id', 'kind']);
      return { kind };
    case 'open': {
      const { key, ...addresses } =
        readEmbedded(membersOf(message, 'the request', ['id', 'kind', ...ADDRESSES, 'key'], ADDRESSES));
      if (key === undefined) throw refused('a key', undefined);
      return { kind, embedded: { key, ...addresses } };
    }
    case 'expect-swap': {
      const { swap } = membersOf(message, 'the request', ['id', 'kind', 'swap']);
      return { kind, swap: readSwap(membersOf(swap, 'swap', ['inputMint', 'outputMint', 'amountIn']), 'swap') };
    }
    case 'rehearse':
      return { kind, embedded: readEmbedded(membersOf(
        message, 'the request', ['id', 'kind', ...ADDRESSES, 'key'], [...ADDRESSES, 'key'],
      )) };
    case 'sign':
    case 'judge': {
      const { transaction, terms } = membersOf(message, 'the request', ['id', 'kind', 'transaction', 'terms']);
      return { kind, transaction: readBytes(transaction), terms: readTerms(terms) };
    }
    case 'close-accounts':
      return {
        kind, transaction: readBytes(membersOf(message, 'the request', ['id', 'kind', 'transaction'])['transaction']),
      };
    default:
      throw refused(
        'the kind "describe", "address", "open", "expect-swap", "sign", "rehearse", "judge" or "close-accounts"', kind,
      );
  }
}

function readEmbedded({ rpcUrl, serviceUrl, key }: Members): EmbeddedConnection {
  for (const [name, url] of Object.entries({ rpcUrl, serviceUrl })) {
    if (url !== undefined && (typeof url !== 'string' || !LOCAL_URL.test(url)))
      throw refused(`an address of this machine as ${name}`, url);
  }
  // The value may be a key: it is never shown.
  if (key !== undefined && (typeof key !== 'string' || key.length > MAX_TEXT_CHARACTERS))
    throw new GannetError('SIGN_REFUSED', 'a request to the signer: expected a text as key');
  return { rpcUrl: rpcUrl as string | undefined, serviceUrl: serviceUrl as string | undefined, key };
}

/** Returns a swap in the form of the channel, with its amount as text. */
export function swapAsJson({ inputMint, outputMint, amountIn }: QuotedSwap): Members {
  return { inputMint, outputMint, amountIn: amountIn.toString() };
}

function readSwap(members: Members, place: string): QuotedSwap {
  return {
    inputMint: readAddress(members, 'inputMint', place), outputMint: readAddress(members, 'outputMint', place),
    amountIn: readAmount(members, 'amountIn', place),
  };
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
    ...readSwap(terms, 'terms'),
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

function readAddress(members: Members, name: string, place = 'terms'): string {
  const value = members[name];
  if (typeof value !== 'string' || !ADDRESS_FORM.test(value)) throw refused(`an address as ${place}.${name}`, value);
  return value;
}

function readAmount(members: Members, name: string, place = 'terms'): bigint {
  const value = members[name];
  if (typeof value !== 'string' || !/^(?:0|[1-9]\d{0,19})$/.test(value) || BigInt(value) > MAX_U64)
    throw refused(`a whole number of 64 bits as text in ${place}.${name}`, value);
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
