import type { OnStrategyStop, RunConfig } from '../../config/run-config.ts';
import { printable } from '../../core/text.ts';
import { showAmount, symbolOf } from '../../market/market-text.ts';
import type { StoppedStrategy } from '../../engine/host/host-port.ts';
import type { Mint } from '../../market/token.ts';
import type { AdjustmentCause, AdjustWallet, JudgeToken, ServiceAccessState } from '../../trading/engine-command.ts';
import { needsOperator } from '../../trading/intent.ts';
import type { AlertProposal } from '../../trading/proposal.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import type { WideningOrder } from '../control/order-audit.ts';
import { originFacts, originText } from '../control/order-origin.ts';
import type { IntentRecord } from './counters.ts';

/** Returns the alert for a change of access to the service: what it means, and what to do. */
export function accessAlert(access: ServiceAccessState, reason: string): AlertProposal {
  if (access === 'silent') {
    return {
      kind: 'alert', level: 'warning',
      message: `the service does not answer: ${reason}. Entries wait until it answers; exits are tried`,
      data: { service_access: access, code: 'SERVICE_SILENT' },
    };
  }
  if (access === 'granted') {
    return {
      kind: 'alert', level: 'info', message: `${reason}: trading goes on`,
      data: { service_access: access, code: 'SERVICE_ACCESS' },
    };
  }
  const stopped = `quotes and trades have stopped: ${reason}. The run continues when`;
  return access === 'forbidden' ? {
    kind: 'alert', level: 'critical',
    message: `${stopped} the service takes requests from here again; a new key needs a restart`,
    data: { service_access: access, code: 'SERVICE_FORBIDDEN' },
  } : {
    kind: 'alert', level: 'critical', message: `${stopped} the key works again; a new key needs a restart`,
    data: { service_access: access, code: 'SERVICE_UNAUTHORIZED' },
  };
}

/** Returns the alert for an order after which more may be lost than before: what it allows, and its origin. */
export function wideningAlert({ action, widens, reason = '', origin }: WideningOrder): AlertProposal {
  return {
    kind: 'alert', level: 'warning',
    message: `the order "${action}" by ${originText(origin)} allows more than before: ${widens}`
      + (reason === '' ? '' : ` (${printable(reason)})`),
    data: { code: 'ORDER_WIDENS', action, widens, ...originFacts(origin) },
  };
}

const ADJUSTMENTS: Readonly<Record<AdjustmentCause, { readonly level: AlertProposal['level']; readonly code: string }>>
  = {
    deposit: { level: 'info', code: 'WALLET_DEPOSIT' },
    withdrawal: { level: 'warning', code: 'WALLET_WITHDRAWAL' },
    mismatch: { level: 'critical', code: 'WALLET_MISMATCH' },
  };

/**
 * Returns the alerts for a booked difference between chain and ledger, with the strategies that it leaves uncovered.
 */
export function adjustmentAlerts(
  state: Pick<EngineState, 'tokens' | 'portfolio'>, { mint, change, cause, reason }: AdjustWallet,
): AlertProposal[] {
  const amount = BigInt(change);
  const shown = showAmount(state.tokens, mint, amount < 0n ? -amount : amount);
  const words = cause === 'deposit' ? `${shown} came into the wallet`
    : cause === 'withdrawal' ? `${shown} left the wallet` : `the wallet lacks ${shown}`;
  const booked: AlertProposal = {
    kind: 'alert', level: ADJUSTMENTS[cause].level, message: `${words}: ${reason}. It is booked in the ledger`,
    data: { mint, change, cause, code: ADJUSTMENTS[cause].code },
  };
  const uncovered = amount < 0n ? uncoveredAlert(state, mint) : undefined;
  return uncovered === undefined ? [booked] : [booked, uncovered];
}

function uncoveredAlert(
  { tokens, portfolio }: Pick<EngineState, 'tokens' | 'portfolio'>, mint: Mint,
): AlertProposal | undefined {
  const held = portfolio.held(mint);
  const wallet = portfolio.wallet.get(mint) ?? 0n;
  if (held <= wallet) return undefined;
  const holders = [...portfolio.books]
    .filter(([, { isConfigured, balances }]) => isConfigured && (balances.get(mint) ?? 0n) > 0n).map(([name]) => name);
  return {
    kind: 'alert', level: 'warning',
    message: `the wallet has ${showAmount(tokens, mint, wallet)}, less than the ${showAmount(tokens, mint, held)} in `
      + `the books of ${holders.join(', ')}: the missing part cannot be spent (BALANCE_INSUFFICIENT) until it is paid `
      + 'in',
    data: { mint, held: held.toString(), wallet: wallet.toString(), code: 'WALLET_UNCOVERED' },
  };
}

