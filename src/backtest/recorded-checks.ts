import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { InputSource } from '../recording/reader.ts';
import type { RecordingKind } from '../recording/format.ts';
import type { JudgeToken } from '../trading/command.ts';
import type { RiskLimits } from '../trading/limits.ts';
import type { InputCursor } from './driver.ts';

/** What a run found out about tokens, as it was recorded. */
export interface RecordedChecks {
  /** Tokens that were looked at. */
  readonly mints: ReadonlySet<Mint>;
  /** Returns the looks of before an instant, in their order. */
  before(at: Millis): readonly { readonly at: Millis; readonly look: JudgeToken }[];
}

const MARKET: readonly RecordingKind[] = ['quote', 'order-book', 'token-stats', 'feed-health'];

/** Returns the looks at tokens that a recording holds. */
export function readRecordedChecks(recording: Pick<InputSource, 'kinds' | 'cursor'>): RecordedChecks {
  const looks: { at: Millis; look: JudgeToken }[] = [];
  if (recording.kinds.includes('command')) {
    const cursor = recording.cursor({ kinds: ['command'] });
    while (cursor.next()) {
      const { at, input } = cursor;
      if (isTokenCheck(input)) looks.push({ at, look: input });
    }
  }
  return {
    mints: new Set(looks.map(({ look }) => look.mint)), before: (until) => looks.filter(({ at }) => at < until),
  };
}

/** Returns the kinds of rows that backtests look into. */
export function backtestKinds({ mints }: Pick<RecordedChecks, 'mints'>): readonly RecordingKind[] {
  return mints.size === 0 ? MARKET : [...MARKET, 'command'];
}

/**
 * Returns a cursor over what a backtest is made of: the market, and what was found out about tokens. What a run
 * decided, what became of it and what its operator said is its own.
 */
export function backtestCursor(recording: Pick<InputSource, 'cursor'>, looks: RecordedChecks): InputCursor {
  const cursor = recording.cursor({ kinds: backtestKinds(looks) });
  // Nothing stands between the engine and the rows where there is nothing to leave out.
  if (looks.mints.size === 0) return cursor;
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
  };
}

/** Returns limits that let tokens through of which the recording says nothing: nobody can look at them any more. */
export function withoutUnseen(limits: RiskLimits, unseen: Iterable<Mint>): RiskLimits {
  const { tokenSafety } = limits;
  return tokenSafety === undefined ? limits
    : { ...limits, tokenSafety: { ...tokenSafety, trusted: new Set([...tokenSafety.trusted, ...unseen]) } };
}

function isTokenCheck(input: InputCursor['input']): input is JudgeToken {
  return input.kind === 'command' && input.name === 'judge-token';
}
