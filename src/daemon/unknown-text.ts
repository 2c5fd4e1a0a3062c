import { needsOperator } from '../trading/intent.ts';
import type { AlertProposal } from '../trading/proposal.ts';
import type { IntentRecord } from './tally.ts';
import { whyText } from './why-text.ts';

/** Returns the alert that tells the operator of a swap of which nobody knows what became of it: what is done, and what can be. */
export function unknownAlert({ intent: { id }, signature, code, reason }: IntentRecord): AlertProposal {
  const why = whyText(code, reason);
  return {
    kind: 'alert',
    // Most pass by themselves within seconds.
    level: needsOperator(code) ? 'critical' : 'warning',
    message: `nobody can say yet what became of ${id}${why === '' ? '' : ` (${why})`}. The same bytes are sent again and the chain is asked until it is known; `
      + `until then its input stays locked. "gannet journal show ${id}" shows it; only where it stays unknown, "gannet resolve ${id}" takes your word`,
    data: { intent_id: id, signature: signature ?? null, code: code ?? null },
  };
}

/** Returns the alert that tells of swaps in a row that were given up before anything was signed, all for one cause. */
export function givenUpAlert({ code, reason }: IntentRecord, count: number): AlertProposal {
  return {
    kind: 'alert', level: 'warning',
    message: `the last ${count} swaps were given up before anything was signed, all for one cause (${whyText(code, reason)}); nothing is traded while it lasts`,
    data: { code: code ?? null, count },
  };
}
