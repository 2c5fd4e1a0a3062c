import type { Mint } from '../market/token.ts';
import type { AdjustWallet, AdjustmentCause } from '../trading/command.ts';
import type { AlertProposal } from '../trading/proposal.ts';
import type { EngineState } from '../trading/state.ts';
import { showAmount } from '../market/market-text.ts';

const LEVELS: Readonly<Record<AdjustmentCause, AlertProposal['level']>> = { deposit: 'info', withdrawal: 'warning', mismatch: 'critical' };

/** Returns the alerts that tell of a difference between chain and ledger, once it is booked: what it is, and whose books it leaves uncovered. */
export function adjustmentAlerts(state: Pick<EngineState, 'tokens' | 'portfolio'>, { mint, change, cause, reason }: AdjustWallet): AlertProposal[] {
  const amount = BigInt(change);
  const shown = showAmount(state.tokens, mint, amount < 0n ? -amount : amount);
  const words = cause === 'deposit' ? `${shown} came into the wallet` : cause === 'withdrawal' ? `${shown} left the wallet` : `the wallet lacks ${shown}`;
  const told: AlertProposal = { kind: 'alert', level: LEVELS[cause], message: `${words}: ${reason}. The ledger has it now`, data: { mint, change, cause } };
  const uncovered = amount < 0n ? uncoveredAlert(state, mint) : undefined;
  return uncovered === undefined ? [told] : [told, uncovered];
}

function uncoveredAlert({ tokens, portfolio }: Pick<EngineState, 'tokens' | 'portfolio'>, mint: Mint): AlertProposal | undefined {
  const held = portfolio.held(mint);
  const wallet = portfolio.wallet.get(mint) ?? 0n;
  if (held <= wallet) return undefined;
  const holders = [...portfolio.books].filter(([, { isConfigured, balances }]) => isConfigured && (balances.get(mint) ?? 0n) > 0n).map(([name]) => name);
  return {
    kind: 'alert', level: 'warning',
    message: `the wallet has ${showAmount(tokens, mint, wallet)}, less than the ${showAmount(tokens, mint, held)} in the books of ${holders.join(', ')}: `
      + 'what is not there cannot be spent (BALANCE_INSUFFICIENT) until it is paid in again',
    data: { mint, held: held.toString(), wallet: wallet.toString() },
  };
}
