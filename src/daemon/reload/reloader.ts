import { basename } from 'node:path';
import type { RunConfig, StrategyConfig } from '../../config/run-config.ts';
import type { StrategyReader } from '../../config/strategies/strategy-reader.ts';
import { assert } from '../../core/assert.ts';
import type { ChunkedWork } from '../../core/chunked-work.ts';
import { GannetError, isGannetError } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import type { Engine } from '../../engine/engine.ts';
import type { StrategyVersion } from '../../engine/prepared-version.ts';
import { portfolioView } from '../../engine/host/portfolio-view.ts';
import { createRealm, inThisProcess } from '../../engine/host/realm.ts';
import type { StrategyInstance } from '../../engine/strategy-host.ts';
import type { ReloadStrategy } from '../../trading/engine-command.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import type { CodeCopy } from '../files/kept-code.ts';
import { copyCode, filesOf } from '../files/kept-code.ts';
import type { RunFiles } from '../files/run-files.ts';
import type { StagedHosts, StrategyHosts } from '../hosts/host-generations.ts';
import type { EngineLoop } from '../run/engine-loop.ts';
import type { Warmup } from '../run/recorded-warm-up.ts';
import { cannotChange, fixedChanges, fixedOfStrategy, paramChanges, withUnread } from './config-change.ts';
import type { Fault, ReloadedStrategy, ReloadReport } from './reload-text.ts';
import { faultText } from './reload-text.ts';

/**
 * Reads the configuration again, without the strategies at some places in its list. Returns what is wrong with
 * strategies by their places where nothing else is wrong. Throws CONFIG_INVALID with every fault.
 */
export type LoadAgain = (reader: StrategyReader, leftOut: ReadonlySet<number>) =>
  Promise<{ readonly config: RunConfig } | { readonly faults: ReadonlyMap<number, string> }>;

/** What a run needs to reload its strategies. */
export interface Reloading {
  readonly config: RunConfig;
  /** The code of the strategies at the start, by their names. */
  readonly copies: Readonly<Record<string, CodeCopy>>;
  readonly load: LoadAgain;
  /** Returns the recorded warm-up of a strategy, this run's events included; undefined where it wants none. */
  readonly prepareWarmup: (strategy: StrategyInstance, until: Millis) => ChunkedWork<Warmup | undefined>;
}

interface ReloaderOptions extends Reloading {
  readonly hosts: StrategyHosts;
  readonly engine: Engine;
  readonly loop: EngineLoop;
  readonly state: EngineState;
  readonly seed: number;
  readonly files: Pick<RunFiles, 'code'>;
  readonly phase: () => string;
  /** Called after a strategy was reloaded. */
  readonly onReloaded: (reloaded: ReloadedStrategy, warmup: Warmup | undefined) => void;
}

/** A strategy that is to be reloaded. */
interface Candidate extends ReloadedStrategy {
  readonly config: StrategyConfig;
  readonly copy: CodeCopy;
}

/** A reload that is under way. */
interface Attempt {
  /** The strategy that is wanted; undefined for all that have changed. */
  readonly wanted: string | undefined;
  readonly reloaded: ReloadedStrategy[];
  /** Why strategies are not reloaded, by their names. */
  readonly refused: Map<string, string>;
  /** What the present round is to reload. */
  chosen: readonly string[];
  /** The rounds that another order, or the end of a process, has ended. */
  interruptions: number;
}

const INTERRUPTIONS_MAX = 5;

/**
 * Puts other versions of strategies into their places in a run. A version is loaded, checked, started once with its
 * state and warmed up beside the running one, which goes on where any of that fails. The switch is between two events.
 */
