import { request } from 'undici';
import { onTestFinished } from 'vitest';
import type { Clock, Millis } from '../../src/core/time.ts';
import { startControlApi } from '../../src/daemon/control/control-server.ts';
import { openOrderAudit } from '../../src/daemon/control/order-audit.ts';
import { commandOrigin } from '../../src/daemon/control/order-origin.ts';
import { systemClock } from '../../src/daemon/watch/system-clock.ts';
import type { ModeParts } from '../../src/daemon/run/run-options.ts';
import { RunRecorder } from '../../src/daemon/run/run-recorder.ts';
import type { ControlPort } from '../../src/daemon/control/control-port.ts';
import { createControlPort } from '../../src/daemon/control/control-port.ts';
import { RunMetrics } from '../../src/daemon/metrics/run-metrics.ts';
import type { Log } from '../../src/daemon/reporting/log.ts';
import type { Reporter } from '../../src/daemon/reporting/reporter.ts';
import { reportToAll } from '../../src/daemon/reporting/reporter.ts';
import { RunStory } from '../../src/daemon/page/run-story.ts';
import { EquitySampler } from '../../src/daemon/control/run-equity.ts';
import { stopFileOf } from '../../src/daemon/watch/stop-file.ts';
import type { TradingChange } from '../../src/daemon/control/trading-view.ts';
import { Engine } from '../../src/engine/engine.ts';
import type { StrategyInstance } from '../../src/engine/strategy-host.ts';
import type { FeedStats } from '../../src/service/feeds/feed-stats.ts';
import type { FillValues } from '../../src/store/fill-records.ts';
import { openJournal } from '../../src/store/journal.ts';
import type { RiskLimits } from '../../src/trading/limits.ts';
import type { EngineState } from '../../src/trading/engine-state.ts';
import type { Input } from '../../src/trading/step.ts';
import { strategy } from '../engine/runs.ts';
import { TOKENS as MARKET_TOKENS } from '../market/tokens.ts';
import { temporaryFolder } from '../store/fixtures.ts';
import { stateWith, strategySetup } from '../trading/states.ts';

/** The tokens of APIs in tests. */
export const TOKENS = {
  operator: '3f9c1e5a7b0d2468ace1357902468bdf', viewer: 'Xk3vQ8wZp1Lm9Rt5Yb7Nc2Hd4Jf6Gs0A',
} as const;

/** The origin of an order in a test. */
export const ORIGIN = commandOrigin('a test');

/** Starts the control API on any free port, for the time of a test. */
export async function startTestApi(options: Pick<Parameters<typeof startControlApi>[0], 'stateDir'>
  & Partial<Parameters<typeof startControlApi>[0]>): ReturnType<typeof startControlApi> {
  const { stateDir } = options;
  const log: Log = options.log ?? (() => undefined);
  const clock: Clock = options.clock ?? systemClock;
  const api = await startControlApi({
    host: '127.0.0.1', port: 0, isPortGiven: true, allowedHosts: [], trustedProxies: [], publicUrl: undefined,
    tls: undefined, tokens: TOKENS, runId: 'a-run', controlPort: () => undefined,
    end: () => undefined, story: testStory(), metrics: options.metrics ?? testMetrics(stateDir),
    audit: openOrderAudit({ stateDir, runId: 'a-run', clock, log }),
    ...options, clock, log,
  });
  onTestFinished(() => api.close());
  return api;
}

/** The answer of an API. */
export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A control API over a control port. */
interface ControlApi extends ControlFixture {
  readonly stateDir: string;
  readonly url: string;
  readonly get: (path: string, headers?: Record<string, string>) => Promise<Answer>;
  readonly post: (path: string, body?: object, headers?: Record<string, string>) => Promise<Answer>;
}

