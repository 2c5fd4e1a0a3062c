import { z } from 'zod';

// The part of validation that runs the code of a schema. A strategy's schema is its author's code, so its findings are
// plain data: what turns them into messages may be another process.

/** Stands for "the schema's author wrote no message of their own". */
const NO_OWN_MESSAGE = '\u0000';

/** One fault of a value, as its schema found it. */
export interface Finding {
  readonly code: string;
  readonly path: readonly (string | number)[];
  /** Of the schema's own author; undefined where they wrote none. */
  readonly message: string | undefined;
  /** The unknown keys of a mapping. */
  readonly keys: readonly string[];
}

/** A value that its schema refuses. */
export interface Refused {
  readonly findings: readonly Finding[];
  /** What the schema wants; empty where JSON Schema cannot express it. */
  readonly schema: JsonSchema;
}

/** The part of JSON Schema that hints are made of. */
export interface JsonSchema {
  readonly type?: string | undefined;
  readonly const?: unknown;
  readonly enum?: readonly unknown[] | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly exclusiveMinimum?: number | undefined;
  readonly exclusiveMaximum?: number | undefined;
  readonly minItems?: number | undefined;
  readonly minLength?: number | undefined;
  readonly examples?: readonly unknown[] | undefined;
  readonly properties?: Readonly<Record<string, JsonSchema>> | undefined;
  readonly additionalProperties?: boolean | JsonSchema | undefined;
  readonly items?: JsonSchema | undefined;
  readonly anyOf?: readonly JsonSchema[] | undefined;
  readonly oneOf?: readonly JsonSchema[] | undefined;
}

/** Returns what a schema makes of a value, or what is wrong with it. Throws what the author's code throws. */
export function checkValue<S extends z.ZodType>(
  schema: S, value: unknown,
): { readonly ok: true; readonly value: z.output<S> } | ({ readonly ok: false } & Refused) {
  const result = schema.safeParse(value, { error: () => NO_OWN_MESSAGE });
  if (result.success) return { ok: true, value: result.data };
  return { ok: false, findings: result.error.issues.map(findingOf), schema: toJsonSchema(schema) };
}

function findingOf(issue: z.core.$ZodIssue): Finding {
  const message = issue.code === 'invalid_key' ? issue.issues[0]?.message : issue.message;
  return {
    code: issue.code,
    path: issue.path.map((step) => (typeof step === 'number' ? step : String(step))),
    message: message === NO_OWN_MESSAGE ? undefined : message,
    keys: issue.code === 'unrecognized_keys' ? issue.keys : [],
  };
}

/** Returns a schema as JSON Schema; an empty one where JSON Schema cannot express it. */
export function toJsonSchema(schema: z.ZodType): JsonSchema {
  try {
    return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  } catch {
    // An author's schema may be beyond JSON Schema. It still validates; only its messages stay zod's own.
    return {};
  }
}
