import type { SensitivityGrid } from '../research/trials/sensitivity-grid.ts';
import type { HeatMap } from './heat-map.ts';

/** Returns a sensitivity grid as a heat map. */
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

/** Returns an explanation of the cost factors. */
function costNote(spreadBps: number): string {
  return `Costs are network fees, tips, the platform's fee and the shortfall of fills, and half of the recorded `
    + `spread, ${spreadBps.toFixed(2)} bps a swap: doubled costs charge each swap that much more, halved costs half `
    + 'of it less.';
}

function factorText(factor: number): string {
  return `× ${factor}`;
}
