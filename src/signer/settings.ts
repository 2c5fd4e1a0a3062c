import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DEFAULT_CONFIG } from '../config/default-config.ts';
import { applyOverrides, interpolate } from '../config/interpolate.ts';
import type { MapNode } from '../config/config-tree.ts';
import { PROJECT_DIR } from '../core/code-files.ts';
import { GannetError, messageOf } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import { ACCEPT_COUNTERS_FLAG, valueOf } from './command-process.ts';
import { hasWalletKeyForm } from './key-shape.ts';
import { isAddress } from '../solana/addresses.ts';
import type { SwapProgram } from './policy/swap-programs.ts';
import { swapPrograms } from './policy/swap-programs.ts';
import { NATIVE_MINT, USDC_MINT } from '../solana/constants.ts';
import { readSwapPrograms } from './dialect-programs.ts';
import { signerFolders } from './counters/spend-counters.ts';
import { readPriceGuard, type PriceGuardSettings } from './price/price-guard-settings.ts';
import type { YamlPlace } from './yaml-reading.ts';
import { readAllowances, type Allowances } from './allowances.ts';
import { inside, invalid, invalidAt, itemsOf, memberOf, membersOf, textOf, yamlRoot } from './yaml-reading.ts';

/** The limits on spending one token, decimal texts in whole tokens; undefined for no limit. */
export interface CapSetting {
  readonly mint: string;
  /** As the configuration calls it. */
  readonly name: string;
  readonly perTrade?: string | undefined;
  readonly perHour?: string | undefined;
  readonly perDay?: string | undefined;
}

/** The configuration of the process with the key, by its own reading. */
export interface SignerSettings {
  /** `env:NAME` or `file:PATH`; undefined where none is set. */
  readonly keyFrom: string | undefined;
  /** The required address of the key, base58. */
  readonly address: string | undefined;
  /** Whether service and chain are both embedded: nothing there has value. */
  readonly embedded: boolean;
  /** The node, http or https; undefined where the chain is the embedded one. May hold a provider's key: never shown. */
  readonly rpcUrl: string | undefined;
  /** More nodes, for when the first does not answer; absent without any. */
  readonly furtherRpcUrls?: readonly string[] | undefined;
  /** The signer's own folder with its counters, absolute. */
  readonly countersDir: string;
  /** Where counters of an earlier version may be, absolute. */
  readonly stateDir: string;
  /** The command line accepts missing or altered counters, once. */
  readonly acceptNewCounters: boolean;
  /**
   * The allow-list: the programs read here and, unless all is embedded, those of the dialect and of the section
   * "signer".
   */
  readonly programs: readonly SwapProgram[];
  /** May receive in the wallet's place: wallets, or token accounts. */
  readonly destinations: readonly string[];
  readonly caps: readonly CapSetting[];
  readonly allowances: Allowances;
  /** Mints by their aliases; SOL and USDC are always among them. */
  readonly tokens: ReadonlyMap<string, string>;
  /** Whether tokens that are not named may be bought, and so have to be sold. */
  readonly sellsUnnamed: boolean;
  /** The service that the signer asks for prices itself, and how far a swap may be below them. */
  readonly priceGuard: PriceGuardSettings;
}

/** The command line, environment and folders of a process. */
interface SettingsSource {
  /** The command line without the program. */
  readonly args: readonly string[];
  /** With the values of `${NAME}`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDir: string;
  /** The checkout with `config/dialects/`; this one unless given. */
  readonly projectDir?: string | undefined;
}

const DEFAULT_FILE = 'config/gannet.yaml';
const BUILT_IN_FILE = '(built-in default)';
const MAX_FILE_BYTES = 1_048_576;
/** Faulty values elsewhere do not prevent a signature; the command reports them. */
const READ_HERE: readonly string[] = ['signer', 'wallet', 'chain', 'service.base_url', 'service.dialect', 'tokens'];
const DECIMAL = /^\d{1,20}(?:\.\d{1,20})?$/;

/**
 * Returns the signer's settings from the configuration that the command line names. Throws CONFIG_NOT_FOUND, or
 * CONFIG_INVALID with file, line and column for every unclear value: then nothing is signed.
 */
