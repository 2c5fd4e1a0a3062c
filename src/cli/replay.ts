import { join } from 'node:path';
import type { ReplayResult } from '../backtest/replay.ts';
import { replayRun } from '../backtest/replay.ts';
import { importStrategy } from '../config/strategy-file.ts';
import { parseRaw } from '../core/amount.ts';
import { GannetError } from '../core/errors.ts';
import { recordingOfRun } from '../daemon/find-recording.ts';
import { readLimits, readValue } from '../config/config-record.ts';
import type { RunManifest } from '../daemon/manifest.ts';
import { findRun, readDecisions, readManifest } from '../daemon/run-files.ts';
import type { StrategyInstance } from '../engine/host.ts';
import type { TokenTable } from '../market/token.ts';
import { tokenTable } from '../market/token.ts';
import { openRecording } from '../recording/reader.ts';
import { withTokens } from '../strategy/params.ts';
import type { EngineState } from '../trading/state.ts';
import { createState } from '../trading/state.ts';
import type { CommandContext, CommandModule } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { PROJECT_DIR } from './project.ts';

interface Replay {
  readonly result: ReplayResult;
  readonly recordedHash: string | null;
  /** The last number that everything is there for, where the run was cut off. */
  readonly truncatedAt: number | undefined;
  readonly warnings: readonly string[];
}

export const replayCommand: CommandModule = (program, run) => {
  program.command('replay <run>')
    .description('repeats a recorded run and compares every decision; the run is an id or a folder')
    .action(run(async ({ terminal, options }: CommandContext, name: string) => {
      const replay = await replayOf(findRun(options.stateDir, name));
      terminal.result(asJson(replay), () => asText(replay));
      return replay.result.match ? EXIT.done : EXIT.failed;
    }));
};

async function replayOf(runDir: string): Promise<Replay> {
  const manifest = readManifest(runDir);
  if (manifest.mode === 'backtest') {
    throw new GannetError('USAGE', `${manifest.run_id} is a backtest: run "gannet backtest" on the same recording again, it gives the same hash`);
  }
  const decisions = readDecisions(runDir);
  const recording = openRecording(recordingOfRun(runDir));
  const { ended } = manifest;
  const whole = ended !== null && recording.truncatedAt === undefined;
  const lastSeq = recording.lastGapFreeSeq(decisions.map(({ seq }) => seq));
  if (whole && lastSeq < ended.after_seq) {
    throw new GannetError('RECORDING_CORRUPT', `the run has ${ended.after_seq} stamps, but only those up to ${lastSeq} are all there`);
  }
  const recorded = whole ? decisions : decisions.filter(({ seq }) => seq <= lastSeq);
  const tokens = tokenTable(manifest.config.tokens);
  const strategies = await strategiesOf(manifest, tokens);
  const result = replayRun({
    state: stateOf(manifest, tokens, strategies),
    strategies,
    seed: manifest.config.seed,
    startAt: manifest.clock_start,
    started: manifest.strategies_started,
    stopped: stoppedBy(manifest, whole ? Infinity : lastSeq),
    cutOff: !whole,
    cursor: (whole ? recording : recording.cutAt(lastSeq)).cursor(),
    recorded,
  });
  return { result, recordedHash: whole ? ended.decision_hash : (recorded.at(-1)?.h ?? null), truncatedAt: whole ? undefined : lastSeq, warnings: warningsOf(manifest) };
}

/** A run that was cut off while it drained had stopped its strategies all the same. */
function stoppedBy({ strategies_stopped: stopped }: RunManifest, lastSeq: number): RunManifest['strategies_stopped'] {
  return stopped !== null && lastSeq >= stopped.after_seq ? stopped : null;
}

async function strategiesOf(manifest: RunManifest, tokens: TokenTable): Promise<StrategyInstance[]> {
  const places = { strategiesDir: join(PROJECT_DIR, 'strategies'), baseDir: process.cwd() };
  return Promise.all(manifest.config.strategies.map(async ({ name, use, params }) => {
    const imported = await importStrategy(use, places);
    if (typeof imported === 'string') throw new GannetError('STRATEGY_NOT_FOUND', `strategy ${name} of the run: ${imported}`);
    const { strategy } = imported;
    const parsed = withTokens(tokens, () => strategy.params.safeParse(params));
    if (!parsed.success) {
      throw new GannetError('STRATEGY_INVALID', `strategy ${name} no longer takes the parameters of the run: ${parsed.error.issues[0]?.message ?? ''}`);
    }
    return { name, strategy, params: parsed.data };
  }));
}

function stateOf(manifest: RunManifest, tokens: TokenTable, strategies: readonly StrategyInstance[]): EngineState {
  return createState({
    tokens,
    limits: readLimits(manifest.config.limits),
    strategies: strategies.map(({ name }) => {
      const { budget, max_age_ms: maxAge } = manifest.config.strategies.find((strategy) => strategy.name === name)!;
      return {
        name,
        budget: readValue(budget),
        limits: { maxAgeMs: maxAge ?? undefined },
      };
    }),
    snapshot: manifest.snapshot,
    open: manifest.open_intents.map(({ intent, state }) => ({ intent: reviveIntent(intent), state })),
  });
}

/** Amounts are strings in a manifest. */
function reviveIntent(intent: RunManifest['open_intents'][number]['intent']): RunManifest['open_intents'][number]['intent'] {
  return {
    ...intent,
    amountIn: parseRaw(String(intent.amountIn)),
    minimumOut: intent.minimumOut === undefined ? undefined : parseRaw(String(intent.minimumOut)),
  };
}

/** The same inputs give the same hash on the same engine: elsewhere a difference may be nobody's fault. */
function warningsOf({ node, arch }: RunManifest): string[] {
  if (node === process.version && arch === process.arch) return [];
  return [`the run was made by Node ${node} on ${arch}, this is Node ${process.version} on ${process.arch}: a difference may come from there`];
}

function asJson({ result, recordedHash: recorded, truncatedAt, warnings }: Replay): unknown {
  return {
    match: result.match,
    decisions: result.decisions,
    decision_hash: result.decisionHash,
    recorded_hash: recorded,
    first_divergence: result.firstDivergence ?? null,
    events: result.events,
    ...(truncatedAt === undefined ? {} : { truncated_at: truncatedAt }),
    warnings,
  };
}

function asText({ result, recordedHash: recorded, truncatedAt, warnings }: Replay): string {
  const { match, decisions, events, decisionHash, firstDivergence } = result;
  const lines = [
    match ? `every decision the same: ${decisions} from ${events} events` : 'NOT the same decisions',
    `replayed ${decisionHash}`,
    `recorded ${recorded ?? 'nothing'}`,
    ...(firstDivergence === undefined ? [] : [`first difference at seq ${firstDivergence.seq}: expected ${firstDivergence.expected}, found ${firstDivergence.found}`]),
    ...(truncatedAt === undefined ? [] : [`the run was cut off: compared up to seq ${truncatedAt}`]),
    ...warnings,
  ];
  return lines.map((line) => `  ${line}\n`).join('');
}
