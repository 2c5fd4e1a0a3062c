import type { Divergence, DivergentSide, RecordedRow } from '../../../backtest/divergence.ts';
import type { ReplayResult } from '../../../backtest/replay.ts';
import { replayInChunks } from '../../../backtest/replay.ts';
import type { BoxedContext, PreparedCall } from '../../boxed/boxed-context.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { clockTime } from '../../output/figures.ts';
import { proposalText } from '../../output/intent-text.ts';
import { progressLine } from '../../output/progress.ts';
import type { Fact } from '../../output/table.ts';
import { facts } from '../../output/table.ts';
import { EVENTS_PER_CHUNK } from '../../../core/chunked-work.ts';
import { GannetError, isGannetError, messageOf } from '../../../core/errors.ts';
import type { Json } from '../../../core/json.ts';
import { canonicalJson, parseJson, stringifyJson } from '../../../core/json.ts';
import { groupThousands, pluralize, printable } from '../../../core/text.ts';
import { readingOf } from '../../../market/market-text.ts';
import type { ReplayInput } from '../../../daemon/files/replay-input.ts';
import { openReplayInput } from '../../../daemon/files/replay-input.ts';
import type { RecordedDecision } from '../../../daemon/files/run-files.ts';
import type { RunEnd, RunManifest } from '../../../daemon/files/run-manifest.ts';
import { manifestChange } from '../../../daemon/files/run-manifest.ts';
import type { LoggedDecision } from '../../../engine/decision-log.ts';
import type { TokenTable } from '../../../market/token.ts';
import { tokenTable } from '../../../market/token.ts';
import { lostIssue } from '../../../recording/check/inspect.ts';
import { runInterruptibly } from '../../../recording/interrupt.ts';
import { goesOn, runningInChunks, whileRunning } from '../../../research/box/phases.ts';
import { reportUnhandledErrors } from '../../../research/strategy-guards.ts';
import type { Input } from '../../../trading/step.ts';

interface Replay {
  readonly result: ReplayResult;
  readonly divergence: ShownDivergence | undefined;
  readonly tokens: TokenTable;
  readonly recordedHash: string | null;
  /** The last number with complete data, when the run was cut off. */
  readonly truncatedAt: number | undefined;
  /** Decisions that could not be compared, because data before them is missing. */
  readonly unreached: number;
  readonly warnings: readonly string[];
}

/** Repeats a run and prints the comparison. */
export async function replay({ terminal, interrupt }: BoxedContext, { runDir }: PreparedCall): Promise<ExitCode> {
  reportUnhandledErrors(terminal);
  const repeated = await replayOf(runDir!, { interrupt, terminal });
  terminal.result(asJson(repeated), () => asText(repeated));
  return isSame(repeated) === true ? EXIT.done : EXIT.failed;
}

async function replayOf(runDir: string, context: Pick<BoxedContext, 'interrupt' | 'terminal'>): Promise<Replay> {
  const change = manifestChange(runDir);
  try {
    const replay = await repeat(runDir, context);
    return {
      ...replay,
      warnings: [...(change === undefined ? [] : [`${change}; this may cause a difference`]), ...replay.warnings],
    };
  } catch (error) {
    // A changed manifest need not fit the rest of the run.
    if (change === undefined || isGannetError(error)) throw error;
    throw new GannetError(
      'RECORDING_CORRUPT', `${change}, and it cannot be repeated (${messageOf(error)}); restore the file from a copy`,
      { cause: error },
    );
  }
}

