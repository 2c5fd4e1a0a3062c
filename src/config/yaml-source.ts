import type { Document, Node, Pair, YAMLMap, YAMLSeq } from 'yaml';
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { messageOf } from '../core/errors.ts';
import type { Problem } from './config-issue.ts';
import { safeText } from './config-issue.ts';
import type { ConfigNode, ConfigPath, PlainScalar, Position } from './config-tree.ts';
import { hideVariables, showVariables } from './interpolate.ts';

// A configuration is a page long. The bounds stop other files: a few aliases can mean a billion values.
const MAX_NODES = 20_000;
const MAX_DEPTH = 32;
/** One slip can make the parser stumble over every line after it. */
const MAX_SYNTAX_PROBLEMS = 20;

const PLAIN_TAGS = new Set(['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) =>
  `tag:yaml.org,2002:${name}`));

/** The YAML parser's words where a newcomer needs others. */
const PLAIN_WORDS: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'a tab cannot indent YAML: use spaces',
  MULTIPLE_DOCS: 'expected one document, but "---" begins another: put it into a file of its own',
  BLOCK_AS_IMPLICIT_KEY: 'expected one "key: value" a line: text that holds ": " belongs in quotes, and keys of one '
    + 'mapping begin in one column',
};

/** What became of a text: a tree unless the faults leave none. */
interface ParsedYaml {
  readonly root: ConfigNode | undefined;
  readonly problems: readonly Problem[];
}

interface Walk {
  readonly document: Document.Parsed;
  readonly positionAt: (offset: number) => Position;
  readonly problems: Problem[];
  readonly anchors: Map<string, Node>;
  nodes: number;
  /** A bound was reached and reported: no more nodes are read. */
  exhausted: boolean;
}

/**
 * Returns the tree of a YAML 1.2 text with all its faults. Aliases are followed within bounds; `<<` is a key like any
 * other. `expected` is what is said to be missing in an empty one.
 */
export function parseYaml(
  text: string, { expected = '"strategies", see config/gannet.yaml' }: { readonly expected?: string | undefined } = {},
): ParsedYaml {
  const lineCounter = new LineCounter();
  const positionAt = (offset: number): Position => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const start: Position = { line: 1, column: 1 };
  let document: Document.Parsed;
  try {
    // Repeated keys are found by the walk, which knows their path and where the first one stands.
    document =
      parseDocument(hideVariables(text), { lineCounter, prettyErrors: false, uniqueKeys: false, version: '1.2' });
  } catch (error) {
    return {
      root: undefined,
      problems: [{ position: start, path: [], message: `this cannot be read as YAML: ${safeText(messageOf(error))}` }],
    };
  }
  const problems: Problem[] = [...document.errors, ...document.warnings].slice(0, MAX_SYNTAX_PROBLEMS)
    .map(({ code, message, pos }) => ({
      position: positionAt(pos[0]),
      path: [],
      message: PLAIN_WORDS[code] ?? `this is not valid YAML: ${safeText(showVariables(message))}`,
    }));
  const { version, explicit } = document.directives.yaml;
  if (explicit === true && version !== '1.2') {
    problems.push({
      position: start, path: [], message: 'a configuration is read as YAML 1.2: remove the line "%YAML"',
    });
  }
  if (problems.length > 0) return { root: undefined, problems };
  const contents = document.contents as Node | null;
  if (contents === null || (isScalar(contents) && contents.value === null)) {
    return {
      root: undefined,
      problems: [{ position: start, path: [], message: `the file is empty: expected at least ${expected}` }],
    };
  }
  const walk: Walk = { document, positionAt, problems, anchors: new Map(), nodes: 0, exhausted: false };
  const root = walkNode(walk, contents, { path: [], keyPosition: undefined, throughAlias: false });
  return { root, problems };
}

interface Place {
  readonly path: ConfigPath;
  readonly keyPosition: Position | undefined;
  readonly throughAlias: boolean;
}

