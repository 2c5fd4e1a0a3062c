import { readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { ErrorCode } from '../core/errors.ts';
import { messageOf } from '../core/errors.ts';
import type { Mint } from '../market/token.ts';
import { hasWalletKeyForm } from '../signer/key-shape.ts';
import type { ConfigIssue, Problem } from './config-issue.ts';
import { safeText, toIssues } from './config-issue.ts';
import type { ConfigNode, ConfigPath, MapNode } from './config-tree.ts';
import { mapScalars } from './config-tree.ts';
import { DEFAULT_CONFIG, DEFAULT_FILE } from './default-config.ts';
import type { ExitTime, UsdPrices } from './exit-times.ts';
import type { EnvironmentRecord, Overrides } from './interpolate.ts';
import { applyOverrides, interpolate, withoutConnections } from './interpolate.ts';
import type { RequestRate } from './request-rate.ts';
import type { ConnectionSettings } from './resolve-config.ts';
import { resolveConfig } from './resolve-config.ts';
import type { RunConfig } from './run-config.ts';
import type { StrategyReader } from './strategies/strategy-reader.ts';
import { PROJECT_DIR, STRATEGIES_DIR } from '../core/code-files.ts';
import { parseYaml } from './yaml-source.ts';

interface LoadOptions {
  /**
   * As the user named it, from the working directory; undefined for `config/gannet.yaml`, or else the built-in default.
   */
  readonly file?: string | undefined;
  readonly workingDir: string;
  readonly environment: EnvironmentRecord;
  /** The names of variables that are set, but that only the signer was given; none unless given. */
  readonly withheld?: readonly string[] | undefined;
  /** Returns the decimals of mint accounts of the named service and chain; mints that do not exist are left out. */
  readonly decimalsOf: (mints: readonly Mint[], connections: ConnectionSettings) => Promise<ReadonlyMap<Mint, number>>;
  /**
   * Returns the known US dollar prices of mints. With them, the result says how long full exits take, and exits that
   * take too long are refused.
   */
  readonly pricesOf?: ((mints: readonly Mint[], connections: ConnectionSettings) => Promise<UsdPrices>) | undefined;
  /** Returns what is wrong with a mint that `decimalsOf` leaves out: that the chain knows none, unless given. */
  readonly absence?: ((mint: Mint) => string) | undefined;
  /**
   * run, the default: checks everything that must hold before a run trades. check: the same, except for the consent
   * of the command line. read: a command that only reads (a quote, a replay) needs no wallet and no room in the plan,
   * and may ask a real service whatever the mode. research: a command that reads recordings alone gets no service,
   * chain, control, signals, notifications or wallet: no variable, file or address of theirs is read.
   */
  readonly purpose?: 'run' | 'check' | 'read' | 'research' | undefined;
  /** Whether the command line says that real money may be moved: --live. */
  readonly liveConsent?: boolean | undefined;
  /**
   * Loads the code of strategies: into this process only where it holds no key and no token. Undefined for a command
   * that uses no strategy; what they watch is then not known, and their parameters are not checked.
   */
  readonly strategyReader: StrategyReader | undefined;
  /** The values of the command line that replace those of the file. */
  readonly overrides?: Overrides | undefined;
  /** Where the default of recording.dir lies; "./state" unless given. */
  readonly stateDir?: string | undefined;
  /** The checkout with `strategies/` and `config/dialects/`; this one unless given. */
  readonly projectDir?: string | undefined;
}

export interface LoadedConfig {
  readonly ok: true;
  readonly config: RunConfig;
  readonly rate: RequestRate;
  /** Undefined where no prices were asked for. */
  readonly exits: readonly ExitTime[] | undefined;
}

export interface ConfigFailure {
  readonly ok: false;
  /** What a command that needs the configuration fails with. */
  readonly code: ErrorCode;
  /** Every fault, in the order of the file; at least one. */
  readonly issues: readonly ConfigIssue[];
  /** Of those strategies that could be read; undefined where reading did not get that far. */
  readonly rate: RequestRate | undefined;
}

/** The name of the built-in default in messages. */
export const BUILT_IN_FILE = '(built-in default)';
const MAX_FILE_BYTES = 1_048_576;
/** Names of files that are open in one process and not in the next. */
const OPEN_FILE = /^(?:-|\/dev\/stdin|\/dev\/fd\/\d+|\/proc\/[^/]+\/fd\/\d+)$/;

/**
 * Returns a configuration with everything resolved, or every fault at once with its place. Nothing is started, and the
 * process's own environment is not read. Throws what `decimalsOf` throws, where the file itself has no fault.
 */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig | ConfigFailure> {
  const source = await readSource(options);
  if ('message' in source) {
    const { file, message, code } = source;
    return { ok: false, code, issues: [{ file, line: 1, column: 1, path: '', message }], rate: undefined };
  }
  const { file, text, baseDir } = source;
  const fail = (problems: readonly Problem[], rate?: RequestRate): ConfigFailure => ({
    ok: false, code: codeOf(problems), issues: toIssues(file, problems), rate,
  });

  const parsed = parseYaml(text);
  if (parsed.root === undefined) return fail(parsed.problems);
  if (parsed.root.kind !== 'map') {
    return fail([
      ...parsed.problems,
      { position: parsed.root.position, path: [], message: 'expected keys and values such as "mode: paper"' },
    ]);
  }
  const keys = findWalletKeys(parsed.root);
  const safeRoot = blank(parsed.root, keys.map(({ path }) => path));
  const { purpose = 'run' } = options;
  const wanted = purpose === 'research' ? withoutConnections(safeRoot) : safeRoot;
  const { root, problems: unset, silenced } =
    interpolate(applyOverrides(wanted, options.overrides ?? {}), options.environment, options.withheld);
  const known = [...parsed.problems, ...keys, ...unset];
  const projectDir = options.projectDir ?? PROJECT_DIR;
  const { config, rate, exits, problems } = await resolveConfig({
    file, root,
    silenced: [...known.map(({ path }) => path), ...silenced],
    environment: options.environment,
    withheld: options.withheld ?? [],
    decimalsOf: options.decimalsOf,
    pricesOf: options.pricesOf,
    absence: options.absence,
    purpose: purpose === 'research' ? 'read' : purpose,
    liveConsent: options.liveConsent ?? false,
    strategyReader: options.strategyReader,
    places: {
      strategiesDir: options.projectDir === undefined ? STRATEGIES_DIR : join(projectDir, 'strategies'),
      dialectsDir: join(projectDir, 'config', 'dialects'),
      baseDir, stateDir: options.stateDir ?? './state',
    },
  });
  const all = [...known, ...problems];
  return all.length === 0 ? { ok: true, config, rate, exits } : fail(all, rate);
}

const READ_TWICE = 'expected a file: more than one process reads the configuration, the one that signs by itself, and '
  + 'what comes through a pipe '
  + 'is there once only; write it into a file and name that one';

/** What strategies are written in. */
const CODE_FILE = /\.[cm]?[jt]s$/i;
const CODE_FOR_CONFIG = 'expected a configuration in YAML, got the code of a strategy: write a file that names it '
  + 'under "strategies", as "- use: ./mine.ts" with its "budget" and "params" '
  + '(config/mean-reversion.yaml shows how), and give that one';

type Source =
  | { readonly file: string; readonly text: string; readonly baseDir: string }
  | { readonly file: string; readonly message: string; readonly code: ErrorCode };

async function readSource({ file: named, workingDir, purpose = 'run' }: LoadOptions): Promise<Source> {
  const file = named ?? DEFAULT_FILE;
  const path = resolve(workingDir, file);
  // Read as YAML, every line of it would be a fault.
  if (CODE_FILE.test(file)) return { file, code: 'CONFIG_INVALID', message: CODE_FOR_CONFIG };
  try {
    if (named !== undefined && purpose === 'run' && (OPEN_FILE.test(named) || await isPipe(path)))
      return { file, code: 'CONFIG_NOT_FOUND', message: READ_TWICE };
    const bytes = await readFile(path);
    if (bytes.length > MAX_FILE_BYTES)
      return { file, code: 'CONFIG_INVALID', message: `expected at most ${MAX_FILE_BYTES} bytes, got ${bytes.length}` };
    // The decoder takes a byte order mark away, so that columns are those an editor shows.
    return { file, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), baseDir: dirname(path) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      if (named !== undefined && OPEN_FILE.test(named)) return { file, code: 'CONFIG_NOT_FOUND', message: READ_TWICE };
      if (named === undefined) return { file: BUILT_IN_FILE, text: DEFAULT_CONFIG, baseDir: workingDir };
      return {
        file, code: 'CONFIG_NOT_FOUND',
        message: 'there is no such file: name another with --config, or leave it out to run on the embedded service',
      };
    }
    if (code === 'EISDIR') return { file, code: 'CONFIG_NOT_FOUND', message: 'expected a YAML file, got a folder' };
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      return { file, code: 'CONFIG_INVALID', message: 'expected text in UTF-8: save the file in that encoding' };
    return { file, code: 'CONFIG_NOT_FOUND', message: `the file cannot be read: ${safeText(messageOf(error))}` };
  }
}

