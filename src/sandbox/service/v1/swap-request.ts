import { U64_MAX } from '../../../core/amount.ts';
import { printable } from '../../../core/text.ts';
import { NATIVE_MINT, isAddress } from '../../chain/addresses.ts';
import { RequestError, badRequest } from '../http/request-error.ts';
import { routingError } from './quote-request.ts';
import type { QuotedRoute, Quotes } from './quoted-route.ts';

/**
 * Reads the members of a JSON body; null means absent. Every method throws a RequestError (422) that names the member.
 */
interface Body {
  address(name: string): string;
  optionalAddress(name: string): string | undefined;
  optionalBoolean(name: string): boolean | undefined;
  /** Returns a whole number of 0 to `max`, 2^64 - 1 unless said otherwise. */
  optionalInteger(name: string, max?: bigint): bigint | undefined;
  object(name: string): object;
  value(name: string): unknown;
  /** Returns the members of an object within. */
  within(name: string): Body;
  readonly names: readonly string[];
}

const MOST_SHOWN = 40;

/**
 * Returns a reader of `source`, whose members are called `path` and their name. Throws a RequestError (422) where it is
 * no object.
 */
function readBody(source: unknown, path = ''): Body {
  if (typeof source !== 'object' || source === null || Array.isArray(source))
    throw unprocessable(`${path === '' ? 'the body' : path}: expected an object`);
  const members = new Map<string, unknown>(Object.entries(source));
  const nameOf = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const value = (name: string): unknown => members.get(name) ?? undefined;

  const optionalAddress = (name: string): string | undefined => {
    const found = value(name);
    if (found === undefined) return undefined;
    if (typeof found !== 'string' || !isAddress(found)) throw unexpected(nameOf(name), 'a base58 address', found);
    return found;
  };
  const optionalInteger = (name: string, max = U64_MAX): bigint | undefined => {
    const found = value(name);
    if (found === undefined) return undefined;
    const number = wholeNumber(found);
    if (number === undefined || number < 0n || number > max)
      throw unexpected(nameOf(name), `a whole number of 0 to ${max}`, found);
    return number;
  };

  return {
    optionalAddress,
    address: (name) => required(nameOf(name), optionalAddress(name)),
    optionalBoolean(name) {
      const found = value(name);
      if (found === undefined || typeof found === 'boolean') return found;
      throw unexpected(nameOf(name), 'true or false', found);
    },
    optionalInteger,
    object(name) {
      const found = required(nameOf(name), value(name));
      if (typeof found !== 'object' || found === null || Array.isArray(found))
        throw unexpected(nameOf(name), 'an object', found);
      return found;
    },
    value,
    within: (name) => readBody(value(name), nameOf(name)),
    names: [...members.keys()],
  };
}

/** Returns the refusal of a JSON body with a missing or invalid member. */
function unprocessable(error: string): RequestError {
  return new RequestError(422, { error });
}

/** Returns the refusal of one member. */
function unexpected(name: string, expected: string, found: unknown): RequestError {
  return unprocessable(`${name}: expected ${expected}, got ${shown(found)}`);
}

function shown(found: unknown): string {
  if (typeof found === 'string') return `"${printable(found, MOST_SHOWN)}"`;
  const isPlain = typeof found === 'number' || typeof found === 'bigint' || typeof found === 'boolean';
  return isPlain ? String(found) : `another ${Array.isArray(found) ? 'list' : typeof found}`;
}

function wholeNumber(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : undefined;
}

function required<Value>(name: string, value: Value | undefined): Value {
  if (value === undefined) throw unprocessable(`${name}: missing, it is required`);
  return value;
}

/** The priority fee or tip of a transaction. */
export type Priority =
  | { readonly kind: 'auto' }
  | { readonly kind: 'fixed'; readonly lamports: bigint }
  | { readonly kind: 'level'; readonly level: PriorityLevel; readonly maxLamports: bigint }
  | { readonly kind: 'tip'; readonly lamports: bigint; readonly payer: string | undefined }
  | { readonly kind: 'price'; readonly microLamports: bigint };

