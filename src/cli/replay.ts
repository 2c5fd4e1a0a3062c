import type { ReplayResult } from '../backtest/replay.ts';
import { replaySteps } from '../backtest/replay.ts';
import { counted, grouped } from '../core/counted.ts';
import { GannetError, isGannetError, messageOf } from '../core/errors.ts';
import { STEP_EVENTS } from '../core/steps.ts';
import type { RunEnd, RunManifest } from '../daemon/manifest.ts';
import { findRun, manifestChange } from '../daemon/run-files.ts';
import type { TokenTable } from '../market/token.ts';
import { tokenTable } from '../market/token.ts';
import { lostIssue } from '../recording/check/inspect.ts';
import { breakable } from './breakable.ts';
import type { CommandContext, CommandModule } from './command.ts';
import type { ShownDivergence } from './divergence-text.ts';
import { divergenceFacts, divergenceJson, shownDivergence } from './divergence-text.ts';
import { EXIT } from './exit-codes.ts';
import { stepByStep } from './interrupt.ts';
import { tellLooseErrors } from './loose-errors.ts';
import { progressLine } from './progress.ts';
import type { RecordedRun } from './recorded-run.ts';
import { openRecordedRun } from './recorded-run.ts';
import { facts } from './table.ts';

interface Replay {
  readonly result: ReplayResult;
  readonly divergence: ShownDivergence | undefined;
  readonly tokens: TokenTable;
  readonly recordedHash: string | null;
  /** The last number that everything is there for, where the run was cut off. */
  readonly truncatedAt: number | undefined;
  /** Decisions that could not be compared, since something is missing before them. */
  readonly unreached: number;
  readonly warnings: readonly string[];
}

export const replayCommand: CommandModule = (program, run) => {
  program.command('replay <run>')
    .description('repeats a recorded run and compares every decision; the run is an id or a folder')
    .action(run(async ({ terminal, options, interrupt }: CommandContext, name: string) => {
      tellLooseErrors(terminal);
      const replay = await replayOf(findRun(options.stateDir, name), { interrupt, terminal });
      terminal.result(asJson(replay), () => asText(replay));
      return isSame(replay) === true ? EXIT.done : EXIT.failed;
    }));
};

async function replayOf(runDir: string, context: Pick<CommandContext, 'interrupt' | 'terminal'>): Promise<Replay> {
  const change = manifestChange(runDir);
  try {
    const replay = await repeat(runDir, context);
    return { ...replay, warnings: [...(change === undefined ? [] : [`${change}; a difference may come from there`]), ...replay.warnings] };
  } catch (error) {
    // Of what somebody wrote into it, nothing need fit.
    if (change === undefined || isGannetError(error)) throw error;
    throw new GannetError('RECORDING_CORRUPT', `${change}, and it cannot be repeated (${messageOf(error)}); restore the file from a copy`, { cause: error });
  }
}

async function repeat(runDir: string, { interrupt, terminal }: Pick<CommandContext, 'interrupt' | 'terminal'>): Promise<Replay> {
  const run = await openRecordedRun(runDir, interrupt);
  const { manifest, recorded, truncatedAt, unreached } = run;
  const progress = progressLine(terminal, 'events');
  const result = await stepByStep(breakable(replaySteps(run.replay())), interrupt, (steps) => { progress.show(Math.min(run.events, steps * STEP_EVENTS), run.events); }).finally(progress.end);
  if (truncatedAt === undefined && result.match) refuseOtherEnd(manifest.ended!, result, runDir);
  const recordedHash = truncatedAt === undefined ? manifest.ended!.decision_hash : (recorded.at(-1)?.h ?? null);
  const divergence = result.firstDivergence === undefined ? undefined : shownDivergence(result.firstDivergence, recorded);
  return { result, divergence, tokens: tokenTable(manifest.config.tokens), recordedHash, truncatedAt, unreached, warnings: warningsOf(manifest, run) };
}

/** Every decision that the run wrote down may be the same, and yet it says that it came to others: then a file of it is not its own. */
function refuseOtherEnd(ended: RunEnd, { decisions, decisionHash }: ReplayResult, runDir: string): void {
  if (ended.decisions === decisions && ended.decision_hash === decisionHash) return;
  throw new GannetError('RECORDING_CORRUPT', `${runDir}: its manifest.json says that the run ended after ${ended.decisions} decisions with hash ${ended.decision_hash}, its decisions.ndjson and the replay come to ${decisions} with hash ${decisionHash}; restore both files from a copy`);
}

/** Undefined where everything is missing that decisions were made on: nothing differs, and nothing is known to be the same. */
function isSame({ result: { match, decisions }, unreached }: Replay): boolean | undefined {
  return match && decisions === 0 && unreached > 0 ? undefined : match;
}

/** The same inputs give the same hash on the same engine: elsewhere a difference may be nobody's fault. */
function warningsOf({ node, arch }: RunManifest, { truncatedAt, unreached, lost }: RecordedRun): string[] {
  return [
    ...lost.map((rows) => lostIssue(rows).message),
    ...(unreached === 0 ? [] : [`${counted(unreached, 'later decision is', 'later decisions are')} not compared: of what ${unreached === 1 ? 'it was' : 'they were'} made on, something after seq ${truncatedAt} is missing`]),
    ...(node === process.version && arch === process.arch ? [] : [`the run was made by Node ${node} on ${arch}, this is Node ${process.version} on ${process.arch}: a difference may come from there`]),
  ];
}

function asJson(replay: Replay): unknown {
  const { result, divergence, recordedHash: recorded, truncatedAt, unreached, warnings } = replay;
  return {
    match: isSame(replay) ?? null,
    decisions: result.decisions,
    decision_hash: result.decisionHash,
    recorded_hash: recorded,
    first_divergence: divergence === undefined ? null : divergenceJson(divergence),
    events: result.events,
    ...(truncatedAt === undefined ? {} : { truncated_at: truncatedAt, not_compared: unreached }),
    warnings,
  };
}

function asText(replay: Replay): string {
  const { result, divergence, tokens, recordedHash: recorded, truncatedAt, warnings } = replay;
  const { match, decisions, events, decisionHash } = result;
  const lines = [
    isSame(replay) ? (decisions === 0 ? `nothing was decided, then as now: ${counted(events, 'event')}` : `every decision the same: ${grouped(String(decisions))} from ${counted(events, 'event')}`) : match ? 'NOTHING could be compared' : 'NOT the same decisions',
    ...(isSame(replay) && decisions === 0 ? [] : [`replayed ${decisions === 0 ? 'nothing' : decisionHash}`, `recorded ${recorded ?? 'nothing'}`]),
  ];
  const notes = [
    ...(divergence === undefined ? [] : ['the same code decides the same on the same rows: a strategy, a default or Gannet itself is another than the run’s, or the recording is']),
    ...(truncatedAt === undefined ? [] : [`the run was cut off: compared up to seq ${truncatedAt}`]),
    ...warnings,
  ];
  return indented(lines) + (divergence === undefined ? '' : facts(divergenceFacts(divergence, tokens))) + indented(notes);
}

function indented(texts: readonly string[]): string {
  return texts.map((text) => `  ${text}\n`).join('');
}
