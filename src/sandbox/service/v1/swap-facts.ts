import { exactNumber } from '../../json-text.ts';
import type { Profile, ServiceContext } from '../context.ts';
import type { SlippageReport } from './carry-out.ts';
import type { SwapRequest } from './swap-request.ts';
import type { SwapTransaction } from './swap-transaction.ts';

/** Returns what the service says of a transaction beside it; the live service says how its priority came about. */
export function transactionFacts(
  { chain, profile }: ServiceContext, { priority }: SwapRequest, transaction: SwapTransaction,
): object {
  const { budget, simulationError } = transaction;
  const prioritizationType = priority.kind === 'tip'
    ? { bundleTip: { lamports: exactNumber(priority.lamports) } }
    : { computeBudget: {
      microLamports: exactNumber(budget.unitPrice), estimatedMicroLamports: exactNumber(budget.unitPrice),
    } };
  return {
    prioritizationFeeLamports: exactNumber(budget.prioritizationFeeLamports),
    ...(profile === 'live'
      ? { computeUnitLimit: budget.unitLimit, prioritizationType, simulationSlot: chain.slot } : {}),
    simulationError,
  };
}

/** Returns the report of an estimated slippage; live, it is null where none was asked for. */
export function reportOf(report: SlippageReport | undefined, profile: Profile): object {
  if (report === undefined) return profile === 'live' ? { dynamicSlippageReport: null } : {};
  return { dynamicSlippageReport: { ...report, otherAmount: exactNumber(report.otherAmount) } };
}
