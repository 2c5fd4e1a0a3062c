import { z } from 'zod';
import type { FeedSpec } from '../../market/feed.ts';
import { readFeedSpec } from '../../market/feed.ts';
import { isAddress } from '../../solana/addresses.ts';
import type { Finding, JsonSchema } from '../check-value.ts';
import { safeText } from '../config-issue.ts';
import type { StrategyAnswer } from './ask-strategy.ts';

// What a strategy's code says about itself is read as what a stranger sent: bounded in size, count and depth.

/** An answer that was checked, or why it cannot be used, for people: it begins with "it". */
type CheckedAnswer = StrategyAnswer | { readonly kind: 'refused-answer'; readonly why: string };

/** The most characters of an answer: enough for the largest number of inputs. */
const ANSWER_MAX = 1_000_000;
const INPUTS_MAX = 1_000;
/** The most feeds that one input joins, beyond its first. */
const FURTHER_MAX = 31;
const FINDINGS_MAX = 1_000;
const PARAMS_MAX = 500;
const STEPS_MAX = 32;
const SCHEMA_DEPTH_MAX = 16;
const SCHEMA_NODES_MAX = 2_000;

const short = z.string().max(200);
const text = z.string().max(100_000);
const name = z.string().regex(/^[a-z][a-z0-9-]{0,62}$/);
const finding = z.object({
  code: short,
  path: z.array(z.union([z.int(), short])).max(STEPS_MAX),
  message: text.optional(),
  keys: z.array(short).max(FINDINGS_MAX),
}).transform(({ code, path, message, keys }): Finding => ({ code, path, message, keys }));

const described = z.object({
  name: short, type: short, isNeeded: z.boolean(), fallback: short.optional(), example: short.optional(),
  description: text.optional(),
});

/** The form alone: what inputs declare is checked one by one, so that a message can say which is wrong. */
const answerForm = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('not-loaded'), message: text }),
  z.object({ kind: z.literal('no-strategy') }),
  z.object({
    kind: z.literal('loaded'), name, summary: text, losesMoneyWhen: text.optional(),
    params: z.array(described).max(PARAMS_MAX),
  }),
  z.object({
    kind: z.literal('refused'), name, findings: z.array(finding).min(1).max(FINDINGS_MAX), schema: z.unknown(),
  }),
  z.object({ kind: z.literal('failed'), name, message: text, isTold: z.boolean() }),
  z.object({ kind: z.literal('read'), name, summary: text, inputs: z.array(z.unknown()) }),
]);

const specForm = z.record(z.string(), z.unknown());
const inputForm = z.object({
  name: z.string().min(1).max(100), spec: specForm, further: z.array(specForm).max(FURTHER_MAX).optional(),
});

/** Returns what a strategy's code said, checked. */
export function readAnswer(answer: string): CheckedAnswer {
  if (answer.length > ANSWER_MAX) return refused(`it says more about itself than ${ANSWER_MAX} characters`);
  const read = answerForm.safeParse(jsonOf(answer)).data;
  if (read === undefined) return refused('it says about itself what cannot be read');
  if (read.kind === 'refused') return { ...read, schema: readSchema(read.schema) };
  if (read.kind === 'loaded') return describedSafely(read);
  if (read.kind !== 'read') return read;
  if (read.inputs.length > INPUTS_MAX)
    return refused(`it declares ${read.inputs.length} inputs, expected at most ${INPUTS_MAX}`);
  const inputs: { name: string; spec: FeedSpec; further?: FeedSpec[] }[] = [];
  const names = new Set<string>();
  for (const given of read.inputs) {
    const input = inputForm.safeParse(given).data;
    if (input === undefined || names.has(input.name))
      return refused('it declares an input without a spec, or without a name of its own of at most 100 characters');
    names.add(input.name);
    const specs: FeedSpec[] = [];
    for (const declared of [input.spec, ...input.further ?? []]) {
      const spec = readFeedSpec(declared, { isAddress, shown });
      if (typeof spec === 'string') return refused(`its input "${safeText(input.name, 60)}" ${spec}`);
      specs.push(spec);
    }
    const [spec, ...further] = specs as [FeedSpec, ...FeedSpec[]];
    inputs.push({ name: input.name, spec, ...(further.length === 0 ? {} : { further }) });
  }
  return { kind: 'read', name: read.name, summary: safeText(read.summary, 500), inputs };
}

