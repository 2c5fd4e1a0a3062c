import { relative, resolve } from 'node:path';
import { BUILT_IN_FILE } from '../../config/load-config.ts';
import { movesRealMoney } from '../../config/live-gate.ts';
import type { RunConfig } from '../../config/run-config.ts';
import { strategyLimits } from '../../config/run-config.ts';
import { ZERO } from '../../core/amount.ts';
import { assert } from '../../core/assert.ts';
import { GannetError } from '../../core/errors.ts';
import { seededRandom } from '../../core/random.ts';
import type { Millis } from '../../core/time.ts';
import type { FeedKey } from '../../market/event.ts';
import { describeFeedKey } from '../../market/market-text.ts';
import type { Mint } from '../../market/token.ts';
import { createFeeds } from '../../service/feeds/feeds.ts';
import { signerLostAlert } from '../reporting/alert-text.ts';
import type { JournalStore } from '../../store/journal.ts';
import { lockState } from '../../store/locks.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import { createState } from '../../trading/engine-state.ts';
import { controlFilePath } from '../control/control-file.ts';
import type { Order, WideningOrder } from '../control/order-audit.ts';
import { openOrderAudit } from '../control/order-audit.ts';
import type { SignalIntake } from '../control/signals.ts';
import { commandOrigin } from '../control/order-origin.ts';
import { raisedSinceLastRun } from '../files/raised-limits.ts';
import type { CodeCopy } from '../files/kept-code.ts';
import { copyCode } from '../files/kept-code.ts';
import { createManifest } from '../files/run-manifest.ts';
import type { RunSummary } from '../reporting/counters.ts';
import { isolationWarning } from '../reporting/limits-text.ts';
import { reportToAll } from '../reporting/reporter.ts';
import { RunStory } from '../page/run-story.ts';
import { reloadOnChange } from '../reload/on-change.ts';
import { takeOverState } from '../state/take-over.ts';
import { createDiskGuard } from '../watch/disk-guard.ts';
import type { StateWatch } from '../watch/state-watch.ts';
import { createStateWatch } from '../watch/state-watch.ts';
import { stopFileOf } from '../watch/stop-file.ts';
import { checkTokens } from '../watch/token-watch.ts';
import { liveParts, paperParts } from './modes.ts';
import {
  describeStart, historyOf, openControl, openFiles, openRecorder, signalIntakeOf,
} from './run-parts.ts';
import { prepareWarmup, prepareWarmupInChunks } from './recorded-warm-up.ts';
import type { DaemonOptions, ModeParts, ModeScope } from './run-options.ts';
import { Resources } from './run-options.ts';
import { CRASH_LIMIT, crashesInARow } from './safe-mode.ts';
import { Session } from './session.ts';
import { openSideServices } from './side-services.ts';
import { scheduleCheckpoints } from './state-saving.ts';

/**
 * Runs the daemon from recovery to the drained end. Rejects where it cannot start, before it trades or writes anything.
 */
export async function runDaemon(options: DaemonOptions): Promise<RunSummary> {
  const { config, log, stateDir, clock } = options;
  refuseForeignCode(config);
  const resources = new Resources(log);
  try {
    const lock = lockState(stateDir, clock);
    resources.add('state lock', () => { lock.release(); });
    const notices = await takeOverState(options);
    const ended = new AbortController();
    const interrupt = AbortSignal.any([options.interrupt, ended.signal]);
    return await runLocked({ ...options, interrupt }, resources, notices, () => { ended.abort(); });
  } finally {
    await resources.close();
  }
}

async function runLocked(
  given: DaemonOptions, resources: Resources, notices: readonly string[], end: () => void,
): Promise<RunSummary> {
  const story = new RunStory({ ...given.config, runId: given.runId });
  const sideServices = openSideServices(given);
  resources.add('side services', () => sideServices.close());
  const options = { ...given, reporter: reportToAll([given.reporter, story.reporter, ...sideServices.reporters]) };
  const { config, clock, log, reporter, stateDir } = options;
  const { recording: { dir: recordingDir }, tokens, limits, strategies } = config;
  const scope: ModeScope = {
    options, resources, story, metrics: sideServices.metrics,
    setup: {
      tokens, limits,
      strategies: strategies.map((strategy) => {
        const { name, budget, isManual } = strategy;
        return { name, budget, limits: strategyLimits(strategy), isManual };
      }),
    },
    diskGuard: createDiskGuard({ stateDir, recordingDir, clock, log, marks: options.diskMarks }),
    stateWatch: createStateWatch(clock),
    audit: openOrderAudit(options),
  };
  const running: Running = {};
  const signals = signalIntakeOf(options);
  const control = await openControl(scope, { controlPort: () => running.session?.controlPort, end, signals });
  if (control !== undefined) scope.stateWatch.add({ name: 'the control file', path: controlFilePath(stateDir) });
  const mode = config.mode === 'live'
    ? await liveParts(scope, {
      mayTryAgain: (intent) => running.session?.retryDenial(intent),
      ledger: (mint) => (running.state === undefined ? undefined : running.state.portfolio.wallet.get(mint) ?? ZERO),
    })
    : paperParts(scope);
  const state = createState({ ...scope.setup, snapshot: mode.recovered.snapshot, open: mode.recovered.open });
  running.state = state;
  const session = createSession(scope, mode, state, {
    copies: await codeOf(config), arrivals$: signals?.events$,
  });
  running.session = session;
  mode.journal.runStarted(options.runId);
  const checkpoints = scheduleCheckpoints({ journal: mode.journal, clock, log });
  resources.add('checkpoints', () => { checkpoints.unsubscribe(); });
  // The session closes first, so that it decides nothing after its files are closed.
  resources.add('session', () => { session.close(); });
  if (config.reload === 'on_change') watchChanges(scope, session);
  reporter.started(session.stamp, describeStart(options, { ...mode, state, control }));
  const warning = isolationWarning(config);
  for (const notice of [...(warning === undefined ? [] : [warning]), ...notices, ...mode.notices])
    reporter.state(session.stamp, 'notice', notice);
  for (const order of [...mode.widenings, ...startOrders(scope)]) session.controlPort.reportWidening(order);
  sideServices.attach(session.controlPort);
  return await runSession(scope, session, mode.journal);
}

