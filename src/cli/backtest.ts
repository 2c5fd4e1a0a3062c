import { randomBytes } from 'node:crypto';
import { relative } from 'node:path';
import { longestWarmup } from '../backtest/backtest.ts';
import { shapedWarnings } from '../backtest/denied.ts';
import type { MeasuredRun, MeasuredSettings } from '../backtest/measured-run.ts';
import { deflatedSettings, measureSteps, robustnessWarnings } from '../backtest/measured-run.ts';
import { benchmarksOf } from '../backtest/record/run-figures.ts';
import { glanceStep, sampleStep } from '../backtest/record/run-meter.ts';
import { backtestCursor } from '../backtest/recorded-looks.ts';
import { freshState } from '../backtest/setup.ts';
import type { SensitivityGrid } from '../backtest/sensitivity-grid.ts';
import { gridHeatMap, gridWarnings } from '../backtest/sensitivity-grid.ts';
import { stopOf } from '../backtest/run-trial.ts';
import type { BacktestStrategy } from '../backtest/setup.ts';
import { watchThrows } from '../backtest/throw-places.ts';
import { sampledInputs } from '../backtest/sampling.ts';
import { ownImpactWarnings, simulationWarnings } from '../backtest/simulation-warnings.ts';
import { implausibleWarnings, verdictOf } from '../backtest/verdict.ts';
import { watchedTokens } from '../backtest/watched-tokens.ts';
import { formatDuration } from '../core/time.ts';
import { BACKTEST_RUN } from '../daemon/find-recording.ts';
import { createManifest } from '../daemon/manifest.ts';
import type { LoggedDecision } from '../engine/decision-log.ts';
import { describeFeedKey } from '../market/market-text.ts';
import type { SharedRows } from '../recording/shared/shared-rows.ts';
import { openSharedRows } from '../recording/shared/shared-source.ts';
import type { SimulationSetting } from '../trading/simulated-landing.ts';
import { freshSnapshot } from '../trading/state.ts';
import { NO_LEGACY } from '../trading/strategy-state.ts';
import { asJson, asText } from './backtest-answer.ts';
import { createBacktestFiles } from './backtest-files.ts';
import { writeReport } from './backtest-report.ts';
import { stopwatch } from './bench/measurement.ts';
import { breakable } from './breakable.ts';
import type { CommandContext, CommandModule } from './command.ts';
import type { ExitCode } from './exit-codes.ts';
import { EXIT } from './exit-codes.ts';
import { refuseFullHeap } from './heap-room.ts';
import { stepByStep } from './interrupt.ts';
import { makeRoomFor } from './file-places.ts';
import { orNothing } from './or-nothing.ts';
import { progressLine } from './progress.ts';
import { reportFile } from './report-file.ts';
import { shareRecording } from './research/shared-recording.ts';
import { freshInstances } from './research/fresh-strategies.ts';
import { isCheap, measureGrid } from './research/sensitivity.ts';
import type { Subject } from './research/subject.ts';
import { openSubject, subjectWarnings } from './research/subject.ts';
import { openTrialCounter } from './research/trial-counter.ts';

interface BacktestFlags {
  readonly recording: string;
  readonly report?: string;
  readonly grid?: boolean;
}

