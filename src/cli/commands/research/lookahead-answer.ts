import { proposalText } from '../../output/intent-text.ts';
import { groupThousands, pluralize, printable } from '../../../core/text.ts';
import type { Millis } from '../../../core/time.ts';
import { formatDuration, roughDuration } from '../../../core/time.ts';
import { describeFeedKey } from '../../../market/market-text.ts';
import type { TokenTable } from '../../../market/token.ts';
import type { Leak } from '../../../research/lookahead/leak.ts';
import type { LookaheadResult, StrategyVerdict } from '../../../research/lookahead/lookahead.ts';
import type { InputCount } from '../../../research/lookahead/pass.ts';
import type { WarmUpVerdict } from '../../../research/lookahead/warm-up.ts';
import type { CodeData } from '../../../research/trials/thread-setup.ts';
import type { Decision } from '../../../trading/step.ts';

/** The result of a look-ahead check, and the period checked. */
interface LookaheadAnswer {
  readonly result: LookaheadResult;
  readonly warmUps: ReadonlyMap<string, WarmUpVerdict> | undefined;
  readonly startAt: Millis;
  readonly endAt: Millis;
  readonly events: number;
  /** The tokens that amounts are printed in. */
  readonly tokens: TokenTable;
  /** The JSON files that are part of the strategies' code, by strategy. */
  readonly data: ReadonlyMap<string, readonly CodeData[]>;
  /** What the text of the strategies shows of clock, chance, environment and I/O, with its place. */
  readonly code: readonly string[];
}

/** Returns the answer for `--json`. */
export function asJson(
  { result: { strategies, decisionHash }, warmUps, startAt, endAt, events, tokens, data, code }: LookaheadAnswer,
  clean: boolean,
): unknown {
  return {
    clean,
    decision_hash: decisionHash ?? null,
    period: { start: iso(startAt), end: iso(endAt) },
    events,
    strategies: strategies.map((verdict) => {
      const { name, clean: isClean, decisions, passes, instants, compared, accesses, firstLeak } = verdict;
      const warmUp = warmUps?.get(name);
      return {
        name,
        clean: isClean && warmUp?.leak === undefined,
        first_leak: leakJson(firstLeak ?? warmUp?.leak),
        decisions, passes, instants, compared, reaches: accesses,
        undecided: undecidedJson(verdict, tokens),
        data: data.get(name)!.map((file) => ({ file: file.name, sha256: file.hash })),
        ...(warmUp === undefined ? {} : {
          warm_up: {
            configured: formatDuration(warmUp.warmupMs),
            enough: warmUp.enoughMs === undefined ? null : formatDuration(warmUp.enoughMs),
            longest_tried: formatDuration(warmUp.longestMs), trading_from: iso(warmUp.starts[0] ?? null),
            starts: warmUp.starts.map(iso), differing_starts: warmUp.differing, compared: warmUp.compared,
          },
        }),
      };
    }),
    code,
    warnings: strategies.flatMap((verdict) => [
      ...(showsNothing(verdict) ? [`${verdict.name} ${nothingShown(verdict, tokens)}`] : []),
      ...(verdict.stopped === undefined ? [] : [`${verdict.stopped}; ${NOTHING_AFTER}`]),
      ...nothingOfWarmUp(warmUps?.get(verdict.name))
        .map((why) => `the check of the warm-up of ${verdict.name} shows nothing: ${why}`),
    ]),
  };
}

function leakJson(leak: Leak | undefined): unknown {
  if (leak === undefined) return null;
  const { cause, from, process: where, seq, at, expected, found, detail } = leak;
  return { poison: cause, from: iso(from), process: where, seq, at: iso(at), expected: outcomeJson(expected),
    found: outcomeJson(found), detail,
  };
}

function outcomeJson(decision: Decision | null): unknown {
  if (decision === null) return null;
  const { seq, at, proposal, verdict, code } = decision;
  return { seq, at: iso(at), proposal, verdict, code };
}