/** Returns the alert for a swap with an unknown outcome: what the run does, and what the operator can do. */
export function unknownAlert({ intent: { id }, signature, code, reason }: IntentRecord): AlertProposal {
  const why = causeText(code, reason);
  return {
    kind: 'alert',
    // Most are resolved within seconds.
    level: needsOperator(code) ? 'critical' : 'warning',
    message: `the outcome of ${id} is unknown${why === '' ? '' : ` (${why})`}. The run sends the same bytes again and `
      + 'asks '
      + 'the chain until the outcome is known; until then the input stays locked. '
      + `"gannet journal show ${id}" shows the swap. Only if it stays unknown, resolve it with "gannet resolve ${id}"`,
    data: { intent_id: id, signature: signature ?? null, code: code ?? null },
  };
}

/** Returns the alert for several swaps of a strategy in a row that were given up before signing for the same cause. */
export function givenUpAlert({ code, reason }: IntentRecord, count: number): AlertProposal {
  return {
    kind: 'alert', level: 'warning',
    message: `the last ${count} swaps were given up before signing, all for the same cause `
      + `(${causeText(code, reason)}); the strategy trades nothing while that lasts`,
    data: { code: code ?? null, count },
  };
}

/** Returns the alert for a stopped strategy: where it stopped, what it holds, and what happens to that. */
export function stoppedAlert(
  { tokens, portfolio }: Pick<EngineState, 'tokens' | 'portfolio'>,
  { name, code, place }: Pick<StoppedStrategy, 'name' | 'code' | 'place'>, policy: OnStrategyStop,
): AlertProposal {
  const { balances, budget } = portfolio.book(name);
  const held = [...balances].filter(([mint, amount]) => mint !== budget?.mint && amount > 0n)
    .map(([mint, amount]) => showAmount(tokens, mint, amount));
  const fate = held.length === 0 ? 'It holds no position'
    : policy === 'exit' ? `${held.join(' and ')} is sold now (on_strategy_stop: exit)`
      : `It goes on holding ${held.join(' and ')} (on_strategy_stop: hold); "gannet flatten --strategy ${name}" sells `
        + 'it';
  return {
    kind: 'alert', level: code === 'STRATEGY_NEIGHBOUR' ? 'warning' : 'critical',
    message: `${name} no longer decides${place === undefined ? '' : `: it was stopped in ${place}`} (${code}). ${fate}`,
    data: { code, place: place ?? null, strategy: name },
  };
}

/** Returns a cause as "CODE: reason". A code inside the reason is not repeated. Empty where nothing is known. */
export function causeText(code: string | null | undefined, reason: string | null | undefined): string {
  if (code !== null && code !== undefined && reason?.includes(code) === true) return reason;
  return [code, reason].filter((part) => part !== null && part !== undefined && part !== '').join(': ');
}

/** Raises one alert for each change of a token's findings. */
export class TokenAlerts {
  readonly #findings = new Map<Mint, string>();

  /** Returns the alert for a token check; undefined where its findings did not change. None is the first assumption. */
  alert(tokens: RunConfig['tokens'], { mint, findings, reason }: JudgeToken): AlertProposal | undefined {
    const before = this.#findings.get(mint) ?? '';
    const now = [...findings].sort().join(' ');
    this.#findings.set(mint, now);
    if (before === now) return undefined;
    const name = symbolOf(tokens, mint);
    const data = { mint, findings: findings.join(', '), code: 'TOKEN_CHECKED' };
    return findings.length === 0
      ? { kind: 'alert', level: 'info', message: `${name} may be bought again: ${reason}`, data }
      : {
        kind: 'alert', level: 'warning',
        message: `${name} is not bought: ${printable(reason, 300)}. Holdings of it can be sold as before`, data,
      };
  }
}

/** Returns the alert that nothing can be signed any more. */
export function signerLostAlert(reason: string): AlertProposal {
  return {
    kind: 'alert', level: 'critical',
    message: `trading has stopped: the signer process is gone (${reason}); open swaps are still followed`,
    data: { code: 'SIGNER_LOST' },
  };
}
