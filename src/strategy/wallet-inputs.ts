import type { PortfolioEvent } from '../market/feeds/portfolio.ts';
import type { Token } from '../market/token.ts';
import type { WalletTransaction } from '../market/wallet-activity.ts';
import type { Input, PollOptions } from './input.ts';
import { eventInput, unassembled } from './input.ts';

/**
 * Returns the input of the transactions of any wallet from the start of the run on, with what each changed of the
 * wallet's tokens; each is seen once, oldest first. The node of the chain is asked, one request per poll and one for
 * each transaction; a poll gives at most 20, and the rest follow with the next. A token that is sent to the wallet by a
 * transaction that does not name the wallet itself is not listed by the node.
 */
export function walletActivity(address: string, options: PollOptions): Input<WalletTransaction> {
  const { spec, adapt } = eventInput({ kind: 'wallet-activity', owner: address }, options);
  return { spec, adapt: unassembled, assemble: () => (event) => adapt(event).transactions };
}

/** Returns what a transaction changed of the wallet's holding of a token, smallest units; negative for what left it. */
export function changeOf({ changes }: Pick<WalletTransaction, 'changes'>, { mint }: Pick<Token, 'mint'>): bigint {
  return changes.find((change) => change.mint === mint)?.amount ?? 0n;
}

/** The engine makes the events, so their rate has no meaning. */
const MADE_BY_THE_ENGINE = { every: '1s' };

/**
 * Returns the input of what the strategy itself owns: its balances, what they cost and what they are worth, and its
 * equity. It emits once at the start, and after each event or outcome that changed one of them. It needs no request.
 * `ctx.position` has the average entry price.
 */
export function portfolio(): Input<PortfolioEvent> {
  return eventInput({ kind: 'portfolio' }, MADE_BY_THE_ENGINE);
}