async function repeat(
  runDir: string, { interrupt, terminal }: Pick<BoxedContext, 'interrupt' | 'terminal'>,
): Promise<Replay> {
  const run = await openReplayInput(runDir, interrupt);
  const { manifest, recorded, truncatedAt, unreached } = run;
  const progress = progressLine(terminal, 'events');
  const options = { ...whileRunning(manifest.config.strategies, () => run.replay()), goesOn };
  const steps = runningInChunks(manifest.config.strategies, replayInChunks(options));
  const result = await runInterruptibly(steps, interrupt, (done) => {
    progress.show(Math.min(run.events, done * EVENTS_PER_CHUNK), run.events);
  }).finally(progress.end);
  if (truncatedAt === undefined && result.match) refuseOtherEnd(manifest.ended!, result, runDir);
  const recordedHash = truncatedAt === undefined ? manifest.ended!.decision_hash : (recorded.at(-1)?.h ?? null);
  const divergence = result.firstDivergence === undefined ? undefined
    : shownDivergence(result.firstDivergence, recorded);
  return {
    result, divergence, tokens: tokenTable(manifest.config.tokens), recordedHash, truncatedAt, unreached,
    warnings: warningsOf(manifest, run),
  };
}

/**
 * Throws when all written decisions are the same but the run's manifest states another end: one of its files was
 * replaced.
 */
function refuseOtherEnd(ended: RunEnd, { decisions, decisionHash }: ReplayResult, runDir: string): void {
  if (ended.decisions === decisions && ended.decision_hash === decisionHash) return;
  throw new GannetError('RECORDING_CORRUPT', `${runDir}: its manifest.json says that the run ended after `
    + `${ended.decisions} decisions with hash ${ended.decision_hash}, its decisions.ndjson and the replay come to `
    + `${decisions} with hash ${decisionHash}; restore both files from a copy`);
}

/** Returns whether the decisions are the same; undefined when the data of every decision is missing. */
function isSame({ result: { match, decisions }, unreached }: Replay): boolean | undefined {
  return match && decisions === 0 && unreached > 0 ? undefined : match;
}

/** The same inputs give the same hash on the same Node and architecture; another one may cause a difference. */
function warningsOf({ node, arch }: RunManifest, { truncatedAt, unreached, lost, otherCode }: ReplayInput): string[] {
  return [
    ...lost.map((rows) => lostIssue(rows).message),
    ...(unreached === 0 ? [] : [`${pluralize(unreached, 'later decision is', 'later decisions are')} not compared: `
      + `data after seq ${truncatedAt} is missing`]),
    ...otherCode.map((name) =>
      `the code of strategy ${name} has changed since the run: this may cause a difference`),
    ...(node === process.version && arch === process.arch ? [] : [`the run was made by Node ${node} on ${arch}, and `
      + `this is Node ${process.version} on ${process.arch}: this may cause a difference`]),
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
    isSame(replay)
      ? (decisions === 0 ? `no decision, in the run and in the replay: ${pluralize(events, 'event')}`
        : `all decisions are the same: ${groupThousands(String(decisions))} from ${pluralize(events, 'event')}`)
      : match ? 'NO decision could be compared' : 'the decisions DIFFER',
    ...(isSame(replay) && decisions === 0 ? []
      : [`replayed ${decisions === 0 ? 'nothing' : decisionHash}`, `recorded ${recorded ?? 'nothing'}`]),
  ];
  const notes = [
    ...(divergence === undefined ? [] : ['the same code decides the same on the same rows, so a strategy, a default, '
      + 'Gannet or the recording differs from the run’s']),
    ...(truncatedAt === undefined ? [] : [`the run was cut off: compared up to seq ${truncatedAt}`]),
    ...warnings,
  ];
  return indented(lines) + (divergence === undefined ? '' : facts(divergenceFacts(divergence, tokens)))
    + indented(notes);
}

function indented(texts: readonly string[]): string {
  return texts.map((text) => `  ${text}\n`).join('');
}

const REASON_CHARACTERS_MAX = 200;

/** A divergence with both complete decisions, amounts as strings. */
export interface ShownDivergence extends Pick<Divergence, 'seq' | 'expected' | 'found'> {
  readonly recorded: DivergentSide<LoggedDecision>;
  readonly replayed: DivergentSide<LoggedDecision>;
  /**
   * The differing members of two decisions with the same number, such as "proposal.amount"; empty when one side has no
   * decision.
   */
  readonly differs: readonly string[];
}

