/** A JSON schema. */
export type Schema = Readonly<Record<string, unknown>>;

export const text: Schema = { type: 'string' };
export const number: Schema = { type: 'number' };
export const integer: Schema = { type: 'integer' };
export const count: Schema = { type: 'integer', minimum: 0 };
export const flag: Schema = { type: 'boolean' };
/** An amount in smallest units. */
export const digits: Schema = { type: 'string', pattern: '^\\d{1,20}$' };
/** A signed amount of micro dollars. */
export const signedDigits: Schema = { type: 'string', pattern: '^-?\\d{1,39}$' };
/** A public key in base58. */
export const key: Schema = { type: 'string', pattern: '^[1-9A-HJ-NP-Za-km-z]{32,44}$' };
export const base64: Schema =
  { type: 'string', pattern: '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$' };
export const date: Schema = { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}T' };

/** Returns the schema of one of some words. */
export function oneOf(...words: readonly string[]): Schema {
  return { enum: words };
}

/** Returns the schema of a list. */
export function list(items: Schema, most?: number): Schema {
  return { type: 'array', items, ...(most === undefined ? {} : { maxItems: most }) };
}

/** Returns the schema of a value or null. */
export function orNull(schema: Schema): Schema {
  return { anyOf: [schema, { type: 'null' }] };
}

/** Returns the schema of a map from keys to values. */
export function map(values: Schema): Schema {
  return { type: 'object', additionalProperties: values };
}

/** Returns the schema of an object with these members alone. */
export function object(
  required: Readonly<Record<string, Schema>>, optional: Readonly<Record<string, Schema>> = {},
): Schema {
  return {
    type: 'object', properties: { ...required, ...optional }, required: Object.keys(required),
    additionalProperties: false,
  };
}

/**
 * Returns a schema as the live service keeps it: unknown members may stand everywhere, any member may be absent or
 * null, and some have another type there.
 */
export function loose(schema: Schema, free: ReadonlySet<string>): Schema {
  const { properties, items, anyOf, additionalProperties, required: _required, ...rest } = schema;
  const within = (value: unknown): Schema => loose(value as Schema, free);
  return {
    anyOf: [{ type: 'null' }, {
      ...rest,
      ...(properties === undefined ? {} : { properties: Object.fromEntries(
        Object.entries(properties as Readonly<Record<string, Schema>>)
          .map(([name, inner]) => [name, free.has(name) ? {} : within(inner)]),
      ) }),
      ...(items === undefined ? {} : { items: within(items) }),
      ...(anyOf === undefined ? {} : { anyOf: (anyOf as readonly Schema[]).map(within) }),
      ...(typeof additionalProperties === 'object' ? { additionalProperties: within(additionalProperties) } : {}),
    }],
  };
}
