import type { Observable } from 'rxjs';
import { EMPTY, catchError, concatMap, defer, exhaustMap, filter, from, map, of, timer } from 'rxjs';
import type { Chain } from '../../chain/chain.ts';
import type { RunConfig } from '../../config/run-config.ts';
import { isGannetError } from '../../core/errors.ts';
import type { Clock, Millis } from '../../core/time.ts';
import type { TokenRecord } from '../../market/token-record.ts';
import type { Mint, MintAccount } from '../../market/token.ts';
import type { Service } from '../../service/service.ts';
import type { JudgeToken } from '../../trading/engine-command.ts';
import type { DiscoveredLimits, TokenSafetyLimits, ValueLimit } from '../../trading/limits.ts';
import type { TokenFacts } from '../../trading/token-safety.ts';
import { TOKEN_FINDINGS, judgeDiscovered, judgeToken } from '../../trading/token-safety.ts';
import type { Log } from '../reporting/log.ts';
import type { Connections } from '../run/connections.ts';

/**
 * Returns the results of checks of all tokens that strategies can buy, except trusted ones: the configured ones, and
 * those that `watched` returns, where others may be bought. Empty without token checks.
 */
export function checkTokens({ config, connections, clock, log, watched }: {
  readonly config: Pick<RunConfig, 'tokens' | 'limits' | 'strategies'>;
  readonly connections: Pick<Connections, 'service' | 'chain'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly watched: () => readonly Mint[];
}): Observable<JudgeToken> {
  const { tokenSafety, maxTrade, discovered } = config.limits;
  if (tokenSafety === undefined) return EMPTY;
  const trades = tradesOf(maxTrade, config.strategies.flatMap(({ budget }) => budget ?? []));
  // A token cannot be bought with itself.
  const tradeOf = new Map(config.tokens.all.flatMap(({ mint }) => {
    const trade = trades.find((limit) => limit.mint !== mint);
    return trade === undefined || tokenSafety.trusted.has(mint) ? [] : [[mint, trade] as const];
  }));
  return watchTokens({
    mints: [...tradeOf.keys()], limits: tokenSafety, clock,
    discovered: discovered && {
      limits: discovered, mints: () => watched().filter((mint) => config.tokens.byMint(mint) === undefined),
    },
    facts: (mint) => readTokenFacts({ ...connections, trade: tradeOf.get(mint) ?? discovered!.perToken }, mint),
    onFault: (mint, error) => { log('warn', 'a token check got no answer', { mint, error }); },
  });
}

/** The largest first, because the largest purchase must be sellable. */
function tradesOf(maxTrade: ValueLimit | undefined, budgets: readonly ValueLimit[]): ValueLimit[] {
  return [...(maxTrade === undefined ? [] : [maxTrade]), ...budgets.toSorted((a, b) => (a.amount > b.amount ? -1 : 1))];
}

/** A failed check is repeated soon, because nothing is bought before a successful one. */
const RETRY_MS: Millis = 10_000;
/** The share of its validity after which a check is renewed, so that one failure in between does no harm. */
const RENEWED_AT = 0.4;

/**
 * Checks each token at once and then regularly. A check without an answer emits nothing: the last result stays valid
 * for its time, then the token counts as unchecked. Faults of the service or the chain never end the stream.
 */
export function watchTokens(options: {
  readonly mints: readonly Mint[];
  readonly limits: TokenSafetyLimits;
  /** The tokens that are not configured and are to be checked at present. */
  readonly discovered?: { readonly limits: DiscoveredLimits; readonly mints: () => readonly Mint[] } | undefined;
  readonly facts: (mint: Mint) => Promise<TokenFacts>;
  readonly clock: Clock;
  readonly onFault: (mint: Mint, error: Error) => void;
}): Observable<JudgeToken> {
  const { mints, limits, discovered, facts, clock, onFault } = options;
  const nextAt = new Map<Mint, Millis>();
  const due = (): Mint[] => [...new Set([...mints, ...(discovered?.mints() ?? [])])]
    .filter((mint) => clock.now() >= (nextAt.get(mint) ?? -Infinity));
  return timer(0, RETRY_MS, clock).pipe(
    exhaustMap(() => from(due()).pipe(
      concatMap((mint) => defer(() => facts(mint)).pipe(
        map((found): JudgeToken => {
          nextAt.set(mint, clock.now() + limits.validForMs * RENEWED_AT);
          const findings = [
            ...judgeToken(found, limits),
            ...(discovered === undefined || mints.includes(mint) ? []
              : judgeDiscovered(found, discovered.limits, clock.now())),
          ];
          const reason = findings.length === 0 ? 'nothing was found against it'
            : findings.map((code) => TOKEN_FINDINGS[code]).join('; ');
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

/** The sources of a token check. */
interface TokenSources {
  readonly service: Pick<Service, 'tokens' | 'swap'>;
  readonly chain: Pick<Chain, 'mintAccount'> | undefined;
  /** The largest purchase, which must be sellable. */
  readonly trade: ValueLimit;
}

/**
 * Returns what the service, the chain and a quote for the sale say about a token. A missing quote is an answer too.
 * Throws GannetError where a source does not answer.
 */
export async function readTokenFacts({ service, chain, trade }: TokenSources, mint: Mint): Promise<TokenFacts> {
  const [records, account, canBeSold] = await Promise.all([
    service.tokens.search([mint], { priority: 'watch' }), readAccount(chain, mint),
    isSellable(service, { mint, trade }),
  ]);
  const record = records.records.find(({ id }) => id === mint);
  return { record: record && recordFacts(record), account, canBeSold };
}

/** Returns what the service's record says about a token. */
export function recordFacts(record: TokenRecord): NonNullable<TokenFacts['record']> {
  return {
    isSuspicious: record.audit.isSus,
    mintAuthorityDisabled: record.audit.mintAuthorityDisabled,
    freezeAuthorityDisabled: record.audit.freezeAuthorityDisabled,
    topHoldersPct: record.audit.topHoldersPercentage,
    liquidityUsd: record.values.liquidity,
    organicScore: record.values.organicScore,
    holders: record.values.holderCount,
    decimals: record.decimals,
    isVerified: record.isVerified,
    firstPoolAt: record.firstPool?.createdAt,
  };
}

/** Returns the content of a mint's account; undefined where there is none, or no chain. */
export async function readAccount(chain: TokenSources['chain'], mint: Mint): Promise<MintAccount | undefined> {
  try {
    return await chain?.mintAccount(mint);
  } catch (error) {
    if (isGannetError(error) && error.code === 'MINT_INVALID') return undefined;
    throw error;
  }
}

/** A quote for the purchase says nothing about the sale, so both are requested. */
async function isSellable(
  { swap }: TokenSources['service'], { mint, trade }: { readonly mint: Mint; readonly trade: ValueLimit },
): Promise<boolean> {
  try {
    const bought =
      await swap.order({ inputMint: trade.mint, outputMint: mint, amount: trade.amount }, { priority: 'watch' });
    const sold =
      await swap.order({ inputMint: mint, outputMint: trade.mint, amount: bought.outAmount }, { priority: 'watch' });
    return sold.outAmount > 0n;
  } catch (error) {
    // The service has no quote: the token cannot be sold.
    if (isGannetError(error) && error.code === 'SERVICE_STATUS' && error.details['status'] === 400) return false;
    throw error;
  }
}
