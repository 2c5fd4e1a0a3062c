import type { Json } from '../../../core/json.ts';
import { printable } from '../../../core/text.ts';
import { badRequest } from '../http/request-error.ts';
import { EXECUTE } from '../http/request-text.ts';
import type { Fault, FaultKind, FaultRule, Patch } from './faults.ts';
import { isPointer, matches } from './faults.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
const MAX_DELAY_MS = 120_000;
const MAX_BYTES_PER_SECOND = 1_000_000;
const RULE_KEYS: ReadonlySet<string> = new Set(['match', 'fault', 'times', 'probability']);
const FAULT_KEYS: Readonly<Record<FaultKind, readonly string[]>> = {
  status: ['status', 'body', 'content_type'], delay: ['ms'], drop_before: [], drop_after: [],
  malformed: ['body', 'content_type'], drip: ['bytes_per_second'], headers: ['headers'], patch: ['set', 'remove'],
  expire: [], reject: [], unknown: ['landed'],
};

/** Returns the rule in the body of `POST /sandbox/faults`. Throws a RequestError (400) with the reason. */
export function parseFaultRule(body: unknown): FaultRule {
  const rule = object('the body', body);
  refuseUnknown('the body', rule, RULE_KEYS);
  const match = object('match', rule['match']);
  refuseUnknown('match', match, new Set(['method', 'path']));
  const { method, path } = match;
  if (method !== undefined && (typeof method !== 'string' || !METHODS.includes(method)))
    throw badRequest(`match.method: expected one of ${METHODS.join(', ')}`);
  if (typeof path !== 'string' || !path.startsWith('/'))
    throw badRequest('match.path: expected a path such as "/swap/v2/order" or "/swap/v2/*"');
  if (path.startsWith('/sandbox'))
    throw badRequest('match.path: expected a path of the service, /sandbox itself stays reachable');
  const fault = parseFault(rule['fault']);
  const atExecute = fault.kind === 'expire' || fault.kind === 'reject' || fault.kind === 'unknown';
  if (atExecute && !matches({ path, method }, EXECUTE)) {
    throw badRequest(
      `match: expected one that meets ${EXECUTE.method} ${EXECUTE.path}, the only place of the fault "${fault.kind}"`,
    );
  }
  const times = optionalNumber('times', rule['times'], { min: 1, max: 1_000_000, whole: true });
  const probability = optionalNumber('probability', rule['probability'], { min: 0, max: 1, whole: false });
  if (times !== undefined && probability !== undefined)
    throw badRequest('times and probability: expected one of them, got both');
  return { match: { method, path }, fault, times, probability };
}

function parseFault(value: unknown): Fault {
  const fault = object('fault', value);
  const kinds = Object.keys(FAULT_KEYS);
  const kind = kinds.find((candidate) => candidate === fault['kind']) as FaultKind | undefined;
  if (kind === undefined) throw badRequest(`fault.kind: expected one of ${kinds.join(', ')}`);
  refuseUnknown('fault', fault, new Set(['kind', ...FAULT_KEYS[kind]]));
  switch (kind) {
    case 'status': {
      const status = number('fault.status', fault['status'], { min: 300, max: 599, whole: true });
      const contentType = contentTypeOf(fault);
      const body = fault['body'] as Json | undefined;
      if (contentType !== undefined && typeof body !== 'string')
        throw badRequest('fault.body: expected the text that goes with content_type');
      return { kind, status, body, content_type: contentType };
    }
    case 'delay':
      return { kind, ms: number('fault.ms', fault['ms'], { min: 1, max: MAX_DELAY_MS, whole: true }) };
    case 'malformed': {
      const body = fault['body'];
      if (body !== undefined && typeof body !== 'string')
        throw badRequest('fault.body: expected the text to answer with');
      return { kind, body, content_type: contentTypeOf(fault) };
    }
    case 'drip':
      return { kind, bytes_per_second: number(
        'fault.bytes_per_second', fault['bytes_per_second'], { min: 1, max: MAX_BYTES_PER_SECOND, whole: true },
      ) };
    case 'headers':
      return { kind, headers: headersOf(fault['headers']) };
    case 'patch':
      return { kind, ...patchOf(fault) };
    case 'unknown': {
      const landed = fault['landed'] ?? true;
      if (typeof landed !== 'boolean') throw badRequest('fault.landed: expected true or false');
      return { kind, landed };
    }
    case 'drop_before':
    case 'drop_after':
    case 'expire':
    case 'reject':
      return { kind };
  }
}