/** Returns a description whose texts are safe to print. */
function describedSafely(
  { name: called, summary, losesMoneyWhen, params }: Extract<z.output<typeof answerForm>, { kind: 'loaded' }>,
): CheckedAnswer {
  return {
    kind: 'loaded', name: called, summary: safeText(summary, 500),
    losesMoneyWhen: losesMoneyWhen === undefined ? undefined : safeText(losesMoneyWhen, 500),
    params: params.map((param) => ({
      name: safeText(param.name), type: safeText(param.type), isNeeded: param.isNeeded,
      fallback: param.fallback === undefined ? undefined : safeText(param.fallback),
      example: param.example === undefined ? undefined : safeText(param.example),
      description: param.description === undefined ? undefined : safeText(param.description, 500),
    })),
  };
}

function refused(why: string): CheckedAnswer {
  return { kind: 'refused-answer', why };
}

function jsonOf(answer: string): unknown {
  try {
    return JSON.parse(answer);
  } catch {
    // A text that is no JSON has no form that is known.
    return undefined;
  }
}

function shown(value: unknown): string {
  return value === undefined ? 'undefined' : safeText(JSON.stringify(value), 60);
}

/** Returns the parts of a JSON Schema that messages are made of, as many as fit the bounds. */
function readSchema(given: unknown): JsonSchema {
  let nodes = 0;
  const read = (value: unknown, depth: number): JsonSchema => {
    nodes += 1;
    if (!isMapping(value) || depth > SCHEMA_DEPTH_MAX || nodes > SCHEMA_NODES_MAX) return {};
    const child = (member: unknown): JsonSchema => read(member, depth + 1);
    const list = (member: unknown): readonly JsonSchema[] | undefined =>
      (Array.isArray(member) ? member.slice(0, 100).map(child) : undefined);
    const { properties, additionalProperties: others, items, anyOf, oneOf } = value;
    return {
      ...plainPartsOf(value),
      properties: !isMapping(properties) ? undefined : Object.fromEntries(Object.entries(properties).slice(0, 500)
        .filter(([key]) => key.length <= 100).map(([key, member]) => [key, child(member)])),
      additionalProperties: isMapping(others) ? child(others) : undefined,
      items: items === undefined ? undefined : child(items),
      anyOf: list(anyOf), oneOf: list(oneOf),
    };
  };
  return read(given, 0);
}

function plainPartsOf(schema: Readonly<Record<string, unknown>>): JsonSchema {
  const number = (key: keyof JsonSchema): number | undefined =>
    (typeof schema[key] === 'number' ? schema[key] : undefined);
  const scalars = (key: 'enum' | 'examples'): readonly unknown[] | undefined =>
    (Array.isArray(schema[key]) ? schema[key].slice(0, 500).filter(isScalar) : undefined);
  return {
    type: typeof schema['type'] === 'string' ? schema['type'].slice(0, 20) : undefined,
    const: isScalar(schema['const']) ? schema['const'] : undefined,
    enum: scalars('enum'),
    examples: scalars('examples'),
    minimum: number('minimum'), maximum: number('maximum'),
    exclusiveMinimum: number('exclusiveMinimum'), exclusiveMaximum: number('exclusiveMaximum'),
    minItems: number('minItems'), minLength: number('minLength'),
  };
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value === 'boolean' || typeof value === 'number'
    || (typeof value === 'string' && value.length <= 200);
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
