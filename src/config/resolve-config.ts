import { join } from 'node:path';
import { assert } from '../core/assert.ts';
import { formatDuration, parseDuration } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { Problem, ProblemList } from './config-issue.ts';
import { createProblemList } from './config-issue.ts';
import type { ConfigFile, StrategyEntry } from './config-schema.ts';
import { configSchema, strategyEntrySchema } from './config-schema.ts';
import type { ConfigNode, ConfigPath } from './config-tree.ts';
import { nodeAt, plainValue, without } from './config-tree.ts';
import type { ExitTime, UsdPrices } from './exit-times.ts';
import { exitTimes, refuseSlowExits } from './exit-times.ts';
import type { EnvironmentRecord } from './interpolate.ts';
import { checkLiveGate } from './live-gate.ts';
import type { RequestRate } from './request-rate.ts';
import { refuseExcess, requestRate } from './request-rate.ts';
import { resolveAlerts } from './operations/alerts-config.ts';
import { resolveRetention } from './operations/retention-config.ts';
import { resolveBacktest } from './resolve-backtest.ts';
import {
  checkForRun, knownRouters, refuseUnknownSignals, resolveChain, resolveService, resolveSignals, resolveSigner,
  resolveWallet,
} from './resolve-connections.ts';
import { resolveLimits } from './risk-limits.ts';
import { resolveSwap } from './strategies/swap-options.ts';
import { checkCode, loadStrategies, resolveStrategies } from './strategies/resolve-strategies.ts';
import type { DecimalsLookup } from './resolve-tokens.ts';
import { GUESSED_DECIMALS, createAmountReader, resolveTokens } from './resolve-tokens.ts';
import type { ChainConfig, IsolationConfig, RunConfig, ServiceConfig } from './run-config.ts';
import type { StrategyReader } from './strategies/strategy-reader.ts';
import type { ProtectionEntry } from './protection-config.ts';
import { protectionSchema } from './protection-config.ts';
import { validate } from './validate.ts';

/** A shorter call may be late through no fault of its own; during a longer one, no other strategy decides. */
const CALL_MS = { least: 10, most: 10_000 } as const;

/** Where decimals can be asked for: the lookup needs to know which service and chain the file names. */
export interface ConnectionSettings {
  readonly service: ServiceConfig;
  readonly chain: ChainConfig;
  /** Of the embedded service's market and wallet. */
  readonly seed: number;
}

interface ResolveOptions {
  readonly file: string;
  readonly root: ConfigNode;
  /** Paths whose fault is known already. */
  readonly silenced: readonly ConfigPath[];
  /** The places of strategies that are not read. */
  readonly leftOut: readonly number[];
  readonly environment: EnvironmentRecord;
  /** Variables that are set, but that only the signer was given. */
  readonly withheld: readonly string[];
  readonly decimalsOf: (mints: readonly Mint[], connections: ConnectionSettings) => Promise<ReadonlyMap<Mint, number>>;
  readonly pricesOf?: ((mints: readonly Mint[], connections: ConnectionSettings) => Promise<UsdPrices>) | undefined;
  readonly absence?: ((mint: Mint) => string) | undefined;
  readonly purpose: 'run' | 'check' | 'read';
  readonly liveConsent: boolean;
  readonly strategyReader: StrategyReader | undefined;
  readonly places: {
    readonly strategiesDir: string; readonly dialectsDir: string; readonly baseDir: string; readonly stateDir: string;
  };
}

/** The result of resolving: the configuration is complete only where there are no problems. */
interface Resolved {
  readonly config: RunConfig;
  readonly rate: RequestRate;
  readonly exits: readonly ExitTime[] | undefined;
  readonly problems: readonly Problem[];
}

/**
 * Returns the configuration of a tree with every fault that can be found at once: what is faulty is left out of what
 * follows, so that a fault in one place neither hides nor causes one in another.
 */
