import { hostile, quietly, reach, take } from './attack.ts';
import type { Acts } from './attack.ts';

// Attacks on the recording: decisions on what a replay cannot repeat. Either the value is the same in the replay, or
// the replay says that the run differs. It must not say "the same" of other decisions.

await reach('fs');

const alertOf = (name: string, read: () => unknown) => ({ ctx, propose }: {
  readonly ctx: { alert(level: 'info', message: string): unknown }; readonly propose: (value: unknown) => void;
}): void => { propose(ctx.alert('info', `${name}: ${String(quietly(read))}`)); };

/** The attacks of this file, by name. */
export const DETERMINISM_ATTACKS: Acts = {
  'wall-clock': alertOf('clock', () => Date.now()),
  'new-date': alertOf('date', () => new Date().getTime()),
  'high-resolution-clock': alertOf('counter', () => process.hrtime.bigint() + BigInt(Math.round(performance.now()))),
  'chance': alertOf('chance', () => Math.random()),
  'chance-of-crypto': alertOf('uuid', () => crypto.randomUUID()),
  'process-number': alertOf('pid', () => process.pid),
  'environment': alertOf('environment', () => JSON.stringify(process.env)),
  'memory-in-use': alertOf('memory', () => process.memoryUsage().rss),
  'arguments': alertOf('arguments', () => `${process.argv.join(' ')} ${process.execArgv.length}`),
  'stack-of-the-host': alertOf('stack', () => new Error('where').stack?.split('\n').length),
  'files-there': alertOf('files', () => take('fs').readdirSync('.').length),
  'locale': alertOf('locale', () => new Intl.DateTimeFormat().resolvedOptions().timeZone),
  'microtasks': ({ ctx, propose }) => {
    const order: string[] = [];
    queueMicrotask(() => { order.push('microtask'); });
    setImmediate(() => { order.push('immediate'); });
    ctx.clock.schedule(() => { ctx.log(order.join(' ')); }, 10);
    propose(ctx.alert('info', `order: ${order.join(' ')}`));
  },
};

export default hostile('hostile-determinism', DETERMINISM_ATTACKS);
