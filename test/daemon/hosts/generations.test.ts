import { describe, expect, it } from 'vitest';
import type { HostedRun, HostGeneration } from '../../../src/daemon/hosts/host-generations.ts';
import { HostGenerations } from '../../../src/daemon/hosts/host-generations.ts';

/** A generation that carries the strategies of these names, and notes what happens to it. */
function noted(names: readonly string[]): HostGeneration & { readonly notes: string[]; run: HostedRun | undefined } {
  let left = [...names];
  const notes: string[] = [];
  const generation = {
    notes, run: undefined as HostedRun | undefined,
    get isEmpty() { return left.length === 0; },
    load: () => { throw new Error('nothing is loaded here'); },
    attach: (run: HostedRun) => {
      generation.run = run;
      notes.push('attached');
      return () => { notes.push('detached'); };
    },
    release: () => undefined, pids: () => [],
    forget: (isForgotten: (name: string | undefined) => boolean) => {
      left = left.filter((name) => !isForgotten(name));
      notes.push(`left ${left.join(' ')}`.trim());
    },
    close: async () => { notes.push('closed'); },
  };
  return generation;
}

/** Returns processes whose generations are these, the first one attached to a run. */
function generations(...lists: readonly (readonly string[])[]) {
  const all = lists.map(noted);
  const waiting = [...all];
  const hosts = new HostGenerations(() => waiting.shift()!);
  const orders: string[] = [];
  const detach = hosts.attach({
    stopOrder: (strategy) => {
      orders.push(`stop ${strategy}`);
      return undefined;
    },
    accept: (order) => { orders.push(order.name); }, alert: () => undefined, log: () => undefined,
  });
  return { hosts, all, orders, detach };
}

describe('processes of reloaded strategies', () => {
  it('take strategies over one by one, and end those that are left without any', async () => {
    const { hosts, all: [first, second], detach } = generations(['a', 'b'], ['a', 'b', 'c']);
    const staged = hosts.stage();
    staged.adopt('a');
    expect(first!.notes).toEqual(['attached', 'left b']);
    staged.adopt('b');
    expect(first!.notes).toEqual(['attached', 'left b', 'left', 'detached', 'closed']);
    await staged.close();
    expect(second!.notes).toEqual(['attached', 'left a b']);
    detach();
    expect([first!.notes.length, second!.notes.at(-1)]).toEqual([5, 'detached']);
  });

  it('stop no running version under the name of one that was not adopted', () => {
    const { hosts, all: [, second], orders } = generations(['a', 'b'], ['a', 'b']);
    hosts.stage().adopt('a');
    const start = { kind: 'command', name: 'start-strategy', reason: '' } as const;
    for (const strategy of ['a', 'b']) {
      second!.run!.stopOrder(strategy, { code: 'STRATEGY_NEIGHBOUR', reason: 'it ended' });
      second!.run!.accept({ ...start, strategy });
    }
    expect(orders).toEqual(['stop a', 'start-strategy']);
  });

  it('end with the daemon while they are still being loaded', async () => {
    const { hosts, all: [first, second, third] } = generations(['a'], ['a'], ['a']);
    const abandoned = hosts.stage();
    await abandoned.close();
    hosts.stage();
    await hosts.close();
    expect([first!, second!, third!].map(({ notes }) => notes))
      .toEqual([['attached', 'closed'], ['closed'], ['closed']]);
  });
});