export function readSignerSettings(
  { args, environment, workingDir, projectDir = PROJECT_DIR }: SettingsSource,
): SignerSettings {
  const { file, text } = readConfig(valueOf(args, '--config'), workingDir);
  const parsed = yamlRoot(file, text);
  if (parsed.node.kind !== 'map') throw invalid(parsed, 'expected keys and values such as "mode: paper"');
  const overridden: MapNode =
    applyOverrides(parsed.node, {
      baseUrl: valueOf(args, '--base-url'), rpcUrl: valueOf(args, '--rpc-url'),
      apiKeyEnv: valueOf(args, '--api-key-env'),
    });
  const { root, problems } = interpolate(overridden, environment);
  const problem = problems.find(({ path }) => READ_HERE.some((known) => `${path.join('.')}.`.startsWith(`${known}.`)));
  if (problem !== undefined) throw invalidAt(file, problem);

  const place: YamlPlace = { file, path: [], node: root };
  const [service, chain, wallet, signer, risk] =
    ['service', 'chain', 'wallet', 'signer', 'risk'].map((key) => memberOf(place, key));
  membersOf(signer, [
    'programs', 'destinations', 'caps', 'price_guard', 'max_tip', 'max_priority_fee', 'fee_accounts',
  ]);
  const tokens = readTokens(memberOf(place, 'tokens'));
  const dialect = readDialect(inside(service, 'dialect'), projectDir);
  const priceGuard = readPriceGuard({ service, risk, guard: inside(signer, 'price_guard') }, { environment, dialect });
  const rpcUrl = readRpcUrl(inside(chain, 'rpc_url'));
  const furtherRpcUrls = itemsOf(inside(chain, 'further_rpc_urls')).map(readFurtherRpcUrl);
  const embedded = priceGuard.serviceUrl === undefined && rpcUrl === undefined;
  const listed = allowList(readSwapPrograms(dialect.file, dialect.text), itemsOf(inside(signer, 'programs'))
    .map((item) => readAddress(item)!));
  return {
    keyFrom: readKeyFrom(inside(wallet, 'key_from')),
    address: readAddress(inside(wallet, 'address')),
    embedded,
    rpcUrl,
    ...(rpcUrl === undefined || furtherRpcUrls.length === 0 ? {} : { furtherRpcUrls }),
    ...signerFolders({ args, environment, workingDir }),
    acceptNewCounters: args.includes(ACCEPT_COUNTERS_FLAG),
    // On the embedded chain the daemon names the node, so a simulation proves nothing there: only its own swap program
    // is called, which no other chain has.
    programs: embedded ? swapPrograms() : listed,
    destinations: itemsOf(inside(signer, 'destinations')).map((item) => readAddress(item)!),
    caps: readCaps(inside(signer, 'caps'), tokens),
    allowances: readAllowances(signer, risk),
    tokens,
    sellsUnnamed: inside(risk, 'discovered_tokens') !== undefined,
    priceGuard,
  };
}

