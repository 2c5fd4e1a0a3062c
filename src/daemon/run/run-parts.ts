import type { RecordingWriter } from '../../recording/writer.ts';
import { createRecordingWriter } from '../../recording/writer.ts';
import { movesRealMoney } from '../../config/live-gate.ts';
import { requestRate } from '../../config/request-rate.ts';
import type { GannetError } from '../../core/errors.ts';
import { formatBalances } from '../../market/market-text.ts';
import { formatTokenAmount } from '../../market/token.ts';
import type { SignerDescription } from '../../signer/channel/channel-protocol.ts';
import type { HistoryStore } from '../../store/history.ts';
import { openHistory } from '../../store/history.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import type { ControlApi } from '../control/control-server.ts';
import { startControlApi } from '../control/control-server.ts';
import type { ControlledRun } from '../control/control-port.ts';
import type { SignalIntake } from '../control/signals.ts';
import { createSignalIntake } from '../control/signals.ts';
import { historyPath, runDirOf } from '../files/find-run.ts';
import type { WriteBehindRunFiles } from '../files/run-files.ts';
import { createRunFiles, writeBehindRunFiles } from '../files/run-files.ts';
import { describeLimits, describeProtections } from '../reporting/limits-text.ts';
import type { RunStart } from '../reporting/reporter.ts';
import { isDiskFull } from '../watch/disk-guard.ts';
import { describeSignerProcess } from './open-signer.ts';
import type { DaemonOptions, ModeScope } from './run-options.ts';

// What a run writes to and is reached by: each is opened before the session and closed by the run's resources.

/** On a full disk the run starts without a recording, because exits must go on. */
export function openRecorder(
  { options: { config, clock, log, runId }, resources, diskGuard, metrics }: ModeScope,
): RecordingWriter | undefined {
  if (!config.recording.enabled) return undefined;
  const onError = (error: GannetError): void => {
    log('error', 'the recording stopped; trading goes on', { error });
    diskGuard.recordingFailed(error);
  };
  try {
    const recorder =
      createRecordingWriter({ dir: config.recording.dir, name: runId, clock, tokens: config.tokens.all, onError });
    metrics.recordsTo(recorder);
    resources.add('recording', async () => { await recorder.close(); });
    return recorder;
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    onError(error);
    return undefined;
  }
}

/** The samples of equity and prices for people. What happens to them is logged, and changes nothing else. */
export function historyOf({ options: { config, stateDir, log }, resources }: ModeScope): HistoryStore {
  const history = openHistory({
    path: historyPath(stateDir, config.mode), onFault: (message) => { log('warn', message); },
  });
  resources.add('history', () => { history.close(); });
  return history;
}

export function openFiles({ options: { stateDir, runId, log }, diskGuard }: ModeScope): WriteBehindRunFiles {
  const what = 'the run’s record of its decisions';
  const onFault = (error: Error): boolean => {
    log('error', `${what} could not be written`, { error });
    return diskGuard.failed(what, error);
  };
  const files = { dir: runDirOf(stateDir, runId), open: () => createRunFiles(stateDir, runId) };
  return writeBehindRunFiles(files, { onFault, onWritten: () => { diskGuard.recovered(what); } });
}

export function signalIntakeOf(
  { config: { signals }, signalsToken: token, clock }: DaemonOptions,
): SignalIntake | undefined {
  return signals === undefined || token === undefined ? undefined
    : createSignalIntake({ names: signals.names, token, clock });
}

export async function openControl(
  { options, resources, audit, story, metrics }: ModeScope,
  controlled: Pick<ControlledRun, 'controlPort' | 'end'> & { readonly signals: SignalIntake | undefined },
): Promise<ControlApi | undefined> {
  const { config: { control: place }, controlTokens: tokens, stateDir, runId, clock, log } = options;
  if (!place.enabled) return undefined;
  const control = await startControlApi({
    ...place, ...controlled, audit, stateDir, tokens, runId, story, metrics, clock, log,
  });
  resources.add('control API', () => control.close());
  return control;
}

export function describeStart(
  { config, connections, runId }: DaemonOptions,
  run: {
    readonly state: EngineState; readonly address: string | undefined; readonly signer: SignerDescription | undefined;
    readonly control: ControlApi | undefined;
  },
): RunStart {
  return {
    runId,
    mode: config.mode,
    isRealMoney: movesRealMoney(config),
    service: connections.description,
    wallet: run.address,
    strategies: config.strategies.map(({ name, strategy, budget }) => {
      const token = budget === undefined ? undefined : config.tokens.byMint(budget.mint);
      return {
        name, summary: strategy.summary,
        budget: budget === undefined || token === undefined ? undefined
          : formatTokenAmount({ token, amount: budget.amount }),
      };
    }),
    feeds: requestRate(config).feeds,
    balances: formatBalances(config.tokens, run.state.portfolio.wallet),
    limits: describeLimits(config.limits, config.tokens),
    protections: describeProtections(config.limits, config.tokens),
    signer: run.signer === undefined ? undefined : { ...run.signer, words: describeSignerProcess(run.signer) },
    controlUrl: run.control?.url,
    controlPortTaken: run.control?.portTaken,
    loginLink: run.control?.loginLink,
  };
}
