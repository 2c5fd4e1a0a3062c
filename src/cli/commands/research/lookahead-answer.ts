import { proposalText } from '../../output/intent-text.ts';
import { groupThousands, pluralize, printable } from '../../../core/text.ts';
import type { Millis } from '../../../core/time.ts';
import { formatDuration, roughDuration } from '../../../core/time.ts';
import type { TokenTable } from '../../../market/token.ts';
import type { Leak } from '../../../research/lookahead/leak.ts';
import type { LookaheadResult, StrategyVerdict } from '../../../research/lookahead/lookahead.ts';
import type { WarmUpVerdict } from '../../../research/lookahead/warm-up.ts';
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
}

/** Returns the answer for `--json`. */
export function asJson(
  { result: { strategies }, warmUps, startAt, endAt, events }: LookaheadAnswer, clean: boolean,
): unknown {
  return {
    clean,
    period: { start: iso(startAt), end: iso(endAt) },
    events,
    strategies: strategies.map((
      { name, clean: isClean, decisions, passes, instants, compared, accesses, firstLeak },
    ) => {
      const warmUp = warmUps?.get(name);
      return {
        name,
        clean: isClean && warmUp?.leak === undefined,
        first_leak: leakJson(firstLeak ?? warmUp?.leak),
        decisions, passes, instants, compared, reaches: accesses,
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
    warnings: strategies.flatMap((verdict) => [
      ...(showsNothing(verdict) ? [`${verdict.name} ${NOTHING_SHOWN}`] : []),
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
export function asText({ result: { strategies }, warmUps, startAt, endAt, events, tokens }: LookaheadAnswer): string {
  const over = `over ${spanText(endAt - startAt)} (${day(startAt)} to ${day(endAt)} UTC), ${count(events)} events\n`;
  return [over, ...strategies.flatMap((verdict) =>
    [...verdictLines(verdict, tokens), ...warmUpLines(warmUps?.get(verdict.name), tokens)])].join('');
}

const NOTHING_SHOWN =
  'made no decision, so the check shows nothing: take a longer recording, or one in which it decides';
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
  if (showsNothing(verdict)) return [`  ${name}: NOT CHECKED: it ${NOTHING_SHOWN}\n`, ...end, done];
  return [
    `  ${name}: clean: ${decisions === 1
      ? 'its one decision did not change' : `none of its ${count(decisions)} decisions changed`}\n`,
    ...end, done,
    ...(accesses.length === 0 ? [] : [`    it accesses ${printable(accesses.slice(0, 3).join(', '), 300)}: this `
      + `changed no decision here, but no recording holds it\n`]),
  ];
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
