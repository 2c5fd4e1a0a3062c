import { relative } from 'node:path';
import { longestWarmup } from '../../../backtest/backtest.ts';
import { extremesStep, sampleStep } from '../../../backtest/record/equity-sampler.ts';
import { backtestCursor } from '../../../backtest/recorded-checks.ts';
import { sampledInputs } from '../../../backtest/sampling.ts';
import type { BacktestStrategy } from '../../../backtest/setup.ts';
import { freshState, watchedTokens } from '../../../backtest/setup.ts';
import { ownImpactWarnings, simulationWarnings } from '../../../backtest/simulation-notes.ts';
import { watchThrows } from '../../../backtest/throw-locations.ts';
import type { BoxedContext, PreparedCall } from '../../boxed/boxed-context.ts';
import type { BacktestAnswer } from './backtest-answer.ts';
import { asJson, asText } from './backtest-answer.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { openResearchInput } from '../../input/open-research-input.ts';
import { progressLine } from '../../output/progress.ts';
import { reportFile } from '../../output/report-file.ts';
import { GannetError, isNoRoom, messageOf } from '../../../core/errors.ts';
import { formatDuration } from '../../../core/time.ts';
import type { RunFiles } from '../../../daemon/files/run-files.ts';
import { createRunFiles } from '../../../daemon/files/run-files.ts';
import type { RunManifest } from '../../../daemon/files/run-manifest.ts';
import { createManifest } from '../../../daemon/files/run-manifest.ts';
import type { LoggedDecision } from '../../../engine/decision-log.ts';
import { describeFeedKey } from '../../../market/market-text.ts';
import { removeOnFailure } from '../../../recording/files/new-folder.ts';
import { runInterruptibly, untilInterrupted } from '../../../recording/interrupt.ts';
import type { SharedRows } from '../../../recording/shared/shared-source.ts';
import { openSharedRows } from '../../../recording/shared/shared-source.ts';
import { gridHeatMap } from '../../../report/figure-tables.ts';
import { writeBacktestReport } from '../../../report/write-report.ts';
import { benchmarksOf } from '../../../research/metrics/run-figures.ts';
import { runStatistics } from '../../../research/metrics/run-statistics.ts';
import type { ResearchInput } from '../../../research/research-input.ts';
import { researchWarnings } from '../../../research/research-input.ts';
import { stopwatch } from '../../../research/stopwatch.ts';
import { refuseFullHeap } from '../../../research/strategy-guards.ts';
import { shapedWarnings } from '../../../research/trials/denial-summary.ts';
import type { MeasuredRun, MeasuredSettings } from '../../../research/trials/measured-run.ts';
import { deflatedSettings, measureInChunks, robustnessWarnings } from '../../../research/trials/measured-run.ts';
import { stopMessages } from '../../../research/trials/run-trial.ts';
import type { SensitivityGrid } from '../../../research/trials/sensitivity-grid.ts';
import {
  gridCells, gridWarnings, sensitivityGrid, typicalHalfSpreadBps,
} from '../../../research/trials/sensitivity-grid.ts';
import { shareRecording } from '../../../research/trials/shared-recording.ts';
import { freshInstances } from '../../../research/trials/thread-setup.ts';
import type { TrialCounter } from '../../../research/trials/trial-counter.ts';
import { openTrialCounter } from '../../../research/trials/trial-counter.ts';
import { createTrialPool } from '../../../research/trials/trial-pool.ts';
import type { TrialResult } from '../../../research/trials/trial.ts';
import { implausibleWarnings, verdictOf } from '../../../research/trials/verdict.ts';
import type { SimulationSetting } from '../../../trading/simulation-model.ts';
import { freshSnapshot } from '../../../trading/engine-state.ts';
import { NO_RESTORED_STATES } from '../../../trading/strategy-state.ts';

interface BacktestFlags {
  readonly report?: string;
  readonly grid?: boolean;
}