export class Reloader {
  readonly #options: ReloaderOptions;
  readonly #versions = new WeakMap<ReloadStrategy, StrategyVersion>();
  #config: RunConfig;
  #code: Readonly<Record<string, CodeCopy>>;
  /** Reloads are carried out one after the other. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: ReloaderOptions) {
    this.#options = options;
    this.#config = options.config;
    this.#code = options.copies;
  }

  /** The files of the strategies' code, absolute. */
  get files(): readonly string[] {
    return [...new Set(Object.values(this.#code).flatMap(filesOf))];
  }

  /** Whether a reload may begin. */
  get isReady(): boolean {
    return this.#options.phase() === 'trading';
  }

  /** Returns the version that an order of this reloader puts into its strategy's place. */
  versionOf(order: ReloadStrategy): StrategyVersion {
    const version = this.#versions.get(order);
    assert(version, () => `the version of strategy ${order.strategy} was not prepared`);
    return version;
  }

  /**
   * Reloads a strategy, or all whose code or parameters have changed; a faulty one keeps no other from that. Throws
   * RELOAD_REFUSED where it reloads none because of faults.
   */
  async reload(wanted: string | undefined): Promise<ReloadReport> {
    const turn = this.#turn.then(() => this.#reload(wanted));
    // What becomes of this one is for its caller; the next one follows in any case.
    this.#turn = turn.then(() => undefined, () => undefined);
    return turn;
  }

  async #reload(wanted: string | undefined): Promise<ReloadReport> {
    const attempt: Attempt = { wanted, reloaded: [], refused: new Map(), chosen: [], interruptions: 0 };
    const { reloaded } = attempt;
    try {
      // Each further round leaves out a strategy that was refused, or repeats one that was interrupted.
      while (!await this.#round(attempt));
    } catch (error) {
      if (!isGannetError(error) || reloaded.length === 0) throw error;
      for (const name of attempt.chosen) if (!isIn(reloaded, name)) attempt.refused.set(name, error.message);
    }
    const refusals = [...attempt.refused].filter(([strategy]) => wanted === undefined || strategy === wanted)
      .map(([strategy, reason]) => ({ strategy, reason }));
    if (reloaded.length === 0 && refusals.length > 0) throw refused(refusals.map(({ reason }) => reason).join('; '));
    const touched = new Set([...reloaded, ...refusals].map(({ strategy }) => strategy));
    return { reloaded, refused: refusals, unchanged: this.#names.filter((name) => !touched.has(name)) };
  }

  get #names(): string[] {
    return this.#config.strategies.map(({ name }) => name);
  }

  /** Loads all that can be loaded into processes of their own, and switches; returns whether nothing is left to do. */
  async #round(attempt: Attempt): Promise<boolean> {
    this.#refuseUnfit(attempt);
    const { hosts, loop } = this.#options;
    const staged = hosts.stage();
    try {
      const chosen = await this.#chosen(attempt, staged.reader);
      if (chosen === undefined) return false;
      attempt.chosen = chosen.map(({ strategy }) => strategy);
      if (chosen.length === 0) return true;
      const known = attempt.refused.size;
      const end = await loop.exclusively((at) => this.#switchAll(chosen, { staged, at, attempt }));
      if (end === 'done' || (attempt.wanted !== undefined && attempt.refused.has(attempt.wanted))) return true;
      if (attempt.refused.size > known || ++attempt.interruptions < INTERRUPTIONS_MAX) return false;
      throw refused('other orders kept coming between, or its process kept ending: reload again');
    } finally {
      await staged.close();
    }
  }

  #refuseUnfit({ wanted }: Attempt): void {
    this.#refusePhase();
    if (wanted === undefined) return;
    const names = this.#names;
    if (!names.includes(wanted)) throw refused(`there is no strategy "${wanted}"; this run has ${names.join(', ')}`);
    const standing = this.#standingOf(wanted);
    if ('refused' in standing) throw refused(standing.refused);
  }

  #refusePhase(): void {
    const phase = this.#options.phase();
    if (phase !== 'trading') throw refused(`the run is ${phase}, and strategies are reloaded while it is trading`);
  }

  /** Returns what is to be reloaded; undefined where a faulty strategy must be left out first. */
  async #chosen(
    { wanted, reloaded, refused: faulty }: Attempt, reader: StrategyReader,
  ): Promise<readonly Candidate[] | undefined> {
    const leftOut = new Set(this.#names.flatMap((name, index) => (faulty.has(name) ? [index] : [])));
    const before = await this.#copies(faulty);
    const loaded = await this.#options.load(reader, leftOut).catch((error: unknown) => {
      throw isGannetError(error) ? refused(oneLine(error.message)) : error;
    });
    if ('faults' in loaded) {
      for (const [index, fault] of loaded.faults) {
        const name = this.#names[index];
        if (name === undefined || leftOut.has(index)) throw refused(oneLine(fault));
        faulty.set(name, oneLine(fault));
      }
      return wanted !== undefined && faulty.has(wanted) ? [] : undefined;
    }
    const config = withUnread(this.#config, loaded.config, leftOut);
    const fixed = fixedChanges(this.#config, config);
    if (fixed.length > 0) throw refused(cannotChange(fixed));
    const after = await this.#copies(faulty);
    const candidates = config.strategies.map((strategy, index): Candidate => {
      const { name } = strategy;
      const was = this.#config.strategies[index]!;
      const [copy, known] = [after.get(name) ?? this.#code[name]!, this.#code[name]!];
      return {
        strategy: name, config: strategy, copy,
        code: known.sha256 === copy.sha256 ? undefined : { before: known.sha256, after: copy.sha256 },
        params: paramChanges(was.rawParams, strategy.rawParams),
      };
    });
    const isWanted = (one: Candidate): boolean => (wanted === undefined ? isChanged(one) || isFixed(one)
      : one.strategy === wanted) && !isIn(reloaded, one.strategy);
    const isFixed = ({ strategy, config: is }: Candidate): boolean =>
      fixedOfStrategy(this.#strategy(strategy), is).length > 0;
    return candidates.filter((one) => {
      if (faulty.has(one.strategy) || !isWanted(one)) return false;
      const fault = this.#faultOf(one, before.get(one.strategy));
      if (fault !== undefined) faulty.set(one.strategy, fault);
      return fault === undefined;
    });
  }

  #strategy(name: string): StrategyConfig {
    return this.#config.strategies.find((strategy) => strategy.name === name)!;
  }

  /** Returns why a version that could be loaded is refused all the same. */
  #faultOf({ strategy, config, copy, code }: Candidate, before: CodeCopy | undefined): string | undefined {
    if (before?.sha256 !== copy.sha256) return `${basename(config.use)} was written while it was read: reload again`;
    const fixed = fixedOfStrategy(this.#strategy(strategy), config);
    if (fixed.length > 0) return cannotChange(fixed);
    // Modules stay loaded until a process ends, so code in the daemon's own process cannot change.
    return config.apart !== undefined || code === undefined ? undefined
      : `the code of strategy ${strategy} has changed, and with "isolation: off" it cannot be loaded again: start the `
        + 'daemon again, or remove "isolation"';
  }

  /** Returns copies of the code of all strategies; one that cannot be read is refused. */
  async #copies(faulty: Map<string, string>): Promise<ReadonlyMap<string, CodeCopy>> {
    const copies = await Promise.all(this.#config.strategies.map(async ({ name, file }) => {
      try {
        return [[name, await copyCode(file!)] as const];
      } catch (error) {
        if (!isGannetError(error)) throw error;
        if (!faulty.has(name)) faulty.set(name, error.message);
        return [];
      }
    }));
    return new Map(copies.flat());
  }

  #standingOf(name: string): { readonly kept: string | undefined } | { readonly refused: string } {
    const standing = this.#options.engine.stateToHandOver(name);
    if ('kept' in standing) return standing;
    const why = `strategy ${name} cannot be reloaded, because ${standing.refused}`;
    return { refused: `${why}; correct it and start the daemon again` };
  }

  /** Carries out the switches at one time; returns whether another round is needed. */
  *#switchAll(chosen: readonly Candidate[], { staged, at, attempt }: {
    readonly staged: StagedHosts; readonly at: Millis; readonly attempt: Attempt;
  }): ChunkedWork<'done' | 'again'> {
    this.#refusePhase();
    let isDone = true as boolean;
    const refuse = (strategy: string, fault: Fault): void => {
      isDone = false;
      // A process that ended because of another version says nothing about this one.
      if (fault.code !== 'STRATEGY_NEIGHBOUR') attempt.refused.set(strategy, fault.reason);
    };
    for (const one of chosen) {
      const fault = this.#tryStart(one, at);
      if (fault !== undefined) refuse(one.strategy, fault);
      yield;
    }
    if (!isDone) return 'again';
    for (const one of chosen) {
      const fault = yield* this.#switch(one, staged, at);
      if (fault !== undefined) refuse(one.strategy, fault);
      else attempt.reloaded.push({ strategy: one.strategy, code: one.code, params: one.params });
    }
    return isDone ? 'done' : 'again';
  }

  /** Starts a version once with the state that it would go on with, and ends it; nothing that it does counts. */
  #tryStart({ strategy: name, config }: Candidate, at: Millis): Fault | undefined {
    const { state, seed, engine } = this.#options;
    const standing = this.#standingOf(name);
    if ('refused' in standing) return { reason: standing.refused };
    const { strategy, params, file } = config;
    const trial = config.apart ?? inThisProcess(createRealm({ name, strategy, params, seed }));
    const portfolio = portfolioView({ state, clock: engine.clock }, name);
    const result = trial.call({ kind: 'start', warming: true, kept: standing.kept, at }, portfolio);
    if ('ending' in result) return faultText(name, 'start', file, result.ending);
    trial.call({ kind: 'end', at }, portfolio);
    const failure = result.effects.find((effect) => effect.kind === 'fail');
    return failure === undefined ? undefined
      : faultText(name, 'start', file, { reason: failure.message, place: failure.place });
  }

  *#switch(one: Candidate, staged: StagedHosts, at: Millis): ChunkedWork<Fault | undefined> {
    const { engine, files, onReloaded } = this.#options;
    const { strategy, config, copy, code, params } = one;
    const warmed = yield* this.#warmUp(one, at);
    if ('reason' in warmed) return warmed;
    const { warmup, version } = warmed;
    // Nothing from here on fails, and nothing comes between.
    files.code(copy);
    const { from, until, recordings } = warmup?.record ?? {};
    const order: ReloadStrategy = {
      kind: 'command', name: 'reload-strategy', strategy, code: copy.sha256, params: config.rawParams,
      warmup: from === undefined || until === undefined || recordings === undefined ? null
        : { from, until, recordings },
      reason: 'its code or its parameters were reloaded',
    };
    this.#versions.set(order, version);
    staged.adopt(strategy);
    engine.accept(order, at);
    this.#keep(one);
    onReloaded({ strategy, code, params }, warmup);
    return undefined;
  }

  /** Warms a version up beside the running one. */
  *#warmUp({ strategy, config }: Candidate, at: Millis): ChunkedWork<WarmedVersion | Fault> {
    const { engine, prepareWarmup } = this.#options;
    const fault = (what: Parameters<typeof faultText>[3]): Fault =>
      faultText(strategy, 'be warmed up', config.file, what);
    try {
      const warmup = yield* prepareWarmup(config, at);
      const version = { instance: config, rows: warmup?.rows };
      const prepared = yield* engine.prepare(strategy, version);
      if (prepared.fault === undefined) return { warmup, version: { ...version, prepared } };
      prepared.discard();
      return fault(prepared.fault);
    } catch (error) {
      if (!isGannetError(error)) throw error;
      return fault({ reason: error.message });
    }
  }

  #keep({ strategy: name, copy, config }: Candidate): void {
    this.#code = { ...this.#code, [name]: copy };
    const strategies = this.#config.strategies.map((strategy) => (strategy.name === name ? config : strategy));
    this.#config = { ...this.#config, strategies };
  }
}

/** A version that may take over, and what it was shown before. */
interface WarmedVersion {
  readonly warmup: Warmup | undefined;
  readonly version: StrategyVersion;
}

function isIn(reloaded: readonly ReloadedStrategy[], name: string): boolean {
  return reloaded.some(({ strategy }) => strategy === name);
}

function isChanged({ code, params }: Candidate): boolean {
  return code !== undefined || params.length > 0;
}

function oneLine(message: string): string {
  return message.split('\n').join('; ');
}

function refused(why: string): GannetError {
  return new GannetError('RELOAD_REFUSED', why);
}
