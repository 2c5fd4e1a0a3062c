import { interval, map, take } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { SessionOptions } from '../../../src/daemon/run/run-options.ts';
import { apart, strategy } from '../../engine/runs.ts';
import { PURCHASE } from '../../market/events.ts';
import { SOL_USDC, USDC } from '../../market/tokens.ts';
import { start } from '../session-fixture.ts';

/** Buys after ten seconds, and throws after thirty. */
const FAILING = strategy('ticker', (_streams, context) => interval(10_000, context.clock).pipe(map((count) => {
  if (count === 2) throw new Error('boom');
  return count === 0 ? context.buy(SOL_USDC, { token: USDC, amount: PURCHASE }, 'once')
    : context.alert('info', 'waits');
})));

/** Says one thing after ten seconds, and then nothing more. */
const BRIEF = strategy('ticker', (_streams, context) => interval(10_000, context.clock)
  .pipe(take(1), map(() => context.alert('info', 'the last one'))));

/** Its process takes too long for the third timer. */
function hanging(): SessionOptions['strategies'][number] {
  const inner = apart(FAILING).apart!;
  let timers = 0;
  return {
    ...FAILING,
    apart: {
      call: (call, portfolio) => (call.kind === 'timer' && ++timers === 3
        ? { ending: { code: 'STRATEGY_TIMEOUT', reason: 'it took more than 250ms for a timer', place: 'dip.ts:3:1' } }
        : inner.call(call, portfolio)),
    },
  };
}

describe('a strategy whose stream is complete', () => {
  it.each([
    ['in the daemon', BRIEF], ['apart from it', apart(BRIEF)],
  ])('says so in the log once: %s', async (_, ticker) => {
    const daemon = await start({ ticker });
    await daemon.pass(30_000);
    expect(daemon.logged.filter((message) => message.includes('complete')))
      .toEqual(['ticker has ended: its stream is complete, so it proposes nothing more']);
    expect(daemon.alerts).toEqual(['info: the last one']);
  });
});

describe('a strategy that was stopped', () => {
  it('goes on holding its position by default, and an alert says so', async () => {
    const daemon = await start({ ticker: FAILING });
    daemon.land();
    await daemon.pass(30_000);
    expect(daemon.executed).toEqual(['ticker-1']);
    expect(daemon.alerts).toContain('critical: strategy ticker stopped: boom');
    expect(daemon.alerts).toContainEqual(expect.stringMatching(
      /^critical: ticker no longer decides \(STRATEGY_FAILED\)\. It goes on holding 0\.166 SOL \(/,
    ));
    expect(daemon.session.controlPort.state().strategies[0]).toMatchObject({
      running: false, standing: 'stopped', stopped: { code: 'STRATEGY_FAILED', reason: 'boom', place: null },
    });
  });

  it('has its position sold where the configuration says so, by a recorded command', async () => {
    const daemon = await start({ ticker: { ...hanging(), onStop: 'exit' } });
    daemon.land();
    await daemon.pass(30_000);
    expect(daemon.executed).toEqual(['ticker-1', 'ticker-2']);
    expect(daemon.alerts).toContainEqual(expect.stringMatching(
      /decides: it was stopped in dip\.ts:3:1 \(STRATEGY_TIMEOUT\)\. 0\.166 SOL is sold now/,
    ));
    expect(daemon.stamps.map(({ input }) => ('name' in input ? input.name : input.kind)))
      .toEqual(expect.arrayContaining(['stop-strategy', 'flatten']));
    const { strategies, standing_reasons: reasons } = daemon.session.controlPort.state();
    expect(strategies[0]).toMatchObject({ stopped: { code: 'STRATEGY_TIMEOUT', place: 'dip.ts:3:1' } });
    expect(reasons.join('\n')).toMatch(
      /ticker was stopped at \S+ UTC in dip\.ts:3:1: it took more than 250ms for a timer \(STRATEGY_TIMEOUT\)/,
    );
  });
});