/** Runs a backtest and prints its result. */
export async function backtest(context: BoxedContext, call: PreparedCall): Promise<ExitCode> {
  const { terminal, options, host } = context;
  const flags = call.flags as BacktestFlags;
  const input = await openResearchInput(context, call);
  const counter = await openTrialCounter({ openLog: () => host.openTrialLog(), subject: input });
  const { runId } = call;
  const files = createBacktestFiles(options.stateDir, runId);
  const print = async (): Promise<ExitCode> => {
    const { answer, manifest } = await measure(context, input, { flags, counter, files, runId });
    const { config, recording } = input;
    const grid = answer.grid === undefined ? undefined : gridHeatMap(answer.grid);
    const report =
      reportFile(
        flags.report, (path) => writeBacktestReport(path, answer, { config, recording, manifest, grid }), terminal,
      );
    terminal.result(asJson(answer, report.path), () => asText(answer, report.path));
    return report.isLost ? EXIT.failed : EXIT.done;
  };
  // An unfinished backtest is not reported, so its files are removed.
  return removeOnFailure(files.dir, () => print().finally(() => { files.close(); }))
    .finally(() => { counter.close(); });
}

/** Runs the backtest, writes its decisions and its manifest, and returns the answer. */
async function measure(context: BoxedContext, input: ResearchInput, { flags, counter, files, runId }: {
  readonly flags: BacktestFlags; readonly counter: TrialCounter; readonly files: RunFiles; readonly runId: string;
}): Promise<{ readonly answer: BacktestAnswer; readonly manifest: RunManifest }> {
  const { config, recording, setup } = input;
  const manifest = createManifest({
    config, mode: 'backtest', runId, startAt: setup.firstAt, snapshot: freshSnapshot(config.backtest.balances),
    open: [], restored: NO_RESTORED_STATES, recording: relative(files.dir, recording.directory),
  });
  files.manifest(manifest);
  const stops: string[] = [];
  // All three settings read these rows.
  const rows = isCheap(recording.events)
    ? (await shareRecording(recording, { checks: input.checks, interrupt: context.interrupt })).rows : undefined;
  const { strategies, thrownAt } = watchThrows(await freshInstances(setup));
  const measured = await measureSettings(input, { context, rows, strategies, onDecision: (decision) => {
    files.decision(decision);
    const place = thrownAt(decision.strategy);
    stops.push(...stopMessages(decision).map((stop) => (place === undefined ? stop : `${stop} (${place})`)));
  } });
  const { setting } = config.backtest.model;
  const { metrics } = measured[setting].assessment;
  const trials = counter.count([{ trial: { params: {} }, result: { kind: 'done', metrics } }]);
  const settings = trials === undefined ? measured : deflatedSettings(measured, trials);
  const run = settings[setting];
  const { events, decisions, decisionHash, endAt } = run.result;
  const ended = { after_seq: events, at: endAt, decisions, decision_hash: decisionHash };
  files.manifest({ ...manifest, ended });
  const wantsGrid = flags.grid ?? (flags.report !== undefined && isCheap(events));
  const grid = wantsGrid ? await measureGrid(input, run, context) : undefined;
  const stopWarnings = stops.map((stop) => (
    `${stop}: the rest of the backtest shows the other strategies alone, and this one keeps what it held`));
  const benchmarks = benchmarksOf(run.record);
  return {
    manifest,
    answer: {
      runId, run, settings, grid, benchmarks, trials, currency: setup.currency, tokens: config.tokens,
      recordedSwaps: setup.model.recordedSwaps?.length ?? 0,
      warnings: [...stopWarnings, ...counter.warnings, ...warningsOf(input, settings, grid)],
      priceAges: config.backtest.model, sampled: sampledInputs(strategies, setup.intervals ?? new Map()),
      verdict: verdictOf(run, settings, benchmarks), statistics: runStatistics(run.record),
    },
  };
}

interface Listener {
  readonly onDecision?: (decision: LoggedDecision) => void;
}

/**
 * Runs the configured setting first and passes on its decisions, then the other two for comparison. Rejects with
 * INTERRUPTED.
 */
