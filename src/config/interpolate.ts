import { hasWalletKeyForm } from '../signer/key-shape.ts';
import type { Problem } from './config-issue.ts';
import type { ConfigNode, ConfigPath, MapNode, Position, ScalarNode } from './config-tree.ts';
import { mapScalars, without } from './config-tree.ts';

/** Names and values as a process has them; passed in, never read from the process. */
export type EnvironmentRecord = Readonly<Record<string, string | undefined>>;

// Within [ ] and { } YAML ends a plain text at a brace, so "${NAME}" would be a syntax error there. While the parser
// reads, three characters of the private use area stand for the braces. They have the same length, so that every
// position stays correct.
const OPEN = '\uE000\uE001';
const CLOSE = '\uE002';
const VARIABLE_IN_TEXT = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
const HIDDEN_VARIABLE = /\uE000\uE001([A-Za-z_][A-Za-z0-9_]*)\uE002/g;

/** Returns the text with every `${NAME}` in a form that YAML takes for plain text, of the same length. */
export function hideVariables(text: string): string {
  return text.replace(VARIABLE_IN_TEXT, `${OPEN}$1${CLOSE}`);
}

/** Returns the inverse of `hideVariables`. */
export function showVariables(text: string): string {
  return text.replaceAll(OPEN, '${').replaceAll(CLOSE, '}');
}

/** A tree with the environment's values in it, and the faults of those that are missing. */
interface Interpolated {
  readonly root: ConfigNode;
  readonly problems: readonly Problem[];
  /** Paths whose fault is reported: no other fault of theirs needs to be. */
  readonly silenced: readonly ConfigPath[];
}

/**
 * Returns the tree with `${NAME}` replaced. A value stays text whatever its form is. The wallet’s key is never read
 * this way, and neither are strategies’ parameters: what a run decides must stand in the file for a replay to find.
 * `withheld` names the variables that are set, but that this process was not given.
 */
export function interpolate(
  root: ConfigNode, environment: EnvironmentRecord, withheld: readonly string[] = [],
): Interpolated {
  const problems: Problem[] = [];
  const silenced: ConfigPath[] = [];
  const pointedAt = walletKeyVariables(root);
  const replace = (scalar: ScalarNode, path: ConfigPath): ScalarNode => {
    if (typeof scalar.value !== 'string') return scalar;
    const source = showVariables(scalar.source);
    const fault = problemOf(scalar.value, path, { environment, pointedAt, withheld });
    if (fault !== undefined) {
      problems.push({ position: scalar.position, path, message: fault });
      silenced.push(path);
      return { ...scalar, value: '', source };
    }
    const value = scalar.value.replace(HIDDEN_VARIABLE, (_, name: string) => environment[name]!);
    return { ...scalar, value, source, fromEnvironment: value !== scalar.value };
  };
  return { root: mapScalars(root, replace), problems, silenced };
}

/** The parts that say where a run trades, with which wallet, and who may control it; no decision depends on them. */
const NOT_DECIDING: readonly ConfigPath[] =
  [['service'], ['chain'], ['control'], ['signals'], ['notifications'], ['wallet', 'key_from'], ['wallet', 'address']];

/** Returns a configuration without the parts that no decision depends on, as research commands read it. */
export function withoutConnections<N extends ConfigNode>(root: N): N {
  return without(root, NOT_DECIDING);
}

/** Returns the names of the variables that a tree mentions. */
export function variablesOf(root: ConfigNode): string[] {
  const names = new Set<string>();
  mapScalars(root, (scalar) => {
    for (const [, name] of String(scalar.value).matchAll(HIDDEN_VARIABLE)) names.add(name!);
    return scalar;
  });
  return [...names];
}

function problemOf(
  text: string, path: ConfigPath, { environment, pointedAt, withheld }: {
    environment: EnvironmentRecord; pointedAt: ReadonlySet<string>; withheld: readonly string[];
  },
): string | undefined {
  const names = [...text.matchAll(HIDDEN_VARIABLE)].map(([, name]) => name!);
  if (text.includes('${'))
    return 'expected the name of an environment variable between the braces of "${…}": letters, digits and '
      + 'underscores';
  if (names.length === 0) return undefined;
  if (path[0] === 'strategies' && path[2] === 'params') {
    return 'parameters decide what a run does, and a replay must find them here: write the value itself; ${…} is for '
      + 'secrets';
  }
  for (const name of names) {
    const value = environment[name];
    if (pointedAt.has(name) || (value !== undefined && hasWalletKeyForm(value))) {
      return `\${${name}} is a wallet's key, which a configuration only points at: write wallet.key_from: `
        + `"env:${name}"`;
    }
    if (value === undefined && withheld.includes(name)) return withheldVariable(name);
    if (value === undefined)
      return `the environment variable ${name} is not set: set it, or write ${name}=… into .env`;
    if (value === '') return `the environment variable ${name} is set to nothing: give it a value`;
  }
  return undefined;
}

/** Returns the fault of a variable that only the signer receives, where another value was expected in it. */
export function withheldVariable(name: string): string {
  return `the environment variable ${name} is set, but its value has the form of a wallet's key, which only the signer `
    + 'receives: put the value that belongs here into it, and the wallet\'s key into a variable of its own that '
    + 'wallet.key_from points at';
}

/** The variables that hold the wallet's key: the usual one, and the one this file points at. */
function walletKeyVariables(root: ConfigNode): ReadonlySet<string> {
  const names = new Set(['GANNET_WALLET_KEY']);
  const wallet = root.kind === 'map' ? root.members.get('wallet') : undefined;
  const keyFrom = wallet?.kind === 'map' ? wallet.members.get('key_from') : undefined;
  if (keyFrom?.kind === 'scalar' && typeof keyFrom.value === 'string' && keyFrom.value.startsWith('env:'))
    names.add(keyFrom.value.slice(4));
  return names;
}

/** The values of the command line that replace those of the file. */
export interface Overrides {
  readonly baseUrl?: string | undefined;
  readonly rpcUrl?: string | undefined;
  /** The name of the variable that holds the API key. */
  readonly apiKeyEnv?: string | undefined;
}

/** Returns the tree with the command line's values in place of the file's; their faults name the option. */
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
    // A section that is no mapping is a fault of its own, reported elsewhere.
    if (known !== undefined && known.kind !== 'map') continue;
    const members = new Map<string, ConfigNode>([...known?.members ?? [], [key, scalar] as const]);
    // The command line names the node: all other nodes of the file are left out.
    if (key === 'rpc_url') for (const other of ['further_rpc_urls', 'ws_url']) members.delete(other);
    const replaced: MapNode =
      { kind: 'map', position: known?.position ?? position, keyPosition: known?.keyPosition ?? position, members };
    result = { ...result, members: new Map([...result.members, [section, replaced] as const]) };
  }
  return result;
}
