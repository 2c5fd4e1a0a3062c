import { Subject } from 'rxjs';
import { beforeEach, describe, expect, it } from 'vitest';
import { createChainHints, type ChainHints } from '../../src/chain/chain-hints.ts';
import type { NodeSocket, SubscriptionNews } from '../../src/chain/node-socket.ts';
import { VirtualClock } from '../../src/engine/virtual-clock.ts';
import type { TransactionHint } from '../../src/execution/ports.ts';

const OWNER = '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2';

/** A socket whose news a test makes. The name of a subscription is its kind and its target. */
class FakeSocket implements NodeSocket {
  readonly subscribed = new Map<string, Subject<SubscriptionNews>>();

  subscription$({ kind, params }: Parameters<NodeSocket['subscription$']>[0]): Subject<SubscriptionNews> {
    const news$ = new Subject<SubscriptionNews>();
    this.subscribed.set(`${kind} ${typeof params[0] === 'string' ? params[0] : JSON.stringify(params[0])}`, news$);
    return news$;
  }

  tell(name: string, ...news: readonly SubscriptionNews[]): void {
    for (const each of news) this.subscribed.get(name)!.next(each);
  }

  close(): void {
    this.subscribed.clear();
  }
}

let clock: VirtualClock;
let socket: FakeSocket;
let hints: ChainHints;

beforeEach(() => {
  clock = new VirtualClock(1_800_000_000_000);
  socket = new FakeSocket();
  hints = createChainHints({ sockets: [socket], clock });
});

function follow(signature: string, of = hints): { readonly heard: TransactionHint[]; readonly stop: () => void } {
  const heard: TransactionHint[] = [];
  const subscription = of.transaction$(signature).subscribe((hint) => { heard.push(hint); });
  return { heard, stop: () => { subscription.unsubscribe(); } };
}

/** A transaction whose confirmation the node tells, or does not, before it is asked. */
function land(signature: string, isTold: boolean): boolean {
  const { heard, stop } = follow(signature);
  socket.tell(`signature ${signature}`, 'open');
  const wasReliable = heard[0]!.isReliable;
  if (isTold) socket.tell(`signature ${signature}`, 'notified');
  expect(heard.at(-1)!.isReliable).toBe(isTold ? false : wasReliable);
  hints.sawConfirmed(signature);
  // A second answer about the same transaction counts no second time.
  hints.sawConfirmed(signature);
  stop();
  return wasReliable;
}

describe('hints about transactions', () => {
  it('are relied on after three in time, and no longer after one that did not come', () => {
    expect(['a', 'b', 'c'].map((each) => land(each, true))).toStrictEqual([false, false, false]);
    expect(land('d', true)).toBe(true);
    expect(land('e', false)).toBe(true);
    expect(['f', 'g', 'h', 'i'].map((each) => land(each, true))).toStrictEqual([false, false, false, true]);
  });

  it('are not relied on while the connection is lost, nor after a notification, be it true or not', () => {
    for (const each of ['a', 'b', 'c']) land(each, true);
    const { heard } = follow('d');
    socket.tell('signature d', 'open', 'closed', 'open', 'notified');
    expect(heard.map(({ isReliable }) => isReliable)).toStrictEqual([true, false, true, false]);
  });

  it('gain no trust by notifications about what never landed', () => {
    for (let i = 0; i < 20; i++) {
      const { stop } = follow(`lie-${i}`);
      socket.tell(`signature lie-${i}`, 'open', 'notified');
      stop();
      hints.sawConfirmed(`lie-${i}`);
    }
    expect(land('a', true)).toBe(false);
  });

  it('come from every node, and are relied on as long as one of them is', () => {
    const [first, second] = [new FakeSocket(), new FakeSocket()];
    const both = createChainHints({ sockets: [first, second], clock });
    for (const signature of ['a', 'b', 'c']) {
      const { stop } = follow(signature, both);
      first.tell(`signature ${signature}`, 'open', 'notified');
      both.sawConfirmed(signature);
      stop();
    }
    const { heard } = follow('d', both);
    second.tell('signature d', 'open');
    first.tell('signature d', 'open');
    second.tell('signature d', 'closed');
    first.tell('signature d', 'closed');
    expect(heard.map(({ isReliable }) => isReliable)).toStrictEqual([false, true, true, false]);
  });

  it('are none without a socket', () => {
    const none = createChainHints({ sockets: [], clock });
    expect(follow('a', none).heard).toStrictEqual([]);
  });
});

describe('hints about a wallet', () => {
  it('come with its account, its token accounts as they become known, and transactions that name it', () => {
    let count = 0;
    hints.sawTokenAccounts(OWNER, ['first']);
    const subscription = hints.wallet$(OWNER).subscribe(() => { count += 1; });
    hints.sawTokenAccounts(OWNER, ['first', 'second']);
    hints.sawTokenAccounts('another-wallet', ['third']);
    const names = [`account ${OWNER}`, `logs {"mentions":["${OWNER}"]}`, 'account first', 'account second'];
    expect([...socket.subscribed.keys()]).toStrictEqual(names);
    for (const [index, name] of names.entries()) {
      socket.tell(name, 'open');
      expect(count).toBe(index);
      socket.tell(name, 'notified');
      expect(count).toBe(index + 1);
      clock.advanceTo(clock.now() + 10_000);
    }
    subscription.unsubscribe();
    expect(socket.subscribed.get('account second')!.observed).toBe(false);
  });

  it('come again once the node takes the subscription after a lost connection, since something may be missed', () => {
    let count = 0;
    hints.wallet$(OWNER).subscribe(() => { count += 1; });
    socket.tell(`account ${OWNER}`, 'open', 'closed');
    expect(count).toBe(0);
    socket.tell(`account ${OWNER}`, 'open');
    expect(count).toBe(1);
  });

  it('come at most every 400 ms, however many notifications a node sends', () => {
    let count = 0;
    hints.wallet$(OWNER).subscribe(() => { count += 1; });
    for (let ms = 0; ms < 4_000; ms++) {
      for (let i = 0; i < 10; i++) socket.tell(`account ${OWNER}`, 'notified');
      clock.advanceTo(clock.now() + 1);
    }
    expect(count).toBe(11);
  });

  it('watch at most 64 token accounts, and once for all who listen', () => {
    hints.sawTokenAccounts(OWNER, Array.from({ length: 1_000 }, (_, index) => `account-${index}`));
    const listeners = [1, 2, 3].map(() => hints.wallet$(OWNER).subscribe());
    expect(socket.subscribed.size).toBe(66);
    for (const listener of listeners) listener.unsubscribe();
    expect([...socket.subscribed.values()].some(({ observed }) => observed)).toBe(false);
  });
});
