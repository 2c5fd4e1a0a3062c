import { posix } from 'node:path';
import { isBuiltin } from 'node:module';
import { importsOf } from '../../src/core/source-imports.ts';

/** A file of the project: its path from the root, with forward slashes, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** What one layer may import. `any` package means any that package.json lists for use at run time. */
interface Layer {
  readonly layers: readonly string[];
  /** Layers of which only types may be named. */
  readonly typeLayers?: readonly string[];
  readonly packages: readonly string[] | 'any';
  readonly typePackages?: readonly string[];
  readonly builtins: readonly string[] | 'any';
  /** Of modules otherwise out of reach, the functions that only look at their arguments. */
  readonly builtinNames?: Readonly<Record<string, readonly string[]>>;
  /** Single files of layers that are otherwise out of reach. */
  readonly files?: RegExp;
  /** Modules that single files of this layer may import, by path. */
  readonly builtinFiles?: Readonly<Record<string, readonly string[]>>;
}

const BELOW_ADAPTERS = ['core', 'solana', 'market', 'trading'] as const;
const ADAPTER: Layer = { layers: BELOW_ADAPTERS, packages: 'any', builtins: 'any' };
const EVERYTHING_BELOW_DAEMON = [
  'core', 'solana', 'market', 'trading', 'strategy', 'engine', 'service', 'chain', 'execution', 'signer', 'store',
  'recording', 'backtest', 'research', 'web', 'report', 'profit', 'config', 'dashboard', 'sandbox',
] as const;

/** Who may import whom: the table of the design, row by row. A layer may always import itself. */
export const LAYERS: Readonly<Record<string, Layer>> = {
  core: {
    layers: [], packages: [], typePackages: ['rxjs'], builtins: [],
    builtinFiles: {
      // Store and recording lock files in the same way, and may not import each other.
      'src/core/file-lock.ts': ['node:fs', 'node:module', 'node:sqlite'],
      // Where the running code is concerns every process.
      'src/core/code-files.ts': ['node:fs', 'node:path', 'node:url'],
      // The signer and the daemon are each a service of their own, and both tell the service manager how they are.
      'src/core/process-supervisor.ts': ['node:child_process'],
      // Processes of the daemon and of research run strategies, and may not import each other either.
      'src/core/harden-process.ts': ['node:module'],
      'src/core/shared-modules.ts': ['node:module', 'node:path', 'node:url'],
      // Where an error of syntax is, each process that loads strategies says.
      'src/core/throw-place.ts': ['node:module', 'node:path', 'node:url'],
      'src/core/watched-process.ts': ['node:fs', 'node:path'],
    },
  },
  // The leaf that all Solana code shares. Hashing derives addresses.
  solana: { layers: ['core'], packages: ['bs58'], builtins: ['node:crypto'] },
  market: { layers: ['core'], packages: [], typePackages: ['rxjs'], builtins: [] },
  trading: { layers: ['core', 'market'], packages: [], typePackages: ['rxjs'], builtins: [] },
  strategy: {
    layers: ['core', 'market'], typeLayers: ['trading'], packages: ['rxjs', 'trading-signals', 'zod'], builtins: [],
  },
  // Hashing is a pure function; chance from the same module is banned by name.
  engine: { layers: ['core', 'market', 'trading', 'strategy'], packages: ['rxjs'], builtins: ['node:crypto'] },
  service: ADAPTER,
  chain: ADAPTER,
  store: ADAPTER,
  recording: ADAPTER,
  signer: {
    layers: ['core', 'solana'],
    // It reads the configuration itself, in the one way in which it is read: what turns its text into values with
    // places, and nothing of what checks or resolves them.
    files: /^src\/config\/(?:default-config|interpolate|config-issue|config-tree|yaml-source)\.ts$/,
    // The first process reads the `.env` files, and takes the keys out.
    packages: ['bs58', 'dotenv'],
    // Beside its key file: one node of its own, through no package, and its own counters. It starts one process, the
    // one that asks it to sign (node:child_process, node:os for the signal that it ends by), and keeps the code that
    // Node has compiled before it gives way to a command that does not sign (node:module).
    builtins: [
      'node:crypto', 'node:fs', 'node:fs/promises', 'node:path', 'node:http', 'node:https', 'node:sqlite',
      'node:child_process', 'node:module', 'node:os',
      // The channel to the daemon: inherited, or a Unix socket.
      'node:net', 'node:buffer',
      'node:stream',
    ],
  },
  execution: { layers: BELOW_ADAPTERS, packages: ['rxjs'], builtins: [] },
  backtest: {
    layers: ['core', 'market', 'trading', 'strategy', 'engine', 'recording', 'store'], packages: 'any', builtins: 'any',
  },
  research: {
    layers: ['core', 'market', 'trading', 'strategy', 'engine', 'recording', 'store', 'backtest'],
    // A thread loads the strategies itself, and a trial is identified by the same records that a manifest keeps.
    // No box may read a wallet's key, so it must be recognised.
    files:
      /^src\/(?:signer\/key-shape|config\/(?:strategy-file|config-record|risk-limits|value-record|run-config))\.ts$/,
    packages: 'any', builtins: 'any',
  },
  // The authors' tests: strategies on the engine, with limits as the configuration has them.
  testing: {
    layers: ['core', 'market', 'trading', 'strategy', 'engine'],
    // The two clocks, and the forms of limits and exits in the YAML.
    files: /^src\/(?:backtest\/driver|config\/(?:config-issue|resolve-tokens|risk-limits|strategies\/exit-config)).ts$/,
    packages: ['rxjs'], typePackages: ['zod'], builtins: [],
  },
  // A report prints the configuration that its figures depend on.
  report: {
    layers: ['core', 'market', 'trading', 'strategy', 'engine', 'recording', 'store', 'backtest', 'research', 'web'],
    files: /^src\/config\/(?:config-record|risk-limits|run-config)\.ts$/,
    packages: [], builtins: ['node:crypto', 'node:fs', 'node:module', 'node:path', 'node:zlib'],
  },
  config: {
    // What the service's plans and dialects are is the service's to say, and what a key looks like the signer's;
    // nothing that speaks to a network, or signs.
    files: /^src\/(?:service\/(?:rate\/rate-plan|wire\/dialect)|signer\/key-shape)\.ts$/,
    layers: ['core', 'solana', 'market', 'trading', 'strategy'], packages: ['yaml', 'zod', 'dotenv'],
    // A strategy whose code runs apart is handed to the engine as it is.
    typeLayers: ['engine'],
    builtins: ['node:fs', 'node:fs/promises', 'node:path', 'node:url'],
    builtinNames: { 'node:module': ['isBuiltin'], 'node:net': ['isIP', 'isIPv4', 'isIPv6'] },
  },
  // Of the Solana code it shares constants alone, so that it stays an independent oracle.
  sandbox: {
    ...ADAPTER, layers: ['core', 'market', 'trading'],
    files: /^src\/(?:solana\/constants|service\/(?:wire\/.+|(?:.+\/)?(?:[\w-]+-)?(?:wire|schemas?)(?:-[\w-]+)?))\.ts$/,
  },
  // What the browser runs: it talks to the daemon over HTTP alone.
  // The swaps of the journal as trades, lots and profit.
  profit: { layers: ['core', 'solana', 'market', 'trading', 'store'], packages: [], builtins: [] },
  // What the page and the report share, in the browser and on the way there.
  web: {
    layers: ['core'], packages: ['lightweight-charts'],
    builtins: ['node:crypto', 'node:fs', 'node:module', 'node:path'],
  },
  dashboard: { layers: ['core', 'web'], packages: [], builtins: ['node:crypto'] },
  daemon: { layers: [...EVERYTHING_BELOW_DAEMON, 'strategies'], packages: 'any', builtins: 'any' },
  bench: { layers: [...EVERYTHING_BELOW_DAEMON, 'strategies', 'daemon'], packages: 'any', builtins: 'any' },
  cli: { layers: [...EVERYTHING_BELOW_DAEMON, 'strategies', 'daemon', 'bench'], packages: 'any', builtins: 'any' },
};

