import { relative } from 'node:path';
import { ZERO } from '../core/amount.ts';
import { GannetError } from '../core/errors.ts';
import { seededRandom } from '../core/random.ts';
import type { Millis } from '../core/time.ts';
import { movesRealMoney } from '../config/live-gate.ts';
import { requestRate } from '../config/request-rate.ts';
import type { RunConfig } from '../config/run-config.ts';
import { formatTokenAmount } from '../market/token.ts';
import type { RecordingWriter } from '../recording/writer.ts';
import { createRecordingWriter } from '../recording/writer.ts';
import { createFeeds } from '../service/feeds/feeds.ts';
import type { SignerDescription } from '../signer/requests.ts';
import type { JournalStore } from '../store/journal.ts';
import { lockState } from '../store/locks.ts';
import type { EngineState } from '../trading/state.ts';
import { createState } from '../trading/state.ts';
import { startControlApi } from './control-api.ts';
import { controlFilePath } from './control-file.ts';
import { CRASH_LIMIT, crashesInARow } from './crash-count.ts';
import type { DaemonOptions } from './daemon-options.ts';
import type { Controlled } from './desk.ts';
import { isDiskFull } from './disk-full.ts';
import { createDiskGuard } from './disk-guard.ts';
import { keepCheckpointed } from './keep-states.ts';
import { describeLimits, describeProtections } from './limits-text.ts';
import { holdings } from './market-text.ts';
import { describeFeedKey } from '../market/market-text.ts';
import { createManifest } from './manifest.ts';
import type { ModeScope } from './mode-parts.ts';
import { liveParts, paperParts } from './mode-parts.ts';
import type { PatientRunFiles } from './patient-run-files.ts';
import { patientRunFiles } from './patient-run-files.ts';
import { describeSignerProcess } from './open-signer.ts';
import type { StateSetup } from './recover.ts';
import type { Reporter, RunSummary } from './reporter.ts';
import { Resources } from './resources.ts';
import { createRunFiles, runDirOf } from './run-files.ts';
import { Session } from './session.ts';
import type { StateWatch } from './state-watch.ts';
import { createStateWatch } from './state-watch.ts';
import { stopFileOf } from './stop-file.ts';
import { tokenLooks } from './token-looks.ts';
import { prepareWarmup } from './warm-up.ts';

/** Runs the daemon from recovery to the drained end. Rejects before anything is traded or left behind where it cannot start. */
export async function runDaemon(options: DaemonOptions): Promise<RunSummary> {
  const { config, log, stateDir, clock } = options;
  refuseForeignStrategies(config);
  const resources = new Resources(log);
  try {
    const lock = lockState(stateDir, clock);
    resources.add('state lock', () => { lock.release(); });
    const ended = new AbortController();
    const interrupt = AbortSignal.any([options.interrupt, ended.signal]);
    return await runLocked({ ...options, interrupt }, resources, () => { ended.abort(); });
  } finally {
    await resources.close();
  }
}