async function measureSettings({ recording, checks, setup }: ResearchInput,
  { context: { interrupt, terminal }, rows, strategies, onDecision }: Required<Listener> & {
    readonly context: BoxedContext; readonly rows: SharedRows | undefined;
    /** The instances of the configured setting; the other settings run fresh ones. */
    readonly strategies: readonly BacktestStrategy[];
  }): Promise<MeasuredSettings> {
  const source = rows === undefined ? recording : openSharedRows(rows);
  const progress = progressLine(terminal, 'events');
  const all = 3 * recording.events;
  let before = 0;
  const { model, currency } = setup;
  const under = async (
    setting: SimulationSetting, listener: Listener & { readonly strategies: readonly BacktestStrategy[] },
  ): Promise<MeasuredRun> => {
    const measured = await runInterruptibly(measureInChunks({
      state: freshState(setup, listener.strategies),
      seed: setup.seed,
      startAt: setup.firstAt,
      cursor: backtestCursor(source, checks),
      checks,
      feeds: source.feeds,
      intervals: setup.intervals,
      model: { ...model, setting },
      currency,
      stopwatch,
      instruments: watchedTokens(listener.strategies, setup),
      everyMs: sampleStep(setup.lastAt - setup.firstAt),
      extremesEveryMs: extremesStep(setup.lastAt - setup.firstAt),
      endAt: setup.lastAt,
      isMadeUp: setup.isMadeUp,
      onEvents: (events) => {
        progress.show(before + events, all);
        refuseFullHeap();
      },
      ...listener,
    }), interrupt);
    before += recording.events;
    return measured;
  };
  try {
    const configured = await under(model.setting, { onDecision, strategies });
    const run = async (setting: SimulationSetting): Promise<MeasuredRun> =>
      (setting === model.setting ? configured : under(setting, { strategies: await freshInstances(setup) }));
    return { optimistic: await run('optimistic'), base: await run('base'), pessimistic: await run('pessimistic') };
  } finally {
    progress.end();
  }
}

function warningsOf(input: ResearchInput, settings: MeasuredSettings, grid: SensitivityGrid | undefined): string[] {
  const { config } = input;
  const { setting } = config.backtest.model;
  const { result, warnings } = settings[setting];
  const warmupMs = longestWarmup(config.strategies);
  return [
    ...researchWarnings(input),
    ...shapedWarnings(result),
    ...robustnessWarnings(settings),
    ...implausibleWarnings(settings[setting].assessment.metrics),
    ...(grid === undefined ? [] : gridWarnings(grid)),
    ...simulationWarnings(result.simulation, config.backtest.model),
    ...ownImpactWarnings(result.simulation, (feed) => describeFeedKey(config.tokens, feed)),
    ...(warmupMs > 0 ? [
      `the first ${formatDuration(warmupMs)} of the recording warm the strategies up: the backtest begins after them`,
    ] : []),
    ...(setting === 'base' ? [] : [`fills are ${setting}`]),
    ...warnings,
  ];
}

/**
 * Opens the files of a backtest for writing. Every write throws DISK_FULL on a full disk; unlike a run, a backtest does
 * not wait for room.
 */
export function createBacktestFiles(stateDir: string, runId: string): RunFiles {
  const onDisk = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (!isNoRoom(error)) throw error;
      throw new GannetError(
        'DISK_FULL',
        `the disk has no room for the backtest in ${stateDir}: ${messageOf(error)}; free some space, or name another `
          + 'folder with --state-dir',
        { cause: error },
      );
    }
  };
  const files = onDisk(() => createRunFiles(stateDir, runId));
  return {
    dir: files.dir,
    decision: (logged) => { onDisk(() => { files.decision(logged); }); },
    manifest: (manifest) => { onDisk(() => { files.manifest(manifest); }); },
    code: (copy) => { onDisk(() => { files.code(copy); }); },
    close: () => { files.close(); },
  };
}

/** A longer recording takes more than a few seconds to run, and more than a few hundred megabytes of memory. */
const CHEAP_EVENTS = 3_000_000;

/**
 * Returns whether a number of events runs quickly: then a report has the grid by default, and the events are read into
 * memory once.
 */
export function isCheap(events: number): boolean {
  return events <= CHEAP_EVENTS;
}

/** Runs a configuration under other latencies and costs, in processes of their own. Throws INTERRUPTED. */
export async function measureGrid(
  { setup, recording }: Pick<ResearchInput, 'setup' | 'recording'>,
  { record, assessment }: Pick<MeasuredRun, 'record' | 'assessment'>,
  { interrupt, terminal, host }: Pick<BoxedContext, 'interrupt' | 'terminal' | 'host'>,
): Promise<SensitivityGrid> {
  const spreadBps = typicalHalfSpreadBps(record);
  const cells = gridCells(setup.model, spreadBps);
  const pool = await createTrialPool(setup, { recording, interrupt, box: host.workers });
  return untilInterrupted(interrupt, pool, async () => {
    const results = new Map<string, TrialResult>();
    const progress = progressLine(terminal, 'other latencies and costs');
    try {
      for await (const result of pool.run(cells.map(({ trial }) => trial))) {
        results.set(result.id, result);
        progress.show(results.size, cells.length);
      }
    } finally {
      progress.end();
    }
    return sensitivityGrid(results, { cells, configured: assessment.metrics.total_return, spreadBps });
  });
}
