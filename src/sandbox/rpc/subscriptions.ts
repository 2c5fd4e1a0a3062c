import type { Account, Address, Commitment, LandedTransaction, SandboxChain } from '../chain/chain.ts';
import { jsonText } from '../json-text.ts';
import { accountEncoder, encodingOf, TOO_LARGE_FOR_BASE58 } from './account-encoding.ts';
import { accountFilters, readEncoded } from './account-methods.ts';
import type { Params } from './rpc-params.ts';
import {
  addressOfText, addressParam, commitmentOf, configParam, flagOf, invalidParams, objectOf, signatureOfText,
  withContext,
} from './rpc-params.ts';
import { slotUpdates } from './slot-updates.ts';

/** One subscription of a client. */
export interface Subscription {
  /** The kind's name, which its notification and its unsubscription carry. */
  kind: SubscriptionKind;
  /** Returns the notifications that are due, in order; `last` when none will follow. */
  poll: () => readonly News[];
}

interface News {
  result: unknown;
  last: boolean;
}

export const SUBSCRIPTION_KINDS = ['signature', 'account', 'slot', 'logs', 'program', 'root', 'slotsUpdates'] as const;
type SubscriptionKind = (typeof SUBSCRIPTION_KINDS)[number];

/** Returns the subscription of a request, or undefined for a method that is no subscription. Throws RpcError. */
export function createSubscription(chain: SandboxChain, method: string, params: Params): Subscription | undefined {
  switch (method) {
    case 'signatureSubscribe':
      return signatureSubscription(chain, params);
    case 'accountSubscribe':
      return accountSubscription(chain, params);
    case 'slotSubscribe':
      return slotSubscription(chain);
    case 'slotsUpdatesSubscribe':
      return slotsUpdatesSubscription(chain);
    case 'rootSubscribe':
      return rootSubscription(chain);
    case 'logsSubscribe':
      return logsSubscription(chain, params);
    case 'programSubscribe':
      return programSubscription(chain, params);
    default:
      return undefined;
  }
}

/**
 * Notifies once, when the transaction has reached the commitment; at once if it already has. A client may ask to be
 * told before that the node has the transaction: on this chain it has it when it lands.
 */
function signatureSubscription(chain: SandboxChain, params: Params): Subscription {
  const signature = signatureOfText(params[0], 'parameter 0');
  const config = configParam(params, 1);
  const commitment = commitmentOf(config);
  let tellsReceived = flagOf(config, 'enableReceivedNotification');
  return {
    kind: 'signature',
    poll: () => {
      const status = chain.status(signature);
      if (!status) return [];
      const news: News[] = [];
      if (tellsReceived) news.push({ result: withContext(chain, 'processed', 'receivedSignature'), last: false });
      tellsReceived = false;
      if (status.slot <= chain.slotAt(commitment))
        news.push({ result: withContext(chain, commitment, { err: status.error }), last: true });
      return news;
    },
  };
}

/** Notifies whenever the account differs at the commitment from the last notification, or from the subscription. */
function accountSubscription(chain: SandboxChain, params: Params): Subscription {
  const address = addressParam(params, 0);
  const config = configParam(params, 1);
  const commitment = commitmentOf(config);
  // The account may grow while it is watched, and then there is no request to refuse.
  const encoding = { ...encodingOf(config), instead: TOO_LARGE_FOR_BASE58 };
  const read = (): object | null => readEncoded(chain, { address, commitment, encoding });
  let known = jsonText(read());
  return {
    kind: 'account',
    poll: () => {
      const account = read();
      const now = jsonText(account);
      if (now === known) return [];
      known = now;
      return [{ result: withContext(chain, commitment, account), last: false }];
    },
  };
}

function slotSubscription(chain: SandboxChain): Subscription {
  let known = chain.slotAt('processed');
  return {
    kind: 'slot',
    poll: () => {
      const { slot, parentSlot: parent } = chain.blockAt('processed');
      if (slot === known) return [];
      known = slot;
      return [{ result: { parent, root: chain.slotAt('finalized'), slot }, last: false }];
    },
  };
}

/** Notifies of each stage of each slot. */
function slotsUpdatesSubscription(chain: SandboxChain): Subscription {
  const next = slotUpdates(chain);
  return { kind: 'slotsUpdates', poll: () => next().map((result) => ({ result, last: false })) };
}