function iso(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

/** Returns the answer as text. */
export function asText(
  { result: { strategies, decisionHash }, warmUps, startAt, endAt, events, tokens, data, code }: LookaheadAnswer,
): string {
  const over = `over ${spanText(endAt - startAt)} (${day(startAt)} to ${day(endAt)} UTC), ${count(events)} events\n`;
  const same = decisionHash === undefined ? []
    : [`  gannet backtest makes the same decisions, with hash ${decisionHash}\n`];
  return [over, ...strategies.flatMap((verdict) =>
    [
      ...verdictLines(verdict, tokens), ...dataLines(data.get(verdict.name)!),
      ...warmUpLines(warmUps?.get(verdict.name), tokens),
    ]), ...same, ...code.map((finding) => `  ${finding}\n`)].join('');
}

function nothingShown(verdict: StrategyVerdict, tokens: TokenTable): string {
  return `made no decision, so the check shows nothing: ${silenceReason(verdict, tokens)}`;
}

/** Returns why a strategy made no decision, and what to do. */
function silenceReason({ stopped, inputs = [] }: StrategyVerdict, tokens: TokenTable): string {
  if (stopped !== undefined) return 'it was stopped before its first one';
  const total = (of: (input: InputCount) => number): number => inputs.reduce((sum, input) => sum + of(input), 0);
  const [inWarmUp, events] = [total((input) => input.inWarmUp), total((input) => input.events)];
  const feeds = inputs.map(({ feed, events: own }) => `${describeFeedKey(tokens, feed)}: ${count(own)}`).join(', ');
  if (inWarmUp + events === 0) return `no event of its inputs is in the recording (${feeds}). Record what it watches`;
  if (events === 0) {
    return `all ${pluralize(inWarmUp, 'event')} of its inputs fell into its warm-up. Shorten "warmup", or take a `
      + 'longer recording';
  }
  const since = inWarmUp === 0 ? '' : ' after its warm-up';
  return `it received ${pluralize(events, 'event')}${since} (${feeds}) and proposed nothing, so no limit `
    + 'refused anything: its condition was never met. Take a longer recording, or one in which it decides';
}

function undecidedJson(verdict: StrategyVerdict, tokens: TokenTable): unknown {
  if (!showsNothing(verdict)) return null;
  return {
    reason: silenceReason(verdict, tokens),
    inputs: (verdict.inputs ?? []).map(({ feed, events, inWarmUp }) => (
      { input: describeFeedKey(tokens, feed), events, warm_up_events: inWarmUp })),
  };
}

const NOTHING_AFTER = 'its decisions after that are not checked';

function showsNothing({ decisions, firstLeak }: StrategyVerdict): boolean {
  return decisions === 0 && firstLeak === undefined;
}

function verdictLines(verdict: StrategyVerdict, tokens: TokenTable): string[] {
  const { name, decisions, stopped, passes, instants, compared, accesses, firstLeak } = verdict;
  if (firstLeak !== undefined) return [
    `  ${name}: NOT clean: ${printable(firstLeak.detail, 500)}\n`, ...leakLines(firstLeak, tokens),
    `    found within ${count(passes)} passes\n`,
  ];
  const done = `    ${count(passes)} passes, ${count(compared)} decisions compared. At ${count(instants)} instants the `
    + 'future was replaced by noise, by nothing, or by itself reversed, '
    + 'in a process that had not seen the true future and in one that had. Then clock, randomness, time zone, '
    + 'locale and machine were changed, and disk and network removed\n';
  const end = stopped === undefined ? [] : [`    ${printable(stopped, 500)}; ${NOTHING_AFTER}\n`];
  if (showsNothing(verdict)) return [`  ${name}: NOT CHECKED: it ${nothingShown(verdict, tokens)}\n`, ...end, done];
  return [
    `  ${name}: clean: ${decisions === 1
      ? 'its one decision did not change' : `none of its ${count(decisions)} decisions changed`}\n`,
    ...end, done,
    ...(accesses.length === 0 ? [] : [`    it accesses ${printable(accesses.slice(0, 3).join(', '), 300)}: this `
      + `changed no decision here, but no recording holds it\n`]),
  ];
}

function dataLines(data: readonly CodeData[]): string[] {
  return data.map(({ name, hash }) => (
    `    ${printable(name, 200)} is part of its code, with SHA-256 ${hash}: the check cannot tell whether its numbers `
      + 'came from the future\n'));
}

function count(value: number): string {
  return groupThousands(String(value));
}

/** Returns a duration without seconds, except a short one. */
function spanText(span: Millis): string {
  return span < 60_000 ? roughDuration(span) : formatDuration(span - (span % 60_000));
}

function day(at: Millis): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ');
}

function leakLines({ from, at, seq, expected, found }: Leak, tokens: TokenTable, sides: readonly [string, string] = [
  'expected', 'found',
]): string[] {
  const [one, other] = [sides[0].padEnd(sides[1].length), sides[1].padEnd(sides[0].length)];
  return [
    ...(from === null ? [] : [`    future changed from ${iso(from)!}\n`]),
    ...(at === null ? [] : [
      `    first at ${iso(at)!}, seq ${seq}\n`,
      `    ${one} ${said(expected, tokens)}\n`,
      `    ${other} ${said(found, tokens)}\n`,
    ]),
  ];
}

function said(decision: Decision | null, tokens: TokenTable): string {
  if (decision === null) return 'no decision';
  const { proposal, verdict, code } = decision;
  const what = proposal.kind === 'alert' ? `alert "${printable(proposal.message, 200)}"`
    : `${printable(proposalText(tokens, proposal), 200)} "${printable(proposal.reason, 200)}"`;
  return `${what}, ${verdict}${code === null ? '' : ` ${code}`}`;
}

function warmUpLines(warmUp: WarmUpVerdict | undefined, tokens: TokenTable): string[] {
  if (warmUp === undefined) return [];
  const { warmupMs, enoughMs, longestMs, starts, differing, compared, leak } = warmUp;
  const configured = warmupMs === 0 ? 'no warm-up' : `warm-up ${formatDuration(warmupMs)}`;
  const longest = spanText(longestMs);
  const [nothing] = nothingOfWarmUp(warmUp);
  if (nothing !== undefined) return [`    ${configured}: NOT CHECKED: ${nothing}\n`];
  if (leak === undefined) return [`    ${configured}: up to ${longest} of history change no decision: `
    + `${pluralize(compared, 'decision')} compared after ${pluralize(starts.length, 'start')}\n`];
  // A duration rounded down would not be enough.
  const enough = enoughMs === undefined ? `nothing shorter than ${longest} is enough`
    : `${roughDuration(enoughMs)} is enough`;
  return [
    `    ${configured}: a longer history changes decisions, after ${count(differing)} of `
      + `${pluralize(starts.length, 'start')}; ${enough}\n`,
    ...leakLines(leak, tokens, ['after a longer history', 'as configured']),
  ];
}

/** Returns why a warm-up without findings is not known to be long enough, as none or one sentence. */
function nothingOfWarmUp(warmUp: WarmUpVerdict | undefined): string[] {
  if (warmUp === undefined || warmUp.leak !== undefined || warmUp.compared > 0) return [];
  return [warmUp.starts.length === 0 ? 'the recording is too short for a longer history than the configured one'
    : `it made no decision in the time compared after ${pluralize(warmUp.starts.length, 'start')}`];
}