/** Starts an API over a real control port. Requests carry the operator's token unless their headers say otherwise. */
export async function startControl(
  options: Parameters<typeof controlFixture>[1] & Partial<Parameters<typeof startControlApi>[0]> = {},
): Promise<ControlApi> {
  const stateDir = temporaryFolder();
  const fixture = controlFixture(stateDir, options);
  const { url } = await startTestApi({
    story: fixture.story, ...options, stateDir, controlPort: () => fixture.controlPort,
  });
  const ask = async (path: string, headers: Record<string, string> = {}, body?: object): Promise<Answer> => {
    const answer = await request(`${url}${path}`, {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers: {
        authorization: `Bearer ${TOKENS.operator}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers,
      },
    });
    return { status: answer.statusCode, body: await answer.body.json() as Answer['body'] };
  };
  return {
    ...fixture, stateDir, url,
    get: (path, headers) => ask(path, headers), post: (path, body = {}, headers) => ask(path, headers, body),
  };
}

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
  readonly story: RunStory;
  readonly valued: readonly ValuedFill[];
}

/** Returns an empty story of a run. */
export function testStory(): RunStory {
  return new RunStory({ tokens: MARKET_TOKENS, mode: 'live', runId: 'a-run' });
}

/** Returns the metrics of a run without service, node and strategy processes. */
export function testMetrics(
  stateDir: string, options: Partial<ConstructorParameters<typeof RunMetrics>[0]> = {},
): RunMetrics {
  const metrics = new RunMetrics({
    runId: 'a-run', mode: 'live', clock: systemClock, stateDir, recordingDir: stateDir,
    requests: () => ({}), nodes: () => [], channels: () => [], ...options,
  });
  onTestFinished(() => { metrics.close(); });
  return metrics;
}

/** What a landed swap was worth, and whether a snapshot settled it before that was kept. */
interface ValuedFill {
  readonly intentId: string;
  readonly values: FillValues;
  readonly isSettled: boolean;
}

/** Returns a controlPort of the strategies "diver" and "wader", whose state directory is given. */
export function controlFixture(stateDir: string, options: {
  readonly strategies?: readonly StrategyInstance[]; readonly limits?: Partial<RiskLimits>;
  readonly resolve?: ModeParts['executor']['resolve'] | undefined;
  readonly phase?: (() => string) | undefined;
  readonly feeds?: (() => readonly FeedStats[]) | undefined;
  readonly reporters?: readonly Reporter[] | undefined;
  /** The time of the machine; that of the engine by default. */
  readonly now?: (() => Millis) | undefined;
} = {}): ControlFixture {
  const { strategies = [strategy('diver'), strategy('wader')], limits = {}, resolve } = options;
  const state = stateWith({ strategies: strategies.map(({ name }) => strategySetup(name)), limits });
  const inputs: Input[] = [];
  const changes: TradingChange[] = [];
  const told: string[] = [];
  const logs: string[] = [];
  const story = testStory();
  const valued: ValuedFill[] = [];
  const log: Log = (level, message) => { logs.push(`${level}: ${message}`); };
  const clock = {
    now: options.now ?? ((): Millis => engine.clock.now()),
    schedule: () => { throw new Error('nothing waits here'); },
  };
  const journal = openJournal({ path: `${stateDir}/journal.sqlite`, clock });
  const runRecorder = new RunRecorder({
    state,
    recorder: { append: (_seq, _at, input) => { inputs.push(input); } },
    saveSnapshot: (snapshot, settled) => { journal.saveSnapshot(snapshot, settled); },
    reporter: reportToAll([listening(changes, told), story.reporter, ...options.reporters ?? []]),
    log,
    files: { decision: () => undefined },
    saveAdjustment: () => undefined,
    saveFillValues: (intentId, values) => {
      valued.push({ intentId, values, isSettled: journal.loadSnapshot() !== undefined });
    },
    onFinished: () => undefined,
  });
  const engine: Engine = new Engine({
    state, strategies, startAt: 1_000, seed: 7,
    listener: {
      onInput: (seq, at, input) => { runRecorder.input(seq, at, input); },
      onRuling: (ruling, logged) => {
        runRecorder.ruling(ruling, logged);
        controlPort.manual.ruled(logged, ruling);
      },
      onProtection: (seq, at, change) => { runRecorder.protection({ seq, at }, change); },
    },
  });
  const controlPort: ControlPort = createControlPort({
    reloader: undefined,
    runId: 'a-run', mode: 'live', clock, state, strategies, engine, runRecorder, journal,
    loop: { accept: (input) => { engine.accept(input, engine.clock.now()); } },
    executor: {
      execute: () => { throw new Error('nothing is carried out here'); },
      reconcile: () => { throw new Error('nothing is open here'); },
      ...(resolve === undefined ? {} : { resolve }),
    },
    stopFile: stopFileOf(stateDir),
    audit: openOrderAudit({ stateDir, runId: 'a-run', clock, log }),
    log,
    phase: options.phase ?? (() => 'trading'),
    recovering: () => [],
    feeds: options.feeds ?? (() => []),
    startAt: 1_000, isRealMoney: false, equity: new EquitySampler(state),
    page: { story, requests: () => ({}) },
  });
  engine.start();
  return {
    controlPort, engine, state, runRecorder, inputs, changes, reported: told,
    saved: () => journal.loadSnapshot(), logs, story, valued,
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
