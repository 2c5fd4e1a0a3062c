import { dialectNames, loadDialect } from '../../../../src/service/wire/dialect.ts';
import type { HostProfile } from '../../../../src/service/wire/host-profile.ts';

/** The dialect of a public host. */
const FOREIGN = dialectNames().find((name) => loadDialect(name).hosts.length > 0)!;

/** What was found out of a host that differs from the profile `live` wherever it can. */
export const HOST_PROFILE: HostProfile = {
  format: 1, host: 'https://swaps.example', dialect: FOREIGN, recorded_at: '2026-11-28T12:00:00Z',
  rounding: { order: 'up', build: 'down' },
  tip: { lamports: '4000', receivers: ['Gu11Ke8cLnWj8gkvT1PzL1nGdCGZ1E2uGTxUykcRTZ9r', 'no address'] },
  percent: 'absent', price_impact: 'fraction',
  programs: [{ program: 'Gu11Ke8cLnWj8gkvT1PzL1nGdCGZ1E2uGTxUykcRTZ9r', layout: null, routes: ['order', 'build'] }],
  members: {
    order: { absent: ['swapType', 'platformFee.feeMint'], extra: ['unheardOf'] },
    build: { absent: ['routePlan.swapInfo.label'], extra: [] },
  },
  limits: { requests: 3, window_ms: 10_000 },
  latency_ms: { order: 30, build: null, node: 20 },
  node: { genesis_hash: null, version: null, transaction_version: 0, websocket: false },
};
