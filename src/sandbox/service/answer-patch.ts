import type { Json } from '../../core/json.ts';

/**
 * What to change in an answer: values by JSON pointer (`/routePlan/0/bps`; a segment `*` means each), and pointers of
 * what goes.
 */
export interface Patch {
  readonly set: Readonly<Record<string, Json>>;
  readonly remove: readonly string[];
}

/**
 * Returns a document with a patch applied. What a pointer does not find stays as it is; the last name of one that sets
 * is made.
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