function readConfig(named: string | undefined, workingDir: string): { readonly file: string; readonly text: string } {
  const file = named ?? DEFAULT_FILE;
  try {
    const path = resolve(workingDir, file);
    // A pipe would block the signer, and has been read already.
    if (!statSync(path).isFile()) throw new GannetError(
      'CONFIG_NOT_FOUND', `${printable(file)}: expected a file, which the signer can read for itself`,
    );
    const bytes = readFileSync(path);
    if (bytes.length > MAX_FILE_BYTES) throw new GannetError(
      'CONFIG_INVALID', `${printable(file)}: expected at most ${MAX_FILE_BYTES} bytes, got ${bytes.length}`,
    );
    return { file, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (cause) {
    if (cause instanceof GannetError) throw cause;
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if ((code === 'ENOENT' || code === 'ENOTDIR') && named === undefined)
      return { file: BUILT_IN_FILE, text: DEFAULT_CONFIG };
    throw new GannetError(
      'CONFIG_NOT_FOUND', `${printable(file)} cannot be read by the signer: ${printable(messageOf(cause))}`, { cause },
    );
  }
}

function readKeyFrom(place: YamlPlace | undefined): string | undefined {
  const text = textOf(place);
  if (place === undefined || text === undefined) return undefined;
  const [, kind, where = ''] = /^(env|file):(.+)$/s.exec(text) ?? [];
  const isClear = where !== '' && !hasWalletKeyForm(where) && !isAddress(where)
    && (kind === 'file' || /^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(where));
  if (!isClear) throw invalid(place, 'expected "env:NAME" or "file:PATH", which name the place of the key; the key '
    + 'itself never stands in a configuration (the value is not shown)');
  return text;
}

function readAddress(place: YamlPlace | undefined): string | undefined {
  const text = textOf(place);
  if (place !== undefined && (text === undefined || !isAddress(text)))
    throw invalid(place, 'expected an address, the base58 of 32 bytes');
  return text;
}

/** Without the address in its messages: it may hold a provider's key. */
function readRpcUrl(place: YamlPlace | undefined): string | undefined {
  const text = textOf(place);
  if (place === undefined || text === undefined || text === 'embedded') return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw invalid(place, 'expected "embedded" or the http(s) address of a node');
  if (url.username !== '' || url.password !== '')
    throw invalid(place, 'expected an address without user name and password');
  return text;
}

function readFurtherRpcUrl(item: YamlPlace): string {
  const url = readRpcUrl(item);
  if (url === undefined) throw invalid(item, 'expected the http(s) address of a node');
  return url;
}

function readTokens(place: YamlPlace | undefined): ReadonlyMap<string, string> {
  const tokens = new Map([['SOL', NATIVE_MINT], ['USDC', USDC_MINT]]);
  for (const [alias, entry] of membersOf(place)) {
    const mint = readAddress(entry)!;
    if (tokens.has(alias) && tokens.get(alias) !== mint)
      throw invalid(entry, `expected ${alias} to be ${tokens.get(alias)!}: give another token an alias of its own`);
    tokens.set(alias, mint);
  }
  return tokens;
}

function readCaps(place: YamlPlace | undefined, tokens: ReadonlyMap<string, string>): readonly CapSetting[] {
  const caps = membersOf(place).map(([name, entry]) => {
    const mint = tokens.get(name) ?? (isAddress(name) ? name : undefined);
    if (mint === undefined) throw invalid(entry, 'expected a token that "tokens" names');
    const [perTrade, perHour, perDay] = ['per_trade', 'per_hour', 'per_day']
      .map((span) => readDecimal(memberOf(entry, span)));
    membersOf(entry, ['per_trade', 'per_hour', 'per_day']);
    if (perTrade === undefined && perHour === undefined && perDay === undefined)
      throw invalid(entry, 'expected at least one of per_trade, per_hour and per_day');
    return { place: entry, cap: { mint, name, perTrade, perHour, perDay } };
  });
  const twice = caps.find(({ cap }, index) => caps.findIndex((other) => other.cap.mint === cap.mint) < index);
  if (twice !== undefined) throw invalid(twice.place, 'this token has a cap above already');
  return caps.map(({ cap }) => cap);
}

function readDecimal(place: YamlPlace | undefined): string | undefined {
  const text = textOf(place);
  if (place !== undefined && (text === undefined || !DECIMAL.test(text)))
    throw invalid(place, 'expected a decimal number of whole tokens as text, such as "200"');
  return text;
}

function readDialect(
  place: YamlPlace | undefined, projectDir: string,
): { readonly file: string; readonly text: string } {
  const name = textOf(place) ?? 'neutral';
  if (place !== undefined && !/^[a-z0-9-]{1,64}$/.test(name))
    throw invalid(place, 'expected the name of a dialect: small letters, digits and dashes');
  const file = join(projectDir, 'config', 'dialects', `${name}.yaml`);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new GannetError(
      'CONFIG_NOT_FOUND', `service.dialect: expected the dialect "${name}" in ${file}; "neutral" always exists`,
      { cause },
    );
  }
  return { file: `config/dialects/${name}.yaml`, text };
}

/** One entry for a program: with the decoder that is known here, else the dialect's. */
function allowList(dialect: readonly SwapProgram[], further: readonly string[]): readonly SwapProgram[] {
  const entries = new Map([...swapPrograms(further), ...dialect, ...swapPrograms()].map((entry) =>
    [entry.program, entry]));
  return [...entries.values()];
}
