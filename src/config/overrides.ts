import type { ConfigNode, MapNode, Position, ScalarNode } from './node.ts';
import { hideVariables } from './interpolate.ts';

/** What the command line says instead of the file. */
export interface Overrides {
  readonly baseUrl?: string | undefined;
  readonly rpcUrl?: string | undefined;
  /** The name of the variable that holds the API key. */
  readonly apiKeyEnv?: string | undefined;
}

/** Returns the tree with the command line's values in place of the file's; a fault in one is said of the option. */
export function applyOverrides(root: MapNode, { baseUrl, rpcUrl, apiKeyEnv }: Overrides): MapNode {
  const entries: readonly (readonly [section: string, key: string, option: string, value: string | undefined])[] = [
    ['service', 'base_url', '--base-url', baseUrl],
    ['service', 'api_key', '--api-key-env', apiKeyEnv === undefined ? undefined : hideVariables(`\${${apiKeyEnv}}`)],
    ['chain', 'rpc_url', '--rpc-url', rpcUrl],
  ];
  let result = root;
  for (const [section, key, option, value] of entries) {
    if (value === undefined) continue;
    const position: Position = { file: option, line: 1, column: 1 };
    const scalar: ScalarNode =
      { kind: 'scalar', position, keyPosition: position, value, source: value, fromEnvironment: false };
    const known = result.members.get(section);
    // A section that is no mapping is a fault of its own, said elsewhere.
    if (known !== undefined && known.kind !== 'map') continue;
    const members: ReadonlyMap<string, ConfigNode> = new Map([...known?.members ?? [], [key, scalar] as const]);
    const replaced: MapNode =
      { kind: 'map', position: known?.position ?? position, keyPosition: known?.keyPosition ?? position, members };
    result = { ...result, members: new Map([...result.members, [section, replaced] as const]) };
  }
  return result;
}
