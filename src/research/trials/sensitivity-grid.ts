import type { Bps, Lamports } from '../../core/amount.ts';
import type {
  AttemptCostModel, Latency, LatencyHistory, LatencyQuantiles, SimulationModel,
} from '../../trading/simulation-model.ts';
import { sizeText } from '../metrics/figure-text.ts';
import type { InstrumentRecord, RunRecord } from '../../backtest/record/run-record.ts';
import { halfSpreadBps } from '../../backtest/record/run-record.ts';
import { medianOf } from '../../core/median.ts';
import type { HeatMap } from '../../report/heat-map.ts';
import type { Trial, TrialResult } from './trial.ts';
import { trialOf } from './trial.ts';

/** By what latencies and costs are multiplied: 1 is as configured. */
export const LATENCY_FACTORS = [0.5, 1, 2, 4] as const;
export const COST_FACTORS = [0.5, 1, 2] as const;

/** What a configuration comes to where everything takes longer or less long, and costs more or less. */
export interface SensitivityGrid {
  readonly latency: readonly number[];
  readonly cost: readonly number[];
  /** Total return, a row for each latency; a text says why there is none. */
  readonly totalReturn: readonly (readonly (number | string)[])[];
  /**
   * What a swap costs on the recorded market, half of what is between both prices: as much is put on top where costs
   * are doubled.
   */
  readonly halfSpreadBps: number;
}

/** A cell that is to be computed. */
interface GridCell {
  readonly row: number;
  readonly column: number;
  readonly trial: Trial;
}

/**
 * Returns half of what lies between purchase and sale at the size of the swaps, or of the benchmarks where there were
 * none, in the middle over time, on average over instruments.
 */
export function typicalHalfSpreadBps({ instruments }: Pick<RunRecord, 'instruments'>): number {
  const each = instruments.flatMap((instrument) =>
    instrument.swapHalfSpreadBps ?? medianOf(halfSpreads(instrument)) ?? []);
  return each.length === 0 ? 0 : each.reduce((sum, value) => sum + value, 0) / each.length;
}

/** Returns the cells of a grid but for the one of what is configured, whose result is known. */
export function gridCells(model: SimulationModel, spreadBps: number): GridCell[] {
  return LATENCY_FACTORS.flatMap((latency, row) => COST_FACTORS.flatMap((cost, column) => (latency === 1 && cost === 1
    ? []
    : [{ row, column, trial: trialOf({ params: {}, model: varied(model, { latency, cost, spreadBps }) }) }])));
}

/** Returns the grid of a configuration that came to `configured`. */
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

/**
 * Returns what a grid says of the configuration: a gain that does not stand a little more latency, or cost, is none.
 */
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
    + `and ${byCost} times the costs; in ${flips.length} of the other ${latency.length * cost.length - 1} cells of the `
    + 'grid its sign is another'];
}

/** Returns the grid as a drawing for a report. */
export function gridHeatMap({ latency, cost, totalReturn, halfSpreadBps: spread }: SensitivityGrid): HeatMap {
  return {
    title: 'Total return by latency and cost', measured: 'total return', kind: 'share',
    down: { name: 'latency', labels: latency.map(factorText) },
    across: { name: 'costs', labels: cost.map(factorText) },
    values: totalReturn.map((row) => row.map((value) => (typeof value === 'number' ? value : { missing: value }))),
    configured: { row: latency.indexOf(1), column: cost.indexOf(1) },
    notes: [costNote(spread)],
  };
}

/** Returns what the factors of costs are of. */
function costNote(spreadBps: number): string {
  return `Costs are network fees, tips, the platform's fee and what fills fall short by, and half of the recorded `
    + `spread, ${spreadBps.toFixed(2)} bps a swap: twice the costs take so much more off each swap, half of them half `
    + 'of it less.';
}

const NOT_VALUED = 'what was held could not be valued';

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
    // As a fee it would be refused above risk.max_fee_bps: a swap that is not made loses nothing.
    dearerBps: (model.dearerBps ?? 0) + (spreadBps + model.costs.platformFeeBps) * (cost - 1),
  };
}

/** The base fee is the network's own, and stays. */
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

function factorText(factor: number): string {
  return `× ${factor}`;
}
