import { replayRun } from '../backtest/replay.ts';
import { GannetError, isGannetError } from '../core/errors.ts';
import { parseJson, stringifyJson } from '../core/json.ts';
import { printable } from '../core/text.ts';
import type { DecisionRecord } from '../daemon/decision-record.ts';
import { recordDecision } from '../daemon/decision-record.ts';
import type { RecordedDecision } from '../daemon/run-files.ts';
import { readDecisions } from '../daemon/run-files.ts';
import type { LoggedDecision } from '../engine/decision-log.ts';
import type { IntentStory } from '../store/listing.ts';
import { openJournalReader } from '../store/journal-reader.ts';
import type { CommandContext } from './command.ts';
import { daemonClient } from './daemon-client.ts';
import { tellLooseErrors } from './loose-errors.ts';
import { openRecordedRun } from './recorded-run.ts';
import type { RunDirectory } from './run-directories.ts';
import { chosenRun, daemonRuns, journalPath } from './run-directories.ts';

/** A decision that was looked for. */
export interface FoundDecision {
  readonly run: RunDirectory;
  /** As it was logged, amounts as text. */
  readonly logged: LoggedDecision;
  /** What it was made of; undefined where neither the daemon nor a replay can say. */
  readonly record: DecisionRecord | undefined;
  /** Why there is no record, for people. */
  readonly why: string | undefined;
  /** The swap it became, as the journal has it. */
  readonly intent: IntentStory | undefined;
}

const SHORTEST_HASH = 4;

/**
 * Finds a decision by its number, by its swap, or by the beginning of its hash: in the run named, or else in the running
 * daemon's memory and the latest run. Throws DECISION_UNKNOWN and RUN_NOT_FOUND.
 */
export async function findDecision(context: CommandContext, reference: string, runName: string | undefined): Promise<FoundDecision> {
  const { stateDir } = context.options;
  tellLooseErrors(context.terminal);
  const told = runName === undefined ? await askDaemon(context, reference) : undefined;
  if (told !== undefined) return withIntent(stateDir, { ...told, why: undefined });
  const run = runName === undefined && isIntentId(reference) ? runOfIntent(stateDir, reference) : chosenRun(stateDir, runName);
  const decision = decisionIn(stateDir, run, reference);
  if (decision === undefined) {
    throw new GannetError('DECISION_UNKNOWN', `run ${run.manifest.run_id} has no decision ${printable(reference, 100)}: expected its number, the name of its swap, or at least ${SHORTEST_HASH} characters of its hash; "gannet explain" alone lists the latest, --run names another run`);
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

/** The daemon has its last few hundred decisions at hand. */
async function askDaemon(context: CommandContext, reference: string): Promise<Pick<FoundDecision, 'run' | 'logged' | 'record'> | undefined> {
  try {
    const daemon = daemonClient(context);
    const state = await daemon.get('/api/state') as unknown as { readonly run_id: string };
    const records = (await daemon.get('/api/decisions?limit=500') ?? []) as unknown as DecisionRecord[];
    const record = best(records, reference, ({ intent_id: id }) => id === reference);
    return record === undefined ? undefined : { run: chosenRun(context.options.stateDir, state.run_id), logged: record, record };
  } catch (error) {
    // No daemon is the usual case: then what it left on disk is read.
    if (isGannetError(error) && (error.code === 'CONTROL_UNREACHABLE' || error.code === 'CONTROL_REFUSED')) return undefined;
    throw error;
  }
}

/** A number is a number first, and the beginning of a hash only where no decision has it. */
function best<Decision extends Pick<LoggedDecision, 'seq' | 'h'>>(decisions: readonly Decision[], reference: string, isNamed: (decision: Decision) => boolean): Decision | undefined {
  return decisions.find((decision) => isNamed(decision) || String(decision.seq) === reference) ?? decisions.find((decision) => matches(reference, decision));
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
  // An intent's time is its decision's, and of one strategy one instant approves one swap of an input.
  const isOfIntent = ({ at, strategy, line }: RecordedDecision): boolean =>
    story !== undefined && at === story.created_at && strategy === story.strategy && isApprovedSwap(line, story.input_mint);
  return best(decisions, reference, isOfIntent);
}

function isApprovedSwap(line: string, inputMint: string): boolean {
  const { verdict, proposal } = parseJson(line) as unknown as LoggedDecision;
  return verdict === 'approved' && proposal.kind === 'swap' && proposal.inputMint === inputMint;
}

/** Repeats the run up to the decision: then the state is the one that it was made on. */
async function replayTo(run: RunDirectory, decision: RecordedDecision): Promise<Pick<FoundDecision, 'record' | 'why'>> {
  try {
    const replay = (await openRecordedRun(run.dir)).replay();
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
        if (logged.h === decision.h) record = asTold(recordDecision(replay.state, ruling, logged));
      },
    });
    return record === undefined ? { record, why: 'the recording does not reach it, or this version decides otherwise: "gannet replay" tells' } : { record, why: undefined };
  } catch (error) {
    if (!isGannetError(error)) throw error;
    return { record: undefined, why: error.message };
  }
}

/** As the daemon would tell it. */
function asTold(record: DecisionRecord): DecisionRecord {
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
