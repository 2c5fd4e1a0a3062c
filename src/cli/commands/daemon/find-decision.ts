import { replayRun } from '../../../backtest/replay.ts';
import type { CommandContext } from '../../command.ts';
import { GannetError, isGannetError } from '../../../core/errors.ts';
import { parseJson, stringifyJson } from '../../../core/json.ts';
import { printable } from '../../../core/text.ts';
import { daemonClient } from '../../../daemon/control/control-client.ts';
import type { DecisionRecord } from '../../../daemon/files/decision-record.ts';
import { recordDecision } from '../../../daemon/files/decision-record.ts';
import type { RunDirectory } from '../../../daemon/files/find-run.ts';
import { chosenRun, daemonRuns, journalPath } from '../../../daemon/files/find-run.ts';
import { openReplayInput } from '../../../daemon/files/replay-input.ts';
import type { RecordedDecision } from '../../../daemon/files/run-files.ts';
import { readDecisions } from '../../../daemon/files/run-files.ts';
import type { LoggedDecision } from '../../../engine/decision-log.ts';
import { reportUnhandledErrors } from '../../../research/strategy-guards.ts';
import type { IntentStory } from '../../../store/journal-listing.ts';
import { openJournalReader } from '../../../store/journal-reader.ts';

/** A decision with everything known about it. */
export interface FoundDecision {
  readonly run: RunDirectory;
  /** The decision as logged, amounts as strings. */
  readonly logged: LoggedDecision;
  /** Its inputs; undefined when neither the daemon nor a replay knows them. */
  readonly record: DecisionRecord | undefined;
  /** Why the inputs are not known. */
  readonly why: string | undefined;
  /** The swap that it led to, from the journal. */
  readonly intent: IntentStory | undefined;
}

const SHORTEST_HASH = 4;

/**
 * Finds a decision by its number, its swap or the start of its hash: in the named run, else in the running daemon's
 * memory and the latest run. Throws DECISION_UNKNOWN and RUN_NOT_FOUND.
 */
export async function findDecision(
  context: CommandContext, reference: string, runName: string | undefined,
): Promise<FoundDecision> {
  const { stateDir } = context.options;
  reportUnhandledErrors(context.terminal);
  const reported = runName === undefined ? await askDaemon(context, reference) : undefined;
  if (reported !== undefined) return withIntent(stateDir, { ...reported, why: undefined });
  const run = runName === undefined && isIntentId(reference) ? runOfIntent(stateDir, reference)
    : chosenRun(stateDir, runName);
  const decision = decisionIn(stateDir, run, reference);
  if (decision === undefined) {
    throw new GannetError('DECISION_UNKNOWN', `run ${run.manifest.run_id} has no decision `
      + `${printable(reference, 100)}: expected its number, the name of its swap, or at least ${SHORTEST_HASH} `
      + 'characters of its hash; "gannet explain" alone lists the latest, --run names another run');
  }
  const logged = parseJson(decision.line) as unknown as LoggedDecision;
  return withIntent(stateDir, { run, logged, ...await replayTo(run, decision) });
}

function isIntentId(reference: string): boolean {
  return /-\d+$/.test(reference);
}

function matches(reference: string, { seq, h }: Pick<LoggedDecision, 'seq' | 'h'>): boolean {
  return String(seq) === reference || (reference.length >= SHORTEST_HASH && h.startsWith(reference.toLowerCase()));
}

/** Returns a decision from the memory of the running daemon, which holds the last few hundred. */
async function askDaemon(
  context: CommandContext, reference: string,
): Promise<Pick<FoundDecision, 'run' | 'logged' | 'record'> | undefined> {
  try {
    const daemon = daemonClient(context);
    const state = await daemon.get('/api/state') as unknown as { readonly run_id: string };
    const records = (await daemon.get('/api/decisions?limit=500') ?? []) as unknown as DecisionRecord[];
    const record = best(records, reference, ({ intent_id: id }) => id === reference);
    return record === undefined ? undefined
      : { run: chosenRun(context.options.stateDir, state.run_id), logged: record, record };
  } catch (error) {
    // Often no daemon runs; then the files on disk are read.
    if (isGannetError(error) && (error.code === 'CONTROL_UNREACHABLE' || error.code === 'CONTROL_REFUSED'))
      return undefined;
    throw error;
  }
}

