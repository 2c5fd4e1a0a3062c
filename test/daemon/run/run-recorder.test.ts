import { join } from 'node:path';
import { NEVER, filter, map, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { snapshotState } from '../../../src/trading/engine-state.ts';
import { strategy, type Body } from '../../engine/runs.ts';
import { buyingSol } from '../../market/events.ts';
import { USDC } from '../../market/tokens.ts';
import { temporaryFolder, temporaryJournal } from '../../store/fixtures.ts';
import { buy, fillOf, outcome } from '../../trading/states.ts';
import { controlFixture, ORIGIN } from '../control-fixture.ts';

const DEAD_MAN = {
  trigger: { kind: 'dead-man', afterMs: 60_000 }, scope: 'global', action: 'halt', release: { kind: 'operator' },
} as const;

/** Buys at every other price. */
const everyOther = (turn: number): Body => (streams) => Object.values(streams)[0]!.pipe(
  filter((_price, index) => index % 2 === turn), map(() => buy()),
);

describe('the run recorder', () => {
  it('reports triggered and cleared protections, raises an alert, and saves both for the next start', () => {
    const { engine, controlPort, reported: told, saved, state, logs } =
      controlFixture(temporaryFolder(), { limits: { protections: [DEAD_MAN] } });
    engine.accept(buyingSol(150_000, 2_000), 2_000);
    engine.accept(buyingSol(150_000, 90_000), 90_000);
    expect(logs).toEqual([expect.stringMatching(/^info: a protection has changed/)]);
    expect(told).toEqual([expect.stringMatching(/^fired /), expect.stringMatching(
      /^critical gannet: dead_man is triggered for everything, nothing is traded .* until "gannet resume"$/,
    )]);
    expect(saved()).toEqual(JSON.parse(JSON.stringify(snapshotState(state))));
    expect(controlPort.state()).toMatchObject({
      trading: 'active', effective: 'halted', protections: [{ kind: 'dead-man', action: 'halt', release: 'operator' }],
    });
    controlPort.request({ action: 'resume' }, ORIGIN);
    expect(told.slice(2)).toEqual([
      expect.stringMatching(/^released /), expect.stringMatching(/^warning gannet: the order "resume" by "a test"/),
    ]);
    expect(controlPort.state()).toMatchObject({ effective: 'active', protections: [] });
  });

  it('alerts once on an unknown outcome, and at a higher level where it does not resolve itself', () => {
    const { engine, runRecorder, state, reported: told } =
      controlFixture(temporaryFolder(), { strategies: [strategy('diver', () => of(buy()))] });
    const { intent } = [...state.intents.values()][0]!;
    runRecorder.counters.opened(intent);
    for (const reached of ['building', 'signed', 'submitted'] as const) engine.accept(outcome(intent, reached), 2_000);
    for (const code of ['SERVICE_TIMEOUT', 'SERVICE_TIMEOUT', 'OUTCOME_UNPROVEN', 'OUTCOME_UNPROVEN'])
      engine.accept(outcome(intent, 'unknown', { code }), 3_000);
    expect(told).toEqual([
      expect.stringMatching(/^warning diver: the outcome of diver-1 is unknown \(SERVICE_TIMEOUT\)/),
      expect.stringMatching(/^critical diver: .*OUTCOME_UNPROVEN.*gannet journal show diver-1.*gannet resolve diver-1/),
    ]);
  });

  it('alerts on a strategy whose swaps are all given up, although another one trades', () => {
    const folder = temporaryFolder();
    const { engine, runRecorder, state, reported: told } = controlFixture(folder, {
      strategies: [strategy('diver', everyOther(0)), strategy('wader', everyOther(1))],
    });
    const journal = temporaryJournal(join(folder, 'journal.sqlite'));
    for (let time = 1; time <= 12; time++) {
      const at = time * 2_000;
      engine.accept(buyingSol(150_000, at), at);
      const { intent } = [...state.intents.values()][0]!;
      runRecorder.counters.opened(intent);
      journal.intentApproved(intent);
      const code = intent.strategy === 'diver' ? 'TIP_EXCEEDS' : time % 4 === 0 ? 'FEE_EXCEEDS' : 'QUOTE_EXPIRED';
      for (const given of [outcome(intent, 'building'), outcome(intent, 'abandoned', { code })]) {
        journal.transition(given);
        engine.accept(given, at);
      }
    }
    expect(told.filter((each) => each.includes('given up before signing'))).toEqual([expect.stringMatching(
      /^warning diver: the last 5 swaps were given up before signing.*TIP_EXCEEDS.*the strategy trades nothing/,
    )]);
  });

  it('keeps what a landed swap was worth, before the snapshot that settles it', () => {
    const folder = temporaryFolder();
    const { engine, runRecorder, state, valued } =
      controlFixture(folder, { strategies: [strategy('diver', () => of(buy()))] });
    engine.accept(buyingSol(150_000, 1_500), 1_500);
    const { intent } = [...state.intents.values()][0]!;
    runRecorder.counters.opened(intent);
    const journal = temporaryJournal(join(folder, 'journal.sqlite'));
    journal.intentApproved(intent);
    const confirmed = outcome(intent, 'confirmed', { fill: fillOf(intent, 150_000_000n) });
    const before = (['building', 'signed', 'submitted'] as const).map((reached) => outcome(intent, reached));
    for (const told of [...before, confirmed]) {
      journal.transition(told);
      engine.accept(told, 2_000);
    }
    expect(valued).toMatchObject([{ intentId: 'diver-1', isSettled: false, values: {
      isManual: false, currency: USDC.mint, input: { microUsd: intent.amountIn, source: 'usdc' },
      // 0.15 SOL at 150 USDC.
      output: { microUsd: 22_500_000n, source: 'quote' },
    } }]);
  });

  it('ignores a command that only an operator may give', () => {
    const { engine, changes, logs, state } =
      controlFixture(temporaryFolder(), { strategies: [strategy('diver', () => NEVER)] });
    engine.accept(
      { kind: 'command', name: 'set-trading-state', state: 'halted', by: 'operator', reason: 'stop' }, 1_000,
    );
    engine.accept({ kind: 'command', name: 'set-trading-state', state: 'active', by: 'signal', reason: 'go' }, 2_000);
    expect(state.trading).toBe('halted');
    expect(changes).toMatchObject([{ state: 'halted', by: 'operator' }]);
    expect(logs.at(-1)).toMatch(/was ignored/);
  });
});
