import type { ErrorDetails } from '../core/errors.ts';
import { GannetError, isGannetError, messageOf } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { printable } from '../core/text.ts';
import type { ServerLimits } from './rate/limit-headers.ts';
import { parseBody } from './response-body.ts';

const TIMEOUTS = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT']);
const MALFORMED = new Set([
  'HTTPParserError', 'UND_ERR_HEADERS_OVERFLOW', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'UND_ERR_RES_EXCEEDED_MAX_SIZE',
]);

/** The status of a retired endpoint. */
const GONE = 410;
const PROXY_LOGIN = 407;
/** What the statuses say that refuse the sender and not the request. */
const FORBIDDEN: ReadonlyMap<number, readonly [refusal: string, advice: string]> = new Map([
  [402, ['wants to be paid first', 'check the plan and the credits of service.api_key']],
  [403, [
    'refuses your region, address or key',
    'check the permissions of service.api_key, and from which address Gannet reaches the service',
  ]],
  [451, ['refuses your region', 'check from which address Gannet reaches the service']],
]);

/** An answer whose status is not 2xx. */
interface StatusAnswer {
  readonly status: number;
  readonly text: string;
  readonly contentType: string | undefined;
  /** Where a redirect points to. */
  readonly location?: string | undefined;
  readonly limits: ServerLimits | undefined;
  /** Whether the request had a key. */
  readonly withKey: boolean;
}

/**
 * Returns the fault that a status stands for: SERVICE_UNAUTHORIZED, SERVICE_FORBIDDEN, SERVICE_RATE_LIMITED or
 * SERVICE_STATUS.
 */
export function statusFault({ status, text, contentType, location, limits, withKey }: StatusAnswer): GannetError {
  const body = readErrorBody(text);
  const raw = body?.message ?? (text === '' || contentType?.includes('html') === true ? undefined : text);
  // The answer of a retired endpoint holds an explanation, which may be long.
  const serviceMessage = raw === undefined ? undefined : printable(raw, status === GONE ? 600 : 200);
  const said = serviceMessage === undefined ? '' : `: "${serviceMessage}"`;
  const details: ErrorDetails = {
    status, serviceMessage, serviceCode: body?.code, serviceParameter: body?.parameter, requestId: body?.requestId,
    signature: body?.signature,
  };
  if (status === 401) {
    const why = withKey ? `refused the API key${said}; check service.api_key and its plan` : `wants an API key${said}; `
      + 'set service.api_key or the variable GANNET_API_KEY, and service.plan to the plan that it has';
    return new GannetError('SERVICE_UNAUTHORIZED', `the service ${why}`, { details });
  }
  const forbidden = FORBIDDEN.get(status);
  if (forbidden !== undefined) {
    const [refusal, advice] = forbidden;
    return new GannetError('SERVICE_FORBIDDEN', `the service ${refusal} (${status})${said}; ${advice}`, { details });
  }
  if (status === 429) {
    const resetInMs = limits?.resetInMs;
    const when = resetInMs === undefined ? '' : `, allowed again in ${Math.ceil(resetInMs / 1_000)} s`;
    return new GannetError(
      'SERVICE_RATE_LIMITED', `too many requests for the plan${when}`, { details: { ...details, resetInMs } },
    );
  }
  const resetInMs = status >= 500 ? limits?.resetInMs : undefined;
  return new GannetError('SERVICE_STATUS',
    `the service answered ${status}${said}${adviceOn({ status, location, isJson: body !== undefined })}`, {
      details: resetInMs === undefined ? details : { ...details, resetInMs },
    });
}

function adviceOn({ status, location, isJson }: {
  readonly status: number; readonly location: string | undefined; readonly isJson: boolean;
}): string {
  if (status === GONE) return '; it is retired and will not come back';
  if (status === PROXY_LOGIN) return '; this is a proxy on the way to it, which wants a login: check the network';
  if (status >= 300 && status <= 399) {
    const target = location === undefined ? 'elsewhere' : `"${printable(location, 100)}"`;
    return `; it points to ${target}, where the key is not taken: check service.base_url`;
  }
  // The service itself answers in JSON: an answer in another form comes from a host in front of it, or from another
  // host.
  return status === 404 && !isJson ? '; check service.base_url and service.dialect' : '';
}

/** Returns the fault of a request with the id that the host gave to the request, once. */
export function withRequestId(fault: GannetError, requestId: string | undefined): GannetError {
  const { code, message, details, cause } = fault;
  if (requestId === undefined || details['gatewayRequestId'] !== undefined) return fault;
  return new GannetError(code, `${message} (request ${requestId})`, {
    details: { ...details, gatewayRequestId: requestId }, cause,
  });
}

/** Returns the fault behind the error of a request; a GannetError only gains the name of the request. */
export function transportFault(what: string, thrown: unknown): GannetError {
  if (isGannetError(thrown)) {
    return new GannetError(thrown.code, `${what}: ${thrown.message}`, { details: thrown.details, cause: thrown.cause });
  }
  const code = codeOf(thrown);
  const options = { details: { cause: code }, cause: thrown };
  if (TIMEOUTS.has(code)) return new GannetError(
    'SERVICE_TIMEOUT',
    `${what}: ${code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT' ? 'no connection' : 'no answer'} in time; `
      + 'try again, or check service.base_url and the network',
    options,
  );
  if (MALFORMED.has(code)) {
    return new GannetError(
      'SERVICE_MALFORMED', `${what}: expected an HTTP answer, got one that breaks the protocol (${code})`, options,
    );
  }
  return new GannetError(
    'SERVICE_UNREACHABLE',
    `${what}: no connection to the service (${printable(messageOf(thrown))}); check service.base_url and the network`,
    options,
  );
}

function codeOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'UNKNOWN';
  // The parser's errors have a code only sometimes, the others always.
  return 'code' in thrown && typeof thrown.code === 'string' && !thrown.code.startsWith('HPE_')
    ? thrown.code : thrown.name;
}

interface ErrorBody {
  readonly message?: string | undefined;
  readonly code?: string | number | undefined;
  /** The parameter that caused the failure. */
  readonly parameter?: string | undefined;
  readonly requestId?: string | undefined;
  readonly signature?: string | undefined;
}

/**
 * Reads the members that the failure bodies of all hosts share. Returns undefined where the body is no object.
 */
function readErrorBody(text: string): ErrorBody | undefined {
  const json = parseOrNothing(text);
  if (json === null || typeof json !== 'object' || Array.isArray(json)) return undefined;
  const members = json as { readonly [key: string]: Json };
  const texts = [members['errorMessage'], members['message'], members['error']];
  const code = members['code'] ?? members['errorCode'];
  return {
    message: texts.find((value) => typeof value === 'string'),
    // JSON can hold a number such as 1e999, which arrives as Infinity and cannot be written as JSON again.
    code: typeof code === 'number' ? (Number.isFinite(code) ? code : undefined) : shortText(code),
    parameter: shortText(members['param']),
    requestId: shortText(members['requestId'] ?? members['request_id']),
    signature: shortText(members['signature']),
  };
}

function shortText(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? printable(value, 100) : undefined;
}

function parseOrNothing(text: string): Json {
  try {
    return parseBody(text, undefined);
  } catch {
    // An error page need not be JSON, and one with a repeated member is not used: its status is enough.
    return null;
  }
}
