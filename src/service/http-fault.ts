import type { ErrorDetails } from '../core/errors.ts';
import { GannetError, isGannetError, messageOf } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { parseJson } from '../core/json.ts';
import { printable } from '../core/text.ts';
import type { ServerLimits } from './server-limits.ts';

const TIMEOUTS = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT']);
const MALFORMED = new Set(['HTTPParserError', 'UND_ERR_HEADERS_OVERFLOW', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'UND_ERR_RES_EXCEEDED_MAX_SIZE']);

/** An answer whose status is not 2xx. */
export interface StatusAnswer {
  readonly status: number;
  readonly text: string;
  readonly contentType: string | undefined;
  readonly limits: ServerLimits | undefined;
}

/** Returns the fault that a status stands for: SERVICE_UNAUTHORIZED, SERVICE_RATE_LIMITED or SERVICE_STATUS. */
export function statusFault({ status, text, contentType, limits }: StatusAnswer): GannetError {
  const body = readErrorBody(text);
  const serviceMessage = body.message ?? (text === '' || contentType?.includes('html') === true ? undefined : text);
  const said = serviceMessage === undefined ? '' : `: "${printable(serviceMessage)}"`;
  const details: ErrorDetails = {
    status,
    serviceMessage: serviceMessage === undefined ? undefined : printable(serviceMessage),
    serviceCode: body.code,
    requestId: body.requestId,
    signature: body.signature,
  };
  if (status === 401) {
    return new GannetError('SERVICE_UNAUTHORIZED', `the service refused the API key${said}; check service.api_key and its plan`, { details });
  }
  if (status === 429) {
    const resetInMs = limits?.resetInMs;
    const when = resetInMs === undefined ? '' : `, allowed again in ${Math.ceil(resetInMs / 1_000)} s`;
    return new GannetError('SERVICE_RATE_LIMITED', `too many requests for the plan${when}`, { details: { ...details, resetInMs } });
  }
  return new GannetError('SERVICE_STATUS', `the service answered ${status}${said}`, { details });
}

/** Returns the fault behind whatever a request threw; a GannetError only gains the name of what was asked. */
export function transportFault(what: string, thrown: unknown): GannetError {
  if (isGannetError(thrown)) {
    return new GannetError(thrown.code, `${what}: ${thrown.message}`, { details: thrown.details, cause: thrown.cause });
  }
  const code = codeOf(thrown);
  const options = { details: { cause: code }, cause: thrown };
  if (TIMEOUTS.has(code)) return new GannetError('SERVICE_TIMEOUT', `${what}: no answer in time (${code})`, options);
  if (MALFORMED.has(code)) {
    return new GannetError('SERVICE_MALFORMED', `${what}: expected an HTTP answer, got one that breaks the protocol (${code})`, options);
  }
  return new GannetError('SERVICE_UNREACHABLE', `${what}: no connection to the service (${printable(messageOf(thrown))}); check service.base_url and the network`, options);
}

function codeOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'UNKNOWN';
  // The parser's errors have a code only sometimes, the others always.
  return 'code' in thrown && typeof thrown.code === 'string' && !thrown.code.startsWith('HPE_') ? thrown.code : thrown.name;
}

interface ErrorBody {
  readonly message?: string | undefined;
  readonly code?: string | number | undefined;
  readonly requestId?: string | undefined;
  readonly signature?: string | undefined;
}

/** The bodies of failures differ from host to host; what they share is read, the rest is left. */
function readErrorBody(text: string): ErrorBody {
  const json = parseOrNothing(text);
  if (json === null || typeof json !== 'object' || Array.isArray(json)) return {};
  const members = json as { readonly [key: string]: Json };
  const texts = [members['errorMessage'], members['message'], members['error']];
  const code = members['code'] ?? members['errorCode'];
  return {
    message: texts.find((value) => typeof value === 'string'),
    code: typeof code === 'number' ? code : shortText(code),
    requestId: shortText(members['requestId'] ?? members['request_id']),
    signature: shortText(members['signature']),
  };
}

function shortText(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? printable(value, 100) : undefined;
}

function parseOrNothing(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    // An error page need not be JSON: its status says enough.
    return null;
  }
}