async function runLocked(options: DaemonOptions, resources: Resources, end: () => void): Promise<RunSummary> {
  const { config, world, clock, log, reporter, stateDir, runId } = options;
  const setup: StateSetup = {
    tokens: config.tokens,
    limits: config.limits,
    strategies: config.strategies.map(({ name, budget, maxAgeMs, maxExposure, isByHand }) => ({ name, budget, limits: { maxAgeMs, maxExposure }, isByHand })),
  };
  const diskGuard = createDiskGuard({ stateDir, recordingDir: config.recording.dir, clock, log, marks: options.diskMarks });
  const stateWatch = createStateWatch(clock);
  const scope = { options, setup, resources, diskGuard, stateWatch };
  const running: { session?: Session; state?: EngineState } = {};
  const control = await openControl(options, { desk: () => running.session?.desk, end }, resources);
  if (control !== undefined) stateWatch.add({ name: 'the control file', path: controlFilePath(stateDir) });
  const { journal, recovered, executor, walletKeeper, address, signer, notices } = config.mode === 'live'
    ? await liveParts(scope, {
      mayTryAgain: (intent) => running.session?.retryDenial(intent),
      ledger: (mint) => (running.state === undefined ? undefined : running.state.portfolio.wallet.get(mint) ?? ZERO),
    })
    : paperParts(scope);
  const startAt = clock.now();
  const state = createState({ ...setup, snapshot: recovered.snapshot, open: recovered.open });
  running.state = state;
  const recorder = openRecorder(scope);
  const files = openFiles(scope);
  const recording = recorder === undefined ? undefined : relative(files.dir, recorder.directory);
  const session = new Session({
    runId, mode: config.mode, isRealMoney: movesRealMoney(config), clock, state, seed: config.seed, startAt,
    strategies: config.strategies,
    open: recovered.open,
    legacy: recovered.legacy,
    prepareWarmup: (until) => prepareWarmup(config.strategies, { recordingDir: config.recording.dir, runDir: files.dir, until, describe: (feed) => describeFeedKey(config.tokens, feed) }),
    executor,
    createFeed: (specs) => createFeeds({ service: world.service, specs, clock, random: seededRandom(`${config.seed}:feeds`) }),
    access$: world.service.access$,
    tokenLooks$: tokenLooks(options),
    walletKeeper, diskGuard, stateWatch,
    clockAheadMs: () => world.service.clockAheadMs(),
    crashes: crashesBefore(journal, clock.now()),
    recorder, journal,
    stopFile: stopFileOf(stateDir),
    reporter, log, files, recording,
    manifest: createManifest({ config, mode: config.mode, runId, startAt, snapshot: recovered.snapshot, open: recovered.open, legacy: recovered.legacy, recording }),
    maxIntents: options.maxIntents,
  });
  running.session = session;
  journal.runStarted(runId);
  const checkpoints = keepCheckpointed({ journal, clock, log });
  resources.add('checkpoints', () => { checkpoints.unsubscribe(); });
  // The last to open is the first to close: whatever ends the run, nothing is decided any more when its files go.
  resources.add('session', () => { session.close(); });
  reporter.started(session.stamp, describeStart(options, { state, address, signer, control }));
  for (const notice of notices) reporter.state(session.stamp, 'notice', notice);
  const lost: { reason?: string } = {};
  void options.signer?.closed.then((reason) => { lost.reason = reason; });
  const ending = untilEnd(options, session, stateWatch).then((reason) => {
    // Somebody wanted it to end: whatever happens from here on, the next start is not one after a crash.
    if (lost.reason === undefined) journal.runEnded(runId);
    return reason;
  });
  // A node that does not answer must not keep the operator from ending it.
  const endedBefore = await Promise.race([session.recover().then(() => undefined), ending]);
  if (endedBefore === undefined) session.start();
  const summary = await session.drain(endedBefore ?? await ending);
  if (lost.reason === undefined) journal.runEnded(runId);
  const fault = stateWatch.fault();
  if (fault !== undefined) throw stateLost(fault);
  if (lost.reason !== undefined) throw new GannetError('SIGNER_LOST', `the run has ended because the signer process is gone (${lost.reason}): start again`);
  return summary;
}

function stateLost(fault: string): GannetError {
  return new GannetError('STATE_LOST',
    `the run has ended because ${fault}. What it wrote after that is lost: restore the state directory from a copy (gannet state backup makes one), then start again`);
}

/** Until strategies run in a box of their own, only those that come with the project meet the process that trades. */
function refuseForeignStrategies({ file, strategies }: RunConfig): void {
  const foreign = strategies.find(({ origin }) => origin !== 'project');
  if (foreign === undefined) return;
  throw new GannetError('STRATEGY_INVALID',
    `${file}: strategy ${foreign.name} comes from ${foreign.use}; run and paper load only the project’s own strategies/ so far: put the file there, or backtest it`);
}

/** A run on a full disk records nothing, and exits go on. */
function openRecorder({ options: { config, clock, log, runId }, resources, diskGuard }: ModeScope): RecordingWriter | undefined {
  if (!config.recording.enabled) return undefined;
  const onError = (error: GannetError): void => {
    log('error', 'the recording stopped; trading goes on', { error });
    diskGuard.recordingFailed(error);
  };
  try {
    const recorder = createRecordingWriter({ dir: config.recording.dir, name: runId, clock, tokens: config.tokens.all, onError });
    resources.add('recording', async () => { await recorder.close(); });
    return recorder;
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    onError(error);
    return undefined;
  }
}