/**
 * Returns the orders that allow more than the last run did: those given while no daemon ran, and this start where its
 * configuration allows more. The start itself is an order too.
 */
function startOrders({ options: { config, stateDir, runId, log }, audit }: ModeScope): WideningOrder[] {
  const given = audit.givenSince();
  const raised = raisedSinceLastRun(config, { stateDir, runId, log });
  const isManual = config.strategies.some((strategy) => strategy.isManual === true);
  const action = isManual ? 'swap' : 'run';
  const start: Order = { action, origin: commandOrigin(`gannet ${action}`) };
  if (raised.length === 0) {
    audit.note(start);
    return given;
  }
  const widening = { ...start, widens: raised.join('; ') };
  audit.note(widening);
  return [...given, widening];
}

/** Reloads strategies when files change: only on paper, because no order of an operator stands behind it. */
function watchChanges({ options: { config: { file }, clock }, resources }: ModeScope, session: Session): void {
  const { reloader } = session;
  if (reloader === undefined) return;
  const watching = reloadOnChange({
    reloader, clock,
    configFile: file === BUILT_IN_FILE ? undefined : resolve(file),
    alert: (alert) => { session.controlPort.alert(alert); },
    onError: session.fail,
  });
  resources.add('watch of the files', () => { watching.close(); });
}

/** The session and its state, once they exist: the control API and the executor are created before. */
interface Running {
  session?: Session;
  state?: EngineState;
}

function createSession(
  scope: ModeScope,
  { journal, recovered: { snapshot, open, restored }, executor, walletKeeper, isNewLedger, address }: ModeParts,
  state: EngineState, { copies, arrivals$ }: {
    readonly copies: Readonly<Record<string, CodeCopy>>; readonly arrivals$: SignalIntake['events$'] | undefined;
  },
): Session {
  const { options, diskGuard, stateWatch, audit, story } = scope;
  const { config, connections: { service, chain: node }, clock, log, reporter, stateDir, runId, maxIntents } = options;
  const { mode, seed, strategies } = config;
  const startAt = clock.now();
  const recorder = openRecorder(scope);
  const files = openFiles(scope);
  let watched: readonly Mint[] = [];
  let inputs: readonly Mint[] = [];
  const strategyCode = {
    isolation: config.isolation.kind,
    sha256: Object.fromEntries(Object.entries(copies).map(([name, { sha256 }]) => [name, sha256])),
  };
  const past = {
    recordingDir: config.recording.dir, runDir: files.dir,
    describe: (feed: FeedKey) => describeFeedKey(config.tokens, feed),
  };
  const recording = recorder === undefined ? undefined : relative(files.dir, recorder.directory);
  return new Session({
    runId, mode, isRealMoney: movesRealMoney(config), clock, state, seed, startAt, strategies, open, restored,
    prepareWarmup: (until) => prepareWarmup(strategies, { ...past, until }),
    reloading: options.loadConfig === undefined ? undefined : {
      config, copies, load: options.loadConfig,
      prepareWarmup: (strategy, at) => {
        recorder?.flush();
        // What arrived within the present millisecond was before.
        return prepareWarmupInChunks([strategy], { ...past, until: at + 1, running: runId });
      },
    },
    executor, quotes: service.swap, serviceText: options.connections.description, wallet: address,
    chainNodes: node?.nodes,
    createFeed: (specs) => createFeeds({
      service, node, specs, clock, random: seededRandom(`${seed}:feeds`), arrivals$,
    }),
    access$: service.access$,
    tokenChecks$: checkTokens({ ...options, watched: () => [...inputs, ...watched] }),
    onWatched: (mints) => { watched = mints; },
    onInputs: (mints) => { inputs = mints; },
    walletKeeper, diskGuard, stateWatch, hosts: options.hosts,
    clockAheadMs: () => service.clockAheadMs(),
    page: { story, requests: () => service.stats() },
    crashes: crashesBefore(journal, clock.now()),
    recorder, journal, history: historyOf(scope), isNewLedger,
    stopFile: stopFileOf(stateDir), audit,
    reporter, log, files, recording,
    manifest: createManifest({ config, mode, runId, startAt, snapshot, open, restored, recording, strategyCode }),
    maxIntents,
  });
}

