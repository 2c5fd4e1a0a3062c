import type { Millis } from '../../src/core/time.ts';
import { RunRecorder } from '../../src/daemon/run/run-recorder.ts';
import type { ControlPort } from '../../src/daemon/control/control-port.ts';
import { createControlPort } from '../../src/daemon/control/control-port.ts';
import type { Reporter } from '../../src/daemon/reporting/reporter.ts';
import { EquitySampler } from '../../src/daemon/control/run-equity.ts';
import { stopFileOf } from '../../src/daemon/watch/stop-file.ts';
import type { TradingChange } from '../../src/daemon/control/trading-view.ts';
import { Engine } from '../../src/engine/engine.ts';
import type { StrategyInstance } from '../../src/engine/strategy-host.ts';
import { openJournal } from '../../src/store/journal.ts';
import type { RiskLimits } from '../../src/trading/limits.ts';
import type { EngineState } from '../../src/trading/engine-state.ts';
import type { Input } from '../../src/trading/step.ts';
import { strategy } from '../engine/runs.ts';
import { stateWith, strategySetup } from '../trading/states.ts';

/** A controlPort over a real engine on virtual time and a real journal. */
export interface ControlFixture {
  readonly controlPort: ControlPort;
  readonly engine: Engine;
  readonly state: EngineState;
  readonly runRecorder: RunRecorder;
  /** What a recording would hold. */
  readonly inputs: Input[];
  readonly changes: TradingChange[];
  readonly reported: string[];
  readonly saved: () => unknown;
  readonly logs: string[];
}

/** Returns a controlPort of the strategies "diver" and "wader", whose state directory is given. */
export function controlFixture(stateDir: string, options: {
  readonly strategies?: readonly StrategyInstance[]; readonly limits?: Partial<RiskLimits>;
} = {}): ControlFixture {
  const { strategies = [strategy('diver'), strategy('wader')], limits = {} } = options;
  const state = stateWith({ strategies: strategies.map(({ name }) => strategySetup(name)), limits });
  const inputs: Input[] = [];
  const changes: TradingChange[] = [];
  const told: string[] = [];
  const logs: string[] = [];
  const clock = { now: (): Millis => engine.clock.now(), schedule: () => { throw new Error('nothing waits here'); } };
  const journal = openJournal({ path: `${stateDir}/journal.sqlite`, clock });
  const runRecorder = new RunRecorder({
    state,
    recorder: { append: (_seq, _at, input) => { inputs.push(input); } },
    saveSnapshot: (snapshot, settled) => { journal.saveSnapshot(snapshot, settled); },
    reporter: listening(changes, told),
    log: (level, message) => { logs.push(`${level}: ${message}`); },
    files: { decision: () => undefined },
    saveAdjustment: () => undefined,
    onFinished: () => undefined,
  });
  const engine: Engine = new Engine({
    state, strategies, startAt: 1_000, seed: 7,
    listener: {
      onInput: (seq, at, input) => { runRecorder.input(seq, at, input); },
      onRuling: (ruling, logged) => { runRecorder.ruling(ruling, logged); },
      onProtection: (seq, at, change) => { runRecorder.protection({ seq, at }, change); },
    },
  });
  const controlPort = createControlPort({
    runId: 'a-run', mode: 'live', clock, state, strategies, engine, runRecorder, journal,
    loop: { accept: (input) => { engine.accept(input, engine.clock.now()); } },
    executor: {
      execute: () => { throw new Error('nothing is carried out here'); },
      reconcile: () => { throw new Error('nothing is open here'); },
    },
    stopFile: stopFileOf(stateDir),
    log: (level, message) => { logs.push(`${level}: ${message}`); },
    phase: () => 'trading',
    recovering: () => [],
    feeds: () => [],
    startAt: 1_000, isRealMoney: false, equity: new EquitySampler(state),
  });
  engine.start();
  return {
    controlPort, engine, state, runRecorder, inputs, changes, reported: told,
    saved: () => journal.loadSnapshot(), logs,
  };
}

function listening(changes: TradingChange[], told: string[]): Reporter {
  return {
    started: () => undefined, decided: () => undefined, denied: () => undefined, intent: () => undefined,
    feed: () => undefined, summary: () => undefined,
    state: (_stamp, state, message) => { told.push(`${state}: ${message}`); },
    alert: (_stamp, name, { level, message }) => { told.push(`${level} ${name ?? 'gannet'}: ${message}`); },
    trading: (_stamp, change) => { changes.push(change); },
    protection: (_stamp, { change, code }) => { told.push(`${change} ${code}`); },
  };
}