/** Notifies of each new root; after a leap of slots only of the newest. */
function rootSubscription(chain: SandboxChain): Subscription {
  let known = chain.slotAt('finalized');
  return {
    kind: 'root',
    poll: () => {
      const root = chain.slotAt('finalized');
      if (root === known) return [];
      known = root;
      return [{ result: root, last: false }];
    },
  };
}

/** Returns the transactions that reached a commitment since the last call, in order. */
function landedSince(chain: SandboxChain, commitment: Commitment): () => LandedTransaction[] {
  let seen = chain.transactionCount;
  let waiting: LandedTransaction[] = [];
  return () => {
    const fresh: LandedTransaction[] = [];
    const count = chain.transactionCount - seen;
    for (const landed of chain.landedNewestFirst()) {
      if (fresh.length === count) break;
      fresh.push(landed);
    }
    seen = chain.transactionCount;
    waiting.push(...fresh.reverse());
    const reached = waiting.filter(({ slot }) => slot <= chain.slotAt(commitment));
    waiting = waiting.slice(reached.length);
    return reached;
  };
}

/** Notifies of the logs of each transaction that reaches the commitment, of all or of those that mention an address. */
function logsSubscription(chain: SandboxChain, params: Params): Subscription {
  const mentioned = mentionedIn(params[0]);
  const commitment = commitmentOf(configParam(params, 1));
  const next = landedSince(chain, commitment);
  return {
    kind: 'logs',
    poll: () => next()
      .filter(({ accountKeys }) => mentioned === undefined || accountKeys.includes(mentioned))
      .map(({ slot, signature, error, logs }) => ({
        result: { context: { slot }, value: { signature, err: error, logs } }, last: false,
      })),
  };
}

/** Returns the address that logs must mention, undefined for all. Throws RpcError. */
function mentionedIn(filter: unknown): Address | undefined {
  if (filter === 'all' || filter === 'allWithVotes') return undefined;
  const { mentions } = objectOf(filter, 'parameter 0');
  if (!Array.isArray(mentions))
    throw invalidParams('parameter 0: expected "all", "allWithVotes" or {mentions: [address]}');
  if (mentions.length !== 1) throw invalidParams('Only 1 address supported');
  return addressOfText(mentions[0], 'parameter 0.mentions[0]');
}

/** Notifies of each account of a program whose content or balance changed at the commitment. */
function programSubscription(chain: SandboxChain, params: Params): Subscription {
  const program = addressParam(params, 0);
  const config = configParam(params, 1);
  const commitment = commitmentOf(config);
  const filters = accountFilters(config);
  const encode = accountEncoder(chain, commitment, { ...encodingOf(config), instead: TOO_LARGE_FOR_BASE58 });
  const known = new Map<Address, Account>(chain.programAccounts(program, commitment));
  const next = landedSince(chain, commitment);
  let slot = chain.slot;

  /** Between slots only transactions change accounts; the market moves its pools with the slots. */
  function candidates(): Iterable<[Address, Account | undefined]> {
    const written = new Set(next().flatMap(({ writableKeys }) => writableKeys));
    if (chain.slot !== slot) return chain.programAccounts(program, commitment);
    return [...written].map((address) => [address, chain.account(address, commitment)]);
  }

  return {
    kind: 'program',
    poll: () => {
      const changed = [...candidates()].filter(([address, account]) => isChanged(known.get(address), account));
      slot = chain.slot;
      const news: News[] = [];
      for (const [pubkey, account] of changed) {
        if (account?.owner !== program) {
          known.delete(pubkey);
          continue;
        }
        known.set(pubkey, account);
        if (!filters.every((matches) => matches(account.data))) continue;
        const value = { pubkey, account: encode(pubkey, account) };
        news.push({ result: withContext(chain, commitment, value), last: false });
      }
      return news;
    },
  };
}

function isChanged(before: Account | undefined, now: Account | undefined): boolean {
  if (before === undefined || now === undefined) return before !== now;
  return before.lamports !== now.lamports || before.owner !== now.owner || Buffer.compare(before.data, now.data) !== 0;
}