const STRATEGY_FACE = 'src/strategy/index.ts';
/** Beside the face, for its own reason: to load them takes time, which only strategies that use them pay. */
const TECHNICAL_INDICATORS = 'src/strategy/technical-indicators.ts';
const STRATEGY_PACKAGES = ['rxjs', 'trading-signals', 'zod'];
/** The packages of the chain. The signer reads bytes by its own code, and what joins the parts has no need of them. */
const CHAIN_PACKAGES = new Set(['@solana/web3.js', '@solana/spl-token']);
const MAY_USE_CHAIN_PACKAGES = new Set(['chain', 'sandbox']);
/** The names by which authors import the two files above. */
const GANNET = new Set(['gannet', 'gannet/indicators']);
/** Who loads modules by a name known only at run time: strategies that the configuration names. */
const MAY_COMPUTE_IMPORTS = new Set(['config', 'daemon', 'cli']);

/** Returns the import violations of one file, each as `file:line: what; what instead`. */
export function importViolations(file: SourceFile, dependencies: ReadonlySet<string>): string[] {
  const from = placeOf(file.path);
  return importsOf(file.text).flatMap(({ line, specifier, typeOnly, names }) => {
    const complaint = specifier === undefined
      ? computedComplaint(from)
      : complaintOf(from, file.path, { specifier, typeOnly, names }, dependencies);
    return complaint === undefined ? [] : [`${file.path}:${line}: ${complaint}`];
  });
}

function computedComplaint(from: string): string | undefined {
  if (MAY_COMPUTE_IMPORTS.has(from)) return undefined;
  return 'an import() of a computed name is banned here; '
    + 'name the module, or let config, daemon or cli load it and hand it in';
}

