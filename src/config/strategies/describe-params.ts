import { z } from 'zod';
import type { JsonSchema } from '../check-value.ts';
import { toJsonSchema } from '../check-value.ts';

/** A parameter of a strategy for people. */
export interface DescribedParam {
  /** With those that it lies in: "targets[].weight". */
  readonly name: string;
  /** "pair", "amount", "integer of at least 2". */
  readonly type: string;
  readonly isNeeded: boolean;
  /** The default as YAML. */
  readonly fallback?: string | undefined;
  /** The first of the examples that the schema states, as YAML. */
  readonly example?: string | undefined;
  readonly description?: string | undefined;
}

type ParamSchema = JsonSchema & {
  readonly title?: string | undefined; readonly description?: string | undefined; readonly default?: unknown;
  readonly required?: readonly string[] | undefined;
};

/** Parameters within parameters beyond this depth are not named. */
const DEPTH_MAX = 4;
const TEXT_MAX = 200;
/** The largest whole number of a schema without a bound of its own. */
const UNBOUNDED = Number.MAX_SAFE_INTEGER;

/** Returns the parameters that a schema takes, in its order. */
export function describeParams(schema: z.ZodType): DescribedParam[] {
  return membersOf(toJsonSchema(schema), '', 0).map((param) => {
    const fallback = param.fallback ?? defaultOf(schema, param.name);
    const example = exampleOf(schema, param.name);
    const described = fallback === undefined ? param : { ...param, fallback, isNeeded: false };
    return example === undefined ? described : { ...described, example };
  });
}

/** Returns the first example of a parameter; JSON Schema leaves out those of a parameter that is converted. */
function exampleOf(schema: z.ZodType, name: string): string | undefined {
  let member: unknown = schema instanceof z.ZodObject ? schema.shape[name] : undefined;
  while (member instanceof z.ZodType) {
    const { examples } = (member.meta() ?? {}) as { readonly examples?: readonly unknown[] };
    const text = examples?.[0] === undefined ? undefined : JSON.stringify(examples[0]);
    // Half a value is no example.
    if (text !== undefined) return text.length > TEXT_MAX ? undefined : text;
    member = member instanceof z.ZodOptional || member instanceof z.ZodDefault ? member.unwrap() : undefined;
  }
  return undefined;
}

/** Returns the default of a parameter that is converted, which JSON Schema leaves out: that of a duration is a text. */
function defaultOf(schema: z.ZodType, name: string): string | undefined {
  const member: unknown = schema instanceof z.ZodObject ? schema.shape[name] : undefined;
  const value = member instanceof z.ZodDefault ? member.def.defaultValue : undefined;
  return ['string', 'number', 'boolean'].includes(typeof value) ? JSON.stringify(value).slice(0, TEXT_MAX) : undefined;
}

function membersOf(schema: ParamSchema, path: string, depth: number): DescribedParam[] {
  if (depth > DEPTH_MAX) return [];
  return Object.entries(schema.properties ?? {}).flatMap(([key, member]) => {
    const name = `${path}${key}`;
    const { description, default: fallback, items, properties } = member as ParamSchema;
    const own: DescribedParam = {
      name: name.slice(0, TEXT_MAX), type: typeOf(member).slice(0, TEXT_MAX), description,
      isNeeded: fallback === undefined && schema.required?.includes(key) === true,
      fallback: fallback === undefined ? undefined : JSON.stringify(fallback).slice(0, TEXT_MAX),
    };
    const inner = items?.properties !== undefined ? membersOf(items, `${name}[].`, depth + 1)
      : properties !== undefined ? membersOf(member, `${name}.`, depth + 1) : [];
    return [own, ...inner];
  });
}

function typeOf(schema: ParamSchema): string {
  const { title, type, enum: values, const: only, items } = schema;
  if (title !== undefined) return title;
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' or ');
  if (only !== undefined) return JSON.stringify(only);
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) return options.map(typeOf).join(' or ');
  if (items !== undefined) return `list of ${typeOf(items)}`;
  return `${type ?? 'any value'}${boundsOf(schema)}`;
}

function boundsOf({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: ParamSchema): string {
  const parts = [
    minimum === undefined || minimum <= -UNBOUNDED ? undefined : `at least ${minimum}`,
    exclusiveMinimum === undefined ? undefined : `above ${exclusiveMinimum}`,
    maximum === undefined || maximum >= UNBOUNDED ? undefined : `at most ${maximum}`,
    exclusiveMaximum === undefined ? undefined : `below ${exclusiveMaximum}`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? '' : `, ${parts.join(', ')}`;
}
