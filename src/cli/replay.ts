import type { ReplayResult } from '../backtest/replay.ts';
import { replayRun } from '../backtest/replay.ts';
import type { RunManifest } from '../daemon/manifest.ts';
import { findRun } from '../daemon/run-files.ts';
import type { CommandContext, CommandModule } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { openRecordedRun } from './recorded-run.ts';

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
  const run = await openRecordedRun(runDir);
  const { manifest, recorded, truncatedAt } = run;
  const result = replayRun(run.replay());
  const recordedHash = truncatedAt === undefined ? manifest.ended!.decision_hash : (recorded.at(-1)?.h ?? null);
  return { result, recordedHash, truncatedAt, warnings: warningsOf(manifest) };
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