export async function resolveConfig(options: ResolveOptions): Promise<Resolved> {
  const { root, environment, withheld, places, silenced, purpose } = options;
  const leftOut = options.leftOut.map((place) => ['strategies', place]);
  const problems = createProblemList(root, [...silenced, ...leftOut]);
  validate(configSchema, { root, base: [], problems });
  // An entry without its file is not read.
  const faulty = [...silenced, ...leftOut.map((path) => [...path, 'use']), ...problems.all.map(({ path }) => path)];
  const sound = without(root, faulty);
  const sections = readSections(sound);
  refuseUnfinished(sections, problems);

  const isolation = resolveIsolation(sections, problems);
  const given = readEntries(sound);
  const loading = loadStrategies(given, { places, isolation, purpose, reader: options.strategyReader });
  if (purpose !== 'read') checkForRun(sections, { environment, problems });
  const service = resolveService(sections, { environment, withheld, problems, dialectsDir: places.dialectsDir });
  const chain = resolveChain(sections, problems);
  let lookUpFailure: { readonly error: unknown } | undefined;
  const lookUp: DecimalsLookup = async (mints) => {
    try {
      return await options.decimalsOf(mints, { service, chain, seed: sections.seed });
    } catch (error) {
      lookUpFailure = { error };
      return new Map(mints.map((mint) => [mint, GUESSED_DECIMALS]));
    }
  };
  const tokens = await resolveTokens({
    entries: sections.tokens, faulty: faultyAliases(root, sections), lookUp, absence: options.absence, problems,
  });
  const amounts = createAmountReader(tokens, problems);
  const entries = await resolveStrategies(given, loading, {
    root, tokens, amounts, problems, strategiesDir: places.strategiesDir, seed: sections.seed,
    onStop: sections.on_strategy_stop,
  });
  if (purpose !== 'read') await checkCode(loading, problems);
  const wallet = resolveWallet(sections, { amounts, problems });
  const protections = readProtections(sound);
  const { enabled, dir = join(places.stateDir, 'recordings') } = sections.recording;
  const signer = resolveSigner(sections, { amounts, problems });
  const swapScope = {
    amounts, problems, signer, routers: knownRouters(service.dialect, places.dialectsDir), wallet: wallet.address,
  };
  const swap = resolveSwap(sections.swap, { ...swapScope, path: ['swap'] });
  const own = given.map((entry, index) =>
    resolveSwap(entry?.swap, { ...swapScope, path: ['strategies', index, 'swap'] }));
  const strategies = entries.flatMap((strategy, index) =>
    (strategy === undefined ? [] : [{ ...strategy, swap: own[index] ?? swap }]));
  const config: RunConfig = {
    file: options.file,
    mode: sections.mode,
    service,
    chain,
    wallet,
    signer,
    seed: sections.seed,
    backtest: resolveBacktest(sections, { amounts, strategies, problems, purpose }),
    tokens,
    limits: resolveLimits(sections.risk, {
      amounts, problems, protections, solReserve: wallet.solReserve, caps: signer.caps,
    }),
    swap,
    strategies,
    isolation,
    reload: sections.reload ?? (sections.mode === 'paper' ? 'on_change' : 'by_command'),
    recording: { enabled, dir },
    signals: resolveSignals(sections),
    alerts: resolveAlerts(sections.alerts),
    retention: resolveRetention(sections.retention),
    control: { ...sections.control, isPortGiven: nodeAt(sound, ['control', 'port']) !== undefined },
  };
  const rate = requestRate(config);
  if (purpose !== 'read') {
    refuseExcess(rate, { service, strategies: entries }, problems);
    if (sections.mode === 'live' && sections.reload === 'on_change') {
      problems.add(['reload'], 'in live mode, a changed file changes no strategy by itself: remove the key, and order '
        + '"gannet reload" after a change');
    }
    refuseUnknownSignals(sections.signals?.names ?? [], entries, problems);
    const consent = purpose === 'check' ? undefined : options.liveConsent;
    checkLiveGate(sections, { root, problems, consent, protections, signer, strategies, tokens });
  }
  // A file with other faults may not say what it means to allow.
  const exits = lookUpFailure === undefined
    ? await checkExits(config, { service, chain, seed: sections.seed }, { options, problems }) : undefined;
  // A network that fails is a fault of its own; but the file's own faults can be corrected first, and without it.
  if (lookUpFailure !== undefined && isFaultless(options, problems)) throw lookUpFailure.error;
  return { config, rate, exits, problems: problems.all };
}