function openFiles({ options: { stateDir, runId, log }, diskGuard }: ModeScope): PatientRunFiles {
  const what = 'the run’s record of its decisions';
  const onFault = (error: Error): boolean => {
    log('error', `${what} could not be written`, { error });
    return diskGuard.failed(what, error);
  };
  const files = { dir: runDirOf(stateDir, runId), open: () => createRunFiles(stateDir, runId) };
  return patientRunFiles(files, { onFault, onWritten: () => { diskGuard.recovered(what); } });
}

const CRASHES_SHOWN_MAX = 100;

/** Returns how many runs before this one ended in a crash, where they are too many. */
function crashesBefore(journal: Pick<JournalStore, 'listRuns'>, now: Millis): number | undefined {
  const crashes = crashesInARow(journal.listRuns({ limit: CRASHES_SHOWN_MAX }), now);
  return crashes < CRASH_LIMIT.crashes ? undefined : crashes;
}

async function openControl(
  { config, environment, stateDir, runId, log }: DaemonOptions, controlled: Pick<Controlled, 'desk' | 'end'>, resources: Resources,
): Promise<{ readonly url: string; readonly portTaken: number | undefined } | undefined> {
  if (!config.control.enabled) return undefined;
  const control = await startControlApi({ ...config.control, ...controlled, stateDir, token: environment['GANNET_CONTROL_TOKEN'], runId, log });
  resources.add('control API', () => control.close());
  return control;
}

function describeStart(
  { config, world, runId }: DaemonOptions,
  run: { readonly state: EngineState; readonly address: string | undefined; readonly signer: SignerDescription | undefined; readonly control: { readonly url: string; readonly portTaken: number | undefined } | undefined },
): Parameters<Reporter['started']>[1] {
  return {
    runId,
    mode: config.mode,
    isRealMoney: movesRealMoney(config),
    service: world.description,
    wallet: run.address,
    strategies: config.strategies.map(({ name, strategy, budget }) => {
      const token = budget === undefined ? undefined : config.tokens.byMint(budget.mint);
      return {
        name, summary: strategy.summary,
        budget: budget === undefined || token === undefined ? undefined : formatTokenAmount({ token, amount: budget.amount }),
      };
    }),
    feeds: requestRate(config).feeds,
    balances: holdings(config.tokens, run.state.portfolio.wallet),
    limits: describeLimits(config.limits, config.tokens),
    protections: describeProtections(config.limits, config.tokens),
    signer: run.signer === undefined ? undefined : { ...run.signer, words: describeSignerProcess(run.signer) },
    controlUrl: run.control?.url,
    controlPortTaken: run.control?.portTaken,
  };
}

/** Resolves with the reason to end: the operator, the duration, the number of intents; rejects on a bug or a lost sandbox. */
async function untilEnd({ interrupt, durationMs, clock, maxIntents, world, signer }: DaemonOptions, session: Session, stateWatch: StateWatch): Promise<string> {
  const ends: Promise<string>[] = [
    new Promise((resolve) => {
      if (interrupt.aborted) resolve('stopped by the operator');
      interrupt.addEventListener('abort', () => { resolve('stopped by the operator'); }, { once: true });
    }),
    session.ended.then(() => `${maxIntents} intents are finished`),
  ];
  ends.push(stateWatch.lost);
  // What is signed already is still seen through: that needs no key.
  if (signer !== undefined) ends.push(signer.closed.then((reason) => `the signer process is gone (${reason})`));
  if (world.sandbox !== undefined) {
    ends.push(world.sandbox.exited.then((code) => {
      throw new GannetError('SANDBOX_FAILED', `the embedded service ended with code ${code} while it was in use`);
    }));
  }
  if (durationMs === undefined) return Promise.race(ends);
  const duration = Promise.withResolvers<string>();
  const timer = clock.schedule(() => { duration.resolve('the time is up'); }, durationMs);
  try {
    return await Promise.race([...ends, duration.promise]);
  } finally {
    // A timer that nobody waits for any more would keep the process.
    timer.unsubscribe();
  }
}