/** A device is no file either; a folder has a message of its own. */
async function isPipe(path: string): Promise<boolean> {
  const facts = await stat(path);
  return !facts.isFile() && !facts.isDirectory();
}

/** A key with a character mistyped or missing is still nearly a key. */
const NEARLY_A_KEYPAIR = /^[0-9A-Za-z]{80,100}$/;

const REFUSAL = 'this has the form of a wallet’s key, and a configuration never holds one: remove it (if others saw '
  + 'the file, move the funds) and point at it with wallet.key_from: "env:GANNET_WALLET_KEY" or "file:PATH"';

/**
 * Returns a problem, which repeats nothing, for each wallet's key that stands in the tree as a value, a list or a key.
 */
function findWalletKeys(node: ConfigNode, path: ConfigPath = []): Problem[] {
  switch (node.kind) {
    case 'scalar': return typeof node.value === 'string' && isForbidden(node.value, path)
      ? [{ position: node.position, path, message: REFUSAL }] : [];
    case 'list': {
      if (node.items.length >= 32 && node.items.every(isByte))
        return [{ position: node.position, path, message: REFUSAL }];
      return node.items.flatMap((item, index) => findWalletKeys(item, [...path, index]));
    }
    case 'map': return [...node.members].flatMap(([key, member]) => {
      const memberPath = [...path, key];
      if (isForbidden(key, memberPath))
        return [{ position: member.keyPosition ?? member.position, path: memberPath, message: REFUSAL }];
      return findWalletKeys(member, memberPath);
    });
  }
}

function isForbidden(text: string, path: ConfigPath): boolean {
  if (hasWalletKeyForm(text)) return true;
  // A service's own key may be of any length.
  const isApiKey = path[0] === 'service' && path[1] === 'api_key';
  return !isApiKey && NEARLY_A_KEYPAIR.test(text.trim());
}

function isByte(node: ConfigNode): boolean {
  return node.kind === 'scalar' && typeof node.value === 'number' && Number.isInteger(node.value) && node.value >= 0
    && node.value <= 255;
}

/** Removes the wallet's keys that were found, so that no later message can repeat them. */
function blank(root: MapNode, paths: readonly ConfigPath[]): MapNode {
  const found = new Set(paths.map((path) => JSON.stringify(path)));
  return mapScalars(root, (scalar, path) =>
    (found.has(JSON.stringify(path)) ? { ...scalar, value: '', source: '' } : scalar));
}

function codeOf(problems: readonly Problem[]): ErrorCode {
  return problems.every(({ code }) => code === 'LIVE_REFUSED') ? 'LIVE_REFUSED' : 'CONFIG_INVALID';
}
