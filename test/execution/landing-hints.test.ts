import { Subject, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createChainHints } from '../../src/chain/chain-hints.ts';
import type { SubscriptionNews } from '../../src/chain/node-socket.ts';
import { VirtualClock } from '../../src/engine/virtual-clock.ts';
import { landTransaction, type TransactionEnd } from '../../src/execution/land-transaction.ts';
import { LandingHints } from '../../src/execution/landing-hints.ts';
import { MonotonicTime } from '../../src/execution/monotonic-time.ts';
import type { TransactionHint } from '../../src/execution/ports.ts';

const START = 1_800_000_000_000;
const sent = { transaction: new Uint8Array(), signature: 'a', blockhash: 'b', lastValidBlockHeight: 1n };

/** Lets everything that waits for no time go on. */
async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

interface Landing {
  readonly end: TransactionEnd | undefined;
  /** From the first sending to the known outcome. */
  readonly ms: number;
  /** Requests for the status. */
  readonly polls: number;
}

/** Follows a transaction that is confirmed after `confirmedMs`, where at most. */
async function follow({ confirmedMs, hints$, at = {}, until = 120_000 }: {
  readonly confirmedMs: number;
  readonly hints$?: Observable<TransactionHint> | undefined;
  /** What happens at an instant. */
  readonly at?: Readonly<Record<number, () => void>>;
  readonly until?: number;
}): Promise<Landing> {
  const clock = new VirtualClock(START);
  let polls = 0;
  let isCancelled = false;
  let end: { readonly end: TransactionEnd | undefined; readonly ms: number } | undefined;
  void landTransaction({
    clock,
    chain: {
      send: async () => ({ kind: 'accepted' }),
      finalizedBlockHeight: async () => 0n,
      isBlockhashValid: async () => true,
      async signatureStatus() {
        polls += 1;
        return clock.now() - START >= confirmedMs ? { slot: 1n, confirmation: 'confirmed' } : undefined;
      },
      ...(hints$ === undefined ? {} : { transactionHints$: () => hints$ }),
    },
  }, sent, { isCancelled: () => isCancelled, onFault: (fault) => { throw fault; } })
    .then((found) => { end = { end: found, ms: clock.now() - START }; });
  await settled();
  for (let ms = 1; ms <= until; ms++) {
    clock.advanceTo(START + ms);
    at[ms]?.();
    await settled();
    if (end !== undefined) break;
  }
  isCancelled = true;
  if (end === undefined) {
    clock.advanceTo(clock.now() + 5_000);
    await settled();
  }
  return { ...(end ?? { end: undefined, ms: Infinity }), polls };
}

describe('a hint about a transaction', () => {
  it('makes its outcome known at once, with few requests where hints are reliable', async () => {
    const hints$ = new Subject<TransactionHint>();
    const at = {
      5: () => { hints$.next({ isReliable: true }); }, 1_713: () => { hints$.next({ isReliable: false }); },
    };
    expect(await follow({ confirmedMs: 1_713, hints$, at }))
      .toStrictEqual({ end: { kind: 'landed' }, ms: 1_713, polls: 3 });
    expect(await follow({ confirmedMs: 1_713 })).toStrictEqual({ end: { kind: 'landed' }, ms: 2_000, polls: 6 });
  });

  it('changes nothing where it never comes, and little where reliable ones stay away', async () => {
    const usual = await follow({ confirmedMs: 3_300 });
    expect(await follow({ confirmedMs: 3_300, hints$: new Subject() })).toStrictEqual(usual);
    const opened$ = new Subject<TransactionHint>();
    const opened = await follow({ confirmedMs: 3_300, hints$: opened$, at: { 1: () => {
      opened$.next({ isReliable: false });
    } } });
    // The poll at the opening is all that is added. The others come as often, from that one on.
    expect(opened.polls).toBe(usual.polls + 1);
    expect(opened.ms).toBeLessThanOrEqual(3_300 + 400);
    const reliable$ = new Subject<TransactionHint>();
    const late = await follow({ confirmedMs: 3_300, hints$: reliable$, at: { 1: () => {
      reliable$.next({ isReliable: true });
    } } });
    expect(late.end).toStrictEqual({ kind: 'landed' });
    expect(late.ms).toBeLessThanOrEqual(usual.ms + 2_000);
  });

  it('decides nothing where it lies: the node is asked, and polls go on', async () => {
    const hints$ = new Subject<TransactionHint>();
    const lie = (): void => { hints$.next({ isReliable: false }); };
    const { end, polls } = await follow({ confirmedMs: Infinity, hints$, at: { 100: lie, 700: lie }, until: 10_000 });
    expect(end).toBeUndefined();
    expect(polls).toBeLessThanOrEqual(10_000 / 400 + 3);
    expect(polls).toBeGreaterThanOrEqual(10_000 / 400);
  });

  it('comes so rarely from a node that notifies all the time that it adds a few requests', async () => {
    const news$ = new Subject<SubscriptionNews>();
    const clock = new VirtualClock(START);
    const hints = createChainHints({ clock, sockets: [{ subscription$: () => news$, close: () => undefined }] });
    const at = Object.fromEntries(Array.from({ length: 9_000 }, (_, ms) => [ms + 1, () => {
      clock.advanceTo(START + ms);
      for (let i = 0; i < 5; i++) news$.next('notified');
    }]));
    const { polls } = await follow({ confirmedMs: Infinity, hints$: hints.wallet$('w') as never, at, until: 9_000 });
    expect(polls).toBeLessThanOrEqual(2 * (9_000 / 400 + 2));
  });
});

describe('a transaction whose id is not known', () => {
  const owner = 'the wallet';

  function open(chain: ConstructorParameters<typeof LandingHints>[0]): {
    readonly hints: LandingHints; readonly clock: VirtualClock; readonly paused: () => Promise<number>;
  } {
    const clock = new VirtualClock(START);
    const hints = new LandingHints(chain, { transactionId: undefined, owner });
    const time = new MonotonicTime(clock);
    return { hints, clock, paused: async () => {
      const from = clock.now();
      await hints.pause(time, 400);
      return clock.now() - from;
    } };
  }

  it('is asked for at once after a hint about its wallet, and as often as always without one', async () => {
    const hints$ = new Subject<unknown>();
    const { hints, clock, paused } = open({ walletHints$: (wallet) => {
      expect(wallet).toBe(owner);
      return hints$;
    } });
    const first = paused();
    clock.advanceTo(START + 123);
    hints$.next('notified');
    expect(await first).toBe(123);
    // A hint before a poll is answered by that poll, one during it by the next.
    hints$.next('notified');
    hints.polls();
    const second = paused();
    await settled();
    clock.advanceTo(clock.now() + 400);
    expect(await second).toBe(400);
    hints.polls();
    hints$.next('notified');
    expect(await paused()).toBe(0);
    hints.close();
    expect(hints$.observed).toBe(false);
  });

  it('is asked for at the usual interval where no node gives hints', async () => {
    const { clock, paused } = open({});
    const pause = paused();
    clock.advanceTo(START + 399);
    await settled();
    clock.advanceTo(START + 400);
    expect(await pause).toBe(400);
  });
});
