import type { Divergence, DivergentSide, RecordedRow } from '../backtest/divergence.ts';
import type { Json } from '../core/json.ts';
import { canonicalJson, parseJson, stringifyJson } from '../core/json.ts';
import { printable } from '../core/text.ts';
import { readingOf } from '../daemon/decision-record.ts';
import type { RecordedDecision } from '../daemon/run-files.ts';
import type { LoggedDecision } from '../engine/decision-log.ts';
import type { TokenTable } from '../market/token.ts';
import type { Input } from '../trading/step.ts';
import { clockTime } from './figures.ts';
import { proposalText } from './proposal-text.ts';
import type { Fact } from './table.ts';

const REASON_CHARACTERS_MAX = 200;

/** A divergence with both decisions in full, amounts as text. */
export interface ShownDivergence extends Pick<Divergence, 'seq' | 'expected' | 'found'> {
  readonly recorded: DivergentSide<LoggedDecision>;
  readonly replayed: DivergentSide<LoggedDecision>;
  /** The members in which two decisions of one number differ, "proposal.amount"; empty where one side decided nothing. */
  readonly differs: readonly string[];
}

/** Returns a divergence with what the run wrote down of its decision. */
export function shownDivergence(divergence: Divergence, decisions: readonly RecordedDecision[]): ShownDivergence {
  const { seq, expected, found, recorded, replayed } = divergence;
  const written = decisions.find((decision) => decision.seq === recorded.decision?.seq);
  const before = written === undefined ? undefined : parseJson(written.line) as unknown as LoggedDecision;
  const now = replayed.decision === undefined ? undefined : parseJson(stringifyJson(replayed.decision)) as unknown as LoggedDecision;
  return {
    seq, expected, found,
    recorded: { ...recorded, decision: before },
    replayed: { ...replayed, decision: now },
    differs: before === undefined || now === undefined ? [] : differences(before as unknown as Json, now as unknown as Json).filter((path) => path !== 'h'),
  };
}

/** Returns a divergence for scripts. */
export function divergenceJson({ seq, expected, found, recorded, replayed, differs }: ShownDivergence): unknown {
  return { seq, at: recorded.decision?.at ?? replayed.decision?.at ?? null, expected, found, differs, recorded: sideJson(recorded), replayed: sideJson(replayed) };
}

function sideJson({ decision, occasion, row }: DivergentSide<LoggedDecision>): unknown {
  return {
    decision: decision ?? null,
    input: occasion === undefined ? null : { occasion, row: row === undefined ? null : { seq: row.seq, at: row.at, ...plain(row.input) } },
  };
}

/** Returns a divergence for people: what each side decided, and on what. */
export function divergenceFacts({ seq, recorded, replayed, differs }: ShownDivergence, tokens: TokenTable): Fact[] {
  return [
    ['first difference', `number ${seq}${differs.length === 0 ? '' : `, in ${differs.join(', ')}`}`],
    ['the run', sideLines(recorded, tokens)],
    ['the replay', sideLines(replayed, tokens)],
  ];
}

function sideLines({ decision, occasion, row }: DivergentSide<LoggedDecision>, tokens: TokenTable): string[] {
  const taken = row === undefined ? undefined : `row ${row.seq} of ${clockTime(row.at)} UTC: ${printable(inputText(row, tokens), REASON_CHARACTERS_MAX)}`;
  if (decision === undefined) return ['decided nothing', ...(taken === undefined ? [] : [`took in ${taken}`])];
  const { at, strategy, proposal, verdict, code } = decision;
  const reason = proposal.kind === 'swap' ? `: ${proposal.reason}` : '';
  const occasionText = { row: 'on ', timer: 'by a timer, ', start: 'at the start, ' }[occasion ?? 'row'];
  return [
    `${strategy} wants ${printable(`${proposalText(tokens, proposal)}${reason}`, REASON_CHARACTERS_MAX)}`,
    `${verdict}${code === null ? '' : `, ${code}`}, at ${clockTime(at)} UTC`,
    `${occasionText}${taken === undefined ? 'before anything came in' : occasion === 'row' ? taken : `after ${taken}`}`,
  ];
}

function inputText({ input }: RecordedRow, tokens: TokenTable): string {
  switch (input.kind) {
    case 'outcome':
      return `${input.intentId} is ${input.state}${input.code === undefined ? '' : `, ${input.code}`}`;
    case 'command':
      return `the command ${input.name}${input.reason === '' ? '' : `, ${input.reason}`}`;
    case 'quote':
    case 'order-book':
    case 'token-stats':
    case 'feed-health':
      return readingOf(tokens, input);
  }
}

/** Recorded quotes are read through accessors. */
function plain(input: Input): object {
  return 'toJSON' in input && typeof input.toJSON === 'function' ? input.toJSON() as object : input;
}

function differences(before: Json, now: Json, path = ''): string[] {
  if (isObject(before) && isObject(now)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
    return keys.flatMap((key) => differences(before[key] ?? null, now[key] ?? null, path === '' ? key : `${path}.${key}`));
  }
  return canonicalJson(before) === canonicalJson(now) ? [] : [path];
}

function isObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
