import { basename, dirname, sep } from 'node:path';
import type { LoadingStrategy, StrategyCode, StrategyQuestion, StrategyReading }
  from '../../config/strategies/strategy-reader.ts';
import { readAnswer } from '../../config/strategies/read-answer.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { CallResult, Ending, PortfolioView, StrategyCall } from '../../engine/host/strategy-call.ts';
import { strategyGrants } from '../../research/box/strategy-grants.ts';
import { strategyHash } from '../../research/trials/strategy-source.ts';
import { ENDS_SPAN_MS, heldAlert, neighbourOf, occasionOf, textOf } from './ending-text.ts';
import type { HostedRun, HostGeneration, StrategyHosts } from './host-generations.ts';
import { HostGenerations } from './host-generations.ts';
import type { ProcessEnd } from './strategy-process.ts';
import { StrategyProcess } from './strategy-process.ts';

/** So long a strategy waits for its next start after its first end, its second and so on; then it stays stopped. */
const RETRY_MS: readonly Millis[] = [1_000, 5_000];
/** So long a process waits that ends without a fault of a strategy. */
const RESTART_MS: readonly Millis[] = [0, 1_000, 5_000, 30_000];
/** So often a strategy is asked about itself where its process is ended from outside meanwhile. */
const ASK_TRIES = 3;
const CHECK_MS: Millis = 1_000;
/** For loading in general; the configuration bounds single calls. */
const LOAD_MS: Millis = 10_000;
const START_MS: Millis = 2_000;

/** One strategy with its parameters. */
interface Instance {
  readonly id: number;
  readonly file: string;
  readonly question: StrategyQuestion;
  readonly unit: Unit;
  /** The hash of its code at its first start; undefined where it could not be read. */
  code: string | undefined;
  /** Undefined until its code has said it. */
  name: string | undefined;
  /**
   * `stopped` waits for its next start, `held` for an operator. `over` runs no longer because it threw; one whose
   * stream of proposals is `complete` is not started again either.
   */
  state: 'idle' | 'running' | 'stopped' | 'held' | 'over' | 'complete';
  /** The instants of its ends. */
  ends: Millis[];
  /** It may not start before. */
  retryAt: Millis;
  /** The process in which it was started last. */
  startedIn: StrategyProcess | undefined;
  /** What it did while another strategy was called, which ends its own next call. */
  pending: Ending | undefined;
}

/** What shares a process, over all restarts of that process. */
interface Unit {
  readonly bounds: { readonly callMs: Millis; readonly memoryMb: number };
  readonly instances: Instance[];
  /** What its process may read besides the project's code. */
  readable: readonly string[];
  /** Undefined before it is started for the first time. */
  process: StrategyProcess | undefined;
  /** Whether its strategies are loaded. */
  isReady: boolean;
  /** Whether a strategy is being asked about itself. */
  isAsking: boolean;
  /** Questions are asked one after the other. */
  asked: Promise<unknown>;
  /** The instants of ends without a fault of a strategy. */
  ends: Millis[];
}

/** Returns the processes of strategies; none runs before a strategy is loaded. */
export function openHosts(
  { clock, loadMs = LOAD_MS }: { readonly clock: Clock; readonly loadMs?: Millis | undefined },
): StrategyHosts {
  return new HostGenerations(() => new Hosts(clock, loadMs));
}

class Hosts implements HostGeneration {
  readonly #clock: Clock;
  readonly #loadMs: Millis;
  readonly #units = new Map<string, Unit>();
  readonly #instances = new Map<number, Instance>();
  readonly #timers = new Set<{ unsubscribe(): void }>();
  #run: HostedRun | undefined;
  #isClosed = false;
  /** Whether the run has ended: nothing is started again. */
  #isOver = false;
  #count = 0;

  constructor(clock: Clock, loadMs: Millis) {
    this.#clock = clock;
    this.#loadMs = loadMs;
    this.#every(CHECK_MS, () => { for (const unit of this.#units.values()) unit.process?.check(unit.instances); });
  }

