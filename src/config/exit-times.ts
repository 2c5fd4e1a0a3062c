import type { Amount } from '../core/amount.ts';
import { formatDecimal, mulDiv } from '../core/amount.ts';
import type { Millis } from '../core/time.ts';
import type { Mint, Token, TokenTable } from '../market/token.ts';
import { exitEndsAt } from '../trading/exit-sizing.ts';
import type { RiskLimits, ValueLimit } from '../trading/limits.ts';
import type { ProblemList } from './config-issue.ts';
import type { ConfigPath } from './config-tree.ts';
import type { SignerConfig, StrategyConfig } from './run-config.ts';
import { watchedBy } from './run-config.ts';

/** US dollar prices of whole tokens. */
export type UsdPrices = ReadonlyMap<Mint, number>;

/** How long it takes to sell the largest position that a configuration allows in one token. */
export interface ExitTime {
  readonly token: Token;
  /** Undefined where no price says how much it is. */
  readonly position: Amount | undefined;
  /** From the first part to the last; undefined where that is a day or longer, or the position is not known. */
  readonly takesMs: Millis | undefined;
}

interface ExitScope {
  readonly tokens: TokenTable;
  readonly limits: RiskLimits;
  readonly signer: SignerConfig;
  readonly strategies: readonly StrategyConfig[];
}

/** Returns how long full exits take under the signer's caps, of each capped token that a strategy can hold. */
export function exitTimes(scope: ExitScope, prices: UsdPrices): ExitTime[] {
  const { tokens, limits, signer } = scope;
  return [...signer.caps].flatMap(([mint, cap]): ExitTime[] => {
    const token = tokens.byMint(mint);
    const bounds = token === undefined ? [] : positionBounds(scope, mint);
    if (token === undefined || bounds.length === 0) return [];
    const sizes = bounds.map((bound) => unitsOf(bound, token, { tokens, prices }));
    const known = sizes.filter((size) => size !== undefined);
    if (known.length < sizes.length) return [{ token, position: undefined, takesMs: undefined }];
    const position = known.reduce((least, size) => (size < least ? size : least));
    const largest = limits.maxTrade === undefined ? undefined : unitsOf([limits.maxTrade], token, { tokens, prices });
    return [{ token, position, takesMs: exitEndsAt({ amount: position, cap, largest, at: 0 }) }];
  });
}

/** Adds each cap under which a full exit of the largest position allowed takes a day or longer. */
export function refuseSlowExits(
  times: readonly ExitTime[], { signer }: Pick<ExitScope, 'signer'>, problems: ProblemList,
): void {
  for (const { token, position, takesMs } of times) {
    if (position === undefined || position === 0n || takesMs !== undefined) continue;
    const cap = signer.caps.get(token.mint);
    const others = cap?.perHour !== undefined ? 'per_hour' : 'per_trade';
    const span = cap?.perDay !== undefined && cap.perDay < position ? 'per_day' : others;
    const path: ConfigPath = ['signer', 'caps', token.symbol, span];
    const size = `${Number(Number(formatDecimal(position, token.decimals)).toPrecision(5))} ${token.symbol}`;
    problems.add(path, `the largest position allowed is about ${size} by the prices of now, `
      + 'and under these caps a full exit of it takes a day or more, in parts: '
      + `raise ${span}, or allow less (risk.max_position, max_exposure, the budgets)`);
  }
}

/** Returns the bounds of a position, each a sum of amounts; none where no strategy can hold the token. */
function positionBounds({ limits, strategies }: ExitScope, mint: Mint): (readonly ValueLimit[])[] {
  const trades = (strategy: StrategyConfig): boolean => watchedBy(strategy)
    .some(({ spec }) => spec.kind === 'quote' && (spec.inputMint === mint || spec.outputMint === mint));
  const holders = strategies.filter(({ budget }) => budget !== undefined && budget.mint !== mint).filter(trades);
  if (holders.length === 0) return [];
  const budgets = holders.map(({ budget, maxExposure }) => maxExposure ?? budget!);
  const own = limits.maxPosition.get(mint);
  const all = limits.maxExposure;
  return [budgets, ...(own === undefined ? [] : [[own]]), ...(all === undefined ? [] : [[all]])];
}

/** Returns how much of a token amounts are worth together, rounded up; undefined where a price is missing. */
function unitsOf(
  parts: readonly ValueLimit[], token: Token,
  { tokens, prices }: { readonly tokens: TokenTable; readonly prices: UsdPrices },
): Amount | undefined {
  let units = 0n;
  for (const { mint, amount } of parts) {
    const from = tokens.byMint(mint);
    const [price, own] = [picoUsd(prices.get(mint)), picoUsd(prices.get(token.mint))];
    if (mint === token.mint) units += amount;
    else if (from === undefined || price === undefined || own === undefined) return undefined;
    else {
      // In 10^-12 US dollars first.
      const worth = mulDiv(amount, price, 10n ** BigInt(from.decimals), 'ceil');
      units += mulDiv(worth, 10n ** BigInt(token.decimals), own, 'ceil');
    }
  }
  return units as Amount;
}

/** Returns a price in 10^-12 US dollars, fine enough for the cheapest tokens. */
function picoUsd(price: number | undefined): bigint | undefined {
  return price !== undefined && price > 1e-12 && price < 1e12 ? BigInt(Math.round(price * 1e12)) : undefined;
}