function contentTypeOf(fault: Readonly<Record<string, unknown>>): string | undefined {
  const type = fault['content_type'];
  if (type === undefined) return undefined;
  if (typeof type !== 'string' || !/^[\w.+-]+\/[\w.+-]+(?:; ?charset=[\w-]+)?$/.test(type))
    throw badRequest('fault.content_type: expected a type such as "text/html"');
  return type;
}

/** Headers of the message length: a wrong one makes the reader wait for ever, or breaks the next message. */
const FRAMING: ReadonlySet<string> =
  new Set(['connection', 'content-length', 'keep-alive', 'trailer', 'transfer-encoding', 'upgrade']);

function headersOf(value: unknown): false | Readonly<Record<string, string | false>> {
  if (value === false) return false;
  const headers = object('fault.headers', value);
  for (const [name, content] of Object.entries(headers)) {
    if (!/^[\w-]{1,64}$/.test(name) || FRAMING.has(name.toLowerCase()))
      throw badRequest(`fault.headers: "${printable(name, 40)}" cannot be set`);
    if (content !== false && (typeof content !== 'string' || !/^[\x20-\x7e]{0,1000}$/.test(content))) {
      throw badRequest(`fault.headers.${name}: expected a text of printable ASCII, or false to take it away`);
    }
  }
  return headers as Readonly<Record<string, string | false>>;
}

function patchOf(fault: Readonly<Record<string, unknown>>): Patch {
  const set = object('fault.set', fault['set'] ?? {});
  const remove: unknown = fault['remove'] ?? [];
  if (!Array.isArray(remove)) throw badRequest('fault.remove: expected a list of JSON pointers');
  const pointers: readonly unknown[] = [...Object.keys(set), ...(remove as readonly unknown[])];
  if (pointers.length === 0) throw badRequest('fault: expected something to set or to remove');
  const wrong = pointers.findIndex((pointer) => typeof pointer !== 'string' || !isPointer(pointer));
  if (wrong >= 0) throw badRequest('fault: expected JSON pointers such as "/outAmount" or "/routePlan/*/bps", '
    + `got ${printable(JSON.stringify(pointers[wrong]) ?? '', 60)}`);
  return { set: set as Patch['set'], remove: remove as readonly string[] };
}

function object(name: string, value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badRequest(`${name}: expected an object`);
  return { ...value };
}

function refuseUnknown(name: string, value: Record<string, unknown>, known: ReadonlySet<string>): void {
  const unknown = Object.keys(value).find((key) => !known.has(key));
  if (unknown !== undefined)
    throw badRequest(`${name}: unknown key "${printable(unknown, 40)}", expected ${[...known].join(', ')}`);
}

interface NumberRange {
  readonly min: number;
  readonly max: number;
  readonly whole: boolean;
}

function number(name: string, value: unknown, range: NumberRange): number {
  const found = optionalNumber(name, value, range);
  if (found === undefined) throw badRequest(`${name}: missing, expected ${described(range)}`);
  return found;
}

function optionalNumber(name: string, value: unknown, range: NumberRange): number | undefined {
  if (value === undefined) return undefined;
  const fits = typeof value === 'number' && value >= range.min && value <= range.max
    && (!range.whole || Number.isInteger(value));
  if (!fits) throw badRequest(`${name}: expected ${described(range)}`);
  return value;
}

function described({ min, max, whole }: NumberRange): string {
  return `${whole ? 'a whole number' : 'a number'} of ${min} to ${max}`;
}
