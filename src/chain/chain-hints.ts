import { Observable, share, throttleTime } from 'rxjs';
import type { Clock, Millis } from '../core/time.ts';
import type { NodeSocket, SubscriptionNews } from './node-socket.ts';

/** A reason to ask the node about a transaction now. Nothing is known by it: a node may lie, or stay silent. */
interface ChainHint {
  /**
   * Whether the next one comes as soon as the transaction is confirmed, as far as one can tell from what this node did
   * for earlier transactions. Until then there is little to ask.
   */
  readonly isReliable: boolean;
}

/** Hints of nodes by websocket, where they offer one. Their streams never fail, and may stay silent for good. */
export interface ChainHints {
  /** Returns hints about a transaction: when a subscription to it begins or ends, and when it seems confirmed. */
  transaction$(signature: string): Observable<ChainHint>;
  /**
   * Returns hints about a wallet: it or one of its token accounts has changed, a transaction names it, or some of that
   * may have been missed.
   */
  wallet$(owner: string): Observable<unknown>;
  /** Notes that a node that was asked has a transaction, so that hints are measured by what is true. */
  sawConfirmed(signature: string): void;
  /** Notes token accounts of a wallet, as nodes list them. */
  sawTokenAccounts(owner: string, addresses: readonly string[]): void;
  close(): void;
}

/** A node is relied on after so many transactions in a row whose confirmation it told before it was asked. */
const RELIABLE_AFTER = 3;
/** However often a node notifies, it is asked no more often than without notifications. */
const HINT_EVERY_MS: Millis = 400;
const MAX_TOKEN_ACCOUNTS = 64;

interface HintingNode {
  readonly socket: NodeSocket;
  /** Transactions in a row whose confirmation it told in time. */
  toldInTime: number;
}

/** The subscription of a transaction at one node. */
interface Followed {
  readonly node: HintingNode;
  state: SubscriptionNews;
}

/** Returns the hints of nodes, each by its own socket. */
export function createChainHints(
  { sockets, clock }: { readonly sockets: readonly NodeSocket[]; readonly clock: Clock },
): ChainHints {
  const nodes = sockets.map((socket): HintingNode => ({ socket, toldInTime: 0 }));
  const followed = new Map<string, readonly Followed[]>();
  const wallets = new Map<string, Observable<unknown>>();
  const tokenAccounts = new Map<string, Set<string>>();
  const hearTokenAccount = new Map<string, (address: string) => void>();

  function transactionHints(signature: string): Observable<ChainHint> {
    return new Observable((subscriber) => {
      const each = nodes.map((node): Followed => ({ node, state: 'closed' }));
      followed.set(signature, each);
      subscriber.add(() => { followed.delete(signature); });
      for (const one of each) {
        const params = [signature, { commitment: 'confirmed' }];
        subscriber.add(one.node.socket.subscription$({ kind: 'signature', params }).subscribe((news) => {
          one.state = news;
          subscriber.next({
            isReliable: each.some(({ node, state }) => state === 'open' && node.toldInTime >= RELIABLE_AFTER),
          });
        }));
      }
    });
  }

  function walletHints(owner: string): Observable<unknown> {
    const notified$ = new Observable<unknown>((subscriber) => {
      const watch = (kind: 'account' | 'logs', target: unknown): void => {
        const params = [target, { commitment: 'confirmed', ...(kind === 'account' ? { encoding: 'base64' } : {}) }];
        for (const { socket } of nodes) {
          let hasMissed = false;
          subscriber.add(socket.subscription$({ kind, params }).subscribe((news) => {
            if (news === 'notified' || (news === 'open' && hasMissed)) subscriber.next(news);
            hasMissed = news === 'closed';
          }));
        }
      };
      watch('account', owner);
      watch('logs', { mentions: [owner] });
      for (const address of tokenAccounts.get(owner) ?? []) watch('account', address);
      hearTokenAccount.set(owner, (address) => { watch('account', address); });
      return () => { hearTokenAccount.delete(owner); };
    });
    return notified$.pipe(throttleTime(HINT_EVERY_MS, clock, { leading: true, trailing: true }), share());
  }

  return {
    transaction$: transactionHints,
    wallet$(owner) {
      const known = wallets.get(owner) ?? walletHints(owner);
      wallets.set(owner, known);
      return known;
    },
    sawConfirmed(signature) {
      for (const { node, state } of followed.get(signature) ?? []) {
        if (state === 'notified') node.toldInTime += 1;
        else if (state === 'open') node.toldInTime = 0;
      }
      followed.delete(signature);
    },
    sawTokenAccounts(owner, addresses) {
      const known = tokenAccounts.get(owner) ?? new Set();
      tokenAccounts.set(owner, known);
      for (const address of addresses) {
        if (known.has(address) || known.size >= MAX_TOKEN_ACCOUNTS) continue;
        known.add(address);
        hearTokenAccount.get(owner)?.(address);
      }
    },
    close() {
      for (const { socket } of nodes) socket.close();
    },
  };
}