/**
 * Returns the decision that a reference means. Digits mean a number; only without such a number, the start of a hash.
 */
function best<Decision extends Pick<LoggedDecision, 'seq' | 'h'>>(
  decisions: readonly Decision[], reference: string, isNamed: (decision: Decision) => boolean,
): Decision | undefined {
  return decisions.find((decision) => isNamed(decision) || String(decision.seq) === reference)
    ?? decisions.find((decision) => matches(reference, decision));
}

/** Returns the run in which a swap was approved. */
function runOfIntent(stateDir: string, intentId: string): RunDirectory {
  for (const run of daemonRuns(stateDir)) {
    const story = storyOf(stateDir, run, intentId);
    if (story !== undefined && run.manifest.clock_start <= story.created_at) return run;
  }
  return chosenRun(stateDir, undefined);
}

function decisionIn(stateDir: string, run: RunDirectory, reference: string): RecordedDecision | undefined {
  const decisions = readDecisions(run.dir);
  const story = isIntentId(reference) ? storyOf(stateDir, run, reference) : undefined;
  // An intent has the time of its decision, and a strategy has at most one approved swap of an input per instant.
  const isOfIntent = ({ at, strategy, line }: RecordedDecision): boolean =>
    story !== undefined && at === story.created_at && strategy === story.strategy
      && isApprovedSwap(line, story.input_mint);
  return best(decisions, reference, isOfIntent);
}

function isApprovedSwap(line: string, inputMint: string): boolean {
  const { verdict, proposal } = parseJson(line) as unknown as LoggedDecision;
  return verdict === 'approved' && proposal.kind === 'swap' && proposal.inputMint === inputMint;
}

/** Repeats the run up to the decision, so that the state is that of the decision. */
async function replayTo(run: RunDirectory, decision: RecordedDecision): Promise<Pick<FoundDecision, 'record' | 'why'>> {
  try {
    const replay = (await openReplayInput(run.dir)).replay();
    let record: DecisionRecord | undefined;
    const { cursor } = replay;
    replayRun({
      ...replay,
      cursor: {
        next: () => record === undefined && cursor.next(),
        get seq() { return cursor.seq; },
        get at() { return cursor.at; },
        get input() { return cursor.input; },
      },
      onRuling: (ruling, logged) => {
        if (logged.h === decision.h) record = asReported(recordDecision(replay.state, ruling, logged));
      },
    });
    return record === undefined
      ? { record, why: 'the recording ends before it, or this version decides differently: see "gannet replay"' }
      : { record, why: undefined };
  } catch (error) {
    if (!isGannetError(error)) throw error;
    return { record: undefined, why: error.message };
  }
}

/** Returns a record as the daemon's API has it. */
function asReported(record: DecisionRecord): DecisionRecord {
  return parseJson(stringifyJson(record)) as unknown as DecisionRecord;
}

function withIntent(stateDir: string, found: Omit<FoundDecision, 'intent'>): FoundDecision {
  const { run, logged, record } = found;
  if (logged.verdict !== 'approved' || logged.proposal.kind !== 'swap') return { ...found, intent: undefined };
  const id = record?.intent_id ?? undefined;
  return { ...found, intent: id === undefined ? undefined : storyOf(stateDir, run, id) };
}

function storyOf(stateDir: string, { manifest: { mode } }: RunDirectory, intentId: string): IntentStory | undefined {
  const reader = openJournalReader(journalPath(stateDir, mode === 'paper' ? 'paper' : 'live'));
  try {
    return reader?.show(intentId);
  } finally {
    reader?.close();
  }
}
