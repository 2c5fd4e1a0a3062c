import { formatDecimal } from '../../core/amount.ts';
import type { Mint, TokenTable } from '../../market/token.ts';
import type { MeasuredRun } from '../trials/measured-run.ts';
import type { StrategyRecord } from '../../backtest/record/run-record.ts';
import { typicalHalfSpreadBps } from '../trials/sensitivity-grid.ts';

const LAMPORT_DECIMALS = 9;
const BPS = 10_000;

/** A row of costs. */
export interface CostRow {
  readonly what: string;
  /** The paid amount, with its token. */
  readonly paid: string;
  /** In the currency, by the mean price of all fees; null if unknown. */
  readonly value: number | null;
  /** Whether the row is part of the row before it, or no cost, and must not be added. */
  readonly isApart: boolean;
}

/** Returns the costs of a run by kind. */
export function costBreakdown(
  { result: { simulation, deposits }, record }: MeasuredRun, tokens: TokenTable,
): CostRow[] {
  const { costs, failedFeeLamports, platformFees, transferFees } = simulation;
  const feesPaid = record.strategies.reduce((sum, strategy) => sum + strategy.feesPaid, 0);
  const inSol = (what: string, lamports: bigint, isApart = false): CostRow => ({
    what, isApart,
    paid: `${formatDecimal(lamports, LAMPORT_DECIMALS)} SOL`,
    value: costs.feeLamports === 0n ? 0 : feesPaid * (Number(lamports) / Number(costs.feeLamports)),
  });
  const deposit = (what: string, lamports: bigint, valueOf: (strategy: StrategyRecord) => number): CostRow => ({
    what, isApart: true, paid: `${formatDecimal(lamports, LAMPORT_DECIMALS)} SOL`,
    value: record.strategies.reduce((sum, strategy) => sum + valueOf(strategy), 0),
  });
  const ofTokens = (what: string, fees: ReadonlyMap<Mint, bigint>): CostRow[] => [...fees].map(([mint, amount]) => {
    const token = tokens.byMint(mint);
    const isCurrency = token !== undefined && token.symbol === record.currency;
    return {
      what, isApart: false,
      paid: token === undefined ? `${amount} of ${mint}` : `${formatDecimal(amount, token.decimals)} ${token.symbol}`,
      value: isCurrency ? Number(amount) / 10 ** token.decimals : null,
    };
  });
  return [
    inSol('base fees', costs.baseLamports),
    inSol('priority fees', costs.priorityLamports),
    inSol('tips', costs.tipLamports),
    inSol('of these, for swaps that failed', failedFeeLamports, true),
    ...ofTokens('platform fees, in the prices already', platformFees),
    ...ofTokens('fees of token issuers, in the prices already', transferFees),
    {
      what: 'fills worse than quoted (negative: better), in the prices already', isApart: true, paid: '',
      value: slippageOf(record),
    },
    {
      what: 'half of the recorded spread at each swap, in the prices already (about)', isApart: true, paid: '',
      value: spreadOf(record),
    },
    deposit('deposits for token accounts, back at the end', deposits.returnedLamports, ({ returned = 0 }) => returned),
    deposit('deposits for token accounts, still there and not in the equity', deposits.lockedLamports, (
      { deposited = 0 },
    ) => deposited),
  ];
}

function spreadOf({ fills, instruments }: MeasuredRun['record']): number {
  return instruments.reduce((sum, instrument) => {
    const own = fills.filter(({ input, output }) => input === instrument.symbol || output === instrument.symbol);
    return sum + (own.reduce((traded, { value }) => traded + (value ?? 0), 0)
      * typicalHalfSpreadBps({ instruments: [instrument] }))
      / BPS;
  }, 0);
}

function slippageOf({ fills }: MeasuredRun['record']): number {
  let lost = 0;
  for (const { quotedOut, amountOut, value } of fills) {
    if (quotedOut !== null && value !== null && Number(quotedOut) > 0)
      lost += (1 - Number(amountOut) / Number(quotedOut)) * value;
  }
  return lost;
}
