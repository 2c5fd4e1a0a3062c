import { merge, mergeMap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ReplayResult } from '../../src/backtest/replay.ts';
import { replayRun } from '../../src/backtest/replay.ts';
import type { StrategyInstance } from '../../src/engine/strategy-host.ts';
import type { Quote } from '../../src/market/quote.ts';
import { interval } from '../../src/strategy/index.ts';
import type { Run } from '../engine/runs.ts';
import { start, strategy } from '../engine/runs.ts';
import { stateWith, strategySetup } from '../trading/states.ts';
import { cursorOver, pricePath } from './recordings.ts';

/** Alerts each price, every third one twice, and the time every 7 s; a silenced one leaves some alerts out. */
const speaker = (mute: (message: string) => boolean = () => false, more: readonly string[] = []): StrategyInstance =>
  strategy('speaker', ({ price }, context) => {
    const say = (...messages: readonly string[]) =>
      messages.filter((message) => !mute(message)).map((message) => context.alert('info', message));
    return merge(
      say('hello', ...more.filter((message) => message.startsWith('hello'))),
      price!.pipe(mergeMap((_quote, n) =>
        say(`price ${n}`, ...(n % 3 === 0 ? [`third ${n}`] : []), ...more.filter((message) =>
          message === `price ${n} once more`)))),
      interval(context, '7s').pipe(mergeMap((n) => say(`tick ${n}`))),
    );
  });

/** Prices every 5 s from 5 s on. The decisions are "hello" 1, then those about rows. */
function recorded(): Run {
  const run = start([speaker()]);
  for (const quote of pricePath([100, 101, 102, 103, 104, 105])) {
    run.engine.advanceTo(quote.receivedAt - 1_000);
    run.engine.accept(quote, quote.receivedAt);
  }
  run.engine.advanceTo(36_000);
  return run;
}

type Row = Run['inputs'][number];

function replay(now: StrategyInstance, { rows = (all: readonly Row[]) => all, decisions = Infinity, cutOff = false }: {
  readonly rows?: (all: readonly Row[]) => readonly Row[]; readonly decisions?: number; readonly cutOff?: boolean;
} = {}): { readonly run: Run; readonly result: ReplayResult } {
  const run = recorded();
  const kept = rows(run.inputs);
  const cursor = cursorOver(kept);
  let place = -1;
  const result = replayRun({
    state: stateWith({ strategies: [strategySetup('speaker')] }), strategies: [now], seed: 7, startAt: 0,
    started: { after_seq: 0, at: 0 },
    stopped: cutOff ? null : { after_seq: run.engine.seq, at: run.engine.clock.now() }, cutOff,
    cursor: {
      next: () => { place += 1; return cursor.next(); },
      get at() { return cursor.at; },
      get input() { return cursor.input; },
      get seq() { return kept[place]!.seq; },
    },
    recorded: run.logged.slice(0, decisions).map(({ seq, at, h }) => ({ seq, at, h })),
  });
  return { run, result };
}

const said = (run: Run, message: string): Run['logged'][number] =>
  run.logged.find(({ proposal }) => proposal.kind === 'alert' && proposal.message === message)!;

describe('the first divergence', () => {
  it('is none where everything is the same', () => {
    const { run, result } = replay(speaker());
    expect(result)
      .toMatchObject({ match: true, decisions: run.logged.length, decisionHash: run.engine.decisionHash, events: 6 });
  });

  it.each([
    ['at the start', 'hello', 'start', undefined],
    ['on a row', 'price 2', 'row', 102],
    ['the second one on a row', 'third 3', 'row', 103],
    ['by a timer', 'tick 1', 'timer', 101],
  ] as const)('is a decision that is not made any more (%s), with what it was made on and what comes instead', (
    _name, message, occasion, price,
  ) => {
    const { run, result } = replay(speaker((text) => text === message));
    const lost = said(run, message);
    const { seq, recorded: before, replayed } = result.firstDivergence!;
    expect(result.match).toBe(false);
    expect([seq, before.decision?.seq, before.decision?.h]).toEqual([lost.seq, lost.seq, lost.h]);
    expect([before.occasion, (before.row?.input as Quote | undefined)?.receivedAt])
      .toEqual([occasion, price === undefined ? undefined : (price - 99) * 5_000]);
    const next = run.inputs.find((row) => row.seq > seq)!;
    // The next input has the sequence number of the lost one: it is another decision, or the next row.
    if (replayed.decision === undefined) expect(replayed).toMatchObject({ occasion: 'row', row: { seq: next.seq } });
    else expect(replayed.decision.seq).toBe(seq);
  });

  it.each([
    ['at the start', 'hello again', 1],
    ['on a row', 'price 2 once more', 2],
  ] as const)('is a decision that the run did not make (%s), with the row that the run took in there', (
    _name, message, nth,
  ) => {
    const { run, result } = replay(speaker(undefined, [message]));
    const { seq, recorded: before, replayed } = result.firstDivergence!;
    expect(replayed.decision).toMatchObject({ seq, proposal: { message } });
    expect(before.decision).toBeUndefined();
    expect(before).toMatchObject({ occasion: 'row', row: { seq } });
    expect(run.inputs.findIndex((row) => row.seq === seq)).toBe(nth === 1 ? 0 : 3);
  });

  it('is a further decision than those of the run', () => {
    const { run, result } = replay(speaker(), { decisions: 5 });
    expect(result.firstDivergence).toMatchObject({
      seq: run.logged[5]!.seq, expected: 'no further decision', replayed: { decision: { seq: run.logged[5]!.seq } },
    });
  });

  it('is a decision of the run after the last row that the replay does not make', () => {
    const { run, result } = replay(speaker((text) => text === 'tick 4'));
    expect(result.firstDivergence).toMatchObject({ seq: said(run, 'tick 4').seq, found: 'none', recorded: {
      decision: { h: said(run, 'tick 4').h }, occasion: 'timer',
    }, replayed: { decision: undefined, row: undefined } });
  });

  it('is the row after a gap where a row without a decision is missing', () => {
    const { run, result } = replay(speaker((text) => text !== 'hello'), { rows: (all) => all.slice(1) });
    expect(result.firstDivergence).toMatchObject({
      seq: said(run, 'hello').seq + 1, recorded: { decision: undefined, row: { seq: run.inputs[1]!.seq } },
    });
  });

  it('is none where a run was cut off, since later decisions are unknown, and the hash covers the known ones', () => {
    const last = recorded().logged[3]!;
    const { run, result } =
      replay(speaker(), { cutOff: true, decisions: 4, rows: (all) => all.filter(({ seq }) => seq <= last.seq + 1) });
    expect(result)
      .toMatchObject({ match: true, decisions: 4, decisionHash: run.logged[3]!.h, firstDivergence: undefined });
  });
});
