import { describe, expect, it } from 'vitest';
import { operatorCommands } from '../../../../src/cli/commands/daemon/control.ts';
import type { Amount } from '../../../../src/core/amount.ts';
import type { RiskLimits } from '../../../../src/trading/limits.ts';
import type { Answer } from '../../in-process.ts';
import { runCommand } from '../../in-process.ts';
import type { ControlFixture } from '../../../daemon/control-fixture.ts';
import { controlFixture, startTestApi } from '../../../daemon/control-fixture.ts';
import { FISH, SOL } from '../../../market/tokens.ts';
import { temporaryFolder } from '../../../store/fixtures.ts';
import { approve, buy, fillOf, outcome } from '../../../trading/states.ts';

const SOLD = { inputMint: SOL.mint, amount: 1_000n as Amount };

/** A daemon whose strategy "diver" holds 2 SOL and some FISH, with what an operator's flatten is told. */
async function holding(
  limits: Partial<RiskLimits> = {},
): Promise<ControlFixture & { readonly flatten: () => Promise<Answer> }> {
  const stateDir = temporaryFolder();
  const fixture = controlFixture(stateDir, { limits });
  fixture.state.portfolio.book('diver').balances.set(SOL.mint, 2_000_000_000n as Amount)
    .set(FISH.mint, 5_000n as Amount);
  await startTestApi({ stateDir, controlPort: () => fixture.controlPort });
  fixture.engine.start();
  return { ...fixture, flatten: () => runCommand(operatorCommands, ['flatten', '--wait', '600ms'], { stateDir }) };
}

/** Lands what is under way, until nothing is. */
function land({ state, engine }: ControlFixture): void {
  for (let [tracked] = state.intents.values(); tracked !== undefined; [tracked] = state.intents.values()) {
    for (const step of ['building', 'signed', 'submitted'] as const)
      engine.accept(outcome(tracked.intent, step), engine.clock.now());
    engine.accept(outcome(tracked.intent, 'confirmed', { fill: fillOf(tracked.intent, 1_000n) }), engine.clock.now());
  }
}

describe('issue 13.35: gannet flatten reports what it could not sell', () => {
  it('ends with 1 and the reason for each holding, and with 0 when nothing is left', async () => {
    const fixture = await holding({ caps: new Map([[SOL.mint, { perHour: 500_000_000n as Amount }]]) });
    const { state, engine } = fixture;
    engine.accept({ kind: 'command', name: 'flatten', reason: 'a test' }, 1_000);
    land(fixture);
    const capped = await fixture.flatten();
    expect(capped.code).toBe(1);
    expect(capped.document['unsold']).toEqual([
      {
        strategy: 'diver', mint: SOL.mint, amount: '1500000000', holds: '1.5 SOL', code: 'CAP_USED_UP',
        reason: expect.stringMatching(/per_hour is used up; the next part goes at/), until: 3_601_000, moving: false,
      },
    ]);
    expect(capped.text).not.toMatch(/^ {2}sold /m);
    expect(capped.text).toMatch(/1\.5 SOL.*diver.*CAP_USED_UP/);
    for (let at = 3_601_000; at <= 4 * 3_601_000; at += 3_600_000) {
      engine.advanceTo(at);
      land(fixture);
    }
    expect(state.portfolio.book('diver').balances.has(SOL.mint)).toBe(false);
    const sold = await fixture.flatten();
    expect([sold.code, sold.document['unsold']]).toEqual([0, []]);
    expect(sold.text).toMatch(/^ {2}sold +everything: each strategy holds only the token of its budget$/m);
  });

  it('sells the rest when a swap of unknown outcome locks one token, and names the swap', async () => {
    const fixture = await holding();
    const locked = approve(fixture.state, buy({ ...SOLD, outputMint: FISH.mint }), { strategy: 'diver' });
    for (const step of ['building', 'signed', 'unknown'] as const) fixture.engine.accept(outcome(locked, step), 1_000);
    const sale = fixture.flatten();
    const fish = (): boolean => fixture.state.intents.values().some(({ intent }) => intent.inputMint === FISH.mint);
    await expect.poll(fish).toBe(true);
    for (const step of ['building', 'signed', 'submitted'] as const)
      fixture.engine.accept(outcome({ ...locked, id: 'diver-2' }, step), 1_000);
    fixture.engine.accept(outcome({ ...locked, id: 'diver-2' }, 'confirmed', { fill: {
      ...fillOf(locked, 1_000n), inputMint: FISH.mint, amountIn: 5_000n as Amount, outputMint: buy().inputMint,
    } }), 1_000);
    const { code, document } = await sale;
    expect(code).toBe(1);
    expect(document['unsold']).toMatchObject([
      { mint: SOL.mint, code: 'INTENT_UNKNOWN', reason: expect.stringContaining(locked.id), moving: false },
    ]);
  });

  it('reports open swaps when the wait is over', async () => {
    const { code, document } = await (await holding()).flatten();
    expect(code).toBe(1);
    expect(document['unsold']).toMatchObject([
      { mint: SOL.mint, code: 'INTENT_OPEN_FOR_MINT', moving: true }, { mint: FISH.mint, moving: true },
    ]);
  });
});
