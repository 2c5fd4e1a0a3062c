/** What a line of the service's description states. */
export type RowKind = 'endpoint' | 'parameter' | 'field' | 'rule' | 'limit' | 'state';

/** One statement of the service's description, and where both sides keep it. */
export interface Row {
  /** Of the whole suite, no second one like it: the prefix of its table and its name. */
  readonly id: string;
  /** The part of the description it stands in. */
  readonly section: string;
  readonly kind: RowKind;
  /** Of a parameter or field as in the description (`pricing.volume` for a nested one); a few words of the others. */
  readonly name: string;
  readonly says: string;
  /** Where the client keeps it: see cells.ts for the form. */
  readonly client: string;
  /** Where the sandbox keeps it. */
  readonly sandbox: string;
}

/** A row as it is written down: what is missing is the section's. */
type Entry =
  readonly [kind: RowKind, name: string, says: string, cells?: { readonly client?: string; readonly sandbox?: string }];

/** Returns the rows of one section in the order given; ids are `<prefix>.<name>`, spaces as dashes. */
export function section(
  title: string, defaults: { readonly prefix: string; readonly client: string; readonly sandbox: string },
  entries: readonly Entry[],
): readonly Row[] {
  const { prefix, client, sandbox } = defaults;
  return entries.map(([kind, name, says, cells]) => ({
    id: `${prefix}.${name.replaceAll(' ', '-')}`, section: title, kind, name, says, client: cells?.client ?? client,
    sandbox: cells?.sandbox ?? sandbox,
  }));
}
