import { interpolate } from '../config/interpolate.ts';
import type { ConfigPath } from '../config/config-tree.ts';
import { formatPath, safeText } from '../config/config-issue.ts';
import { nodeAt, type ConfigNode, type ListNode, type MapNode } from '../config/config-tree.ts';
import { parseYaml } from '../config/yaml-source.ts';
import { GannetError, isGannetError } from '../core/errors.ts';
import { nearest } from '../core/text.ts';

/** A value of a YAML file with its position; the first unexpected value ends the reading. */
export interface YamlPlace {
  readonly file: string;
  readonly path: ConfigPath;
  readonly node: ConfigNode;
}

/** Returns the root of a YAML text. Throws CONFIG_INVALID at its first fault. */
export function yamlRoot(file: string, text: string): YamlPlace {
  const { root, problems: [problem] } = parseYaml(text);
  if (problem !== undefined) throw invalidAt(file, problem);
  return { file, path: [], node: root! };
}

/**
 * Returns the value under a key, or undefined where there is none. Throws CONFIG_INVALID where `place` is no mapping.
 */
export function memberOf(place: YamlPlace, key: string): YamlPlace | undefined {
  const node = nodeAt(mapOf(place), [key]);
  return node === undefined || (node.kind === 'scalar' && node.value === null) ? undefined
    : { ...place, path: [...place.path, key], node };
}

/** Returns the value under a key of an optional mapping. Throws CONFIG_INVALID where it is no mapping. */
export function inside(place: YamlPlace | undefined, key: string): YamlPlace | undefined {
  return place === undefined ? undefined : memberOf(place, key);
}

/**
 * Returns the members of a mapping with their keys. Throws CONFIG_INVALID where it is none, or has a key that is not in
 * `known`.
 */
export function membersOf(
  place: YamlPlace | undefined, known?: readonly string[],
): readonly (readonly [key: string, member: YamlPlace])[] {
  if (place === undefined) return [];
  return [...mapOf(place).members].map(([key, node]) => {
    if (known?.includes(key) === false) {
      const close = nearest(key, known);
      throw invalidAt(place.file, {
        position: node.keyPosition ?? node.position, path: place.path,
        message: `unknown key "${safeText(key, 60)}"${close === undefined ? '' : `; did you mean "${close}"?`}`,
      });
    }
    return [key, { ...place, path: [...place.path, key], node }];
  });
}

/** Returns the items of a list; none where there is no list at all. Throws CONFIG_INVALID. */
export function itemsOf(place: YamlPlace | undefined): readonly YamlPlace[] {
  if (place === undefined) return [];
  if (place.node.kind !== 'list') throw invalid(place, 'expected a list');
  const { items } = place.node satisfies ListNode;
  return items.map((node, index) => ({ ...place, path: [...place.path, index], node }));
}

/** Returns a text, undefined where nothing is set. Throws CONFIG_INVALID on anything else. */
export function textOf(place: YamlPlace | undefined): string | undefined {
  if (place === undefined) return undefined;
  if (place.node.kind !== 'scalar' || typeof place.node.value !== 'string')
    throw invalid(place, 'expected text, in quotes for digits');
  return place.node.value;
}

/** Returns a whole number within bounds. Throws CONFIG_INVALID on anything else. */
export function wholeOf(place: YamlPlace, { min, max }: { readonly min: number; readonly max: number }): number {
  const value = place.node.kind === 'scalar' ? place.node.value : undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max)
    throw invalid(place, `expected a whole number of ${min} to ${max}`);
  return value;
}

/** Returns the fault of a value, with its position. Only the message may show the value itself. */
export function invalid({ file, path, node }: YamlPlace, message: string): GannetError {
  return invalidAt(file, { position: node.position, path, message });
}

/** Returns a fault as an error, with its position; an option of the command line has no line. */
export function invalidAt(
  file: string, { position, path, message }: {
    readonly position: { readonly file?: string; readonly line: number; readonly column: number };
    readonly path: ConfigPath; readonly message: string;
  },
): GannetError {
  const place = position.file ?? `${file}:${position.line}:${position.column}`;
  return new GannetError('CONFIG_INVALID',
    `${place} ${path.length === 0 ? '' : `${safeText(formatPath(path), 200)}: `}${safeText(message, 500)}`, {
      details: { file: position.file ?? file, line: position.line, column: position.column },
    });
}

function mapOf(place: YamlPlace): MapNode {
  if (place.node.kind !== 'map') throw invalid(place, 'expected keys and values');
  return place.node;
}

/**
 * Returns `wallet.key_from` of a parsed configuration, with escapes, aliases and variables resolved. Undefined where
 * there is none, or where it cannot be read: then no key is read from it either.
 */
export function keySourceOf(
  text: string, environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  try {
    const root = yamlRoot('', text);
    const wallet = memberOf({ ...root, node: interpolate(root.node, environment).root }, 'wallet');
    return wallet === undefined ? undefined : textOf(memberOf(wallet, 'key_from'));
  } catch (error) {
    if (!isGannetError(error)) throw error;
    return undefined;
  }
}
