/** The keys and list positions that lead to a value. */
export type ConfigPath = readonly (string | number)[];

/** A place in a file; `file` only where it is not the configuration itself, as with a command-line option. */
export interface Position {
  readonly file?: string;
  readonly line: number;
  readonly column: number;
}

export type PlainScalar = null | boolean | number | string;
export type PlainValue = PlainScalar | PlainValue[] | { [key: string]: PlainValue };

interface NodeBase {
  readonly position: Position;
  /** Where the key stands that leads here; undefined in lists and at the root. */
  readonly keyPosition: Position | undefined;
}

export interface ScalarNode extends NodeBase {
  readonly kind: 'scalar';
  readonly value: PlainScalar;
  /** As the file has it: "1e3" where the value is 1000. */
  readonly source: string;
  /** The value came from the environment, wholly or in part: no message may show it. */
  readonly fromEnvironment: boolean;
}

export interface ListNode extends NodeBase {
  readonly kind: 'list';
  readonly items: readonly ConfigNode[];
}

export interface MapNode extends NodeBase {
  readonly kind: 'map';
  readonly members: ReadonlyMap<string, ConfigNode>;
}

/** A value of the configuration that knows where it stands. */
export type ConfigNode = ScalarNode | ListNode | MapNode;

/** Returns the node at a path, or undefined where there is none. */
export function nodeAt(root: ConfigNode, path: ConfigPath): ConfigNode | undefined {
  let node: ConfigNode | undefined = root;
  for (const step of path) {
    if (node === undefined) return undefined;
    node = childOf(node, step);
  }
  return node;
}

/** Returns where a path stands; of a path that is not there, the place of the closest thing around it. */
export function locate(root: ConfigNode, path: ConfigPath, at: 'key' | 'value'): Position {
  let node = root;
  for (const step of path) {
    const child = childOf(node, step);
    if (child === undefined) return node.position;
    node = child;
  }
  return at === 'key' ? node.keyPosition ?? node.position : node.position;
}

/** Returns the plain value of a node. Scalars from the environment have their value. */
export function plainValue(node: ConfigNode): PlainValue {
  switch (node.kind) {
    case 'scalar': return node.value;
    case 'list': return node.items.map(plainValue);
    case 'map': return Object.fromEntries([...node.members].map(([key, member]) => [key, plainValue(member)]));
  }
}

/** Returns the tree with every scalar replaced by what `replace` makes of it. */
export function mapScalars<N extends ConfigNode>(
  node: N, replace: (scalar: ScalarNode, path: ConfigPath) => ScalarNode,
): N {
  // A scalar becomes a scalar, a list a list, a mapping a mapping.
  return mapFrom(node, replace, []) as N;
}

function mapFrom(
  node: ConfigNode, replace: (scalar: ScalarNode, path: ConfigPath) => ScalarNode, path: ConfigPath,
): ConfigNode {
  switch (node.kind) {
    case 'scalar': return replace(node, path);
    case 'list': return { ...node, items: node.items.map((item, index) => mapFrom(item, replace, [...path, index])) };
    case 'map': {
      const members = [...node.members]
        .map(([key, member]) => [key, mapFrom(member, replace, [...path, key])] as const);
      return { ...node, members: new Map(members) };
    }
  }
}

/** Returns the tree without the nodes at `paths`; positions in lists stay what they are. */
export function without<N extends ConfigNode>(root: N, paths: readonly ConfigPath[]): N {
  // The removed nodes lie below the root: a mapping stays a mapping.
  return paths.reduce<ConfigNode>((node, path) => removeAt(node, path), root) as N;
}

function removeAt(node: ConfigNode, path: ConfigPath): ConfigNode {
  const [step, ...rest] = path;
  if (step === undefined) return node;
  if (node.kind === 'list' && rest.length > 0) {
    return { ...node, items: node.items.map((item, index) => (index === step ? removeAt(item, rest) : item)) };
  }
  if (node.kind !== 'map' || typeof step !== 'string') return node;
  const members = new Map(node.members);
  const child = members.get(step);
  if (rest.length === 0) members.delete(step);
  else if (child !== undefined) members.set(step, removeAt(child, rest));
  return { ...node, members };
}

function childOf(node: ConfigNode, step: string | number): ConfigNode | undefined {
  if (node.kind === 'list' && typeof step === 'number') return node.items[step];
  return node.kind === 'map' ? node.members.get(String(step)) : undefined;
}
