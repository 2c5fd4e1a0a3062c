import { stringifyJson } from '../../core/json.ts';
import { printableJson } from '../../core/text.ts';
import type { Millis } from '../../core/time.ts';
import { feedKey } from '../../market/feed.ts';
import type { IntentRecord } from './counters.ts';
import type { Reporter, RunStart, Stamp } from './reporter.ts';
import { describeTradingChange } from './trading-text.ts';

/** Something that happened in a run, as `--json` and the log file have it. */
export interface RunEvent {
  readonly type: string;
  readonly at: Millis;
  readonly seq: number;
}

/** Returns the reporter of `--json`: one JSON document a line. */
export function createJsonReporter(write: (line: string) => void): Reporter {
  return createEventReporter((event) => { write(`${printableJson(stringifyJson(event))}\n`); });
}

/** Returns a reporter that hands on everything that happens as plain data. */
export function createEventReporter(emit: (event: RunEvent) => void): Reporter {
  const line = (type: string, stamp: Stamp, body: object): void => {
    emit({ type, at: stamp.at, seq: stamp.seq, ...body });
  };
  return {
    started: (stamp, start) => {
      line('started', stamp, {
        run_id: start.runId, mode: start.mode, real_money: start.isRealMoney, service: start.service,
        wallet: start.wallet,
        signer: signerJson(start.signer), control_url: start.controlUrl, control_port_taken: start.controlPortTaken,
        strategies: start.strategies, feeds: start.feeds.map(({ spec, expectedMs }) => ({
          feed: feedKey(spec), every_ms: spec.everyMs, expected_ms: expectedMs > spec.everyMs ? expectedMs : undefined,
        })),
        balances: start.balances, limits: start.limits, protections: start.protections,
      });
    },
    decided: ({ seq, at, strategy, proposal, verdict, code, h }, intent) => {
      line('decision', { seq, at }, { strategy, proposal, verdict, code, h, intent_id: intent?.id });
    },
    denied: ({ seq, at, strategy, proposal, verdict, h }, { code, reason }) => {
      line('denial', { seq, at }, { strategy, proposal, verdict, code, reason, h });
    },
    intent: (stamp, record) => { line('intent', stamp, intentJson(record)); },
    alert: (stamp, strategy, { level, message, data }) => { line('alert', stamp, { strategy, level, message, data }); },
    feed: (stamp, { feed, status, code, message, consecutiveFailures }) => {
      line('state', stamp, { feed, state: status, code, message, consecutive_failures: consecutiveFailures });
    },
    state: (stamp, state, message) => { line('state', stamp, { state, message }); },
    trading: (stamp, change) => { line('state', stamp, { ...change, message: describeTradingChange(change) }); },
    protection: (
      stamp, { change, protection: { trigger: { kind }, scope, action, release }, subject, code, reason },
    ) => {
      line('state', stamp, {
        state: change, protection: kind, code, scope, subject: subject === '' ? undefined : subject, action,
        release: release.kind, reason,
      });
    },
    summary: (stamp, summary) => {
      line('summary', stamp, {
        run_id: summary.runId, run_dir: summary.runDir, recording: summary.recording, duration_ms: summary.durationMs,
        events: summary.events, decisions: summary.decisions, decision_hash: summary.decisionHash,
        denials: summary.denials,
        intents: summary.intents, open: summary.open, alerts: summary.alerts, fees_lamports: summary.feesLamports,
        rent_lamports: summary.rentLamports, strategies: summary.strategies, trading: summary.trading,
      });
    },
  };
}

function signerJson(signer: RunStart['signer']): object | null {
  if (signer === undefined) return null;
  const { pid, address, programs, caps, destinations, rpc } = signer;
  return { pid, address, programs, caps, destinations, rpc };
}

/** Returns an intent as the command line and the control API show it; what is not known yet is absent. */
export function intentJson(
  { intent, state, router, signature, code, reason, gatewayRequestId, fill }: IntentRecord,
): Record<string, unknown> {
  return {
    intent_id: intent.id,
    strategy: intent.strategy,
    state,
    route: intent.route,
    router,
    input_mint: intent.inputMint,
    output_mint: intent.outputMint,
    amount_in: (fill?.amountIn ?? intent.amountIn).toString(),
    amount_out: fill?.amountOut.toString(),
    receiver: fill?.receiver,
    signature,
    code,
    reason,
    gateway_request_id: gatewayRequestId,
  };
}
