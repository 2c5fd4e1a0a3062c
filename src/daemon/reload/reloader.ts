import { basename } from 'node:path';
import type { RunConfig, StrategyConfig } from '../../config/run-config.ts';
import type { StrategyReader } from '../../config/strategies/strategy-reader.ts';
import { assert } from '../../core/assert.ts';
import { GannetError, isGannetError } from '../../core/errors.ts';
import type { Millis } from '../../core/time.ts';
import type { Engine } from '../../engine/engine.ts';
import type { StrategyVersion } from '../../engine/engine-orders.ts';
import { portfolioView } from '../../engine/host/portfolio-view.ts';
import { createRealm, inThisProcess } from '../../engine/host/realm.ts';
import type { StrategyInstance } from '../../engine/strategy-host.ts';
import type { ReloadStrategy } from '../../trading/engine-command.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import type { CodeCopy } from '../files/kept-code.ts';
import { copyCode, filesOf } from '../files/kept-code.ts';
import type { RunFiles } from '../files/run-files.ts';
import type { StrategyHosts } from '../hosts/host-generations.ts';
import type { EngineLoop } from '../run/engine-loop.ts';
import type { Warmup } from '../run/recorded-warm-up.ts';
import type { ParamChange } from './config-change.ts';
import { fixedChanges, paramChanges } from './config-change.ts';

/** What became of one strategy. */
export interface ReloadedStrategy {
  readonly strategy: string;
  /** The SHA-256 of its code; undefined where that is the same. */
  readonly code?: { readonly before: string; readonly after: string } | undefined;
  readonly params: readonly ParamChange[];
}

/** What a reload has done. */
export interface ReloadReport {
  readonly reloaded: readonly ReloadedStrategy[];
  /** The strategies that go on as they were. */
  readonly unchanged: readonly string[];
}

/** What a run needs to reload its strategies. */
export interface Reloading {
  readonly config: RunConfig;
  /** The code of the strategies at the start, by their names. */
  readonly copies: Readonly<Record<string, CodeCopy>>;
  /** Reads the configuration as at the start, its strategies by `reader`. Throws CONFIG_INVALID with every fault. */
  readonly load: (reader: StrategyReader) => Promise<RunConfig>;
  /** Returns the recorded warm-up of a strategy, this run's events included; undefined where it wants none. */
  readonly prepareWarmup: (strategy: StrategyInstance, until: Millis) => Warmup | undefined;
}

interface ReloaderOptions extends Reloading {
  readonly hosts: StrategyHosts;
  readonly engine: Engine;
  readonly loop: EngineLoop;
  readonly state: EngineState;
  readonly seed: number;
  readonly files: Pick<RunFiles, 'code'>;
  readonly phase: () => string;
  /** Called after strategies were reloaded. */
  readonly onReloaded: (report: ReloadReport, warmups: readonly Warmup[]) => void;
}

/** A strategy that is to be reloaded. */
interface Candidate extends ReloadedStrategy {
  readonly config: StrategyConfig;
  readonly copy: CodeCopy;
}