/** Without a signer nothing is signed: a new run with a new signer matters more than the outcomes, which it follows. */
const DRAIN_WITHOUT_SIGNER_MS = 2_000;

/** Recovers, trades until the end, and drains. Throws STATE_LOST or SIGNER_LOST where one of them ended the run. */
async function runSession(
  { options, stateWatch }: ModeScope, session: Session, journal: Pick<JournalStore, 'runEnded'>,
): Promise<RunSummary> {
  const { runId, signer, reporter } = options;
  const lost: { reason?: string } = {};
  let isOver = false;
  void signer?.closed.then((reason) => {
    lost.reason = reason;
    if (!isOver) reporter.alert(session.stamp, undefined, signerLostAlert(reason));
  });
  const ending = untilEnd(options, session, stateWatch).then((reason) => {
    // The end was ordered: whatever happens during the drain, the next start does not follow a crash.
    if (lost.reason === undefined) journal.runEnded(runId);
    return reason;
  });
  // The operator can end a recovery whose node does not answer.
  const endedBefore = await Promise.race([session.recover().then(() => undefined), ending]);
  if (endedBefore === undefined) session.start();
  const reason = endedBefore ?? await ending;
  const summary = await session.drain(reason, lost.reason === undefined ? undefined : DRAIN_WITHOUT_SIGNER_MS);
  isOver = true;
  if (lost.reason === undefined) journal.runEnded(runId);
  const fault = stateWatch.fault();
  if (fault !== undefined) throw stateLost(fault);
  if (lost.reason !== undefined) {
    throw new GannetError('SIGNER_LOST',
      `the run has ended because the signer process is gone (${lost.reason}): start again`);
  }
  return summary;
}

function stateLost(fault: string): GannetError {
  return new GannetError('STATE_LOST',
    `the run has ended because ${fault}. Everything it wrote after that is lost: restore the state directory from a `
      + 'copy '
      + '(gannet state backup makes one), then start again');
}

/** Code that is not the project's own never comes into the process that trades. */
function refuseForeignCode({ strategies }: RunConfig): void {
  for (const { name, origin, apart } of strategies)
    assert(origin === 'project' || apart !== undefined, () =>
      `the code of strategy ${name} runs in a process of its own`);
}

/** Returns the code of the strategies by their names: with it, a replay can tell whether it is still the same. */
async function codeOf({ strategies }: RunConfig): Promise<Readonly<Record<string, CodeCopy>>> {
  return Object.fromEntries(await Promise.all(strategies.flatMap(({ name, file }) =>
    (file === undefined ? [] : [copyCode(file).then((copy) => [name, copy] as const)]))));
}

const CRASHES_SHOWN_MAX = 100;

/** Returns how many runs in a row crashed before this one; undefined below the limit. */
function crashesBefore(journal: Pick<JournalStore, 'listRuns'>, now: Millis): number | undefined {
  const crashes = crashesInARow(journal.listRuns({ limit: CRASHES_SHOWN_MAX }), now);
  return crashes < CRASH_LIMIT.crashes ? undefined : crashes;
}

/** Resolves with the reason for the end, for people. Rejects on a bug or a lost sandbox. */
async function untilEnd(
  { interrupt, durationMs, clock, maxIntents, connections, signer }: DaemonOptions, session: Session,
  stateWatch: StateWatch,
): Promise<string> {
  const ends: Promise<string>[] = [
    new Promise((resolve) => {
      if (interrupt.aborted) resolve('stopped by the operator');
      interrupt.addEventListener('abort', () => { resolve('stopped by the operator'); }, { once: true });
    }),
    session.ended.then(() => `${maxIntents} intents are finished`),
    stateWatch.lost,
  ];
  // Signed transactions are still followed, because that needs no key.
  if (signer !== undefined) ends.push(signer.closed.then((reason) => `the signer process is gone (${reason})`));
  if (connections.sandbox !== undefined) {
    ends.push(connections.sandbox.exited.then((code) => {
      throw new GannetError('SANDBOX_FAILED', `the embedded service ended with code ${code} while it was in use`);
    }));
  }
  if (durationMs === undefined) return Promise.race(ends);
  const duration = Promise.withResolvers<string>();
  const timer = clock.schedule(() => { duration.resolve('the time is up'); }, durationMs);
  try {
    return await Promise.race([...ends, duration.promise]);
  } finally {
    // A pending timer would keep the process running.
    timer.unsubscribe();
  }
}