export const backtestCommand: CommandModule = (program, run) => {
  program.command('backtest <config>')
    .description('runs the strategies of a configuration over a recording, with simulated fills')
    .requiredOption('--recording <dir>', 'a recording: its folder, or the id of the run that made it')
    .option('--report <file>', 'also writes the report, as one HTML file that needs nothing else; its folder is made where there is none')
    .option('--grid', 'also under other latencies and costs, as a report has it for up to three million events')
    .option('--no-grid', 'not under other latencies and costs')
    .action(run(async (context: CommandContext, file: string, flags: BacktestFlags) => {
      const { terminal, options, interrupt } = context;
      if (flags.report !== undefined) makeRoomFor(flags.report, '--report');
      const subject = await openSubject(context, { file, recording: flags.recording });
      const { config, recording, setup: { currency, intervals } } = subject;
      const counter = await openTrialCounter({ stateDir: options.stateDir, subject });
      const runId = `${BACKTEST_RUN}${randomBytes(4).toString('hex')}`;
      const files = createBacktestFiles(options.stateDir, runId);
      const tell = async (): Promise<ExitCode> => {
        const snapshot = freshSnapshot(config.backtest.balances);
        const manifest = createManifest({
          config, mode: 'backtest', runId, startAt: subject.setup.firstAt, snapshot, open: [], legacy: NO_LEGACY, recording: relative(files.dir, recording.directory),
        });
        files.manifest(manifest);
        const stops: string[] = [];
        // All three settings go through them, and the grid's threads too.
        const rows = isCheap(recording.events) ? (await shareRecording(recording, { looks: subject.looks, interrupt })).rows : undefined;
        const { strategies, thrownAt } = watchThrows(await freshInstances(subject.setup));
        const measured = await measureSettings(subject, { context, rows, strategies, onDecision: (decision) => {
          files.decision(decision);
          const place = thrownAt(decision.strategy);
          stops.push(...stopOf(decision).map((stop) => (place === undefined ? stop : `${stop} (${place})`)));
        } });
        const { setting } = config.backtest.model;
        const trials = counter.count([{ trial: { params: {} }, result: { kind: 'done', metrics: measured[setting].assessment.metrics } }]);
        const settings = trials === undefined ? measured : deflatedSettings(measured, trials);
        const run = settings[setting];
        const { events, decisions, decisionHash, endAt } = run.result;
        files.manifest({ ...manifest, ended: { after_seq: events, at: endAt, decisions, decision_hash: decisionHash } });
        const grid = flags.grid ?? (flags.report !== undefined && isCheap(events)) ? await measureGrid({ ...subject, rows }, run, context) : undefined;
        const warnings = [...stops.map((stop) => `${stop}: what comes after it is of the others alone, and what it held stands as it was`), ...counter.warnings, ...warningsOf(subject, settings, grid)];
        const benchmarks = benchmarksOf(run.record);
        const answer = { runId, run, settings, grid, benchmarks, currency, recordedSwaps: subject.setup.model.recordedSwaps?.length ?? 0, trials, warnings, priceAges: config.backtest.model, sampled: sampledInputs(strategies, intervals ?? new Map()), tokens: config.tokens, verdict: verdictOf(run, settings, benchmarks) };
        const report = reportFile(flags.report, (path) => writeReport(path, answer, { config, recording, manifest, grid: grid === undefined ? undefined : gridHeatMap(grid) }), terminal);
        terminal.result(asJson(answer, report.path), () => asText(answer, report.path));
        return report.isLost ? EXIT.failed : EXIT.done;
      };
      // Nothing is told of a run that did not come to its end, so nothing is kept of it.
      return orNothing(files.dir, () => tell().finally(() => { files.close(); })).finally(() => { counter.close(); });
    }));
};

interface Listener {
  readonly onDecision?: (decision: LoggedDecision) => void;
}

/** Runs the setting that is configured first, and hands on its decisions; then the other two, for comparison. Rejects with INTERRUPTED. */
async function measureSettings({ recording, looks, setup }: Subject, { context: { interrupt, terminal }, rows, strategies, onDecision }: Required<Listener> & {
  readonly context: CommandContext; readonly rows: SharedRows | undefined;
  /** For the configured setting; the others run in fresh ones of their own. */
  readonly strategies: readonly BacktestStrategy[];
}): Promise<MeasuredSettings> {
  const source = rows === undefined ? recording : openSharedRows(rows);
  const progress = progressLine(terminal, 'events');
  const all = 3 * recording.events;
  let before = 0;
  const { model, currency } = setup;
  const under = async (setting: SimulationSetting, listener: Listener & { readonly strategies: readonly BacktestStrategy[] }): Promise<MeasuredRun> => {
    const measured = await stepByStep(breakable(measureSteps({
      state: freshState(setup, listener.strategies),
      seed: setup.seed,
      startAt: setup.firstAt,
      cursor: backtestCursor(source, looks),
      looks,
      intervals: setup.intervals,
      model: { ...model, setting },
      currency,
      stopwatch,
      instruments: watchedTokens(listener.strategies, setup),
      everyMs: sampleStep(setup.lastAt - setup.firstAt),
      glanceEveryMs: glanceStep(setup.lastAt - setup.firstAt),
      endAt: setup.lastAt,
      isMadeUp: setup.isMadeUp,
      onEvents: (events) => {
        progress.show(before + events, all);
        refuseFullHeap();
      },
      ...listener,
    })), interrupt);
    before += recording.events;
    return measured;
  };
  try {
    const configured = await under(model.setting, { onDecision, strategies });
    const run = async (setting: SimulationSetting): Promise<MeasuredRun> => (setting === model.setting ? configured : under(setting, { strategies: await freshInstances(setup) }));
    return { optimistic: await run('optimistic'), base: await run('base'), pessimistic: await run('pessimistic') };
  } finally {
    progress.end();
  }
}

function warningsOf(subject: Subject, settings: MeasuredSettings, grid: SensitivityGrid | undefined): string[] {
  const { config } = subject;
  const { setting } = config.backtest.model;
  const { result, warnings } = settings[setting];
  const warmupMs = longestWarmup(config.strategies);
  return [
    ...subjectWarnings(subject),
    ...shapedWarnings(result),
    ...robustnessWarnings(settings),
    ...implausibleWarnings(settings[setting].assessment.metrics),
    ...(grid === undefined ? [] : gridWarnings(grid)),
    ...simulationWarnings(result.simulation, config.backtest.model),
    ...ownImpactWarnings(result.simulation, (feed) => describeFeedKey(config.tokens, feed)),
    ...(warmupMs > 0 ? [`the first ${formatDuration(warmupMs)} of the recording warmed the strategies up: the backtest begins after it`] : []),
    ...(setting === 'base' ? [] : [`fills are ${setting}`]),
    ...warnings,
  ];
}
