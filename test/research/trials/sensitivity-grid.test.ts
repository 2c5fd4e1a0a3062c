import { describe, expect, it } from 'vitest';
import type { SensitivityGrid } from '../../../src/research/trials/sensitivity-grid.ts';
import { gridHeatMap } from '../../../src/report/figure-tables.ts';
import {
  gridCells, gridWarnings, sensitivityGrid, typicalHalfSpreadBps,
} from '../../../src/research/trials/sensitivity-grid.ts';
import { BASE_MODEL } from '../../../src/trading/simulation-model.ts';
import type { TrialResult } from '../../../src/research/trials/trial.ts';
import type { Amount } from '../../../src/core/amount.ts';
import { row } from '../sweep/rows.ts';
import { bothSides, CALM, inAndOut, measured } from '../../backtest/measured.ts';

const LATENCY_FACTORS = [0.5, 1, 2, 4];
const COST_FACTORS = [0.5, 1, 2];
const SPREAD = bothSides(Array.from({ length: 40 }, () => [151, 149] as const));

function withReturns(totalReturn: SensitivityGrid['totalReturn']): SensitivityGrid {
  return { latency: LATENCY_FACTORS, cost: COST_FACTORS, totalReturn, halfSpreadBps: 3 };
}

function firstFill(dearerBps: number | undefined): Amount {
  return measured(SPREAD, { strategies: [inAndOut()], model: { ...CALM, dearerBps } }).result.fills[0]!.fill.amountOut;
}

describe('the grid of latencies and costs', () => {
  it('multiplies every latency, the costs of attempts, and the spread', () => {
    const cells = gridCells(BASE_MODEL, 40);
    expect(cells).toHaveLength(LATENCY_FACTORS.length * COST_FACTORS.length - 1);
    const dear =
      cells.find(({ row: r, column }) => LATENCY_FACTORS[r] === 4 && COST_FACTORS[column] === 2)!.trial.model!;
    expect(dear.latency).toStrictEqual({
      quote: [{ share: 0.5, latencyMs: 1_200 }], sign: [{ share: 0.5, latencyMs: 20 }],
      land: [{ share: 0.5, latencyMs: 6_000 }],
    });
    expect(dear.costs.microLamportsPerUnit).toBe(40_000n);
    expect(dear.dearerBps).toBe(40);
    const cheap =
      cells.find(({ row: r, column }) => LATENCY_FACTORS[r] === 1 && COST_FACTORS[column] === 0.5)!.trial.model!;
    expect(cheap.latency).toStrictEqual(BASE_MODEL.latency);
    expect(cheap.dearerBps).toBe(-20);
    expect(new Set(cells.map(({ trial }) => trial.id)).size).toBe(cells.length);
  });

  it('computes half of the recorded spread', () => {
    const { record } = measured(SPREAD);
    // Bought at 151 and sold at 149: either way so much off the middle.
    expect(typicalHalfSpreadBps(record)).toBeCloseTo((1 - Math.sqrt(149 / 151)) * 10_000, 3);
    expect(typicalHalfSpreadBps({ instruments: [] })).toBe(0);
    // At the size of the swaps where there were any, whatever the budget is.
    expect(typicalHalfSpreadBps(
      { instruments: record.instruments.map((instrument) => ({ ...instrument, swapHalfSpreadBps: 2 })) },
    )).toBe(2);
  });

  it('charges each swap the additional costs, and returns saved ones', () => {
    const plain = Number(firstFill(undefined));
    expect(Number(firstFill(100)) / plain).toBeCloseTo(0.99, 6);
    expect(Number(firstFill(-50)) / plain).toBeCloseTo(1.005, 6);
    expect(firstFill(0)).toBe(firstFill(undefined));
  });

  it('holds the result of each cell, or the reason of its failure', () => {
    const cells = gridCells(BASE_MODEL, 0);
    const results = new Map<string, TrialResult>(cells.map(({ trial: { id }, row: r, column }) =>
      [id, { ...row([], [], 0).result, id, metrics: { total_return: r + column / 10 } as never }]));
    results.set(cells[0]!.trial.id, { kind: 'failed', id: cells[0]!.trial.id, reason: 'it fell over' });
    const { totalReturn } = sensitivityGrid(results, { cells, configured: 9, spreadBps: 0 });
    expect(totalReturn).toStrictEqual([['it fell over', 0.1, 0.2], [1, 9, 1.2], [2, 2.1, 2.2], [3, 3.1, 3.2]]);
  });

  it('warns with the nearest cell when the sign of a result changes', () => {
    const robust = withReturns([[0.3, 0.2, 0.1], [0.3, 0.2, 0.1], [0.2, 0.1, 0.05], [0.1, 0.1, 0.01]]);
    expect(gridWarnings(robust)).toStrictEqual([]);
    const weak = withReturns([[0.3, 0.2, 0.1], [0.3, 0.2, -0.01], [0.2, 0.1, -0.05], [0.1, -0.1, -0.2]]);
    expect(gridWarnings(weak)).toStrictEqual(['not robust: it gains 20.00 % as configured, and it loses 1.00 % with 1 '
      + 'times the latency and 2 times the costs; the sign differs in 4 of the other 11 cells']);
    // Little is not called nothing.
    const little = withReturns([[0.3, 0.2, 0.1], [0.3, 0.2, -0.000004], [0.3, 0.2, 0.1], [0.3, 0.2, 0.1]]);
    expect(gridWarnings(little)).toStrictEqual([expect.stringContaining('and it loses less than 0.01 % with')]);
    expect(gridWarnings(withReturns(robust.totalReturn.map((values) => values.map(() => 'nothing was valued')))))
      .toStrictEqual([]);
  });

  it('marks the configured cell in the heat map', () => {
    const { values, configured, down, across } =
      gridHeatMap(withReturns([[0, 0, 0], [0, 5, 0], [0, 0, 0], ['why', 0, 0]]));
    expect(values[configured!.row]![configured!.column]).toBe(5);
    expect(values[3]![0]).toStrictEqual({ missing: 'why' });
    expect(down.labels).toStrictEqual(['× 0.5', '× 1', '× 2', '× 4']);
    expect(across.labels).toStrictEqual(['× 0.5', '× 1', '× 2']);
  });
});
