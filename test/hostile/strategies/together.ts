import { hostile } from './attack.ts';
import { CONTROL_ATTACKS } from './control.ts';
import { DETERMINISM_ATTACKS } from './determinism.ts';
import { FILE_ATTACKS } from './files.ts';
import { KEY_ATTACKS } from './key.ts';
import { LOADING_ATTACKS } from './loading.ts';
import { NEIGHBOUR_ATTACKS } from './neighbours.ts';
import { NETWORK_ATTACKS } from './network.ts';
import { PROCESS_ATTACKS } from './processes.ts';
import { PROPOSAL_ATTACKS } from './proposals.ts';
import { RISK_ATTACKS } from './risk.ts';
import { SIGNER_ATTACKS } from './signer.ts';
import { TERMINAL_ATTACKS } from './terminal.ts';

// Attacks of several files in one strategy, so that one process makes them all, one after the other.

export default hostile('hostile-together', {
  ...KEY_ATTACKS, ...FILE_ATTACKS, ...NETWORK_ATTACKS, ...PROCESS_ATTACKS, ...LOADING_ATTACKS, ...SIGNER_ATTACKS,
  ...CONTROL_ATTACKS, ...PROPOSAL_ATTACKS, ...RISK_ATTACKS, ...NEIGHBOUR_ATTACKS, ...DETERMINISM_ATTACKS,
  ...TERMINAL_ATTACKS,
});
