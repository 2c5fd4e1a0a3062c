import { isGannetError } from '../core/errors.ts';
import type { Chain } from '../chain/chain.ts';
import type { MintAccount } from '../market/mint-account.ts';
import type { Mint } from '../market/token.ts';
import type { Service } from '../service/service.ts';
import type { ValueLimit } from '../trading/limits.ts';
import type { TokenFacts } from '../trading/token-safety.ts';

/** Where a token is looked at. */
export interface TokenSources {
  readonly service: Pick<Service, 'tokens' | 'swap'>;
  readonly chain: Pick<Chain, 'mintAccount'> | undefined;
  /** What would be spent on it: as much as that buys must be sellable. */
  readonly trade: ValueLimit;
}

/**
 * Returns what the service, the chain and a quote for selling say of a token. What they answer is an answer, that
 * nobody quotes too; throws GannetError where one of them gave none.
 */
export async function readTokenFacts({ service, chain, trade }: TokenSources, mint: Mint): Promise<TokenFacts> {
  const [records, account, canBeSold] = await Promise.all([
    service.tokens.search([mint], { priority: 'watch' }), readAccount(chain, mint), isSellable(service, { mint, trade }),
  ]);
  const record = records.records.find(({ id }) => id === mint);
  return {
    record: record === undefined ? undefined : {
      isSuspicious: record.audit.isSus,
      mintAuthorityDisabled: record.audit.mintAuthorityDisabled,
      freezeAuthorityDisabled: record.audit.freezeAuthorityDisabled,
      topHoldersPct: record.audit.topHoldersPercentage,
      liquidityUsd: record.values.liquidity,
      organicScore: record.values.organicScore,
      holders: record.values.holderCount,
    },
    account,
    canBeSold,
  };
}

async function readAccount(chain: TokenSources['chain'], mint: Mint): Promise<MintAccount | undefined> {
  try {
    return await chain?.mintAccount(mint);
  } catch (error) {
    if (isGannetError(error) && error.code === 'MINT_INVALID') return undefined;
    throw error;
  }
}

/** As much as the trade would buy must find a buyer: a quote to buy says nothing of the way back. */
async function isSellable({ swap }: TokenSources['service'], { mint, trade }: { readonly mint: Mint; readonly trade: ValueLimit }): Promise<boolean> {
  try {
    const bought = await swap.order({ inputMint: trade.mint, outputMint: mint, amount: trade.amount }, { priority: 'watch' });
    const sold = await swap.order({ inputMint: mint, outputMint: trade.mint, amount: bought.outAmount }, { priority: 'watch' });
    return sold.outAmount > 0n;
  } catch (error) {
    // That nobody quotes is the answer that was asked for.
    if (isGannetError(error) && error.code === 'SERVICE_STATUS' && error.details['status'] === 400) return false;
    throw error;
  }
}
