import type { Bps, Lamports } from '../../core/amount.ts';
import type {
  AttemptCostModel, Latency, LatencyHistory, LatencyQuantiles, SimulationModel,
} from '../../trading/simulation-model.ts';
import { sizeText } from '../metrics/figure-text.ts';
import type { InstrumentRecord, RunRecord } from '../../backtest/record/run-record.ts';
import { halfSpreadBps } from '../../backtest/record/run-record.ts';
import { medianOf } from '../../core/median.ts';
import type { Trial, TrialResult } from './trial.ts';
import { trialOf } from './trial.ts';

/** The factors of latencies and costs; 1 is as configured. */
const LATENCY_FACTORS = [0.5, 1, 2, 4] as const;
const COST_FACTORS = [0.5, 1, 2] as const;

/** The results of a configuration under other latencies and costs. */
export interface SensitivityGrid {
  readonly latency: readonly number[];
  readonly cost: readonly number[];
  /** Total return, a row for each latency; a text gives the reason when there is none. */
  readonly totalReturn: readonly (readonly (number | string)[])[];
  /** Half of the recorded spread, in bps: doubled costs add as much to each swap. */
  readonly halfSpreadBps: number;
}

/** A cell to compute. */
interface GridCell {
  readonly row: number;
  readonly column: number;
  readonly trial: Trial;
}

/**
 * Returns half of the spread at the size of the swaps, or without swaps of the benchmarks: the median over time,
 * averaged over instruments.
 */
export function typicalHalfSpreadBps({ instruments }: Pick<RunRecord, 'instruments'>): number {
  const each = instruments.flatMap((instrument) =>
    instrument.swapHalfSpreadBps ?? medianOf(halfSpreads(instrument)) ?? []);
  return each.length === 0 ? 0 : each.reduce((sum, value) => sum + value, 0) / each.length;
}

/** Returns the cells of a grid except the configured one, whose result is known. */
export function gridCells(model: SimulationModel, spreadBps: number): GridCell[] {
  return LATENCY_FACTORS.flatMap((latency, row) => COST_FACTORS.flatMap((cost, column) => (latency === 1 && cost === 1
    ? []
    : [{ row, column, trial: trialOf({ params: {}, model: varied(model, { latency, cost, spreadBps }) }) }])));
}

/** Returns the grid of a configuration with its configured result. */
export function sensitivityGrid(results: ReadonlyMap<string, TrialResult>, { cells, configured, spreadBps }: {
  readonly cells: readonly GridCell[]; readonly configured: number | null; readonly spreadBps: number;
}): SensitivityGrid {
  const totalReturn = LATENCY_FACTORS.map((latency, row) => COST_FACTORS.map((cost, column) => {
    if (latency === 1 && cost === 1) return configured ?? NOT_VALUED;
    const cell = cells.find((one) => one.row === row && one.column === column);
    const result = cell === undefined ? undefined : results.get(cell.trial.id);
    if (result === undefined) return 'not computed';
    return result.kind === 'done' ? result.metrics.total_return ?? NOT_VALUED : result.reason;
  }));
  return { latency: LATENCY_FACTORS, cost: COST_FACTORS, totalReturn, halfSpreadBps: spreadBps };
}

/** Returns a warning when slightly more latency or cost turns a gain into a loss. */
export function gridWarnings({ latency, cost, totalReturn }: SensitivityGrid): string[] {
  const configured = totalReturn[latency.indexOf(1)]?.[cost.indexOf(1)];
  if (typeof configured !== 'number' || configured === 0) return [];
  const flips = latency.flatMap((byLatency, row) => cost.flatMap((byCost, column) => {
    const value = totalReturn[row]![column]!;
    return typeof value === 'number' && Math.sign(value) === -Math.sign(configured)
      ? [{ byLatency, byCost, value }] : [];
  }));
  const nearest = flips.toSorted((a, b) => distance(a) - distance(b))[0];
  if (nearest === undefined) return [];
  const { byLatency, byCost, value } = nearest;
  return [`not robust: ${comesTo(configured)} as configured, and ${comesTo(value)} with ${byLatency} times the latency `
    + `and ${byCost} times the costs; the sign `
    + `differs in ${flips.length} of the other ${latency.length * cost.length - 1} cells`];
}

const NOT_VALUED = 'the holdings could not be valued';

function halfSpreads({ bids, asks }: InstrumentRecord): number[] {
  return bids.flatMap((bid, i) => halfSpreadBps(bid, asks[i]) ?? []);
}

function varied(model: SimulationModel, { latency, cost, spreadBps }: {
  readonly latency: number; readonly cost: number; readonly spreadBps: number;
}): SimulationModel {
  const { quote, sign, land } = model.latency;
  const slower = (quantiles: LatencyQuantiles): LatencyQuantiles =>
    quantiles.map(({ share, latencyMs }) => ({ share, latencyMs: latencyMs * latency }));
  const always = ({ before, steps, routes }: LatencyHistory): LatencyHistory => ({
    before: slower(before), steps: steps.map(({ since, quantiles }) => ({ since, quantiles: slower(quantiles) })),
    ...(routes === undefined ? {}
      : { routes: Object.fromEntries(Object.entries(routes).map(([route, own]) => [route, always(own)])) }),
  });
  const throughout = (known: Latency): Latency => ('steps' in known ? always(known) : slower(known));
  return {
    ...model,
    latency: { quote: throughout(quote), sign: slower(sign), land: throughout(land) },
    costs: dearerAttempts(model.costs, cost),
    landing: { ...model.landing, adverseBps: Math.round(model.landing.adverseBps * cost) as Bps },
    // As a fee it would be refused above risk.max_fee_bps, and a refused swap loses nothing.
    dearerBps: (model.dearerBps ?? 0) + (spreadBps + model.costs.platformFeeBps) * (cost - 1),
  };
}

/** The network sets the base fee, so that it stays. */
function dearerAttempts(costs: AttemptCostModel, factor: number): AttemptCostModel {
  const times = (value: bigint): bigint => BigInt(Math.round(Number(value) * factor));
  return {
    ...costs,
    microLamportsPerUnit: times(costs.microLamportsPerUnit),
    tipLamports: times(costs.tipLamports) as Lamports,
  };
}

function distance({ byLatency, byCost }: { readonly byLatency: number; readonly byCost: number }): number {
  return Math.abs(Math.log2(byLatency)) + Math.abs(Math.log2(byCost));
}

function comesTo(value: number): string {
  return `it ${value > 0 ? 'gains' : 'loses'} ${sizeText(value)}`;
}
