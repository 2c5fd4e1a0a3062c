import type { Millis } from '../../core/time.ts';
import { formatDuration } from '../../core/time.ts';
import type { Ending, StrategyCall } from '../../engine/host/strategy-call.ts';
import type { AlertProposal } from '../../trading/proposal.ts';

/** Only the ends within this time count against a strategy. */
export const ENDS_SPAN_MS: Millis = 10 * 60_000;

/** Returns an ending for people. */
export function textOf({ reason, place }: Ending): string {
  return place === undefined ? reason : `${reason} at ${place}`;
}

/** Returns the ending of a strategy whose process ended for another reason. */
export function neighbourOf(end: Ending | undefined, culprit: string | undefined): Ending {
  return {
    code: 'STRATEGY_NEIGHBOUR',
    reason: culprit === undefined ? `its process ended: ${end?.reason ?? 'it is started again'}`
      : `its process ended with strategy ${culprit}: ${end?.reason ?? ''}`,
  };
}

/** Returns the alert on a strategy that is not started again. */
export function heldAlert({ name, ends }: {
  readonly name: string | undefined; readonly ends: readonly Millis[];
}, ending: Ending): AlertProposal {
  return {
    kind: 'alert', level: 'critical',
    message: `strategy ${name} was stopped ${ends.length} times within ${formatDuration(ENDS_SPAN_MS)} and stays `
      + `stopped: ${textOf(ending)}. Its neighbours go on. Correct it and start the daemon again, or order `
      + `"gannet resume --strategy ${name}"`,
    data: { code: 'STRATEGY_HELD', strategy: name ?? null },
  };
}

/** Returns a call for people. */
export function occasionOf(call: StrategyCall): string {
  switch (call.kind) {
    case 'start': return 'its start';
    case 'release': return 'the end of its warm-up';
    case 'event': return `an event of its input ${call.input + 1}, ${call.event.kind}`;
    case 'outcome': return `the outcome of ${call.outcome.intentId}`;
    case 'denial': return 'the denial of a proposal';
    case 'timer': return 'one of its timers';
    case 'end': return 'its end';
  }
}
