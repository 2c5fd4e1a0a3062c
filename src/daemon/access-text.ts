import type { ServiceAccessState } from '../trading/command.ts';
import type { AlertProposal } from '../trading/proposal.ts';

/** Returns the alert that tells the operator of a change of access: what it means, and what to do. */
export function accessAlert(access: ServiceAccessState, reason: string): AlertProposal {
  if (access === 'silent') {
    return {
      kind: 'alert', level: 'warning', message: `the service does not answer: ${reason}. Entries wait, and go on as soon as it answers; exits are tried`,
      data: { service_access: access, code: 'SERVICE_SILENT' },
    };
  }
  if (access === 'granted') {
    return { kind: 'alert', level: 'info', message: `${reason}: trading goes on`, data: { service_access: access } };
  }
  return {
    kind: 'alert',
    level: 'critical',
    message: `nothing is quoted or traded any more: ${reason}. Where the key works again, this run notices by itself; a new key takes a restart`,
    data: { service_access: access, code: 'SERVICE_UNAUTHORIZED' },
  };
}