const PRIORITY_LEVELS = ['medium', 'high', 'veryHigh'] as const;
export type PriorityLevel = (typeof PRIORITY_LEVELS)[number];

/** The checked body of `POST /swap/v1/swap`, which is also that of `/swap-instructions`. */
export interface SwapRequest {
  readonly quoted: QuotedRoute;
  readonly user: string;
  readonly payer: string;
  readonly wrapSol: boolean;
  readonly sharedAccounts: boolean | undefined;
  readonly feeAccount: string | undefined;
  readonly trackingAccount: string | undefined;
  readonly priority: Priority;
  readonly destinationTokenAccount: string | undefined;
  readonly nativeDestinationAccount: string | undefined;
  readonly dynamicComputeUnitLimit: boolean;
  readonly skipAccountChecks: boolean;
  readonly dynamicSlippage: boolean;
  readonly blockhashSlotsToExpiry: number | undefined;
}

const UINT8_MAX = 255n;
const REQUIRED_OF_QUOTE = [
  'inputMint', 'inAmount', 'outputMint', 'outAmount', 'otherAmountThreshold', 'swapMode', 'slippageBps',
  'priceImpactPct', 'routePlan',
] as const;

/**
 * Returns the request in a body. Throws a RequestError: 422 where a member is missing or invalid, 400 where it breaks a
 * rule of the reference.
 */
export function parseSwapRequest(source: unknown, quotes: Quotes): SwapRequest {
  const body = readBody(source);
  const user = body.address('userPublicKey');
  const answer = body.object('quoteResponse');
  const request = {
    user,
    payer: body.optionalAddress('payer') ?? user,
    wrapSol: body.optionalBoolean('wrapAndUnwrapSol') ?? true,
    sharedAccounts: body.optionalBoolean('useSharedAccounts'),
    feeAccount: body.optionalAddress('feeAccount'),
    trackingAccount: body.optionalAddress('trackingAccount'),
    priority: priorityOf(body),
    destinationTokenAccount: body.optionalAddress('destinationTokenAccount'),
    nativeDestinationAccount: body.optionalAddress('nativeDestinationAccount'),
    dynamicComputeUnitLimit: body.optionalBoolean('dynamicComputeUnitLimit') ?? false,
    skipAccountChecks: body.optionalBoolean('skipUserAccountsRpcCalls') ?? false,
    dynamicSlippage: body.optionalBoolean('dynamicSlippage') ?? false,
    blockhashSlotsToExpiry: slotsOf(body),
  };
  const asLegacyTransaction = body.optionalBoolean('asLegacyTransaction') ?? false;
  const quoted = quotedFor(quotes, answer, asLegacyTransaction);
  if (quoted.request.platformFeeBps !== undefined && request.feeAccount === undefined) {
    throw badRequest('feeAccount: missing, it is required with a quote of platformFeeBps');
  }
  checkDestinations(request, quoted);
  return { ...request, quoted };
}

/**
 * Returns the quote of an answer that comes back. Equal quotes that differ in options alone are told apart by what the
 * request and the optional members say. Throws a RequestError: 422 where a required member is missing, 400 where one
 * was changed.
 */
function quotedFor(quotes: Quotes, answer: object, asLegacyTransaction: boolean): QuotedRoute {
  const given = new Map<string, unknown>(Object.entries(answer));
  for (const name of REQUIRED_OF_QUOTE) required(`quoteResponse.${name}`, given.get(name) ?? undefined);
  const known = quotes.find(answer);
  const [likeliest] = known;
  if (likeliest === undefined) {
    const change = quotes.oneChange(answer);
    throw badRequest(change === undefined
      ? 'quoteResponse: expected the required members of a quote as GET /swap/v1/quote gave it, unchanged; only the '
        + 'last ten thousand are known'
      : `quoteResponse.${change.member}: expected ${printable(change.value, MOST_SHOWN)}, as in the quote`);
  }
  const quoted = known.find(({ request }) => request.asLegacyTransaction === asLegacyTransaction);
  if (quoted === undefined) {
    throw badRequest(`asLegacyTransaction: expected ${likeliest.request.asLegacyTransaction}, as in the quote`);
  }
  return quoted;
}