  load(code: StrategyCode): LoadingStrategy {
    const unit = this.#unitOf(code);
    return { read: (question) => this.#read(unit, code.file, question) };
  }

  attach(run: HostedRun): () => void {
    this.#run = run;
    for (const unit of this.#units.values()) this.#startAll(unit);
    if (process.getuid?.() === 0 && this.#units.values().some((unit) => unit.process?.userId === undefined)) {
      run.log('warn', 'strategies run as the superuser, because another user could not read their files; the box of '
        + 'their process holds all the same');
    }
    return () => { this.#isOver = true; };
  }

  release(strategy: string | undefined): void {
    for (const instance of this.#instances.values()) {
      if (instance.state !== 'held' || (strategy !== undefined && instance.name !== strategy)) continue;
      Object.assign(instance, { state: 'stopped', ends: [], retryAt: 0 });
      void this.#loadAgain(instance);
    }
  }

  forget(isForgotten: (name: string | undefined) => boolean): void {
    for (const [key, unit] of this.#units) {
      for (const instance of [...unit.instances].filter(({ name }) => isForgotten(name))) {
        unit.instances.splice(unit.instances.indexOf(instance), 1);
        this.#instances.delete(instance.id);
      }
      if (unit.instances.length > 0) continue;
      this.#units.delete(key);
      const { process } = unit;
      unit.process = undefined;
      void process?.close();
    }
  }

  get isEmpty(): boolean {
    return this.#units.size === 0;
  }

  pids(): number[] {
    return [...this.#units.values()].map(({ process }) => process?.pid).filter((pid) => pid !== undefined);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#run = undefined;
    for (const timer of this.#timers) timer.unsubscribe();
    await Promise.all([...this.#units.values()].map(async ({ process }) => { await process?.close(); }));
  }

  #unitOf({ file, origin, isolation }: StrategyCode): Unit {
    const isShared = isolation.kind !== 'per-strategy';
    const key = isShared ? (origin === 'project' ? 'strategies' : file) : `${file} ${this.#units.size}`;
    const known = this.#units.get(key);
    if (known !== undefined) return known;
    const { callMs, memoryMb } = isolation;
    const unit: Unit = {
      bounds: { callMs, memoryMb }, instances: [], readable: [], process: undefined, isReady: false, isAsking: false,
      asked: Promise.resolve(), ends: [],
    };
    this.#units.set(key, unit);
    unit.asked = this.#launch(unit, { file, origin });
    return unit;
  }

  /** Starts a process for the first time. */
  async #launch(unit: Unit, { file, origin }: Pick<StrategyCode, 'file' | 'origin'>): Promise<void> {
    const folder = dirname(file);
    const needed = await strategyGrants([file], { strategiesDir: folder, baseDir: folder });
    // The project's own strategies share one process, and the first of them starts it.
    unit.readable = origin === 'project' ? [folder + sep, ...needed] : [file, ...needed];
    if (this.#isClosed) return;
    unit.process = this.#start(unit);
    unit.isReady = true;
  }

  #start(unit: Unit): StrategyProcess {
    const process: StrategyProcess = new StrategyProcess({
      readable: unit.readable, clock: this.#clock,
      bounds: { ...unit.bounds, startMs: Math.max(START_MS, unit.bounds.callMs), loadMs: this.#loadMs },
      onEnd: (end) => { if (!this.#isClosed) this.#ended(unit, process, end); },
      onFault: (id, ending) => {
        const instance = this.#instances.get(id);
        if (instance?.unit === unit && instance.state === 'running') this.#faulty(instance, ending);
      },
    });
    return process;
  }

  async #read(
    unit: Unit, file: string, question: StrategyQuestion,
  ): Promise<StrategyReading | { readonly ended: string }> {
    const id = ++this.#count;
    const instance: Instance = {
      id, file, question, unit, code: await codeOf(file), name: question.name, state: 'idle', ends: [], retryAt: 0,
      startedIn: undefined, pending: undefined,
    };
    this.#instances.set(id, instance);
    const asked = unit.asked.then(() => this.#ask(unit, { id, file, question }));
    unit.asked = asked;
    const result = await asked;
    if (result === undefined) return { ended: 'the command was interrupted' };
    if ('ended' in result) {
      const { ended } = result;
      const { culprit = id } = ended;
      const other = this.#instances.get(culprit);
      return { ended: textOf(culprit === id || other === undefined ? ended
        : neighbourOf(ended, other.name ?? basename(other.file))) };
    }
    const answer = readAnswer(result.said);
    if (answer.kind === 'read') {
      instance.name ??= answer.name;
      unit.instances.push(instance);
    }
    return { answer: result.said, apart: { call: (call, portfolio) => this.#call(instance, call, portfolio) } };
  }

  /** Asks in a new process where the first one is ended from outside, with what it had loaded already. */
  async #ask(
    unit: Unit, question: Parameters<StrategyProcess['ask']>[0],
  ): Promise<Awaited<ReturnType<StrategyProcess['ask']>> | undefined> {
    unit.isAsking = true;
    let said = await unit.process?.ask(question);
    for (let tries = 1; tries < ASK_TRIES && wasEndedFromOutside(said) && !this.#isOver; tries++) {
      const process = this.#start(unit);
      unit.process = process;
      for (const instance of unit.instances) await this.#loadInto(process, instance);
      unit.isReady = true;
      said = await process.ask(question);
    }
    unit.isAsking = false;
    return said;
  }

  #call(instance: Instance, call: StrategyCall, portfolio: PortfolioView): CallResult {
    const { unit, id, pending } = instance;
    const { process, isReady } = unit;
    instance.pending = undefined;
    if (call.kind === 'start') Object.assign(instance, { state: 'running', startedIn: process });
    // One that is complete is not started again with its process, and may still be told an outcome.
    if (process === undefined || instance.startedIn !== process || !isReady || process.end !== undefined) {
      if (call.kind === 'end' || instance.state !== 'running') return { effects: [] };
      instance.state = 'stopped';
      return { ending: neighbourOf(process?.end, this.#nameOf(process?.end?.culprit)) };
    }
    if (pending !== undefined && call.kind !== 'end') {
      this.#blame(instance, pending, true);
      return { ending: pending };
    }
    const result = process.call(id, call, portfolio, occasionOf(call));
    if ('ending' in result) {
      const { end } = process as Pick<StrategyProcess, 'end'>;
      // Its code is still loaded, and unsubscribed.
      if (end === undefined && call.kind !== 'end')
        process.call(id, { kind: 'end', at: call.at }, portfolio, 'its end');
      const { code, reason, place = basename(instance.file) } = result.ending;
      const ending = { code, reason, place };
      this.#blame(instance, ending, end === undefined || end.culprit === id);
      return { ending };
    }
    for (const { kind } of result.effects) {
      if (kind === 'fail') instance.state = 'over';
      else if (kind === 'complete') instance.state = 'complete';
    }
    return result;
  }

  /** Takes the end of a call of a strategy: it waits for its next start, or stays stopped. */
  #blame(instance: Instance, ending: Ending, isCulprit: boolean): void {
    if (instance.state === 'over' || instance.state === 'complete') return;
    instance.state = 'stopped';
    if (!isCulprit) return;
    const now = this.#clock.now();
    instance.ends = [...instance.ends.filter((at) => now - at < ENDS_SPAN_MS), now];
    const waitMs = RETRY_MS[instance.ends.length - 1];
    if (waitMs === undefined) {
      instance.state = 'held';
      this.#soon(() => { this.#run?.alert(heldAlert(instance, ending)); });
      return;
    }
    instance.retryAt = now + waitMs;
    this.#after(waitMs, () => {
      // The timer may come a little before the instant.
      instance.retryAt = 0;
      this.#startAll(instance.unit);
    });
  }

  /** A strategy acted while another one was called: its next call does not happen. */
  #faulty(instance: Instance, ending: Ending): void {
    instance.pending ??= ending;
    this.#soon(() => {
      if (instance.pending === undefined) return;
      instance.pending = undefined;
      const order = instance.name === undefined ? undefined : this.#run?.stopOrder(instance.name, ending);
      this.#blame(instance, ending, true);
      if (order !== undefined) this.#run?.accept(order);
    });
  }

  /** A process has ended: its other strategies are stopped, and all are started in a new one. */
  #ended(unit: Unit, process: StrategyProcess, end: ProcessEnd): void {
    if (unit.process !== process || this.#isOver) return;
    const { reason, place } = end;
    this.#run?.log('error', 'a process of strategies ended', { reason, place, pid: process.pid });
    unit.isReady = false;
    const culprit = this.#nameOf(end.culprit);
    for (const instance of unit.instances) {
      if (instance.state !== 'running' || instance.name === undefined) continue;
      const order = this.#run?.stopOrder(instance.name, neighbourOf(end, culprit));
      instance.state = 'stopped';
      if (order !== undefined) this.#run?.accept(order);
    }
    // While strategies are read, the question itself starts the next process.
    if (unit.instances.length === 0 || unit.isAsking) return;
    const now = this.#clock.now();
    if (end.culprit === undefined) unit.ends = [...unit.ends.filter((at) => now - at < ENDS_SPAN_MS), now];
    const waitMs = end.culprit === undefined ? RESTART_MS[Math.min(unit.ends.length, RESTART_MS.length) - 1]! : 0;
    this.#after(waitMs, () => { void this.#restart(unit); });
  }

  async #restart(unit: Unit): Promise<void> {
    // All its strategies were reloaded into other processes.
    if (unit.instances.length === 0) return;
    const process = this.#start(unit);
    unit.process = process;
    for (const instance of unit.instances) {
      if (instance.state === 'held' || instance.state === 'over') continue;
      if (!await this.#loadInto(process, instance)) return;
    }
    unit.isReady = true;
    this.#startAll(unit);
  }

  /** Returns whether the process goes on. */
  async #loadInto(process: StrategyProcess, instance: Instance): Promise<boolean> {
    const { id, file, question, code } = instance;
    if (await codeOf(file) !== code) {
      instance.state = 'held';
      this.#run?.alert({
        kind: 'alert', level: 'critical',
        message: `strategy ${instance.name} stays stopped: its code was changed while the daemon ran. Start the daemon `
          + 'again to run the new code',
        data: { code: 'STRATEGY_CHANGED', strategy: instance.name ?? null },
      });
      return true;
    }
    const result = await process.ask({ id, file, question });
    if ('said' in result) return true;
    this.#blame(instance, result.ended, true);
    return process.end === undefined;
  }

  async #loadAgain(instance: Instance): Promise<void> {
    const { unit } = instance;
    // A process that is being started loads it with the others.
    if (unit.process === undefined || !unit.isReady) return;
    if (await this.#loadInto(unit.process, instance)) this.#startAll(unit);
  }

  /** Starts the strategies of a process that wait for it, and may. */
  #startAll(unit: Unit): void {
    const now = this.#clock.now();
    for (const instance of unit.instances) {
      if (!unit.isReady || instance.state !== 'stopped' || instance.retryAt > now || this.#run === undefined) continue;
      this.#run.accept({
        kind: 'command', name: 'start-strategy', strategy: instance.name!, reason: 'its process runs again',
      });
    }
  }

  #nameOf(id: number | undefined): string | undefined {
    return id === undefined ? undefined : this.#instances.get(id)?.name;
  }

  #soon(work: () => void): void {
    setImmediate(() => { if (!this.#isClosed && !this.#isOver) work(); });
  }

  #after(spanMs: Millis, work: () => void): void {
    if (this.#isClosed || this.#isOver) return;
    const timer = this.#clock.schedule(() => {
      this.#timers.delete(timer);
      if (!this.#isClosed && !this.#isOver) work();
    }, spanMs);
    this.#timers.add(timer);
  }

  #every(spanMs: Millis, work: () => void): void {
    this.#after(spanMs, () => {
      work();
      this.#every(spanMs, work);
    });
  }
}

async function codeOf(file: string): Promise<string | undefined> {
  // A file that is gone has no code; loading it says so.
  return strategyHash(file, { strategiesDir: dirname(file), baseDir: dirname(file) }).catch(() => undefined);
}

function wasEndedFromOutside(said: Awaited<ReturnType<StrategyProcess['ask']>> | undefined): boolean {
  return said !== undefined && 'ended' in said && said.ended.culprit === undefined;
}