/** Returns a divergence with the decision that the run has written. */
export function shownDivergence(divergence: Divergence, decisions: readonly RecordedDecision[]): ShownDivergence {
  const { seq, expected, found, recorded, replayed } = divergence;
  const written = decisions.find((decision) => decision.seq === recorded.decision?.seq);
  const before = written === undefined ? undefined : parseJson(written.line) as unknown as LoggedDecision;
  const now = replayed.decision === undefined ? undefined
    : parseJson(stringifyJson(replayed.decision)) as unknown as LoggedDecision;
  return {
    seq, expected, found,
    recorded: { ...recorded, decision: before },
    replayed: { ...replayed, decision: now },
    differs: before === undefined || now === undefined ? []
      : differences(before as unknown as Json, now as unknown as Json).filter((path) => path !== 'h'),
  };
}

/** Returns a divergence for `--json`. */
export function divergenceJson({ seq, expected, found, recorded, replayed, differs }: ShownDivergence): unknown {
  return {
    seq, at: recorded.decision?.at ?? replayed.decision?.at ?? null, expected, found, differs,
    recorded: sideJson(recorded), replayed: sideJson(replayed),
  };
}

function sideJson({ decision, occasion, row }: DivergentSide<LoggedDecision>): unknown {
  return {
    decision: decision ?? null,
    input: occasion === undefined ? null
      : { occasion, row: row === undefined ? null : { seq: row.seq, at: row.at, ...plain(row.input) } },
  };
}

/** Returns a divergence as text: the decision and the input of each side. */
export function divergenceFacts({ seq, recorded, replayed, differs }: ShownDivergence, tokens: TokenTable): Fact[] {
  return [
    ['first difference', `number ${seq}${differs.length === 0 ? '' : `, in ${differs.join(', ')}`}`],
    ['the run', sideLines(recorded, tokens)],
    ['the replay', sideLines(replayed, tokens)],
  ];
}

function sideLines({ decision, occasion, row }: DivergentSide<LoggedDecision>, tokens: TokenTable): string[] {
  const taken = row === undefined ? undefined
    : `row ${row.seq} of ${clockTime(row.at)} UTC: ${printable(inputText(row, tokens), REASON_CHARACTERS_MAX)}`;
  if (decision === undefined) return ['no decision', ...(taken === undefined ? [] : [`input: ${taken}`])];
  const { at, strategy, proposal, verdict, code } = decision;
  const reason = proposal.kind === 'swap' ? `: ${proposal.reason}` : '';
  const occasionText = { row: 'on ', timer: 'by a timer, ', start: 'at the start, ' }[occasion ?? 'row'];
  return [
    `${strategy} wants ${printable(`${proposalText(tokens, proposal)}${reason}`, REASON_CHARACTERS_MAX)}`,
    `${verdict}${code === null ? '' : `, ${code}`}, at ${clockTime(at)} UTC`,
    `${occasionText}${taken === undefined ? 'before any input' : occasion === 'row' ? taken : `after ${taken}`}`,
  ];
}

function inputText({ input }: RecordedRow, tokens: TokenTable): string {
  if (input.kind === 'outcome')
    return `${input.intentId} is ${input.state}${input.code === undefined ? '' : `, ${input.code}`}`;
  if (input.kind === 'command') return `the command ${input.name}${input.reason === '' ? '' : `, ${input.reason}`}`;
  return readingOf(tokens, input);
}

/** Returns plain data; recorded quotes are read through accessors. */
function plain(input: Input): object {
  return 'toJSON' in input && typeof input.toJSON === 'function' ? input.toJSON() as object : input;
}

function differences(before: Json, now: Json, path = ''): string[] {
  if (isObject(before) && isObject(now)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
    return keys.flatMap((key) =>
      differences(before[key] ?? null, now[key] ?? null, path === '' ? key : `${path}.${key}`));
  }
  return canonicalJson(before) === canonicalJson(now) ? [] : [path];
}

function isObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