function walkNode(walk: Walk, node: Node | null, place: Place): ConfigNode | undefined {
  const position = node?.range ? walk.positionAt(node.range[0]) : place.keyPosition ?? { line: 1, column: 1 };
  const fault = (message: string): undefined => {
    walk.problems.push({ position, path: place.path, message });
  };
  if (walk.exhausted) return undefined;
  walk.nodes += 1;
  if (walk.nodes > MAX_NODES || place.path.length > MAX_DEPTH) {
    walk.exhausted = true;
    return fault(`expected at most ${MAX_NODES} values in ${MAX_DEPTH} levels, with aliases followed: an alias that `
      + 'holds itself has no end');
  }
  if (isAlias(node)) {
    const target = walk.anchors.get(node.source);
    if (target === undefined) 
      return fault(`expected an anchor "&${safeText(node.source, 40)}" further up for this alias`);
    const found = walkNode(walk, target, { ...place, throughAlias: true });
    return found === undefined ? undefined : { ...found, position };
  }
  if (node?.anchor !== undefined && !place.throughAlias) walk.anchors.set(node.anchor, node);
  if (node?.tag !== undefined && !PLAIN_TAGS.has(node.tag))
    return fault(`expected a plain value: the tag ${safeText(node.tag, 60)} is not read`);
  const { keyPosition } = place;
  if (isMap(node)) return { kind: 'map', position, keyPosition, members: walkMembers(walk, node, place) };
  if (isSeq(node)) return { kind: 'list', position, keyPosition, items: walkItems(walk, node, place) };
  if (node !== null && !isScalar(node)) return fault('expected a value, a list or a mapping');
  const value = node?.value ?? null;
  if (!isPlainScalar(value)) return fault('expected text, a number, true or false');
  if (typeof value === 'number' && !Number.isFinite(value))
    return fault(`expected a finite number, got ${node?.source ?? value}`);
  // "key:" with nothing behind it has no place of its own but the end of the line: people search for the key.
  const own = value === null && (node?.source ?? '') === '' ? keyPosition ?? position : position;
  return {
    kind: 'scalar', position: own, keyPosition, value, source: node?.source ?? String(value ?? ''),
    fromEnvironment: false,
  };
}

function walkItems(walk: Walk, list: YAMLSeq, place: Place): ConfigNode[] {
  const items: ConfigNode[] = [];
  for (const [index, item] of list.items.entries()) {
    const node = walkNode(walk, item as Node | null, {
      path: [...place.path, index], keyPosition: undefined, throughAlias: place.throughAlias,
    });
    // A place that cannot be read stays a place, so that what follows keeps its number.
    items.push(node ?? {
      kind: 'scalar', position: { line: 1, column: 1 }, keyPosition: undefined, value: null, source: '',
      fromEnvironment: false,
    });
  }
  return items;
}

function walkMembers(walk: Walk, map: YAMLMap, place: Place): Map<string, ConfigNode> {
  const members = new Map<string, ConfigNode>();
  const keyLines = new Map<string, number>();
  for (const { key, value } of map.items as Pair<Node | null, Node | null>[]) {
    const keyPosition = key?.range ? walk.positionAt(key.range[0]) : place.keyPosition ?? { line: 1, column: 1 };
    const name = isScalar(key) ? showVariables(key.source ?? String(key.value)) : '';
    const path = [...place.path, name];
    const fault = (message: string): void => {
      walk.problems.push({ position: keyPosition, path: name === '' ? place.path : path, message });
    };
    if (name === '') fault('expected the name of a key before ":"');
    // An object that takes this key changes its ancestry instead of gaining a member.
    else if (name === '__proto__') fault('unknown key "__proto__"');
    else if (keyLines.has(name))
      fault(`the key "${safeText(name, 60)}" already stands in line ${keyLines.get(name)}: keep one of the two`);
    else {
      keyLines.set(name, keyPosition.line);
      const node = walkNode(walk, value, { path, keyPosition, throughAlias: place.throughAlias });
      if (node !== undefined) members.set(name, node);
    }
  }
  return members;
}

function isPlainScalar(value: unknown): value is PlainScalar {
  return value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string';
}