/**
 * Puts other versions of strategies into their places in a run. A version is loaded and checked beside the running one,
 * and started once with its state; only when all are sound, they are switched, between two events.
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
   * Reloads a strategy, or all whose code or parameters have changed. Throws RELOAD_REFUSED, and then every strategy
   * goes on as it was.
   */
  async reload(wanted: string | undefined): Promise<ReloadReport> {
    const turn = this.#turn.then(() => this.#reload(wanted));
    // What becomes of this one is for its caller; the next one follows in any case.
    this.#turn = turn.then(() => undefined, () => undefined);
    return turn;
  }

  async #reload(wanted: string | undefined): Promise<ReloadReport> {
    this.#refuseUnfit(wanted);
    const staged = this.#options.hosts.stage();
    try {
      const candidates = await this.#changed(staged.reader);
      const chosen = wanted === undefined ? candidates.filter(isChanged)
        : candidates.filter(({ strategy }) => strategy === wanted);
      this.#refuseCodeHere(chosen);
      const names = chosen.map(({ strategy }) => strategy);
      const report: ReloadReport = {
        reloaded: chosen.map(({ strategy, code, params }) => ({ strategy, code, params })),
        unchanged: candidates.map(({ strategy }) => strategy).filter((name) => !names.includes(name)),
      };
      if (chosen.length === 0) {
        await staged.discard();
        return report;
      }
      const warmups = this.#options.loop.exclusively((at) => {
        for (const one of chosen) this.#tryStart(one, at);
        staged.adopt(names);
        return chosen.map((one) => this.#switch(one, at));
      });
      this.#keep(chosen);
      this.#options.onReloaded(report, warmups.filter((warmup) => warmup !== undefined));
      return report;
    } catch (error) {
      await staged.discard();
      throw error;
    }
  }

  #refuseUnfit(wanted: string | undefined): void {
    const phase = this.#options.phase();
    if (phase !== 'trading') throw refused(`the run is ${phase}, and strategies are reloaded while it is trading`);
    const names = this.#config.strategies.map(({ name }) => name);
    if (wanted === undefined) return;
    if (!names.includes(wanted)) throw refused(`there is no strategy "${wanted}"; this run has ${names.join(', ')}`);
    this.#stateOf(wanted);
  }

  /** Returns every strategy as the files have it now, with what has changed. */
  async #changed(reader: StrategyReader): Promise<Candidate[]> {
    const before = await this.#copies();
    const config = await this.#options.load(reader).catch((error: unknown) => {
      throw isGannetError(error) ? refused(error.message.split('\n').join('; ')) : error;
    });
    const fixed = fixedChanges(this.#config, config);
    if (fixed.length > 0) {
      throw refused(`${fixed.join(', ')} cannot change while the daemon runs, only the code and the "params" of `
        + 'strategies can: undo the change, or stop the daemon and start it again');
    }
    const after = await this.#copies();
    return config.strategies.map((strategy, index) => {
      const { name, use } = strategy;
      const copy = after.get(name)!;
      if (before.get(name)?.sha256 !== copy.sha256)
        throw refused(`${basename(use)} was written while it was read: reload again`);
      const { sha256: was } = this.#code[name]!;
      return {
        strategy: name, config: strategy, copy,
        code: was === copy.sha256 ? undefined : { before: was, after: copy.sha256 },
        params: paramChanges(this.#config.strategies[index]!.rawParams, strategy.rawParams),
      };
    });
  }

  async #copies(): Promise<ReadonlyMap<string, CodeCopy>> {
    return new Map(await Promise.all(this.#config.strategies.map(async ({ name, file }) => {
      const copy = await copyCode(file!).catch((error: unknown) => {
        throw isGannetError(error) ? refused(error.message) : error;
      });
      return [name, copy] as const;
    })));
  }

  /** Modules stay loaded until a process ends, so code in the daemon's own process cannot change. */
  #refuseCodeHere(chosen: readonly Candidate[]): void {
    const here = chosen.find(({ config: { apart }, code }) => apart === undefined && code !== undefined);
    if (here === undefined) return;
    throw refused(`the code of strategy ${here.strategy} has changed, and with "isolation: off" it cannot be loaded `
      + 'again: start the daemon again, or remove "isolation"');
  }

  #stateOf(name: string): string | undefined {
    const standing = this.#options.engine.stateToHandOver(name);
    if ('kept' in standing) return standing.kept;
    throw refused(`strategy ${name} cannot be reloaded, because ${standing.refused}; correct it and start the daemon `
      + 'again');
  }

  /** Starts a version once with the state that it would go on with, and ends it; nothing that it does counts. */
  #tryStart({ strategy: name, config }: Candidate, at: Millis): void {
    const { state, seed, engine } = this.#options;
    const kept = this.#stateOf(name);
    const { strategy, params, file } = config;
    const trial = config.apart ?? inThisProcess(createRealm({ name, strategy, params, seed }));
    const portfolio = portfolioView({ state, clock: engine.clock }, name);
    const result = trial.call({ kind: 'start', warming: true, kept, at }, portfolio);
    const fault = 'ending' in result ? { message: result.ending.reason, place: result.ending.place }
      : result.effects.find((effect) => effect.kind === 'fail');
    if (!('ending' in result)) trial.call({ kind: 'end', at }, portfolio);
    if (fault !== undefined) {
      throw refused(`the new version of strategy ${name} cannot start: ${fault.message} `
        + `(${fault.place ?? basename(file ?? name)}); correct it, and reload again`);
    }
  }

  #switch({ strategy, config, copy }: Candidate, at: Millis): Warmup | undefined {
    const { files, engine, prepareWarmup } = this.#options;
    files.code(copy);
    const warmup = prepareWarmup(config, at);
    const { from, until, recordings } = warmup?.record ?? {};
    const order: ReloadStrategy = {
      kind: 'command', name: 'reload-strategy', strategy, code: copy.sha256, params: config.rawParams,
      warmup: from === undefined || until === undefined || recordings === undefined ? null
        : { from, until, recordings },
      reason: 'its code or its parameters were reloaded',
    };
    this.#versions.set(order, { instance: config, rows: warmup?.rows });
    engine.accept(order, at);
    return warmup;
  }

  #keep(chosen: readonly Candidate[]): void {
    const now = new Map(chosen.map((one) => [one.strategy, one]));
    this.#code = { ...this.#code, ...Object.fromEntries(chosen.map(({ strategy, copy }) => [strategy, copy])) };
    this.#config = {
      ...this.#config,
      strategies: this.#config.strategies.map((strategy) => now.get(strategy.name)?.config ?? strategy),
    };
  }
}

function isChanged({ code, params }: Candidate): boolean {
  return code !== undefined || params.length > 0;
}

function refused(why: string): GannetError {
  return new GannetError('RELOAD_REFUSED', why);
}
