import type { ReplayResult } from '../backtest/replay.ts';
import { replaySteps } from '../backtest/replay.ts';
import { STEP_EVENTS } from '../core/steps.ts';
import type { RunManifest } from '../daemon/manifest.ts';
import { findRun } from '../daemon/run-files.ts';
import type { TokenTable } from '../market/token.ts';
import { tokenTable } from '../market/token.ts';
import type { CommandContext, CommandModule } from './command.ts';
import type { ShownDivergence } from './divergence-text.ts';
import { divergenceFacts, divergenceJson, shownDivergence } from './divergence-text.ts';
import { EXIT } from './exit-codes.ts';
import { stepByStep } from './interrupt.ts';
import { tellLooseErrors } from './loose-errors.ts';
import { progressLine } from './progress.ts';
import { openRecordedRun } from './recorded-run.ts';
import { facts } from './table.ts';

interface Replay {
  readonly result: ReplayResult;
  readonly divergence: ShownDivergence | undefined;
  readonly tokens: TokenTable;
  readonly recordedHash: string | null;
  /** The last number that everything is there for, where the run was cut off. */
  readonly truncatedAt: number | undefined;
  readonly warnings: readonly string[];
}

export const replayCommand: CommandModule = (program, run) => {
  program.command('replay <run>')
    .description('repeats a recorded run and compares every decision; the run is an id or a folder')
    .action(run(async ({ terminal, options, interrupt }: CommandContext, name: string) => {
      tellLooseErrors(terminal);
      const replay = await replayOf(findRun(options.stateDir, name), { interrupt, terminal });
      terminal.result(asJson(replay), () => asText(replay));
      return replay.result.match ? EXIT.done : EXIT.failed;
    }));
};

async function replayOf(runDir: string, { interrupt, terminal }: Pick<CommandContext, 'interrupt' | 'terminal'>): Promise<Replay> {
  const run = await openRecordedRun(runDir, interrupt);
  const { manifest, recorded, truncatedAt } = run;
  const progress = progressLine(terminal, 'events');
  const result = await stepByStep(replaySteps(run.replay()), interrupt, (steps) => { progress.show(Math.min(run.events, steps * STEP_EVENTS), run.events); }).finally(progress.end);
  const recordedHash = truncatedAt === undefined ? manifest.ended!.decision_hash : (recorded.at(-1)?.h ?? null);
  const divergence = result.firstDivergence === undefined ? undefined : shownDivergence(result.firstDivergence, recorded);
  return { result, divergence, tokens: tokenTable(manifest.config.tokens), recordedHash, truncatedAt, warnings: warningsOf(manifest) };
}

/** The same inputs give the same hash on the same engine: elsewhere a difference may be nobody's fault. */
function warningsOf({ node, arch }: RunManifest): string[] {
  if (node === process.version && arch === process.arch) return [];
  return [`the run was made by Node ${node} on ${arch}, this is Node ${process.version} on ${process.arch}: a difference may come from there`];
}

function asJson({ result, divergence, recordedHash: recorded, truncatedAt, warnings }: Replay): unknown {
  return {
    match: result.match,
    decisions: result.decisions,
    decision_hash: result.decisionHash,
    recorded_hash: recorded,
    first_divergence: divergence === undefined ? null : divergenceJson(divergence),
    events: result.events,
    ...(truncatedAt === undefined ? {} : { truncated_at: truncatedAt }),
    warnings,
  };
}

function asText({ result, divergence, tokens, recordedHash: recorded, truncatedAt, warnings }: Replay): string {
  const { match, decisions, events, decisionHash } = result;
  const lines = [
    match ? `every decision the same: ${decisions} from ${events} events` : 'NOT the same decisions',
    `replayed ${decisionHash}`,
    `recorded ${recorded ?? 'nothing'}`,
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
