import { describe, expect, it } from 'vitest';
import { createScenario, type ScenarioStep } from '../../src/sandbox/scenario.ts';
import { SOL, USDC } from './service/sandbox-client.ts';

/** What a scenario does in a leap from the start, in words. */
function performed(steps: readonly ScenarioStep[], slots: number): string[] {
  const done: string[] = [];
  const scenario = createScenario({ steps, slotMs: 400, perform: (action) =>
    done.push(action.kind === 'price' ? `${action.mint} at ${action.usd}` : action.rule.fault.kind) });
  scenario.run({ from: 0, to: slots });
  return done;
}

const fault = { match: { path: '/swap/v2/order' }, fault: { kind: 'drop_before' } } as const;

describe('a scenario that time leaps over', () => {
  it('sets a price once, however often it was due, and adds no more faults than are kept', () => {
    const done = performed([{ every: '400ms', mint: SOL, usd: 150 }, { every: '400ms', ...fault }], 1_000_000);
    expect(done.filter((what) => what.startsWith(SOL))).toHaveLength(1);
    expect(done.length).toBeLessThanOrEqual(1_001);
  });

  it('ends with what was due last, wherever it stands in the file', () => {
    expect(performed(
      [{ at: '20s', mint: SOL, usd: 2 }, { at: '10s', mint: SOL, usd: 1 }, { every: '15s', mint: USDC, usd: 0.5 }], 60,
    )).toEqual([`${SOL} at 1`, `${USDC} at 0.5`, `${SOL} at 2`]);
    expect(performed([{ every: '7s', mint: SOL, usd: 2 }, { every: '5s', mint: SOL, usd: 1 }], 60))
      .toEqual([`${SOL} at 1`, `${SOL} at 2`]);
  });

  it('does each fault as often as it was due', () => {
    expect(performed([{ every: '5s', ...fault }], 60)).toHaveLength(4);
    expect(performed([{ at: '25s', ...fault }], 60)).toEqual([]);
  });
});
