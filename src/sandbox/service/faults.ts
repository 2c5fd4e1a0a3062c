import type { Random } from '../../core/random.ts';
import { badRequest } from './request-error.ts';

/** What can be made to go wrong. `expire`, `reject` and `unknown` are answers of /execute, the rest works everywhere. */
export type Fault =
  | { readonly kind: 'status'; readonly status: number; readonly body?: unknown }
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'drop_before' }
  | { readonly kind: 'drop_after' }
  | { readonly kind: 'malformed'; readonly body?: string }
  | { readonly kind: 'expire' }
  | { readonly kind: 'reject' }
  | { readonly kind: 'unknown'; readonly landed: boolean };
export type FaultKind = Fault['kind'];

export interface FaultRule {
  readonly match: { readonly method?: string | undefined; readonly path: string };
  readonly fault: Fault;
  /** How many more requests it hits; without it and without `probability`, all of them. */
  readonly times?: number | undefined;
  readonly probability?: number | undefined;
}

interface RequestLine {
  readonly method: string;
  readonly path: string;
}

export interface Faults {
  readonly rules: readonly FaultRule[];
  add(rule: FaultRule): void;
  clear(): void;
  /** Returns the first fault of one of `kinds` that hits this request, and counts it. */
  draw<Kind extends FaultKind>(request: RequestLine, kinds: readonly Kind[]): Extract<Fault, { kind: Kind }> | undefined;
}

/** Returns an empty set of faults; chance comes from `random` alone. */
export function createFaults(options: { random: Random }): Faults {
  let entries: { rule: FaultRule; left: number }[] = [];
  return {
    get rules() {
      return entries.map(({ rule, left }) => (rule.times === undefined ? rule : { ...rule, times: left }));
    },
    add(rule) {
      entries.push({ rule, left: rule.times ?? Number.POSITIVE_INFINITY });
    },
    clear() {
      entries = [];
    },
    draw(request, kinds) {
      for (const entry of entries) {
        const { fault, match, probability } = entry.rule;
        if (!isOneOf(fault, kinds) || !matches(match, request)) continue;
        if (probability !== undefined && options.random() >= probability) continue;
        entry.left--;
        entries = entries.filter(({ left }) => left > 0);
        return fault;
      }
      return undefined;
    },
  };
}

function isOneOf<Kind extends FaultKind>(fault: Fault, kinds: readonly Kind[]): fault is Extract<Fault, { kind: Kind }> {
  return kinds.some((kind) => kind === fault.kind);
}

function matches(match: FaultRule['match'], request: RequestLine): boolean {
  if (match.method !== undefined && match.method !== request.method) return false;
  return match.path.endsWith('*') ? request.path.startsWith(match.path.slice(0, -1)) : request.path === match.path;
}

const EXECUTE_PATH = '/swap/v2/execute';
const MAX_DELAY_MS = 120_000;
const RULE_KEYS: ReadonlySet<string> = new Set(['match', 'fault', 'times', 'probability']);
const FAULT_KEYS: Readonly<Record<FaultKind, readonly string[]>> = {
  status: ['status', 'body'], delay: ['ms'], drop_before: [], drop_after: [], malformed: ['body'], expire: [], reject: [], unknown: ['landed'],
};

/** Returns the rule in the body of `POST /sandbox/faults`. Throws a RequestError (400) that says what is wrong. */
export function parseFaultRule(body: unknown): FaultRule {
  const rule = object('the body', body);
  refuseUnknown('the body', rule, RULE_KEYS);
  const match = object('match', rule['match']);
  refuseUnknown('match', match, new Set(['method', 'path']));
  const { method, path } = match;
  if (method !== undefined && method !== 'GET' && method !== 'POST') throw badRequest('match.method: expected GET or POST');
  if (typeof path !== 'string' || !path.startsWith('/')) throw badRequest('match.path: expected a path such as "/swap/v2/order" or "/swap/v2/*"');
  if (path.startsWith('/sandbox')) throw badRequest('match.path: expected a path of the service, /sandbox itself stays reachable');
  const fault = parseFault(rule['fault']);
  const atExecute = fault.kind === 'expire' || fault.kind === 'reject' || fault.kind === 'unknown';
  if (atExecute && (method === 'GET' || !matches({ path }, { method: 'POST', path: EXECUTE_PATH }))) {
    throw badRequest(`match: expected one that meets POST ${EXECUTE_PATH}, the only place of the fault "${fault.kind}"`);
  }
  const times = numberWithin('times', rule['times'], { min: 1, max: 1_000_000, whole: true });
  const probability = numberWithin('probability', rule['probability'], { min: 0, max: 1, whole: false });
  if (times !== undefined && probability !== undefined) throw badRequest('times and probability: expected one of them, got both');
  return { match: { method, path }, fault, times, probability };
}

function parseFault(value: unknown): Fault {
  const fault = object('fault', value);
  const kinds = Object.keys(FAULT_KEYS);
  const kind = kinds.find((candidate) => candidate === fault['kind']) as FaultKind | undefined;
  if (kind === undefined) throw badRequest(`fault.kind: expected one of ${kinds.join(', ')}`);
  refuseUnknown('fault', fault, new Set(['kind', ...FAULT_KEYS[kind]]));
  const body = fault['body'];
  switch (kind) {
    case 'status': {
      const status = numberWithin('fault.status', fault['status'], { min: 400, max: 599, whole: true });
      if (status === undefined) throw badRequest('fault.status: missing, expected an HTTP status of 400 to 599');
      return body === undefined ? { kind, status } : { kind, status, body };
    }
    case 'delay': {
      const ms = numberWithin('fault.ms', fault['ms'], { min: 1, max: MAX_DELAY_MS, whole: true });
      if (ms === undefined) throw badRequest(`fault.ms: missing, expected milliseconds of 1 to ${MAX_DELAY_MS}`);
      return { kind, ms };
    }
    case 'malformed': {
      if (body !== undefined && typeof body !== 'string') throw badRequest('fault.body: expected the text to answer with');
      return body === undefined ? { kind } : { kind, body };
    }
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

function object(name: string, value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badRequest(`${name}: expected an object`);
  return { ...value };
}

function refuseUnknown(name: string, value: Record<string, unknown>, known: ReadonlySet<string>): void {
  const unknown = Object.keys(value).find((key) => !known.has(key));
  if (unknown !== undefined) throw badRequest(`${name}: unknown key "${unknown.slice(0, 40)}", expected ${[...known].join(', ')}`);
}

function numberWithin(name: string, value: unknown, range: { min: number; max: number; whole: boolean }): number | undefined {
  if (value === undefined) return undefined;
  const fits = typeof value === 'number' && value >= range.min && value <= range.max && (!range.whole || Number.isInteger(value));
  if (!fits) throw badRequest(`${name}: expected ${range.whole ? 'a whole number' : 'a number'} of ${range.min} to ${range.max}`);
  return value;
}
