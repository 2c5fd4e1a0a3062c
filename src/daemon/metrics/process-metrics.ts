import { SICK_REASONS, WAIT_REASONS } from './health.ts';
import type { MetricDefinition, Reading, Sample } from './metric-definition.ts';
import { enumerated, single } from './metric-definition.ts';

const PHASES = ['starting', 'recovering', 'trading', 'draining', 'ended'] as const;
const ACCESS = ['granted', 'silent', 'refused', 'forbidden'] as const;

/** About the process, its files, and what it asks of service and node. */
export const PROCESS_METRICS: readonly MetricDefinition[] = [
  {
    name: 'gannet_info', type: 'gauge', labels: ['version', 'node', 'mode', 'run_id'],
    help: 'Always 1. The labels name the version, the Node version, the mode and the run.',
    read: ({ version, mode, runId }) =>
      [{ labels: { version, node: process.version, mode, run_id: runId }, value: 1 }],
  },
  {
    name: 'gannet_start_time_seconds', type: 'gauge', labels: [],
    help: 'When the run was opened, in seconds since the Unix epoch.',
    read: ({ startedAt }) => single(startedAt / 1_000),
  },
  {
    name: 'gannet_phase', type: 'gauge', labels: ['phase'],
    help: '1 for the phase that the run is in, 0 for the others.',
    read: ({ state }) => enumerated('phase', PHASES, (phase) => phase === (state?.phase ?? 'starting')),
  },
  {
    name: 'gannet_ready', type: 'gauge', labels: [],
    help: '1 where /readyz answers 200, otherwise 0.',
    read: ({ waits }) => single(waits.length === 0 ? 1 : 0),
  },
  {
    name: 'gannet_not_ready', type: 'gauge', labels: ['reason'],
    help: '1 for each reason for which /readyz answers 503, 0 for the others.',
    read: ({ waits }) => enumerated('reason', WAIT_REASONS, (reason) => waits.some((wait) => wait === reason)),
  },
  {
    name: 'gannet_unhealthy', type: 'gauge', labels: ['reason'],
    help: '1 for each reason for which /healthz answers 503, 0 for the others.',
    read: ({ sick }) => enumerated('reason', SICK_REASONS, (reason) => sick.some((one) => one === reason)),
  },
  {
    name: 'gannet_event_loop_delay_p50_seconds', type: 'gauge', labels: [],
    help: 'The median delay of the event loop since the scrape before.',
    read: ({ loopDelay }) => single(loopDelay.p50),
  },
  {
    name: 'gannet_event_loop_delay_p99_seconds', type: 'gauge', labels: [],
    help: 'The 99th percentile of the delay of the event loop since the scrape before.',
    read: ({ loopDelay }) => single(loopDelay.p99),
  },
  {
    name: 'gannet_cpu_seconds_total', type: 'counter', labels: [],
    help: 'The processor time that the daemon has used, in user and system mode.',
    read: ({ cpuSeconds }) => single(cpuSeconds),
  },
  {
    name: 'gannet_memory_resident_bytes', type: 'gauge', labels: ['process'],
    help: 'The resident memory of the daemon, of all strategy processes together, and of the signer where it is '
      + 'readable. Pages that processes share count in each.',
    read: ({ memory }) => memory.map(({ process: name, bytes }) => ({ labels: { process: name }, value: bytes })),
  },
  {
    name: 'gannet_disk_free_bytes', type: 'gauge', labels: ['disk'],
    help: 'The free space of the disks of the state directory and of the recordings. Absent where it is unknown.',
    read: ({ disks }) => disks.map(({ disk, bytes }) => ({ labels: { disk }, value: bytes })),
  },
  {
    name: 'gannet_recording_bytes', type: 'gauge', labels: [],
    help: 'The bytes in the recording of this run. Absent without a recording.',
    read: ({ recording }) => single(recording?.bytes),
  },
  {
    name: 'gannet_recording_failed', type: 'gauge', labels: [],
    help: '1 where a fault of the disk has ended the recording of this run, otherwise 0. Absent without a recording.',
    read: ({ recording }) => (recording === undefined ? [] : single(recording.failed ? 1 : 0)),
  },
  {
    name: 'gannet_journal_write_seconds', type: 'histogram', labels: [],
    help: 'How long single writes to the journal took until they were on the disk.',
    read: ({ journal }) => journal.seconds,
  },
  {
    name: 'gannet_journal_write_failures_total', type: 'counter', labels: [],
    help: 'The writes that the journal refused.',
    read: ({ journal }) => single(journal.failures),
  },
  {
    name: 'gannet_journal_behind', type: 'gauge', labels: [],
    help: '1 while something waits to be written to the journal, otherwise 0.',
    read: ({ journal }) => single(journal.isBehind ? 1 : 0),
  },
  {
    name: 'gannet_scrape_seconds', type: 'gauge', labels: [],
    help: 'How long the scrape before took to compute; 0 before the second one.',
    read: ({ lastScrapeSeconds }) => single(lastScrapeSeconds),
  },
  {
    name: 'gannet_service_access', type: 'gauge', labels: ['state'],
    help: '1 for the state of access to the service, 0 for the others: granted, silent (no answer), refused (key) or '
      + 'forbidden (region, address or permission of the key).',
    read: ({ state }) => (state === undefined ? []
      : enumerated('state', ACCESS, (word) => word === state.service_access.state)),
  },
  {
    name: 'gannet_service_requests_total', type: 'counter', labels: ['bucket', 'outcome'],
    help: 'Requests to the service by bucket and outcome: answered, rate_limited (429), or failed.',
    read: (reading) => ofBuckets(reading, ({ sent, refused, failed, inFlight }) => [
      { labels: { outcome: 'answered' }, value: Math.max(0, sent - refused - failed - inFlight) },
      { labels: { outcome: 'rate_limited' }, value: refused },
      { labels: { outcome: 'failed' }, value: failed },
    ]),
  },
  {
    name: 'gannet_service_coalesced_total', type: 'counter', labels: ['bucket'],
    help: 'Calls that shared the answer to another request.',
    read: (reading) => ofBuckets(reading, ({ coalesced }) => single(coalesced)),
  },
  {
    name: 'gannet_service_queue', type: 'gauge', labels: ['bucket'],
    help: 'Requests that wait for their turn in the rate.',
    read: (reading) => ofBuckets(reading, ({ queued }) => single(queued)),
  },
  {
    name: 'gannet_service_in_flight', type: 'gauge', labels: ['bucket'],
    help: 'Requests that wait for their answer.',
    read: (reading) => ofBuckets(reading, ({ inFlight }) => single(inFlight)),
  },
  {
    name: 'gannet_service_allowed_per_second', type: 'gauge', labels: ['bucket'],
    help: 'The rate that is allowed now: below that of the plan where refusals taught it.',
    read: (reading) => ofBuckets(reading, ({ requestsPerSecond }) => single(requestsPerSecond)),
  },
  {
    name: 'gannet_rpc_calls_total', type: 'counter', labels: ['node', 'outcome'],
    help: 'Calls of the nodes of the chain: ok, refused (an error of the node), invalid (no usable answer), or '
      + 'unreachable.',
    read: ({ nodes }) => nodes.flatMap(({ name: node, calls }) =>
      Object.entries(calls).map(([outcome, value]) => ({ labels: { node, outcome }, value }))),
  },
  {
    name: 'gannet_rpc_node_healthy', type: 'gauge', labels: ['node'],
    help: '1 while a node of the chain is used, 0 while it is lost, lags, or belongs to another network.',
    read: ({ nodes }) => nodes.map(({ name: node, state }) =>
      ({ labels: { node }, value: state === 'healthy' ? 1 : 0 })),
  },
  {
    name: 'gannet_rpc_node_slots_behind', type: 'gauge', labels: ['node'],
    help: 'How far a node is behind the furthest one. Absent for a node that is alone.',
    read: ({ nodes }) => nodes.flatMap(({ name: node, slotsBehind }) =>
      (slotsBehind === undefined ? [] : [{ labels: { node }, value: slotsBehind }])),
  },
  {
    name: 'gannet_notifications_waiting', type: 'gauge', labels: ['channel'],
    help: 'The messages that a channel has not taken yet.',
    read: ({ channels }) => channels.map(({ name: channel, waiting }) => ({ labels: { channel }, value: waiting })),
  },
  {
    name: 'gannet_notifications_refused', type: 'gauge', labels: ['channel'],
    help: 'The waiting messages that their channel has refused; they are tried again each hour.',
    read: ({ channels }) => channels.map(({ name: channel, refused }) => ({ labels: { channel }, value: refused })),
  },
  {
    name: 'gannet_notifications_failures', type: 'gauge', labels: ['channel'],
    help: 'The attempts of a channel that failed since the last one that succeeded.',
    read: ({ channels }) => channels.map(({ name: channel, failures }) => ({ labels: { channel }, value: failures })),
  },
  {
    name: 'gannet_alerts_total', type: 'counter', labels: ['level', 'code'],
    help: 'Alerts of this run by level and code: none where an alert has no code, other beyond the bound of codes.',
    read: ({ events }) => events.alerts.map(({ level, code, count }) => ({ labels: { level, code }, value: count })),
  },
];

function ofBuckets(
  { requests }: Reading, read: (stats: Reading['requests'][string]) => readonly Sample[],
): Sample[] {
  return Object.entries(requests).flatMap(([bucket, stats]) =>
    read(stats).map(({ labels, value }) => ({ labels: { bucket, ...labels }, value })));
}
