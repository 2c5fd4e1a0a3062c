import type { Observable } from 'rxjs';
import { catchError, concatMap, defer, exhaustMap, filter, from, map, of, timer } from 'rxjs';
import { isGannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { JudgeToken } from '../trading/command.ts';
import type { TokenSafetyLimits } from '../trading/limits.ts';
import type { TokenFacts } from '../trading/token-safety.ts';
import { TOKEN_FINDINGS, judgeToken } from '../trading/token-safety.ts';

/** A look that failed is tried again soon: until one succeeds nothing is bought. */
const RETRY_MS: Millis = 10_000;
/** So much of its validity a look may age before the next one: one failure in between does no harm. */
const RENEWED_AT = 0.4;

/**
 * Looks at each token at once and then in turns, and tells what it came to. A look that got no answer tells nothing: the
 * last one holds as long as it is valid, and then the token counts as not looked at. Never errors on a fault at an edge.
 */
export function watchTokens(options: {
  readonly mints: readonly Mint[];
  readonly limits: TokenSafetyLimits;
  readonly facts: (mint: Mint) => Promise<TokenFacts>;
  readonly clock: Clock;
  readonly onFault: (mint: Mint, error: Error) => void;
}): Observable<JudgeToken> {
  const { mints, limits, facts, clock, onFault } = options;
  const nextAt = new Map(mints.map((mint) => [mint, -Infinity]));
  return timer(0, RETRY_MS, clock).pipe(
    exhaustMap(() => from(mints.filter((mint) => clock.now() >= nextAt.get(mint)!)).pipe(
      concatMap((mint) => defer(() => facts(mint)).pipe(
        map((found): JudgeToken => {
          nextAt.set(mint, clock.now() + limits.validForMs * RENEWED_AT);
          const findings = judgeToken(found, limits);
          const reason = findings.length === 0 ? 'nothing was found against it' : findings.map((code) => TOKEN_FINDINGS[code]).join('; ');
          return { kind: 'command', name: 'judge-token', mint, findings, reason };
        }),
        catchError((error: unknown) => {
          if (!isGannetError(error)) throw error;
          onFault(mint, error);
          return of(undefined);
        }),
      )),
    )),
    filter((command) => command !== undefined),
  );
}
