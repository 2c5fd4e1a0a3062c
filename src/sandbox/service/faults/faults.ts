import type { Json } from '../../../core/json.ts';
import type { Random } from '../../../core/random.ts';

/**
 * The faults, named as in the body of `POST /sandbox/faults`. `expire`, `reject` and `unknown` are answers of /execute,
 * the others apply to every endpoint.
 */
export type Fault =
  /** Answers before the service does: with a body in JSON, or a text of any content type. */
  | { readonly kind: 'status'; readonly status: number; readonly body?: Json | undefined; readonly content_type?: string
    | undefined }
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'drop_before' }
  | { readonly kind: 'drop_after' }
  /** Cuts the answer in half, or puts another text in its place, its status unchanged. */
  | { readonly kind: 'malformed'; readonly body?: string | undefined; readonly content_type?: string | undefined }
  /** Sends the body slowly. */
  | { readonly kind: 'drip'; readonly bytes_per_second: number }
  /** Takes the rate limit's headers away (`false`), or sets (text) and takes away (`false`) headers by name. */
  | { readonly kind: 'headers'; readonly headers: false | Readonly<Record<string, string | false>> }
  /** Answers with other words than the service would: the body stays JSON. */
  | ({ readonly kind: 'patch' } & Patch)
  | { readonly kind: 'expire' }
  | { readonly kind: 'reject' }
  | { readonly kind: 'unknown'; readonly landed: boolean };
export type FaultKind = Fault['kind'];

export interface FaultRule {
  /**
   * The path in neutral words: `*` at its end stands for any rest, a whole segment `*` elsewhere for any one segment.
   */
  readonly match: { readonly method?: string | undefined; readonly path: string };
  readonly fault: Fault;
  /** How many more requests it applies to; without it and without `probability`, all of them. */
  readonly times?: number | undefined;
  readonly probability?: number | undefined;
}

/** The method and the neutral path of a request. */
export interface RequestLine {
  readonly method: string;
  readonly path: string;
}

export interface Faults {
  readonly rules: readonly FaultRule[];
  /** Adds a rule; beyond `MOST_RULES` the oldest is dropped. */
  add(rule: FaultRule): void;
  clear(): void;
  /** Returns the first fault of one of `kinds` that applies to this request, and counts it. */
  draw<Kind extends FaultKind>(
    request: RequestLine, kinds: readonly Kind[],
  ): Extract<Fault, { kind: Kind }> | undefined;
}

/** The most rules that are kept. */
export const MOST_RULES = 1_000;

/** Returns an empty set of faults; `random` decides by their probability. */
export function createFaults(options: { random: Random }): Faults {
  let entries: { rule: FaultRule; left: number }[] = [];
  return {
    get rules() {
      return entries.map(({ rule, left }) => (rule.times === undefined ? rule : { ...rule, times: left }));
    },
    add(rule) {
      entries.push({ rule, left: rule.times ?? Number.POSITIVE_INFINITY });
      if (entries.length > MOST_RULES) entries.shift();
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

/** Returns whether a rule matches a request. */
export function matches(match: FaultRule['match'], request: RequestLine): boolean {
  if (match.method !== undefined && match.method !== request.method) return false;
  const isPrefix = match.path.endsWith('*');
  const wanted = (isPrefix ? match.path.slice(0, -1) : match.path).split('/');
  const found = request.path.split('/');
  const last = wanted.length - 1;
  if (isPrefix ? found.length < wanted.length : found.length !== wanted.length) return false;
  return wanted.every((segment, index) =>
    segment === '*' || segment === found[index] || (isPrefix && index === last && found[index]!.startsWith(segment)));
}

function isOneOf<Kind extends FaultKind>(
  fault: Fault, kinds: readonly Kind[],
): fault is Extract<Fault, { kind: Kind }> {
  return kinds.some((kind) => kind === fault.kind);
}

/**
 * The changes of an answer: new values by JSON pointer (`/routePlan/0/bps`; a segment `*` means each), and pointers to
 * remove.
 */
export interface Patch {
  readonly set: Readonly<Record<string, Json>>;
  readonly remove: readonly string[];
}

/**
 * Returns a document with a patch applied. A pointer without a match changes nothing; the last name of a set pointer
 * may be new.
 */
export function patchDocument(document: Json, { set, remove }: Patch): Json {
  let patched = document;
  for (const [pointer, value] of Object.entries(set)) patched = changedAt(patched, segmentsOf(pointer), () => value);
  for (const pointer of remove) patched = changedAt(patched, segmentsOf(pointer), () => undefined);
  return patched;
}

/** Returns whether a text is a JSON pointer to something within a document. */
export function isPointer(text: string): boolean {
  return /^(?:\/(?:[^~/]|~[01])+){1,16}$/.test(text);
}

function segmentsOf(pointer: string): readonly string[] {
  return pointer.slice(1).split('/').map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function changedAt(document: Json, [segment, ...rest]: readonly string[], change: () => Json | undefined): Json {
  if (typeof document !== 'object' || document === null || segment === undefined) return document;
  const changed = (value: Json | undefined): Json | undefined => {
    if (rest.length === 0) return change();
    return value === undefined ? undefined : changedAt(value, rest, change);
  };
  if (Array.isArray(document)) {
    return (document as readonly Json[]).flatMap((item, index) => {
      const value = segment === '*' || segment === String(index) ? changed(item) : item;
      return value === undefined ? [] : [value];
    });
  }
  const members = new Map(Object.entries(document as { readonly [key: string]: Json }));
  const names = segment === '*' ? [...members.keys()] : [segment];
  for (const name of names) {
    const value = changed(members.get(name));
    if (value === undefined) members.delete(name);
    else members.set(name, value);
  }
  return Object.fromEntries(members);
}
