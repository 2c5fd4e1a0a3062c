import type { Observable } from 'rxjs';
import { EMPTY } from 'rxjs';
import type { RunConfig } from '../config/run-config.ts';
import { printable } from '../core/text.ts';
import type { Clock } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import type { JudgeToken } from '../trading/command.ts';
import type { ValueLimit } from '../trading/limits.ts';
import type { AlertProposal } from '../trading/proposal.ts';
import { symbolOf } from '../market/market-text.ts';
import type { Log } from './log.ts';
import { readTokenFacts } from './token-facts.ts';
import { watchTokens } from './token-watch.ts';
import type { World } from './world.ts';

/** Returns what the looks at all tokens come to that a strategy can buy and nobody trusts; nothing where they are bought unseen. */
export function tokenLooks({ config, world, clock, log }: {
  readonly config: Pick<RunConfig, 'tokens' | 'limits' | 'strategies'>;
  readonly world: Pick<World, 'service' | 'chain'>;
  readonly clock: Clock;
  readonly log: Log;
}): Observable<JudgeToken> {
  const { tokenSafety, maxTrade } = config.limits;
  if (tokenSafety === undefined) return EMPTY;
  const trades = tradesOf(maxTrade, config.strategies.flatMap(({ budget }) => budget ?? []));
  // Who has nothing but a token itself to spend cannot buy it.
  const tradeOf = new Map(config.tokens.all.flatMap(({ mint }) => {
    const trade = trades.find((limit) => limit.mint !== mint);
    return trade === undefined || tokenSafety.trusted.has(mint) ? [] : [[mint, trade] as const];
  }));
  return watchTokens({
    mints: [...tradeOf.keys()], limits: tokenSafety, clock,
    facts: (mint) => readTokenFacts({ service: world.service, chain: world.chain, trade: tradeOf.get(mint)! }, mint),
    onFault: (mint, error) => { log('warn', 'a look at a token got no answer', { mint, error }); },
  });
}

/** The largest first: as much as would be bought must be sellable. */
function tradesOf(maxTrade: ValueLimit | undefined, budgets: readonly ValueLimit[]): ValueLimit[] {
  return [...(maxTrade === undefined ? [] : [maxTrade]), ...budgets.toSorted((a, b) => (a.amount > b.amount ? -1 : 1))];
}

/** Remembers what was told of tokens, so that each change is told once. */
export class TokenNews {
  readonly #told = new Map<Mint, string>();

  /** Returns the alert that a look is worth, undefined where it says what was known or, at first, hoped. */
  alert(tokens: RunConfig['tokens'], { mint, findings, reason }: JudgeToken): AlertProposal | undefined {
    const before = this.#told.get(mint) ?? '';
    const now = [...findings].sort().join(' ');
    this.#told.set(mint, now);
    if (before === now) return undefined;
    const name = symbolOf(tokens, mint);
    const data = { mint, findings: findings.join(', ') };
    return findings.length === 0
      ? { kind: 'alert', level: 'info', message: `${name} may be bought again: ${reason}`, data }
      : { kind: 'alert', level: 'warning', message: `${name} is not bought: ${printable(reason, 300)}. What is held of it can be sold as before`, data };
  }
}
