import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { InputSource } from '../recording/reader.ts';
import type { RecordingKind } from '../recording/format.ts';
import { MARKET_KINDS } from '../recording/format.ts';
import type { JudgeToken } from '../trading/engine-command.ts';
import type { RiskLimits } from '../trading/limits.ts';
import type { InputCursor } from './driver.ts';

/** The checks of tokens that a recorded run made. */
export interface RecordedChecks {
  /** The checked tokens. */
  readonly mints: ReadonlySet<Mint>;
  /** Returns the checks before an instant, in their order. */
  before(at: Millis): readonly { readonly at: Millis; readonly check: JudgeToken }[];
}

const MARKET: readonly RecordingKind[] = [...MARKET_KINDS, 'feed-health'];

/** Returns the checks of tokens in a recording. */
export function readRecordedChecks(recording: Pick<InputSource, 'kinds' | 'cursor'>): RecordedChecks {
  const checks: { at: Millis; check: JudgeToken }[] = [];
  if (recording.kinds.includes('command')) {
    const cursor = recording.cursor({ kinds: ['command'] });
    while (cursor.next()) {
      const { at, input } = cursor;
      if (isTokenCheck(input)) checks.push({ at, check: input });
    }
  }
  return {
    mints: new Set(checks.map(({ check }) => check.mint)), before: (until) => checks.filter(({ at }) => at < until),
  };
}

/** Returns the kinds of rows that backtests read. */
export function backtestKinds({ mints }: Pick<RecordedChecks, 'mints'>): readonly RecordingKind[] {
  return mints.size === 0 ? MARKET : [...MARKET, 'command'];
}

/**
 * Returns a cursor over the rows of a backtest: the market, and the checks of tokens. The decisions, outcomes and
 * operator's commands of the recorded run are left out.
 */
export function backtestCursor(recording: Pick<InputSource, 'cursor'>, checks: RecordedChecks): InputCursor {
  const cursor = recording.cursor({ kinds: backtestKinds(checks) });
  // Without commands no row is left out: the engine reads the cursor directly.
  if (checks.mints.size === 0) return cursor;
  let { input } = cursor;
  return {
    next: () => {
      while (cursor.next()) {
        ({ input } = cursor);
        if (input.kind !== 'command' || isTokenCheck(input)) return true;
      }
      return false;
    },
    get at() { return cursor.at; },
    get input() { return input; },
    quotes: (most) => cursor.quotes(most),
    skip: (rows) => { cursor.skip(rows); },
  };
}

/** Returns limits that trust tokens without a recorded check: they cannot be checked any more. */
export function trustingUnchecked(limits: RiskLimits, unseen: Iterable<Mint>): RiskLimits {
  const { tokenSafety } = limits;
  return tokenSafety === undefined ? limits
    : { ...limits, tokenSafety: { ...tokenSafety, trusted: new Set([...tokenSafety.trusted, ...unseen]) } };
}

function isTokenCheck(input: InputCursor['input']): input is JudgeToken {
  return input.kind === 'command' && input.name === 'judge-token';
}
