import type { Amount } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import { roughDuration } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import { EXIT_FAILURES_MAX } from '../trading/exit-progress.ts';
import { spendable } from '../trading/risk/swap-candidate.ts';
import { effectiveTrading } from '../trading/risk/trading-state-rules.ts';
import type { EngineState } from '../trading/engine-state.ts';

/** A holding of a flattening strategy that is not sold. */
export interface UnsoldHolding {
  readonly strategy: string;
  readonly mint: Mint;
  readonly amount: Amount;
  /** A stable code: of a refusal of ours, of the last try, or of what it waits for. */
  readonly code: string;
  /** For people. */
  readonly reason: string;
  /** When the engine tries again; undefined where that does not depend on time alone. */
  readonly until: Millis | undefined;
  /** Whether a swap of it is under way or comes next. */
  readonly isMoving: boolean;
}

/** What the exit runner knows of one strategy. */
interface ExitWaits {
  readonly pause: { readonly until: Millis; readonly code: string } | undefined;
  /** The tokens that wait for a cap. */
  readonly waits: ReadonlyMap<Mint, { readonly until: Millis; readonly reason: string }>;
  /** The tokens that are given up, with the code of the last try. */
  readonly givenUp: ReadonlyMap<Mint, string>;
}

/** Returns the token of a strategy's budget; undefined without a budget, and for a strategy that is not of this run. */
export function budgetMint({ strategies, portfolio }: EngineState, strategy: string): Mint | undefined {
  return strategies.has(strategy) ? portfolio.book(strategy).budget?.mint : undefined;
}

/** Returns what flattening strategies still hold, each holding with the reason why it is not sold. */
export function unsoldHoldings(
  state: EngineState, exits: ReadonlyMap<string, ExitWaits>, now: Millis,
): UnsoldHolding[] {
  return [...state.flattening].flatMap((strategy) => {
    const budget = budgetMint(state, strategy);
    if (budget === undefined) return [];
    return [...state.portfolio.book(strategy).balances].filter(([mint]) => mint !== budget)
      .map(([mint, amount]): UnsoldHolding => ({
        strategy, mint, amount, until: undefined, isMoving: false,
        ...whyUnsold(state, { strategy, mint, exit: exits.get(strategy), now }),
      }));
  });
}

function whyUnsold(state: EngineState, { strategy, mint, exit, now }: {
  readonly strategy: string; readonly mint: Mint; readonly exit: ExitWaits | undefined; readonly now: Millis;
}): Pick<UnsoldHolding, 'code' | 'reason'> & Partial<UnsoldHolding> {
  const open = state.intents.values().find(({ intent }) => intent.inputMint === mint);
  if (open?.state === 'unknown')
    return { code: 'INTENT_UNKNOWN', reason: `locked by ${open.intent.id}: the outcome of that swap is not known yet` };
  if (open !== undefined)
    return { code: 'INTENT_OPEN_FOR_MINT', reason: `${open.intent.id} sells it now (${open.state})`, isMoving: true };
  if (effectiveTrading(state, strategy) === 'halted') return { code: 'TRADING_HALTED', reason: 'trading is halted' };
  const givenUp = exit?.givenUp.get(mint);
  if (givenUp !== undefined)
    return { code: givenUp, reason: `given up after ${EXIT_FAILURES_MAX} tries, the last one ${givenUp}` };
  if (spendable(state, strategy, mint) === 0n)
    return { code: 'SOL_RESERVE', reason: 'the wallet has no more of it than the reserve that is kept for fees' };
  const wait = exit?.waits.get(mint);
  if (wait !== undefined) return { code: 'CAP_USED_UP', reason: wait.reason, until: wait.until };
  if (exit?.pause === undefined) return { code: 'QUEUED', reason: 'its swap begins next', isMoving: true };
  const { until, code } = exit.pause;
  const remaining = roughDuration(Math.max(0, until - now));
  return {
    code, reason: `the last try ended with ${code}; the next one is made in ${remaining}`, until, isMoving: true,
  };
}
