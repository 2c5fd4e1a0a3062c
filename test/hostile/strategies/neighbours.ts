import { EMPTY } from 'rxjs';
import { hostile, quietly, reach } from './attack.ts';
import type { Acts } from './attack.ts';

// Attacks on other strategies of the run: by what their code shares, by their names, and by the time of the machine.

await reach('fs', 'module');

/** Replaces what a strategy of the project does, in this process. */
async function replaced(address: string): Promise<undefined> {
  const { default: strategy } = await import(address) as { readonly default: { run: unknown; name: unknown } };
  strategy.run = () => EMPTY;
  Object.assign(strategy, { inputs: () => ({}) });
  return undefined;
}

/** The attacks of this file, by name. */
export const NEIGHBOUR_ATTACKS: Acts = {
  'module-of-a-neighbour': ({ aim }) => replaced(`${aim.project}/strategies/dca.ts`),
  'sdk-shared': async ({ aim }) => {
    const sdk = await import(`${aim.project}/src/strategy/time.ts`) as Record<string, unknown>;
    const changed = Object.keys(sdk).filter((name) => quietly(() => { sdk[name] = () => EMPTY; }) !== undefined);
    return changed.length === 0 ? undefined : 'changed the SDK';
  },
  'global-left-behind': () => {
    Reflect.set(globalThis, 'gannetHostile', true);
  },
  'rxjs-hooks': async () => {
    const { config } = await import('rxjs');
    config.onUnhandledError = () => { throw new Error('an error from a hook'); };
    config.onStoppedNotification = () => { throw new Error('an error from a hook'); };
  },
  'name-of-a-neighbour': ({ ctx, propose }) => {
    quietly(() => { Object.assign(ctx, { name: 'neighbour-order' }); });
    propose({ ...ctx.alert('info', 'said by another'), strategy: 'neighbour-order', seq: 1, at: 1 });
  },
  'command-in-a-proposal': ({ propose, ctx }) => {
    propose({ ...ctx.alert('info', 'a command'), name: 'set-trading-state', state: 'halted' });
  },
  'time-of-the-machine': ({ ctx }) => {
    // Below the bound of a call, and again with each of them.
    const until = performance.now() + 100;
    let turns = 0;
    while (performance.now() < until) turns += 1;
    ctx.log(`turned ${turns} times`);
  },
  'timers-of-the-machine': () => {
    for (let n = 0; n < 50; n++) setInterval(() => undefined, 20).unref();
  },
  'timers-of-the-engine': ({ ctx }) => {
    for (let n = 0; n < 900; n++) ctx.clock.schedule(() => undefined, 50);
  },
  'many-alerts': ({ ctx, propose }) => {
    for (let n = 0; n < 150; n++) propose(ctx.alert('info', `alert ${n}`));
  },
  'many-log-lines': ({ ctx }) => {
    for (let n = 0; n < 500; n++) ctx.log(`line ${n}`);
  },
  'memory-within-its-bound': ({ ctx }) => {
    ctx.log(`${Array.from({ length: 500_000 }, (_, n) => n).length} numbers`);
  },
};

export default hostile('hostile-neighbours', NEIGHBOUR_ATTACKS);
