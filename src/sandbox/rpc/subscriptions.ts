import { addressParam, commitmentOf, configParam, flagOf, signatureOfText, withContext } from './params.ts';
import type { Params } from './params.ts';
import type { SandboxChain } from '../chain/chain.ts';
import { readEncoded } from './account-methods.ts';
import { encodingOf, TOO_LARGE_FOR_BASE58 } from './account-encoding.ts';
import { jsonText } from '../json-text.ts';
import { invalidParams } from './rpc-error.ts';

/** One thing a client waits for. */
export interface Subscription {
  /** The kind's name, which its notification and its unsubscription carry. */
  kind: SubscriptionKind;
  /** Returns what there is to tell now, or undefined; `last` when nothing will follow. */
  poll: () => { result: unknown; last: boolean } | undefined;
}

export type SubscriptionKind = 'signature' | 'account' | 'slot';

/** Returns what a client subscribed to, or undefined for a method that is no subscription. Throws RpcError. */
export function createSubscription(chain: SandboxChain, method: string, params: Params): Subscription | undefined {
  switch (method) {
    case 'signatureSubscribe':
      return signatureSubscription(chain, params);
    case 'accountSubscribe':
      return accountSubscription(chain, params);
    case 'slotSubscribe':
      return slotSubscription(chain);
    default:
      return undefined;
  }
}

/** Tells once, when the transaction has reached the commitment; at once if it already has. */
function signatureSubscription(chain: SandboxChain, params: Params): Subscription {
  const signature = signatureOfText(params[0], 'parameter 0');
  const config = configParam(params, 1);
  const commitment = commitmentOf(config);
  if (flagOf(config, 'enableReceivedNotification')) throw invalidParams('enableReceivedNotification: expected false, this chain has no queue before landing');
  return {
    kind: 'signature',
    poll: () => {
      const status = chain.status(signature);
      if (!status || status.slot > chain.slotAt(commitment)) return undefined;
      return { result: withContext(chain, commitment, { err: status.error }), last: true };
    },
  };
}

/** Tells each time the account looks different at the commitment than when it was last told, or subscribed to. */
function accountSubscription(chain: SandboxChain, params: Params): Subscription {
  const address = addressParam(params, 0);
  const config = configParam(params, 1);
  const commitment = commitmentOf(config);
  // The account may grow while it is watched, and then there is nobody to refuse.
  const encoding = { ...encodingOf(config), instead: TOO_LARGE_FOR_BASE58 };
  const read = (): object | null => readEncoded(chain, { address, commitment, encoding });
  let known = jsonText(read());
  return {
    kind: 'account',
    poll: () => {
      const account = read();
      const now = jsonText(account);
      if (now === known) return undefined;
      known = now;
      return { result: withContext(chain, commitment, account), last: false };
    },
  };
}

function slotSubscription(chain: SandboxChain): Subscription {
  let known = chain.slot;
  return {
    kind: 'slot',
    poll: () => {
      if (chain.slot === known) return undefined;
      known = chain.slot;
      return { result: { parent: chain.slot - 1, root: chain.slotAt('finalized'), slot: chain.slot }, last: false };
    },
  };
}
