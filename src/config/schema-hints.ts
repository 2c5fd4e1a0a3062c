import { z } from 'zod';
import type { ConfigPath } from './issue.ts';
import type { PlainValue } from './node.ts';

/** The part of JSON Schema that hints are made of. */
interface JsonSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

/** What a schema can say of the values it wants, for messages. */
export interface SchemaHints {
  /** Returns what is wanted at a path, "an integer of at least 2", or undefined where the schema cannot say. */
  expectation(path: ConfigPath): string | undefined;
  /** Returns an example of what is wanted at a path. */
  example(path: ConfigPath): string | undefined;
  /** Returns the keys a mapping at a path may have. */
  keys(path: ConfigPath): readonly string[];
  /** Returns the words that a path can be, where it can be nothing else. */
  choices(path: ConfigPath): readonly string[];
}

/** Returns the hints of a schema for a value; of a schema that JSON Schema cannot express, hints that say nothing. */
export function schemaHints(schema: z.ZodType, value?: PlainValue): SchemaHints {
  const root = toJsonSchema(schema);
  const at = (path: ConfigPath): JsonSchema[] => schemasAt(root, path, value);
  return {
    expectation: (path) => joined(at(path).map(describe)),
    example: (path) => at(path).flatMap(({ examples = [] }) => examples).find((example) => typeof example === 'string'),
    keys: (path) => [...new Set(at(path).flatMap(({ properties = {} }) => Object.keys(properties)))],
    choices: (path) => at(path).flatMap((schema) => schema.enum ?? (schema.const === undefined ? [] : [schema.const]))
      .filter((choice) => typeof choice === 'string'),
  };
}

function toJsonSchema(schema: z.ZodType): JsonSchema {
  try {
    return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  } catch {
    // Somebody's schema may be beyond JSON Schema. It still validates; only its messages stay zod's own.
    return {};
  }
}

/** All that a path can mean: where there are alternatives, more than one, unless the value says which. */
function schemasAt(root: JsonSchema, path: ConfigPath, value: PlainValue | undefined): JsonSchema[] {
  let current = value;
  let schemas = alternatives(root, current);
  for (const step of path) {
    current = childOf(current, step);
    schemas = schemas.flatMap((schema) => {
      const child = typeof step === 'number' ? schema.items : memberOf(schema, step);
      return child === undefined ? [] : alternatives(child, current);
    });
  }
  return schemas;
}

function childOf(value: PlainValue | undefined, step: string | number): PlainValue | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return typeof step === 'number' ? value[step] : undefined;
  return Object.hasOwn(value, step) ? value[step] : undefined;
}

function memberOf({ properties = {}, additionalProperties }: JsonSchema, key: string): JsonSchema | undefined {
  if (Object.hasOwn(properties, key)) return properties[key];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

function alternatives(schema: JsonSchema, value: PlainValue | undefined): JsonSchema[] {
  const options = schema.anyOf ?? schema.oneOf;
  if (options === undefined) return [schema];
  const meant = options.filter(({ properties = {} }) => Object.entries(properties).some(([key, member]) =>
    member.const !== undefined && member.const === childOf(value, key)));
  return (meant.length === 0 ? options : meant).flatMap((option) => alternatives(option, value));
}

function describe(schema: JsonSchema): string | undefined {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return joined(schema.enum.map((value) => JSON.stringify(value)));
  const { type = 'anything' } = schema;
  switch (type) {
    case 'integer': return withBounds('an integer', schema);
    case 'number': return withBounds('a number', schema);
    case 'boolean': return 'true or false';
    case 'string':
      return schema.examples?.[0] === undefined ? 'text' : `text such as ${JSON.stringify(schema.examples[0])}`;
    case 'array': return (schema.minItems ?? 0) > 0 ? `a list of at least ${schema.minItems}` : 'a list';
    case 'object': return 'a mapping of keys to values';
    default: return undefined;
  }
}

function withBounds(what: string, { minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonSchema): string {
  // Every integer of zod is bounded by what a double holds exactly: true, and no help.
  const least = minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? undefined : minimum;
  const most = maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (least !== undefined && most !== undefined) return `${what} of ${least} to ${most}`;
  const bounds = [
    least === undefined ? undefined : `of at least ${least}`,
    exclusiveMinimum === undefined ? undefined : `above ${exclusiveMinimum}`,
    most === undefined ? undefined : `of at most ${most}`,
    exclusiveMaximum === undefined ? undefined : `below ${exclusiveMaximum}`,
  ].filter((bound) => bound !== undefined);
  return bounds.length === 0 ? what : `${what} ${bounds.join(' and ')}`;
}

/** Returns known parts as a choice, "a, b or c"; undefined where there are none. */
export function joined(parts: readonly (string | undefined)[]): string | undefined {
  const known = [...new Set(parts.filter((part) => part !== undefined))];
  if (known.length === 0) return undefined;
  return known.length === 1 ? known[0] : `${known.slice(0, -1).join(', ')} or ${known.at(-1)}`;
}
