import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import { isGannetError } from '../../../src/core/errors.ts';
import { readBuildLike, SAMPLES, type Sample } from './answer-samples.ts';

/** What a member may hold that its schema does not expect; some of them are readable for some members. */
const ODD: readonly unknown[] = [
  'word', 'NaN', '', null, true, -1, -1.5, 66.67, 1e300, 2n ** 70n, '9'.repeat(30), 'x'.repeat(10_000), { odd: 1 }, [],
  [1], [{ odd: 1 }],
];

type Path = readonly (string | number)[];

/** Returns the place of each member at any depth; of a list the last element alone, so that a lost one moves none. */
function membersIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
  const inner = Array.isArray(value) ? [[value.length - 1, value.at(-1)] as const].filter(([at]) => at >= 0)
    : Object.entries(value);
  return inner.flatMap(([key, member]) =>
    [...(typeof key === 'string' ? [[...path, key]] : []), ...membersIn(member, [...path, key])]);
}

/** Returns an answer with another value in one place. */
function changed(value: unknown, [key, ...rest]: Path, to: unknown): unknown {
  if (key === undefined) return to;
  const copy =
    (Array.isArray(value) ? [...value as unknown[]] : { ...value as object }) as Record<string | number, unknown>;
  copy[key] = changed(copy[key], rest, to);
  return copy;
}

const nameOf = (path: Path): string => path.filter((key) => typeof key === 'string').join('.');

/** Returns each value at any depth by its path. */
function flat(value: unknown, path = '', into = new Map<string, string>()): Map<string, string> {
  if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array))
    for (const [key, member] of Object.entries(value)) flat(member, path === '' ? key : `${path}.${key}`, into);
  else if (value !== undefined) into.set(path, inspect(value));
  return into;
}

type Reading = { readonly value: unknown; readonly unread: readonly string[] } | { readonly refused: string };

function reading({ read }: Sample, answer: unknown): Reading {
  const unread: string[] = [];
  try {
    const value = read(answer as Json, (member) => { unread.push(member); });
    const [rejected] = (value as { readonly rejected?: readonly { readonly message: string }[] }).rejected ?? [];
    return rejected === undefined ? { value, unread } : { refused: rejected.message };
  } catch (thrown) {
    if (!isGannetError(thrown) || thrown.code !== 'SERVICE_MALFORMED') throw thrown;
    return { refused: thrown.message };
  }
}

describe.each(SAMPLES.map((sample) => [sample.name, sample] as const))('in %s', (_name, sample) => {
  const { answer, decides, elements = /^$/, becomes = {} } = sample;
  const whole = reading(sample, answer) as Extract<Reading, { readonly value: unknown }>;
  const before = flat(whole.value);

  test('every member of the sample can be read', () => {
    expect(whole).toMatchObject({ unread: [] });
  });

  const optional = membersIn(answer).filter((path) => !decides.test(nameOf(path)));
  test.each(optional.map((path) => [nameOf(path), path] as const))('%s costs itself alone', (name, path) => {
    const leaf = String(path.at(-1));
    const may = new Set([leaf, 'unread', 'rejected', ...becomes[leaf] ?? []]);
    const element = elements.test(name) ? path.slice(0, path.findLastIndex((key) => typeof key === 'number')).at(-1)
      : undefined;
    for (const odd of ODD) {
      const after = reading(sample, changed(answer, path, odd));
      if ('refused' in after) throw new Error(`with ${JSON.stringify(flat({ odd }))}: ${after.refused}`);
      const now = flat(after.value);
      const others = [...new Set([...before.keys(), ...now.keys()])].filter((key) => before.get(key) !== now.get(key))
        .filter((key) => !key.split('.').some((part) => may.has(part) || part === element));
      expect({ odd: typeof odd, others }).toEqual({ odd: typeof odd, others: [] });
      for (const member of after.unread) expect(`.${name}.`).toContain(`.${member}.`);
    }
  });

  const decisive = membersIn(answer).filter((path) => decides.test(nameOf(path)));
  test.runIf(decisive.length > 0).each(decisive.map((path) => [nameOf(path), path] as const))(
    '%s is not left out where it cannot be read', (_member, path) => {
      expect(ODD.some((odd) => 'refused' in reading(sample, changed(answer, path, odd)))).toBe(true);
    },
  );
});

test('a fractional percent of a step is read, and its basis points follow from it', () => {
  expect(readBuildLike({ percent: 66.67, bps: undefined })).toMatchObject({ percent: 66.67, bps: 6_667 });
  expect(readBuildLike({ percent: 66.67, bps: 6_666 })).toMatchObject({ percent: 66.67, bps: 6_666 });
  expect(readBuildLike({ percent: 'most', bps: 6_666 })).toMatchObject({ percent: undefined, bps: 6_666 });
});