function complaintOf(
  from: string, path: string,
  { specifier, typeOnly, names }: { specifier: string; typeOnly: boolean; names: readonly string[] },
  dependencies: ReadonlySet<string>,
): string | undefined {
  if (specifier.startsWith('.')) return complaintOfFile(from, posix.join(posix.dirname(path), specifier), typeOnly);
  if (/^(?:\/|file:)/.test(specifier))
    return `"${specifier}" is a place on one machine; name the file by its relative path`;
  if (isBuiltin(specifier)) return complaintOfBuiltin(from, path, { specifier, names });
  return complaintOfPackage(from, { specifier, typeOnly }, dependencies);
}

function complaintOfFile(from: string, target: string, typeOnly: boolean): string | undefined {
  const to = placeOf(target);
  if (to === 'test') return `${target} belongs to the tests; move what is needed into a layer`;
  if (from === 'strategies') {
    if (target === STRATEGY_FACE || target === TECHNICAL_INDICATORS || to === 'strategies') return undefined;
    return `strategies may not import ${target}; take it from ${STRATEGY_FACE}, ${STRATEGY_PACKAGES.join(' or ')}`;
  }
  if (target === TECHNICAL_INDICATORS)
    return `${target} is slow to load; it is for strategies alone`;
  if (to === from) return undefined;
  const rule = LAYERS[from];
  if (rule === undefined) return `${from} is no layer; put the file into one of ${Object.keys(LAYERS).join(', ')}`;
  if (rule.layers.includes(to) || rule.files?.test(target)) return undefined;
  if (rule.typeLayers?.includes(to)) {
    return typeOnly ? undefined : `${from} may name only types of ${to}; write "import type", or move the value down`;
  }
  const allowed = [...rule.layers, ...(rule.typeLayers ?? []).map((layer) => `${layer} (types)`)].join(', ');
  return `${from} may not import ${target}; it may import ${allowed === '' ? 'no other layer' : allowed}: `
    + 'declare a port there and join the parts in daemon';
}

function complaintOfBuiltin(
  from: string, path: string, { specifier, names }: { readonly specifier: string; readonly names: readonly string[] },
): string | undefined {
  if (!specifier.startsWith('node:')) return `"${specifier}" is ambiguous; write "node:${specifier}"`;
  const builtins = from === 'strategies' ? [] : (LAYERS[from]?.builtins ?? []);
  if (builtins === 'any' || builtins.includes(specifier)) return undefined;
  if (LAYERS[from]?.builtinFiles?.[path]?.includes(specifier) === true) return undefined;
  const allowedNames = LAYERS[from]?.builtinNames?.[specifier];
  if (allowedNames !== undefined && names.every((name) => allowedNames.includes(name))) return undefined;
  return `${from} may not import ${specifier}; declare a port and let daemon hand in what fills it`;
}

function complaintOfPackage(
  from: string, { specifier, typeOnly }: { specifier: string; typeOnly: boolean }, dependencies: ReadonlySet<string>,
): string | undefined {
  const name = specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
  if (from === 'strategies' && GANNET.has(specifier)) return undefined;
  if (!dependencies.has(name))
    return `${name} is not among the dependencies of package.json; only those are there at run time`;
  const rule = LAYERS[from];
  const packages = from === 'strategies' ? STRATEGY_PACKAGES : (rule?.packages ?? []);
  if (CHAIN_PACKAGES.has(name)) {
    return MAY_USE_CHAIN_PACKAGES.has(from) ? undefined
      : `${from} may not import ${name}; let ${[...MAY_USE_CHAIN_PACKAGES].join(' or ')} do what needs it`;
  }
  if (packages === 'any' || packages.includes(specifier)) return undefined;
  if (rule?.typePackages?.includes(specifier)) {
    return typeOnly ? undefined
      : `${from} may name only types of ${specifier}; write "import type", or move the code to engine`;
  }
  const allowed = packages.length === 0 ? 'no package' : packages.join(', ');
  return `${from} may not import ${specifier}; it may import ${allowed}`;
}

/** Returns the layer of a path: `core` for src/core/…, else the first folder. */
export function placeOf(path: string): string {
  const [top = '', second = ''] = path.split('/');
  return top === 'src' ? second : top;
}

/**
 * Returns each cycle of imports once, as its files in a row. Types are erased before anything runs, so a cycle that
 * only types close cannot hurt and is left out.
 */
export function importCycles(files: readonly SourceFile[]): string[] {
  const paths = new Set(files.map(({ path }) => path));
  const targets = new Map(files.map(({ path, text }) => [path, importsOf(text)
    .filter(({ specifier }) => specifier?.startsWith('.'))
    .map(({ specifier }) => posix.join(posix.dirname(path), specifier!))
    .filter((target) => paths.has(target))]));
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const seen = trail.indexOf(path);
    if (seen >= 0) cycles.push([...trail.slice(seen), path].join(' → '));
    if (seen >= 0 || done.has(path)) return;
    for (const target of targets.get(path)!) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of targets.keys()) visit(path, []);
  return cycles;
}