function checkDestinations(
  {
    destinationTokenAccount, nativeDestinationAccount,
  }: Pick<SwapRequest, 'destinationTokenAccount' | 'nativeDestinationAccount'>, quoted: QuotedRoute,
): void {
  if (nativeDestinationAccount === undefined) return;
  if (destinationTokenAccount !== undefined)
    throw badRequest('destinationTokenAccount and nativeDestinationAccount: expected one of them, got both');
  if (quoted.output.mint !== NATIVE_MINT)
    throw badRequest('nativeDestinationAccount: expected a quote whose output is SOL');
  if (quoted.request.instructionVersion !== 'V2')
    throw badRequest('nativeDestinationAccount: expected a quote of instructionVersion V2');
}

function slotsOf(body: Body): number | undefined {
  const slots = body.optionalInteger('blockhashSlotsToExpiry', UINT8_MAX);
  return slots === undefined ? undefined : Number(slots);
}

const FEE = 'prioritizationFeeLamports';
const PRICE = 'computeUnitPriceMicroLamports';
const FORMS = ['priorityLevelWithMaxLamports', 'bundleTipLamports', 'bundleTipLamportsWithPayer'] as const;
const EXPECTED = `whole lamports, "auto", or one of ${FORMS.join(', ')}`;

function priorityOf(body: Body): Priority {
  const microLamports = body.optionalInteger(PRICE);
  const fee = body.value(FEE);
  if (microLamports !== undefined) {
    if (fee === undefined) return { kind: 'price', microLamports };
    throw routingError(
      'INVALID_COMPUTE_UNIT_PRICE_AND_PRIORITIZATION_FEE', `${PRICE} and ${FEE}: expected one of them, got both`,
    );
  }
  if (fee === undefined || fee === 'auto') return { kind: 'auto' };
  if (typeof fee === 'object') return formOf(body.within(FEE));
  const lamports = typeof fee === 'number' || typeof fee === 'bigint' ? body.optionalInteger(FEE) : undefined;
  if (lamports === undefined) throw unexpected(FEE, EXPECTED, fee);
  return { kind: 'fixed', lamports };
}

/** A fee is paid to the chain, a tip to the builder of the block: one of them. */
function formOf(fee: Body): Priority {
  const forms = FORMS.filter((form) => fee.names.includes(form));
  const [form] = forms;
  if (form === undefined || forms.length > 1)
    throw badRequest(`${FEE}: expected ${EXPECTED}, got ${forms.length === 0 ? 'none of them' : forms.join(' and ')}`);
  if (form === 'bundleTipLamports') return { kind: 'tip', lamports: lamportsOf(fee, form), payer: undefined };
  const inner = fee.within(form);
  if (form === 'bundleTipLamportsWithPayer')
    return { kind: 'tip', lamports: lamportsOf(inner, 'lamports'), payer: inner.address('payer') };
  const level = PRIORITY_LEVELS.find((known) => known === inner.value('priorityLevel'));
  if (level === undefined) throw unexpected(
    `${FEE}.${form}.priorityLevel`, `one of ${PRIORITY_LEVELS.join(', ')}`, inner.value('priorityLevel'),
  );
  // This chain has one fee market, so global or not is the same.
  inner.optionalBoolean('global');
  return { kind: 'level', level, maxLamports: lamportsOf(inner, 'maxLamports') };
}

function lamportsOf(body: Body, name: string): bigint {
  const lamports = body.optionalInteger(name);
  if (lamports === undefined) throw unprocessable(`${FEE}.${name}: missing, expected whole lamports`);
  return lamports;
}