/** Returns how long full exits take by the prices of now, after adding those that take too long to the problems. */
async function checkExits(
  config: RunConfig, connections: ConnectionSettings,
  { options, problems }: { readonly options: ResolveOptions; readonly problems: ProblemList },
): Promise<readonly ExitTime[] | undefined> {
  if (options.pricesOf === undefined || config.signer.caps.size === 0 || !isFaultless(options, problems))
    return undefined;
  const exits = exitTimes(config, await options.pricesOf(config.tokens.all.map(({ mint }) => mint), connections));
  refuseSlowExits(exits, config, problems);
  return exits;
}

function isFaultless({ silenced }: ResolveOptions, problems: ProblemList): boolean {
  return problems.all.length === 0 && silenced.length === 0;
}

/** Returns the sections with their defaults; an unreadable section is its default alone. */
function readSections(sound: ConfigNode): ConfigFile {
  const withoutStrategies = without(sound, [['strategies']]);
  const first = parseSections(withoutStrategies);
  if (first.success) return first.data;
  // A list with a broken entry goes as a whole, since the places of the others must stay what they are; else the
  // section.
  const broken = first.error.issues.map(({ path }) => {
    const index = path.findIndex((step) => typeof step === 'number');
    return path.slice(0, index < 0 ? 1 : index).map(String);
  });
  const second = parseSections(without(withoutStrategies, broken));
  if (second.success) return second.data;
  // A section cannot do without some lists.
  const third = parseSections(without(withoutStrategies, broken.map(([section]) => [section!])));
  assert(third.success, 'every section has defaults');
  return third.data;
}

function parseSections(node: ConfigNode): ReturnType<typeof configSchema.safeParse> {
  return configSchema.safeParse({ ...plainValue(node) as object, strategies: [{ use: 'none' }] });
}

function readEntries(sound: ConfigNode): (StrategyEntry | undefined)[] {
  const list = nodeAt(sound, ['strategies']);
  if (list?.kind !== 'list') return [];
  return list.items.map((item) => strategyEntrySchema.safeParse(plainValue(item)).data);
}

function resolveIsolation(
  { isolation, strategy_bounds: bounds }: ConfigFile, problems: ProblemList,
): IsolationConfig {
  const callMs = parseDuration(bounds.call_time);
  if (callMs < CALL_MS.least || callMs > CALL_MS.most) {
    problems.add(['strategy_bounds', 'call_time'], `expected ${formatDuration(CALL_MS.least)} to `
      + `${formatDuration(CALL_MS.most)}, got ${bounds.call_time}`);
  }
  return { kind: isolation === 'per_strategy' ? 'per-strategy' : isolation, callMs, memoryMb: bounds.memory_mb };
}

/** Each protection is read by itself, like the strategies: a fault in one hides none in another. */
function readProtections(sound: ConfigNode): (ProtectionEntry | undefined)[] | undefined {
  const list = nodeAt(sound, ['risk', 'protections']);
  return list?.kind === 'list'
    ? list.items.map((item) => protectionSchema.safeParse(plainValue(item)).data) : undefined;
}

function faultyAliases(root: ConfigNode, sections: ConfigFile): string[] {
  const node = nodeAt(root, ['tokens']);
  return node?.kind === 'map' ? [...node.members.keys()].filter((alias) => !Object.hasOwn(sections.tokens, alias)) : [];
}

/** Refuses keys that this version does not carry out: an ineffective key is worse than a missing one. */
function refuseUnfinished(sections: ConfigFile, problems: ProblemList): void {
  const refuse = (path: ConfigPath, what: string): void => {
    problems.add(path, `this version does not ${what} yet: remove the key`, { at: 'key' });
  };
  if (sections.notifications !== undefined) refuse(['notifications'], 'send notifications');
}
